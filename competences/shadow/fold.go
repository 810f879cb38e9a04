package shadow

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"
)

// Event is something that happened on the screen. T is in milliseconds and
// never falls within a session.
type Event struct {
	Type      string         `json:"type"`
	T         int64          `json:"t"`
	Key       string         `json:"key,omitempty"`
	Modifiers []string       `json:"modifiers,omitempty"`
	Text      string         `json:"text,omitempty"`
	Role      string         `json:"role,omitempty"`
	X         *float64       `json:"x,omitempty"`
	Y         *float64       `json:"y,omitempty"`
	From      map[string]any `json:"from,omitempty"`
	To        map[string]any `json:"to,omitempty"`
	DX        int            `json:"dx,omitempty"`
	DY        int            `json:"dy,omitempty"`
	Action    string         `json:"action,omitempty"`
	Window    map[string]any `json:"window,omitempty"`
	App       string         `json:"app,omitempty"`
}

// Step is what some events mean, in the words of package primitives.
type Step struct {
	ID     string         `json:"id"`
	Kind   string         `json:"kind"`
	Params map[string]any `json:"params"`
	Label  string         `json:"label,omitempty"`
	Note   string         `json:"note,omitempty"`
}

// Pauses in milliseconds: from pauseWait on somebody waited for the machine,
// from pauseHuman on the machine waited for somebody.
const (
	pauseWait  = 1500
	pauseHuman = 30_000
)

// maxTyped keeps a folded text within what type_text takes, in bytes.
const maxTyped = 8000

// folder turns events into steps, in one pass.
type folder struct {
	steps []Step
	typed []byte
	last  int64 // T of the event before
	begun bool
	moves int // moves that led to nothing
}

// fold applies the honest rules of the package comment.
func fold(events []Event) *folder {
	f := &folder{}
	for _, e := range events {
		f.pause(e)
		f.event(e)
	}
	f.flush()
	return f
}

func (f *folder) add(kind string, params map[string]any) {
	f.steps = append(f.steps, Step{ID: fmt.Sprintf("s%d", len(f.steps)+1), Kind: kind, Params: params})
}

// pause turns time that passed into a step. Moves do not interrupt a pause.
func (f *folder) pause(e Event) {
	if e.Type == "move" {
		return
	}
	gap := e.T - f.last
	f.last = e.T
	if !f.begun {
		f.begun = true
		return
	}
	switch {
	case gap < pauseWait:
	case e.Type == "window" && e.Action != "close" && gap < pauseHuman:
		f.flush()
		f.add("wait_window", map[string]any{"window": e.Window, "timeout_ms": min(3_600_000, roundUp(gap*3, 1000))})
	case gap < pauseHuman:
		f.flush()
		f.add("wait_ms", map[string]any{"ms": roundUp(gap, 100)})
	default:
		f.flush()
		f.add("human_pause", map[string]any{"duration_ms": min(3_600_000, gap)})
	}
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

func (f *folder) event(e Event) {
	switch e.Type {
	case "key":
		f.key(e)
		return
	case "text":
		f.write(e.Text)
		return
	case "move":
		f.moves++
		return
	}
	f.flush()
	switch e.Type {
	case "click", "double_click", "right_click":
		f.add(e.Type, map[string]any{"target": e.target()})
	case "drag":
		f.add("drag", map[string]any{"from": e.From, "to": e.To})
	case "scroll":
		f.scroll(e)
	case "window":
		f.window(e)
	case "launch":
		f.add("launch_app", map[string]any{"app": e.App})
	case "clipboard":
		f.add(e.Action, map[string]any{})
	case "screenshot":
		f.add("screenshot", map[string]any{})
	}
}

// key folds characters into text and gives every other key its step.
func (f *folder) key(e Event) {
	held := slices.DeleteFunc(slices.Clone(e.Modifiers), func(m string) bool { return m == "shift" || m == "altgr" })
	char := e.Key
	if char == "Space" {
		char = " "
	}
	switch {
	case len(held) == 0 && utf8.RuneCountInString(char) == 1:
		f.write(char)
	case len(e.Modifiers) == 0 && e.Key == "Backspace" && len(f.typed) > 0:
		_, size := utf8.DecodeLastRune(f.typed)
		f.typed = f.typed[:len(f.typed)-size]
	case len(e.Modifiers) == 1 && held != nil && e.Modifiers[0] == "ctrl" && (e.Key == "c" || e.Key == "v"):
		f.flush()
		f.add(map[string]string{"c": "copy", "v": "paste"}[e.Key], map[string]any{})
	default:
		f.flush()
		f.combo(append(slices.Clone(e.Modifiers), e.Key))
	}
}

// combo adds a key_combo, or counts the one before up.
func (f *folder) combo(keys []string) {
	list := make([]any, len(keys))
	for i, k := range keys {
		list[i] = k
	}
	if n := len(f.steps); n > 0 && f.steps[n-1].Kind == "key_combo" && slices.Equal(f.steps[n-1].Params["keys"].([]any), list) {
		times, _ := f.steps[n-1].Params["repeat"].(int64)
		f.steps[n-1].Params["repeat"] = min(1000, max(times, 1)+1)
		return
	}
	f.add("key_combo", map[string]any{"keys": list})
}

func (f *folder) write(text string) {
	if len(f.typed)+len(text) > maxTyped {
		f.flush()
	}
	f.typed = append(f.typed, text...)
}

// flush ends the text that was being typed.
func (f *folder) flush() {
	if len(f.typed) > 0 {
		f.add("type_text", map[string]any{"text": string(f.typed)})
		f.typed = nil
	}
}

// scroll adds up turns of the wheel that follow one another.
func (f *folder) scroll(e Event) {
	if n := len(f.steps); n > 0 && f.steps[n-1].Kind == "scroll" {
		p := f.steps[n-1].Params
		p["dx"], p["dy"] = clamp(p["dx"].(int64)+int64(e.DX)), clamp(p["dy"].(int64)+int64(e.DY))
		return
	}
	f.add("scroll", map[string]any{"dx": int64(e.DX), "dy": int64(e.DY)})
}

func clamp(n int64) int64 { return max(-10_000, min(10_000, n)) }

// window: an opening is waited for; one that a pause already waits for adds
// nothing.
func (f *folder) window(e Event) {
	kind := map[string]string{"focus": "focus_window", "open": "wait_window", "close": "close_window"}[e.Action]
	if n := len(f.steps); n > 0 && kind != "close_window" && f.steps[n-1].Kind == "wait_window" && sameWindow(f.steps[n-1].Params["window"], e.Window) {
		return
	}
	f.add(kind, map[string]any{"window": e.Window})
}

func sameWindow(a any, b map[string]any) bool {
	w, _ := a.(map[string]any)
	return maps.EqualFunc(w, b, func(x, y any) bool { return x == y })
}

// target is where a click went: what was named, and the place.
func (e Event) target() map[string]any {
	t := map[string]any{"x": number(e.X), "y": number(e.Y)}
	if e.Text != "" {
		t["text"] = e.Text
	}
	if e.Role != "" {
		t["role"] = e.Role
	}
	if e.Window != nil {
		t["window"] = e.Window
	}
	return t
}

func number(p *float64) any {
	if p == nil {
		return int64(0)
	}
	if *p == math.Trunc(*p) {
		return int64(*p)
	}
	return *p
}
