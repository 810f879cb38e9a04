package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"arkamsg/internal/errkind"
	"arkamsg/internal/httpapi/wire"
	"arkamsg/journal"
)

// readyWithin bounds how long a readiness check may take.
const readyWithin = 2 * time.Second

// healthz answers as long as the process does; it asks nobody.
func healthz(w http.ResponseWriter, _ *http.Request) {
	wire.JSON(w, http.StatusOK, struct {
		Status string `json:"status"`
	}{"ok"})
}

// readiness is what /ops/readiness says: whether messages flow, by what was
// checked.
type readiness struct {
	Ready  bool    `json:"ready"`
	Checks []check `json:"checks"`
}

type check struct {
	Code   string `json:"code"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
}

// readinessChecks must all pass before a message sent now can be delivered. A
// fresh lease is itself proof that the journal was written moments ago.
var readinessChecks = []struct {
	code string
	run  func(context.Context, *journal.Journal) error
}{
	{"daemon_lease", leaseFresh},
	{"journal_files", func(_ context.Context, j *journal.Journal) error { return j.CheckFiles() }},
	{"journal_intact", func(_ context.Context, j *journal.Journal) error { return j.Damage() }},
	{"journal_writable", writable},
}

func (a *API) readiness(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyWithin)
	defer cancel()
	answer, status := readiness{Ready: true}, http.StatusOK
	for _, c := range readinessChecks {
		result := check{Code: c.code, OK: true}
		if err := c.run(ctx, a.opts.Room.Journal); err != nil {
			result.OK, result.Detail = false, err.Error()
			answer.Ready, status = false, http.StatusServiceUnavailable
		}
		answer.Checks = append(answer.Checks, result)
	}
	wire.JSON(w, status, answer)
}

func leaseFresh(ctx context.Context, j *journal.Journal) error {
	lease, live, err := j.Leader(ctx)
	if err != nil {
		return err
	}
	if !live {
		return errkind.New(errkind.NotNow, "the daemon's lease of term %d has run out", lease.Term)
	}
	return nil
}

// writable takes the turn of a writer and gives it back without writing.
func writable(ctx context.Context, j *journal.Journal) error {
	if err := j.Update(ctx, func(*journal.Tx) error { return nil }); err != nil {
		return fmt.Errorf("no turn to write: %w", err)
	}
	return nil
}
