package sessions

import (
	"testing"
	"time"

	"arkamsg/internal/errkind"
)

func ptr[T any](v T) *T { return &v }

// The built-in profiles on screens as these programs draw them.
func TestBuiltinProfilesOnScreens(t *testing.T) {
	profiles := mustProfiles(t)
	for _, tc := range []struct {
		profile, name, screen string
		want                  Reason
	}{
		{"codex", "idle", "• Done.\n\n› \x1b[2mAsk Codex to do anything\x1b[0m\n\n\x1b[2m  ? for shortcuts\x1b[0m", ""},
		{"codex", "busy", "• Working (12s • esc to interrupt)\n\n›", ReasonAgentBusy},
		{"codex", "approval", "Would you like to run the following command?\n\n  $ ls\n\n› 1. Yes, proceed (y)\n  2. No\n\n  Press enter to confirm or esc to cancel", ReasonDialogOpen},
		{"codex", "old approval", "Allow command ? y/n\n\n›", ReasonDialogOpen},
		{"codex", "trust", "Do you trust the contents of this directory?\n\n› 1. Yes, continue\n  2. No, quit\n\n  Press enter to continue", ReasonDialogOpen},
		{"codex", "picker", "Select Model\n\n› 1. gpt\n  2. other\n\nPress enter to select", ReasonDialogOpen},
		{"codex", "draft", "› refactor the\n\n  ? for shortcuts", ReasonHumanDraft},
		{"codex", "history above", "› earlier message\n\n• answer\n\n› \x1b[2mhint\x1b[0m", ""},
		{"codex", "starting", "loading", ReasonUnknownScreen},
		{"claude", "idle", "● Done\n\n─────\n> \n─────\n  ? for shortcuts", ""},
		{"claude", "idle, new sign", "─────\n❯\u00a0\n─────", ""},
		{"claude", "idle, boxed", "╭────╮\n│ >                │\n╰────╯", ""},
		{"claude", "suggestion", "─────\n❯\u00a0\x1b[7mT\x1b[27m\x1b[2mry \"fix lint\"\x1b[0m\n─────", ""},
		{"claude", "busy", "✻ Pondering… (3s · esc to interrupt)\n\n─────\n> \n─────", ReasonAgentBusy},
		{"claude", "permission", "Bash command\n\nDo you want to proceed?\n❯ 1. Yes\n  2. No", ReasonDialogOpen},
		{"claude", "vim", "─────\n> \n─────\n  -- NORMAL --", ReasonDialogOpen},
		{"claude", "rewind", "Rewind\n\nRestore the code and/or conversation to the point before…\n❯ (current)\nEnter to continue · Esc to exit", ReasonDialogOpen},
		{"claude", "draft", "─────\n> half a\n  thought\n─────", ReasonHumanDraft},
		{"claude", "asks in prose", "● Do you want me to go on?\n\n─────\n> \n─────", ""},
		{"gemini", "idle", "╭────╮\n│ >   Type your message or @path/to/file │\n╰────╯", ""},
		{"gemini", "busy", "⠏ Thinking (esc to cancel, 3s)\n╭────╮\n│ > │\n╰────╯", ReasonAgentBusy},
		{"gemini", "approval", "│ Allow execution of: 'rm'? │\n│ ● 1. Yes, allow once │\n│   2. No (esc) │", ReasonDialogOpen},
		{"gemini", "draft", "╭────╮\n│ > half a thought │\n╰────╯", ReasonHumanDraft},
		{"opencode", "idle", "┃\n┃  > Ask anything... \n┃", ""},
		{"opencode", "busy", "┃ > \n  esc interrupt", ReasonAgentBusy},
		{"opencode", "permission", "△ Permission required\n  Allow once   Allow always   Reject", ReasonDialogOpen},
		{"generic", "anything", "what\never", ""},
	} {
		p := profiles[tc.profile]
		v := snapshot{screen: parseScreen(tc.screen), program: tc.profile}
		if w := v.gate(p); w.Reason != tc.want || w.Open != (tc.want == "") {
			t.Errorf("%s, %s: %q (%s), want %q", tc.profile, tc.name, w.Reason, w.Detail, tc.want)
		}
	}
}

func TestProgramsThatMayBeTypedInto(t *testing.T) {
	for _, tc := range []struct {
		programs []string
		program  string
		want     bool
	}{
		{nil, "codex", true}, {nil, "bash", false}, {nil, "", false}, {nil, "sudo", false},
		{[]string{"codex"}, "codex", true}, {[]string{"codex"}, "codexx", false},
		{[]string{"codex-*"}, "codex-linux", true}, {[]string{"*"}, "bash", false}, {[]string{"bash"}, "bash", true},
	} {
		if got := (Profile{Programs: tc.programs}).expects(tc.program); got != tc.want {
			t.Errorf("programs %v, %q: %v", tc.programs, tc.program, got)
		}
	}
}

func TestOverridesKeyByKey(t *testing.T) {
	all, err := Profiles(map[string]Override{
		"codex":   {Settle: ptr("300ms"), Trailer: ptr("")},
		"myagent": {Programs: &[]string{"my-*"}, Prompt: ptr("^> ")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if p := all["codex"]; p.Settle != 300*time.Millisecond || p.Trailer != "" || p.Prompt.String() != "^[›▌] ?" {
		t.Errorf("codex: %+v", p)
	}
	if p := all["myagent"]; p.Name != "myagent" || p.Proof != ProofEcho || p.Submit != "Enter" || p.Prompt == nil {
		t.Errorf("a new name starts from generic: %+v", p)
	}
}

func TestAllProblemsOfProfilesAreListed(t *testing.T) {
	_, err := Profiles(map[string]Override{
		"codex": {Prompt: ptr("("), Settle: ptr("150s"), Submit: ptr("Enter; kill-server"), Proof: ptr("hope"), Busy: &[]string{"ok", "["}},
		"b d":   {Trailer: ptr("a\x1bb"), Programs: &[]string{"["}},
		"x":     {Proof: ptr("transcript")},
		"y":     {Proof: ptr("composer")},
	})
	fields := map[string]bool{}
	for _, p := range errkind.Problems(err) {
		fields[p.Field] = true
	}
	for _, want := range []string{"providers.codex.prompt", "providers.codex.settle", "providers.codex.submit", "providers.codex.proof",
		"providers.codex.busy[1]", "providers.b d", "providers.b d.trailer", "providers.b d.programs", "providers.x.transcript", "providers.y.proof"} {
		if !fields[want] {
			t.Errorf("%s is not listed in %v", want, err)
		}
	}
}
