package journal

import "arkamsg/internal/errkind"

var (
	// ErrNoWork says that the lane has nothing to claim now. NotFound.
	ErrNoWork = errkind.New(errkind.NotFound, "no work to claim")
	// ErrStale says that the ticket or lease was taken over: somebody else's
	// word counts now. Nothing was written. Conflict.
	ErrStale = errkind.New(errkind.Conflict, "stale: taken over by another holder or term")
	// ErrLed says that another daemon leads. Conflict.
	ErrLed = errkind.New(errkind.Conflict, "another daemon leads")
)

// ErrNotFound says that no event has this id. NotFound.
var ErrNotFound = errkind.New(errkind.NotFound, "no such event")

func notFound(id MessageID) error {
	return errkind.New(errkind.NotFound, "no event %q", string(id)).WithHint("arkamsg events").Wrap(ErrNotFound)
}

const verifyHint = "see what is wrong: arkamsg journal verify; restore a backup, or go on without what is lost: arkamsg journal rebuild --accept-loss"

func damaged(format string, args ...any) *errkind.Error {
	return errkind.New(errkind.Damaged, format, args...).WithHint(verifyHint)
}
