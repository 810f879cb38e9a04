package fault

import (
	"strings"
	"testing"

	"arkamsg/internal/standin"
	"arkamsg/journal"
)

// typed is the record of a pane that was given these texts, a frame and an
// Enter each.
func typed(texts ...string) []standin.Entry {
	var out []standin.Entry
	for _, s := range texts {
		out = append(out, standin.Entry{Kind: "raw", Raw: []byte("\x1b[200~" + s + "\x1b[201~\r")},
			standin.Entry{Kind: "paste", Text: s}, standin.Entry{Kind: "submit", Text: s})
	}
	return out
}

// A judge that finds nothing proves nothing: each class of fault is shown to it
// once.
func TestTheJudgeSeesEveryFault(t *testing.T) {
	a, b := "NOTIFICATION: a", "NOTIFICATION: b"
	facts := func(states ...journal.State) []fact {
		all := []fact{{id: "a", pane: "p", frame: a}, {id: "b", pane: "p", frame: b}}
		for i, s := range states {
			all[i].state = s
			if s == journal.Failed {
				all[i].reason = journal.ReasonMissingSession
			}
		}
		return all
	}
	done := facts(journal.Delivered, journal.Delivered)
	unsure := facts(journal.Delivered, journal.Failed)
	unsure[1].reason = journal.ReasonIndeterminate
	for name, c := range map[string]struct {
		facts  []fact
		record []standin.Entry
		want   verdict
		says   string
	}{
		"clean":         {done, typed(a, b), verdict{tries: 2}, ""},
		"lost":          {done, typed(a), verdict{tries: 2, lost: 1}, "b is delivered"},
		"doubled":       {done, typed(a, b, b), verdict{tries: 2, doubled: 1}, "2 times"},
		"pasted twice":  {done, append(typed(a, b), standin.Entry{Kind: "paste", Text: b}), verdict{tries: 2, doubled: 1}, "pasted"},
		"torn":          {done, typed(a, b, "NOTIF"), verdict{tries: 2, torn: 1}, `"NOTIF"`},
		"merged":        {done, typed(a, b, a+b), verdict{tries: 2, merged: 1}, "given"},
		"stray keys":    {done, append(typed(a, b), standin.Entry{Kind: "raw", Raw: []byte("y")}), verdict{tries: 2, torn: 1}, `"y"`},
		"half a frame":  {done, append(typed(a, b), standin.Entry{Kind: "raw", Raw: []byte("\x1b[200~")}), verdict{tries: 2, torn: 1}, "unfinished"},
		"dialog":        {done, append(typed(a, b), standin.Entry{Kind: "answer"}), verdict{tries: 2, torn: 1}, "dialog"},
		"unfinished":    {facts(journal.Delivered, journal.Dispatched), typed(a), verdict{tries: 2, lies: 1}, "still dispatched"},
		"failed, typed": {facts(journal.Delivered, journal.Failed), typed(a, b), verdict{tries: 2, lies: 1}, "had it"},
		"blocked":       {facts(journal.Delivered, journal.Failed), typed(a), verdict{tries: 2}, ""},
		"unsure":        {unsure, typed(a, b), verdict{tries: 2, unsure: 1}, ""},
		"order":         {done, typed(b, a), verdict{tries: 2}, "after a later"},
	} {
		t.Run(name, func(t *testing.T) {
			v := judge(c.facts, map[string][]standin.Entry{"p": c.record})
			notes := strings.Join(v.notes, "\n")
			if c.says == "" != (notes == "") || !strings.Contains(notes, c.says) {
				t.Errorf("notes %q, want %q", notes, c.says)
			}
			v.notes = nil
			if got, want := v.row("s"), c.want.row("s"); got != want || v.unsure != c.want.unsure {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
