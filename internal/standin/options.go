package standin

import (
	"flag"
	"fmt"
	"io"
	"time"
)

// Options are the stand-in's habits; the flags of Main.
type options struct {
	look        string
	log         string
	swallow     int
	burst       time.Duration
	dialogFile  string
	busy        time.Duration
	draft       string
	suggestion  string
	onSubmit    string
	placeholder int
	echoDelay   time.Duration
	width       int
	mute        bool
	noFrame     bool
	exitFile    string
	dialogAfter bool
	fidget      bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("standin", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.look, "profile", "codex", "how it looks: codex, claude, gemini or generic")
	f.StringVar(&o.log, "log", "", "file for the record, one JSON line each")
	f.IntVar(&o.swallow, "swallow-enter", 0, "ignore the first K Enters after each change of the composer")
	f.DurationVar(&o.burst, "burst", 0, "ignore an Enter that comes this soon after other input")
	f.StringVar(&o.dialogFile, "dialog-file", "", "a dialog is open while this file exists")
	f.DurationVar(&o.busy, "busy", 0, "be in a turn for this long after a submission")
	f.StringVar(&o.draft, "draft", "", "text that a person has already typed")
	f.StringVar(&o.suggestion, "suggestion", "", "dim text shown in the empty composer")
	f.StringVar(&o.onSubmit, "on-submit", "", "shell command run with each submitted text on standard input")
	f.IntVar(&o.placeholder, "placeholder", 1000, "show a paste longer than this as [Pasted text]; 0: never")
	f.DurationVar(&o.echoDelay, "echo-delay", 0, "draw this long after the input")
	f.IntVar(&o.width, "width", 0, "wrap the composer at this column; 0: at the terminal's")
	f.BoolVar(&o.mute, "mute", false, "never draw what is typed")
	f.BoolVar(&o.noFrame, "no-frame", false, "do not ask for bracketed paste")
	f.StringVar(&o.exitFile, "exit-file", "", "leave when this file exists")
	f.BoolVar(&o.dialogAfter, "dialog-after-paste", false, "create the dialog file when a paste has arrived")
	f.BoolVar(&o.fidget, "fidget", false, "move the cursor at each SIGUSR1, as a drawn animation does")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if _, ok := looks[o.look]; !ok {
		return o, fmt.Errorf("no look %q", o.look)
	}
	return o, nil
}
