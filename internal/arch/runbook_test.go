package arch

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"arkamsg/journal"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top(t), filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var entryHeading = regexp.MustCompile("(?m)^### `([a-z0-9_.-]+)`$")

// entries returns what a chapter of the runbook says about one word each.
func entries(t *testing.T, chapter string) map[string]string {
	t.Helper()
	_, text, ok := strings.Cut(read(t, "docs/runbook.md"), "\n## "+chapter+"\n")
	if !ok {
		t.Fatalf("docs/runbook.md has no chapter %q", chapter)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	found := entryHeading.FindAllStringSubmatchIndex(text, -1)
	out := map[string]string{}
	for i, at := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		word := text[at[2]:at[3]]
		if _, twice := out[word]; twice {
			t.Errorf("docs/runbook.md explains %s twice", word)
		}
		out[word] = text[at[1]:end]
	}
	return out
}

// Every word that status and show can print has an entry that ends with
// something to type.
func TestRunbookExplainsEveryReason(t *testing.T) {
	explained := entries(t, "Reasons")
	if len(journal.Reasons) == 0 {
		t.Fatal("the journal lists no reasons")
	}
	for _, r := range journal.Reasons {
		body, ok := explained[string(r)]
		switch {
		case !ok:
			t.Errorf("docs/runbook.md has no entry ### `%s`", r)
		case !strings.Contains(body, "arkamsg ") && !strings.Contains(body, "tmux "):
			t.Errorf("docs/runbook.md: the entry of %s says nothing to type", r)
		}
	}
}

// The contract's list, word for word: constants may be added, none renamed.
func TestReasonsAreTheContracts(t *testing.T) {
	for _, word := range strings.Fields(`missing_session not_allowed target_dead wrong_program pane_in_mode input_off
		human_draft dialog_open agent_busy unknown_screen tmux_unavailable attempts_exhausted indeterminate invalid`) {
		if !slices.Contains(journal.Reasons, journal.Reason(word)) {
			t.Errorf("%s is not among journal.Reasons", word)
		}
	}
}

// A constant that is not in the list would be printed and not explained.
func TestReasonsListIsComplete(t *testing.T) {
	constant := regexp.MustCompile(`(?m)^\s+Reason\w+\s+Reason\s*=\s*"([a-z0-9_.]+)"`)
	found := 0
	for _, folder := range []string{"journal", "sessions"} {
		for _, s := range packages(t)[folder] {
			for _, m := range constant.FindAllStringSubmatch(s.text, -1) {
				found++
				if !s.test && !slices.Contains(journal.Reasons, journal.Reason(m[1])) {
					t.Errorf("%s: %s is not in journal.Reasons", s.path, m[1])
				}
			}
		}
	}
	if found < len(journal.Reasons) {
		t.Errorf("only %d constants were found; has their form changed?", found)
	}
}

var (
	metricInTable = regexp.MustCompile("(?m)^\\| `(arkamsg_[a-z_]+)(?:\\{[a-z,]+\\})?` \\|")
	metricUsed    = regexp.MustCompile(`arkamsg_[a-z_]+`)
)

func documentedMetrics(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, m := range metricInTable.FindAllStringSubmatch(read(t, "docs/metrics.md"), -1) {
		out[m[1]] = true
	}
	if len(out) < 11 {
		t.Fatalf("docs/metrics.md lists %d metrics", len(out))
	}
	return out
}

// A dashboard of metrics that do not exist shows calm, empty panels.
func TestDashboardAndAlertsUseWhatIsDocumented(t *testing.T) {
	documented := documentedMetrics(t)
	used := map[string]bool{}
	for _, path := range []string{"docs/grafana/arkamsg.json", "docs/prometheus/alerts.yaml", "docs/prometheus/alerts_test.yaml"} {
		for _, name := range metricUsed.FindAllString(read(t, path), -1) {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				name = strings.TrimSuffix(name, suffix)
			}
			used[name] = true
			if !documented[name] {
				t.Errorf("%s uses %s, which docs/metrics.md does not list", path, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(documented)) {
		if !used[name] {
			t.Errorf("%s is on no dashboard and in no alert", name)
		}
	}
	if !json.Valid([]byte(read(t, "docs/grafana/arkamsg.json"))) {
		t.Error("the dashboard is not JSON")
	}
}

var metricServed = regexp.MustCompile(`(?:gauge\(out, |counter\(out, |prefix \+ )"([a-z_]+)"`)

// What is documented is served, and what is served is documented.
func TestMetricsAreThePrograms(t *testing.T) {
	documented := documentedMetrics(t)
	program, served := "", 0
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		program += s.text
		if !within(s.folder, "internal/httpapi") {
			continue
		}
		for _, m := range metricServed.FindAllStringSubmatch(s.text, -1) {
			served++
			if !documented["arkamsg_"+m[1]] {
				t.Errorf("%s serves arkamsg_%s, which docs/metrics.md does not list", s.path, m[1])
			}
		}
	}
	for name := range documented {
		if !strings.Contains(program, `"`+strings.TrimPrefix(name, "arkamsg_")+`"`) {
			t.Errorf("docs/metrics.md lists %s, which the program never counts", name)
		}
	}
	if served < 8 {
		t.Errorf("only %d metrics were found in internal/httpapi; has their form changed?", served)
	}
}

var doctorCode = regexp.MustCompile(`(?:Code:\s*|\sCode\s*=\s*)"([a-z][a-z0-9_.-]*)"`)

func TestRunbookExplainsEveryDoctorCode(t *testing.T) {
	explained := entries(t, "Doctor codes")
	known := map[string]bool{}
	for _, s := range packages(t)["doctor"] {
		if s.test {
			continue
		}
		for _, m := range doctorCode.FindAllStringSubmatch(s.text, -1) {
			known[m[1]] = true
			if strings.TrimSpace(explained[m[1]]) == "" {
				t.Errorf("docs/runbook.md has no entry ### `%s` (%s)", m[1], s.path)
			}
		}
	}
	if len(known) < 10 {
		t.Errorf("only %d checks were found in doctor; has their form changed?", len(known))
	}
	for code := range explained {
		if !known[code] {
			t.Errorf("docs/runbook.md explains the doctor's code %s, which no check has", code)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)

// A link to a file that is gone is found by a reader in need, never by us.
func TestLinksOfTheManualLeadSomewhere(t *testing.T) {
	manuals, err := filepath.Glob(filepath.Join(top(t), "docs", "*.md"))
	if err != nil || len(manuals) < 4 {
		t.Fatalf("%d manuals were found: %v", len(manuals), err)
	}
	for _, path := range append(manuals, filepath.Join(top(t), "README.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", filepath.Base(path), m[1])
			}
		}
	}
}

var (
	typed     = regexp.MustCompile(`arkamsg ((?:--?[a-z-]+ )*)([a-z]+)([^\n|` + "`" + `]*)`)
	flagTyped = regexp.MustCompile(`(?:^|\s)--([a-z][a-z-]+)`)
	nameInCmd = regexp.MustCompile(`Name:\s+"([a-z-]+)"`)
)

// A command that the manual shows and the program refuses costs a reader more
// than a missing page.
func TestCommandsOfTheManualExist(t *testing.T) {
	known := map[string]bool{}
	for _, s := range packages(t)["cmd/arkamsg"] {
		for _, m := range nameInCmd.FindAllStringSubmatch(s.text, -1) {
			known[m[1]] = true
		}
	}
	shown := 0
	for _, path := range []string{"README.md", "docs/runbook.md", "docs/agents.md", "docs/ci.md", "docs/metrics.md", "docs/competences.md"} {
		for _, line := range commandLines(read(t, path)) {
			m := typed.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			shown++
			if !known[m[2]] {
				t.Errorf("%s: there is no verb %q in: %s", path, m[2], line)
			}
			for _, f := range flagTyped.FindAllStringSubmatch(m[3], -1) {
				if !known[f[1]] {
					t.Errorf("%s: there is no flag --%s in: %s", path, f[1], line)
				}
			}
		}
	}
	if shown < 30 {
		t.Errorf("only %d commands were found in the manual", shown)
	}
}

var inlineCode = regexp.MustCompile("`([^`\n]+)`")

// commandLines returns what stands in backticks and in code blocks.
func commandLines(text string) []string {
	var out []string
	inBlock := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimSuffix(line, "\n"))
		switch {
		case strings.HasPrefix(line, "```"):
			inBlock = !inBlock
		case inBlock:
			command, _, _ := strings.Cut(line, "  #")
			command = strings.TrimPrefix(strings.TrimPrefix(command, "$ "), "bin/")
			if strings.HasPrefix(command, "arkamsg ") {
				out = append(out, command)
			}
		}
		for _, m := range inlineCode.FindAllStringSubmatch(line, -1) {
			if strings.HasPrefix(m[1], "arkamsg ") {
				out = append(out, m[1])
			}
		}
	}
	return out
}
