package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"arkamsg/internal/plaintext"
)

// timeFormat is RFC 3339 in UTC with milliseconds, everywhere.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// stamp renders a time for --json; the zero time is null.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(timeFormat)
}

// printJSON prints one object on one line, harmless on a terminal too.
func (p *program) printJSON(v any) error {
	var line strings.Builder
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(p.stdout, plaintext.EscapeJSON(line.String()))
	return err
}

// printf writes a result. Its arguments are escaped for the terminal unless
// they are numbers; the format is ours.
func (p *program) printf(format string, args ...any) {
	for i, a := range args {
		switch v := a.(type) {
		case int, int64, float64, bool:
		default:
			args[i] = plaintext.EscapeText(fmt.Sprint(v))
		}
	}
	fmt.Fprintf(p.stdout, format, args...)
}

// A table is columns of text for people.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer) table {
	return table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
}

// row adds a line; every cell is escaped.
func (t table) row(cells ...any) {
	for i, c := range cells {
		if i > 0 {
			fmt.Fprint(t.w, "\t")
		}
		fmt.Fprint(t.w, cell(c))
	}
	fmt.Fprintln(t.w)
}

// cell is the text of a cell: escaped, unless its colours are our own. What is
// not there, such as a time that never came, is empty.
func cell(c any) string {
	switch v := c.(type) {
	case nil:
		return ""
	case painted:
		return string(v)
	}
	return plaintext.EscapeLine(fmt.Sprint(c))
}

func (t table) flush() error { return t.w.Flush() }

// age says how long ago something was, in the unit that a person would use.
func age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return d.Round(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

const (
	red   = "\x1b[31m"
	green = "\x1b[32m"
)

// painted is text that holds our own colours and was escaped already.
type painted string

// paint colours text on a terminal without NO_COLOR. Only our own words are
// painted.
func (p *program) paint(colour, text string) painted {
	if !terminal(p.stdout) || p.getenv("NO_COLOR") != "" {
		return painted(text)
	}
	return painted(colour + text + "\x1b[0m")
}
