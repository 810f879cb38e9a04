package errkind_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"arkamsg/internal/errkind"
)

func TestEveryKindHasAName(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range errkind.Kinds {
		if strings.HasPrefix(k.String(), "kind(") || seen[k.String()] {
			t.Errorf("kind %d has no name of its own: %q", k, k)
		}
		seen[k.String()] = true
	}
	if next := errkind.Kinds[len(errkind.Kinds)-1] + 1; !strings.HasPrefix(next.String(), "kind(") {
		t.Errorf("%q is missing from Kinds", next)
	}
}

func TestErrorSurvivesWrapping(t *testing.T) {
	inner := errkind.New(errkind.NotNow, "commit failed").Wrap(io.ErrUnexpectedEOF).
		WithHint("repeat with --id %s", "X").AsUnknown()
	err := fmt.Errorf("push: %w", inner)

	if got := errkind.Of(err); got != errkind.NotNow {
		t.Errorf("Of = %v", got)
	}
	if got := errkind.Hint(err); got != "repeat with --id X" {
		t.Errorf("Hint = %q", got)
	}
	if !errkind.IsUnknown(err) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("unknown flag or cause was lost")
	}
}

func TestHintIsFoundInJoinedErrors(t *testing.T) {
	err := errors.Join(io.EOF, fmt.Errorf("close: %w", errkind.New(errkind.Refused, "no").WithHint("chmod").AsUnknown()))
	if errkind.Hint(err) != "chmod" || !errkind.IsUnknown(err) {
		t.Error("an error that was joined to another lost its hint")
	}
}

func TestUnkindErrorIsOurBug(t *testing.T) {
	if got := errkind.Of(io.EOF); got != errkind.Internal {
		t.Errorf("Of(io.EOF) = %v, want internal", got)
	}
	if errkind.Hint(nil) != "" || errkind.IsUnknown(nil) || errkind.Problems(io.EOF) != nil {
		t.Error("nothing must come out of nothing")
	}
}

func TestAllProblemsAreShown(t *testing.T) {
	err := errkind.New(errkind.Invalid, "two problems").WithProblems(
		errkind.Problem{Field: "from", Line: 3, Message: "missing"},
		errkind.Problem{Message: "no text"},
	)
	want := "two problems; from (line 3): missing; no text"
	if err.Error() != want {
		t.Errorf("got %q, want %q", err.Error(), want)
	}
}
