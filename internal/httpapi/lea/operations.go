package lea

// operation is one route and its promise.
type operation struct {
	method, path string
	id, summary  string
	body         string         // schema of the request body; "" for none
	success      map[int]string // status → schema of the answer
	refusals     []int          // beside those that every route has
	query        string         // name of a required query parameter
	run          func(*api, call) (reply, error)
}

// operations is every route of this door.
var operations = []operation{
	{"POST", "/api/v1/lea/competences/candidate/persist", "persistCandidate", "Keep a competence, exactly once",
		"PersistRequest", map[int]string{200: "PersistAnswer", 201: "PersistAnswer"}, []int{400, 403, 409, 429}, "", (*api).persist},
	{"GET", "/api/v1/lea/competences", "listCompetences", "The catalogue",
		"", map[int]string{200: "CompetenceList"}, nil, "", (*api).list},
	{"GET", "/api/v1/lea/competences/{id}", "getCompetence", "One competence, as its file has it",
		"", map[int]string{200: "Competence"}, []int{404, 422}, "", (*api).get},
	{"POST", "/api/v1/lea/competences/{id}/unlearning", "beginUnlearning", "Block a name while what it taught is unlearned",
		"UnlearningRequest", map[int]string{200: "Unlearning", 201: "Unlearning"}, []int{400}, "", (*api).beginUnlearning},
	{"DELETE", "/api/v1/lea/competences/{id}/unlearning", "endUnlearning", "Lift the block",
		"", map[int]string{200: "Unlearning"}, []int{404}, "", (*api).endUnlearning},
	{"GET", "/api/v1/lea/primitives", "listPrimitives", "Every kind of step and its parameters",
		"", map[int]string{200: "PrimitiveList"}, nil, "", (*api).primitives},
	{"GET", "/api/v1/lea/external-agents", "listExternalAgents", "The registry of external decision agents",
		"", map[int]string{200: "ExternalAgentList"}, nil, "", (*api).agents},
	{"POST", "/api/v1/shadow/start", "shadowStart", "Begin to watch; one open session per machine",
		"ShadowStart", map[int]string{201: "ShadowSession"}, []int{400, 403, 409}, "", (*api).start},
	{"POST", "/api/v1/shadow/events", "shadowEvents", "Add a batch of events",
		"ShadowEvents", map[int]string{200: "ShadowSession"}, []int{400, 404, 409}, "", (*api).events},
	{"POST", "/api/v1/shadow/stop", "shadowStop", "End a session; again is no error",
		"ShadowStop", map[int]string{200: "ShadowSession"}, []int{400, 404}, "", (*api).stop},
	{"GET", "/api/v1/shadow/understanding", "shadowUnderstanding", "What the events mean, and what is in doubt",
		"", map[int]string{200: "Understanding"}, []int{404}, "session_id", (*api).understanding},
	{"POST", "/api/v1/shadow/feedback", "shadowFeedback", "Correct the understanding",
		"ShadowFeedback", map[int]string{200: "Understanding"}, []int{400, 404, 409}, "", (*api).feedback},
	{"POST", "/api/v1/shadow/build", "shadowBuild", "What a persist needs; changes nothing",
		"ShadowBuild", map[int]string{200: "Built"}, []int{400, 404, 409}, "", (*api).build},
}
