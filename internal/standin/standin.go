package standin

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// Main runs the stand-in until its input ends, Ctrl-C in an empty composer, or
// its exit file appears. It returns the exit code.
func Main(args []string, stdin *os.File, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "standin:", err)
		return 2
	}
	rec, err := openRecord(o.log)
	if err != nil {
		fmt.Fprintln(stderr, "standin:", err)
		return 1
	}
	if term.IsTerminal(int(stdin.Fd())) {
		saved, err := term.MakeRaw(int(stdin.Fd()))
		if err != nil {
			fmt.Fprintln(stderr, "standin:", err)
			return 1
		}
		defer term.Restore(int(stdin.Fd()), saved)
	}
	a := &agent{opt: o, look: looks[o.look], out: stdout, rec: rec, swallow: o.swallow}
	if o.draft != "" {
		a.pieces = []piece{{text: o.draft}}
	}
	a.run(stdin)
	return 0
}

// piece is a part of the composer's text, and how it came.
type piece struct {
	text   string
	pasted bool
}

type agent struct {
	opt  options
	look look
	out  io.Writer
	rec  *recorder

	keys      decoder
	pieces    []piece
	turns     []string
	swallow   int // Enters still to be ignored
	dialog    bool
	lastInput time.Time
	busyUntil time.Time
	restless  int
	quit      bool
}

// tick is how often files and the end of a turn are looked for.
const tick = 20 * time.Millisecond

func (a *agent) run(stdin io.Reader) {
	if !a.opt.noFrame {
		_, _ = io.WriteString(a.out, "\x1b[?2004h")
		defer io.WriteString(a.out, "\x1b[?2004l\r\n")
	}
	nudge := make(chan os.Signal, 1)
	if a.opt.fidget {
		signal.Notify(nudge, syscall.SIGUSR1)
		defer signal.Stop(nudge)
	}
	a.rec.put(Entry{Kind: "start"})
	defer a.rec.put(Entry{Kind: "exit"})
	in := read(stdin)
	clock := time.NewTicker(tick)
	defer clock.Stop()
	a.draw()
	for !a.quit {
		select {
		case b, ok := <-in:
			if !ok {
				return
			}
			a.take(b)
			time.Sleep(a.opt.echoDelay)
			a.draw()
		case <-clock.C:
			a.poll()
		case <-nudge:
			a.fidget()
		}
	}
}

// read hands over the input as it comes, a copy each.
func read(r io.Reader) <-chan []byte {
	out := make(chan []byte)
	go func() {
		defer close(out)
		buf := make([]byte, 1<<16)
		for {
			n, err := r.Read(buf)
			if n > 0 {
				out <- append([]byte(nil), buf[:n]...)
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}

// poll follows the world: the dialog's file, the exit's, the end of a turn.
func (a *agent) poll() {
	dialog := exists(a.opt.dialogFile)
	ended := !a.busyUntil.IsZero() && !a.busyNow()
	if ended {
		a.busyUntil = time.Time{}
	}
	a.quit = a.quit || exists(a.opt.exitFile)
	if dialog != a.dialog || ended {
		a.dialog = dialog
		a.draw()
	}
}

// fidget moves the cursor and leaves the text alone.
func (a *agent) fidget() {
	a.restless = (a.restless + 1) % 40
	fmt.Fprintf(a.out, "\x1b[%dG", 1+a.restless)
}

func exists(name string) bool {
	if name == "" {
		return false
	}
	_, err := os.Stat(name)
	return err == nil
}

func (a *agent) busyNow() bool { return time.Now().Before(a.busyUntil) }

func (a *agent) take(b []byte) {
	now := time.Now()
	a.rec.put(Entry{Kind: "raw", Raw: b})
	a.dialog = exists(a.opt.dialogFile)
	for _, k := range a.keys.feed(b) {
		if a.dialog {
			a.rec.put(Entry{Kind: "answer", Text: k.text})
			continue
		}
		a.press(k, now)
	}
}

func (a *agent) press(k key, now time.Time) {
	switch k.kind {
	case keyEnter:
		a.enter(now)
		return
	case keyPaste:
		a.rec.put(Entry{Kind: "paste", Text: k.text})
		a.add(k.text, true)
		if a.opt.dialogAfter {
			_ = os.WriteFile(a.opt.dialogFile, nil, 0o600)
		}
	case keyRune:
		a.add(k.text, false)
	case keyNewline:
		a.add("\n", false)
	case keyErase:
		a.erase()
	case keyClear:
		a.pieces = nil
	case keyQuit:
		a.quit = len(a.pieces) == 0
		a.pieces = nil
	}
	a.lastInput, a.swallow = now, a.opt.swallow
}

func (a *agent) add(text string, pasted bool) {
	if n := len(a.pieces); n > 0 && !pasted && !a.pieces[n-1].pasted {
		a.pieces[n-1].text += text
		return
	}
	a.pieces = append(a.pieces, piece{text: text, pasted: pasted})
}

// erase takes the last rune, or a placeholder as a whole.
func (a *agent) erase() {
	n := len(a.pieces)
	if n == 0 {
		return
	}
	last := &a.pieces[n-1]
	r := []rune(last.text)
	if len(r) <= 1 || last.pasted && len(last.text) > a.opt.placeholder {
		a.pieces = a.pieces[:n-1]
		return
	}
	last.text = string(r[:len(r)-1])
}

// enter submits, or has a reason not to.
func (a *agent) enter(now time.Time) {
	text := a.text()
	why := ""
	switch {
	case now.Sub(a.lastInput) < a.opt.burst:
		why = "burst"
	case a.swallow > 0:
		why = "swallowed"
		a.swallow--
	case text == "":
		why = "empty"
	}
	if why != "" {
		a.rec.put(Entry{Kind: "enter", Why: why})
		return
	}
	a.rec.put(Entry{Kind: "submit", Text: text})
	a.turns = append(a.turns, text)
	a.pieces = nil
	if a.opt.busy > 0 {
		a.busyUntil = now.Add(a.opt.busy)
	}
	a.hand(text)
}

func (a *agent) text() string {
	var b strings.Builder
	for _, p := range a.pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

// handTime bounds the command run on a submission.
const handTime = 30 * time.Second

// hand gives the text to the command, whose output becomes a turn.
func (a *agent) hand(text string) {
	if a.opt.onSubmit == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), handTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", a.opt.onSubmit)
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	if err != nil {
		out = append(out, (" (" + err.Error() + ")")...)
	}
	if s := strings.TrimSpace(string(out)); s != "" {
		a.turns = append(a.turns, printable(s))
	}
}

// printable keeps a command's output from drawing on our screen.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}
