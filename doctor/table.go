package doctor

import "time"

// deliveryLimit is how long an agent may be busy before its test message is
// given up.
const deliveryLimit = 60 * time.Second

// The codes of the checks that others depend on.
const (
	codeTmux     Code = "tmux"
	codeLab      Code = "lab"
	codeHome     Code = "home"
	codeConfig   Code = "config"
	codeJournal  Code = "journal"
	codeLease    Code = "lease"
	codeDaemon   Code = "daemon"
	codeBell     Code = "bell"
	codeServer   Code = "tmux_server"
	codeSessions Code = "sessions"
	codeDelivery Code = "delivery"
	codeMissing  Code = "missing_session"
	codeTests    Code = "tests_apart"
)

// groundChecks need nothing but this machine.
var groundChecks = []Check{
	{Code: "program", Title: "this program", Run: checkProgram},
	{Code: codeTmux, Title: "tmux is installed and new enough", Run: checkTmux},
}

// bodyChecks examine a home; the first one is where they begin.
var bodyChecks = []Check{
	{Code: codeHome, Title: "the home is a private, writable folder", Run: checkHome},
	{Code: codeConfig, Title: "arka.yaml is accepted", After: []Code{codeHome}, Run: checkConfig},
	{Code: "aliases", Title: "every alias leads to somebody", After: []Code{codeConfig}, Run: checkAliases},
	{Code: "escalation", Title: "somebody can be told of a blocked message", After: []Code{codeConfig}, Run: checkEscalation},
	{Code: "disk", Title: "there is room on the disk", After: []Code{codeHome}, Run: checkDisk},
	{Code: codeJournal, Title: "the journal opens and reaches its head", After: []Code{codeConfig}, Run: checkJournal},
	{Code: "history", Title: "the journal is what was written", After: []Code{codeJournal}, Limit: time.Minute, Run: checkHistory},
	{Code: "wal", Title: "the journal's WAL is folded back", After: []Code{codeJournal}, Run: checkWAL},
	{Code: "clock", Title: "the clock goes on from the last event", After: []Code{codeJournal}, Run: checkClock},
	{Code: "dead_letters", Title: "no dead letters", After: []Code{codeJournal}, Run: checkDeadLetters},
	{Code: "backlog", Title: "the backlog can be read", After: []Code{codeConfig}, Run: checkBacklog},
	{Code: "competences", Title: "competences are what the journal says", After: []Code{codeJournal}, Run: checkCompetences},
	{Code: codeLease, Title: "lock and lease agree", After: []Code{codeJournal}, Run: checkLease},
	{Code: codeDaemon, Title: "the daemon is running", After: []Code{codeLease}, Run: checkDaemon},
	{Code: "socket", Title: "the daemon answers on its socket", After: []Code{codeDaemon}, Run: checkSocket},
	{Code: codeBell, Title: "the daemon hears its bell", After: []Code{codeDaemon}, Limit: bellLimit, Run: checkBell},
	{Code: codeServer, Title: "the tmux server answers", After: []Code{codeTmux, codeConfig}, Run: checkServer},
	{Code: codeSessions, Title: "the allow-listed sessions can be reached", After: []Code{codeServer}, Limit: time.Minute, Run: checkSessions},
	{Code: codeDelivery, Title: "a test message arrives in a pane", After: []Code{codeBell, codeSessions}, Limit: deliveryLimit, Run: checkDelivery},
	{Code: codeMissing, Title: "an absent session: blocked, returned, escalated once", After: []Code{codeBell, codeServer}, Limit: 30 * time.Second, Run: checkMissing},
	{Code: codeTests, Title: "test messages stand in no inbox and no counter", After: []Code{codeDelivery, codeMissing}, Run: checkTestsApart},
}

// homeChecks is the examination of a home.
var homeChecks = append(groundChecks[:len(groundChecks):len(groundChecks)], bodyChecks...)

// labChecks is the same on a home that the doctor makes itself, and then what
// only a lab may be asked.
var labChecks = labTable()

func labTable() []Check {
	stage := Check{Code: codeLab, Title: "a private tmux server, a scratch home and its daemon",
		After: []Code{codeTmux}, Limit: 20 * time.Second, Run: checkLab}
	table := append(append(groundChecks[:len(groundChecks):len(groundChecks)], stage), bodyChecks...)
	table[len(groundChecks)+1].After = []Code{codeLab} // home; the others follow from it
	return append(table, playChecks...)
}
