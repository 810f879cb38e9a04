package main

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// visible lists every verb below a command with its path.
func visible(path string, commands []*cli.Command, see func(path string, c *cli.Command)) {
	for _, c := range commands {
		if c.Hidden {
			continue
		}
		name := strings.TrimSpace(path + " " + c.Name)
		see(name, c)
		visible(name, c.Subcommands, see)
	}
}

// plain is a man page without its markup.
var plain = strings.NewReplacer(`\-`, "-", `\fB`, "", `\fP`, "", `\fI`, "", `\fR`, "")

// The man page names every verb and every flag.
func TestManPageIsComplete(t *testing.T) {
	page := plain.Replace(said(t, verb(t, t.TempDir(), "man")))
	verbs, flags := 0, 0
	visible("", new(program).app().Commands, func(path string, c *cli.Command) {
		verbs++
		if !strings.Contains(page, "\n.S") || !strings.Contains(page, c.Name) || !strings.Contains(page, c.Usage) {
			t.Errorf("the man page does not explain: %s", path)
		}
		for _, f := range c.Flags {
			flags++
			if !strings.Contains(page, "--"+f.Names()[0]) {
				t.Errorf("the man page does not name --%s of %s", f.Names()[0], path)
			}
		}
	})
	if verbs < 30 || flags < 50 {
		t.Errorf("only %d verbs and %d flags were looked for", verbs, flags)
	}
}

// completed is what bash offers for the words, the last of which is unfinished.
func completed(t *testing.T, words ...string) []string {
	t.Helper()
	script := said(t, verb(t, t.TempDir(), "completion", "bash"))
	cmd := verb(t, t.TempDir())
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	// The script asks the first word; a function of that name is this program.
	asks := "arkamsg() { (exec -a arkamsg " + cmd.Path + ` "$@"); }` + "\n" + script + `
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
` + "_arkamsg && printf '%s\\n' \"${COMPREPLY[@]}\""
	cmd.Path, cmd.Args = bash, append([]string{"bash", "--norc", "-c", asks, "bash"}, words...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("%v: %s", err, &errs)
	}
	return strings.Fields(string(out))
}

// A real bash completes verbs, sub-verbs and flags, also where a flag would
// swallow the next word, and nothing is done by asking.
func TestBashCompletes(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  []string
	}{
		{[]string{"arkamsg", "st"}, []string{"status"}},
		{[]string{"arkamsg", "dead", "re"}, []string{"retry"}},
		{[]string{"arkamsg", "journal", ""}, []string{"verify", "rebuild", "archive", "backup"}},
		{[]string{"arkamsg", "status", "--w"}, []string{"--watch"}},
		{[]string{"arkamsg", "dead", "retry", "--ret"}, []string{"--retype"}},
		{[]string{"arkamsg", "--home", "/x", "sta"}, []string{"status"}},
	} {
		if got := completed(t, c.words...); !slices.Equal(got, c.want) {
			t.Errorf("%q completes to %q, want %q", c.words, got, c.want)
		}
	}
}
