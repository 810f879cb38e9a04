package arch

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A deed is something that arkamsg can do. The doors are equal (DESIGN §7): each
// deed has a verb and a route, or the table says why one of them is missing.
type deed struct {
	what   string
	verbs  []string
	routes []string // "METHOD path"; a path that ends with / covers what is below it
	why    string   // why a door is missing
}

var deeds = []deed{
	{"send", []string{"push"}, []string{"POST /api/v1/notify"}, ""},
	{"follow one message", []string{"show"}, []string{"GET /api/v1/notify/{id}"}, ""},
	{"know whether all is well", []string{"status"},
		[]string{"GET /healthz", "GET /ops/readiness", "GET /metrics"}, ""},
	{"learn how to ask", []string{"completion", "man", "version", "openapi"}, []string{"GET /openapi.json"}, ""},
	{"read", []string{"pull"}, nil,
		"reading marks as read in a role's name; the reader is an agent at a terminal of this machine"},
	{"see who can be reached", []string{"sessions"}, nil, "it shows what stands on the user's screens"},
	{"read the backlog and the journal", []string{"threads", "events", "journal"}, nil,
		"the files are here; whoever may read them needs no door"},
	{"decide about dead letters", []string{"dead"}, nil, "a person decides (ARKA §11)"},
	{"set up and examine", []string{"init", "daemon", "doctor", "demo", "standin"}, nil,
		"these begin where no daemon answers yet"},
	{"clients and people", []string{"client", "user"}, []string{"* /api/v1/auth/", "* /api/v1/oauth/", "* /api/v1/app/"}, ""},
	{"keep competences", []string{"competence"}, []string{"* /api/v1/lea/", "* /api/v1/shadow/"}, ""},
	{"leased jobs", []string{"job", "agent"}, []string{"* /api/v1/jobs/", "* /api/v1/agents/", "* /api/v1/ops/"}, ""},
	{"capabilities", []string{"capability", "mcp"}, []string{"* /api/v1/capabilities/"}, ""},
}

var (
	verbListed  = regexp.MustCompile(`p\.([a-z]+)Verb\(\)`)
	routeListed = regexp.MustCompile(`"((?:GET|POST|PUT|PATCH|DELETE) /[^"]*)"`)
)

func TestEveryVerbAndRouteIsADeed(t *testing.T) {
	verbs, routes := 0, 0
	for _, s := range sources(t) {
		switch {
		case s.path == "cmd/arkamsg/program.go":
			for _, m := range verbListed.FindAllStringSubmatch(s.text, -1) {
				verbs++
				if !slices.ContainsFunc(deeds, func(d deed) bool { return slices.Contains(d.verbs, m[1]) }) {
					t.Errorf("the verb %s is no deed: add it to internal/arch/doors_test.go, with its route or why there is none", m[1])
				}
			}
		case !s.test && s.folder == "internal/httpapi":
			for _, m := range routeListed.FindAllStringSubmatch(s.text, -1) {
				routes++
				if !slices.ContainsFunc(deeds, func(d deed) bool { return d.serves(m[1]) }) {
					t.Errorf("%s: the route %s is no deed: add it to internal/arch/doors_test.go, with its verb or why there is none", s.path, m[1])
				}
			}
		}
	}
	if verbs < 10 || routes < 5 {
		t.Errorf("only %d verbs and %d routes were found; has their form changed?", verbs, routes)
	}
}

func (d deed) serves(route string) bool {
	method, path, _ := strings.Cut(route, " ")
	return slices.ContainsFunc(d.routes, func(r string) bool {
		m, p, _ := strings.Cut(r, " ")
		below := strings.HasSuffix(p, "/") && strings.HasPrefix(path+"/", p)
		return (m == "*" || m == method) && (path == p || below)
	})
}

func TestAMissingDoorHasAReason(t *testing.T) {
	for _, d := range deeds {
		if oneDoor := len(d.verbs) == 0 || len(d.routes) == 0; oneDoor != (d.why != "") {
			t.Errorf("%q: a deed has both doors, or one and a reason", d.what)
		}
	}
}
