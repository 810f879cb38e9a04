package journal

import (
	"context"
	"fmt"

	"arkamsg/internal/errkind"
)

// Report is what Verify found.
type Report struct {
	Events      int64 // rows proved, in the journal and its archives
	Transitions int64
	Archives    int
	Findings    []Finding
	More        int // findings beyond the first maxFindings
}

// Finding is one thing wrong. Codes: files, head, integrity, unreadable,
// event_changed, event_missing, transition_changed, transition_missing,
// history_impossible, work_lies, dead_lies, counter_lies, archive_missing,
// archive_changed, baseline_lies.
type Finding struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (f Finding) String() string { return f.Message }

const maxFindings = 100

// OK reports whether nothing was found.
func (r Report) OK() bool { return len(r.Findings) == 0 }

// Err is nil, or a Damaged error with all findings and what to do.
func (r Report) Err() error {
	if r.OK() {
		return nil
	}
	e := errkind.New(errkind.Damaged, "the journal is not what was written: %d findings", len(r.Findings)+r.More)
	for _, f := range r.Findings {
		e.Problems = append(e.Problems, errkind.Problem{Field: f.Code, Message: f.Message})
	}
	return e.WithHint("%s", r.remedy())
}

// remedy depends on whether history itself is hurt or only what is derived.
func (r Report) remedy() string {
	for _, f := range r.Findings {
		switch f.Code {
		case "work_lies", "dead_lies", "counter_lies", "baseline_lies":
		case "archive_missing":
			return "put the archive file back beside journal.db"
		default:
			return "restore a backup, or go on without what is lost: arkamsg journal rebuild --accept-loss"
		}
	}
	return "arkamsg journal rebuild"
}

func (r *Report) add(code, format string, args ...any) {
	if len(r.Findings) >= maxFindings {
		r.More++
		return
	}
	r.Findings = append(r.Findings, Finding{code, fmt.Sprintf(format, args...)})
}

// Verify proves the whole journal: files, head, pages, both chains, that the
// projections are what history says, and the archives. It reads one snapshot
// and disturbs nobody. What it finds is in the report; an error means that it
// could not look.
func (j *Journal) Verify(ctx context.Context) (Report, error) {
	var r Report
	if err := j.db.CheckFiles(); err != nil {
		r.add("files", "%v", err)
	}
	m, err := j.head.read() // before the snapshot
	if err != nil {
		return r, err
	}
	if err := j.verifySnapshot(ctx, &r, &m); err != nil {
		return r, err
	}
	return r, j.verifyArchives(ctx, &r)
}

// verifySnapshot proves what is in the database itself; m is nil for a copy
// that has no head of its own.
func (j *Journal) verifySnapshot(ctx context.Context, r *Report, m *mark) error {
	err := j.view(ctx, func(tx *Tx) error {
		*r = Report{Findings: r.Findings}
		if err := tx.integrity(r); err != nil {
			return err
		}
		if m != nil {
			if err := tx.tails(); err != nil {
				return err
			}
			if err := tx.reaches(*m); err != nil {
				r.add("head", "%v", err)
			}
		}
		if err := tx.walkChains(r, 0, 0); err != nil {
			return err
		}
		return tx.checkProjections(r)
	})
	if errkind.Of(err) == errkind.Damaged {
		r.add("unreadable", "%v", err)
		return nil
	}
	return err
}

// integrity lets SQLite look at its own pages.
func (tx *Tx) integrity(r *Report) error {
	rows, err := tx.sql.Query(`PRAGMA integrity_check(20)`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return err
		}
		if s != "ok" {
			r.add("integrity", "SQLite: %s", s)
		}
	}
	return rows.Err()
}
