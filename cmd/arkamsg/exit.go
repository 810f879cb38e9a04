package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"

	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
)

const exitDone = 0

// exitCodes is the one table from kinds of error to exit codes (CONTRACT "Exit
// codes"). A test proves that no kind is missing.
var exitCodes = map[errkind.Kind]int{
	errkind.Internal:    1,
	errkind.Invalid:     2,
	errkind.NotFound:    3,
	errkind.Conflict:    4,
	errkind.Refused:     5,
	errkind.NotNow:      6,
	errkind.Damaged:     7,
	errkind.Interrupted: 130,
}

// A verdict is an exit code for a result that was printed already, such as a
// message that was not delivered or a doctor that found something.
type verdict int

func (v verdict) Error() string { return fmt.Sprintf("exit %d", int(v)) }

// report prints the error as a person needs it and returns its exit code.
func (p *program) report(err error) int {
	var v verdict
	if errors.As(err, &v) {
		return int(v)
	}
	kind := errkind.Of(err)
	problems := errkind.Problems(err)
	fmt.Fprintf(p.stderr, "arkamsg: %s\n", plaintext.EscapeText(headline(err, problems)))
	for _, problem := range problems {
		fmt.Fprintf(p.stderr, "  - %s\n", plaintext.EscapeText(problem.String()))
	}
	if errkind.IsUnknown(err) {
		fmt.Fprintln(p.stderr, "It may have happened all the same: repeat only with the same --id.")
	}
	if kind == errkind.Internal {
		id := rand.Text()[:8]
		slog.New(slog.NewJSONHandler(p.stderr, nil)).Error("internal error", "log_id", id, "error", err.Error())
		fmt.Fprintf(p.stderr, "This is a bug in arkamsg; please report it with log id %s.\n", id)
	}
	if hint := errkind.Hint(err); hint != "" {
		fmt.Fprintf(p.stderr, "Next: %s\n", plaintext.EscapeText(hint))
	}
	return exitCodes[kind]
}

// headline is the error without the problems that follow as a list.
func headline(err error, problems []errkind.Problem) string {
	var e *errkind.Error
	if len(problems) > 0 && errors.As(err, &e) {
		return e.Message + ":"
	}
	return err.Error()
}
