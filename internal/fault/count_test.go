package fault

import (
	"bytes"
	"fmt"
	"strings"

	"arkamsg/internal/standin"
	"arkamsg/journal"
)

// fact is what the journal says about one event that is typed into a pane.
type fact struct {
	id     string
	pane   string // session
	frame  string // exactly what the pane must be given
	state  journal.State
	reason journal.Reason
}

// verdict counts what went wrong. Every fault has a note that names it.
type verdict struct {
	tries, lost, doubled, torn, merged, lies int
	unsure                                   int // honest, and rarely wanted
	notes                                    []string
}

func (v *verdict) note(counter *int, format string, args ...any) {
	*counter++
	v.notes = append(v.notes, fmt.Sprintf(format, args...))
}

func (v *verdict) add(o verdict) {
	v.tries, v.lost, v.doubled, v.torn = v.tries+o.tries, v.lost+o.lost, v.doubled+o.doubled, v.torn+o.torn
	v.merged, v.lies, v.unsure = v.merged+o.merged, v.lies+o.lies, v.unsure+o.unsure
	v.notes = append(v.notes, o.notes...)
}

// judge lays the journal's facts, in the order of their events, beside what each
// pane recorded.
func judge(facts []fact, record map[string][]standin.Entry) verdict {
	v := verdict{tries: len(facts)}
	expected := map[string][]string{}
	for _, f := range facts {
		expected[f.pane] = append(expected[f.pane], f.frame)
	}
	got := map[string]map[string]int{}
	for pane, entries := range record {
		got[pane] = v.pane(pane, expected[pane], entries)
	}
	for _, f := range facts {
		v.fact(f, got[f.pane][f.frame])
	}
	return v
}

// fact compares one state with the number of times the pane was given it.
func (v *verdict) fact(f fact, submitted int) {
	if submitted > 1 {
		v.note(&v.doubled, "%s was submitted %d times in %s", f.id, submitted, f.pane)
	}
	switch {
	case f.state == journal.Delivered && submitted == 0:
		v.note(&v.lost, "%s is delivered, and %s never had it", f.id, f.pane)
	case f.state == journal.Delivered:
	case f.state != journal.Failed:
		v.note(&v.lies, "%s is still %s (%s)", f.id, f.state, f.reason)
	case f.reason == journal.ReasonIndeterminate:
		v.unsure++
	case submitted > 0:
		v.note(&v.lies, "%s failed as %s, and %s had it", f.id, f.reason, f.pane)
	}
}

// pane reads one record: whole frames, in order, one Enter each, nothing else.
func (v *verdict) pane(name string, expected []string, entries []standin.Entry) map[string]int {
	rank := map[string]int{}
	for i, f := range expected {
		rank[f] = i
	}
	got, last := map[string]int{}, -1
	for _, text := range standin.Submitted(entries) {
		r, known := rank[text]
		switch {
		case !known && strings.Count(text, "NOTIFICATION:") > 1:
			v.note(&v.merged, "%s was given %q", name, text)
			continue
		case !known:
			v.note(&v.torn, "%s was given %q", name, text)
			continue
		case r < last:
			v.note(new(int), "%s was given %q after a later message", name, text)
		}
		got[text]++
		last = max(last, r)
	}
	v.bytes(name, entries, got)
	return got
}

// bytes looks below the agent's reading: at the pastes, and at what arrived
// outside of them.
func (v *verdict) bytes(name string, entries []standin.Entry, submitted map[string]int) {
	pasted := map[string]int{}
	for _, e := range entries {
		switch e.Kind {
		case "paste":
			pasted[e.Text]++
		case "answer":
			v.note(&v.torn, "%s: a dialog was answered", name)
		}
	}
	for text, n := range pasted {
		if n > 1 && submitted[text] <= 1 {
			v.note(&v.doubled, "%s was pasted %q %d times", name, text, n)
		}
	}
	if stray := outside(standin.RawBytes(entries)); stray != "" {
		v.note(&v.torn, "%s was given keys outside of frames: %q", name, stray)
	}
}

// clear is the key with which a person empties a composer. Delivery has no such
// key; the test presses it where a person would have to.
const clear = '\x15'

// outside returns the bytes that are neither in a bracketed frame nor an Enter,
// nor a person's.
func outside(raw []byte) string {
	var stray []byte
	for len(raw) > 0 {
		if framed, ok := bytes.CutPrefix(raw, []byte("\x1b[200~")); ok {
			_, rest, whole := bytes.Cut(framed, []byte("\x1b[201~"))
			if !whole {
				return "an unfinished frame"
			}
			raw = rest
			continue
		}
		if raw[0] != '\r' && raw[0] != clear {
			stray = append(stray, raw[0])
		}
		raw = raw[1:]
	}
	return string(stray)
}
