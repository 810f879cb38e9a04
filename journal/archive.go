package journal

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"arkamsg/internal/crash"
	"arkamsg/internal/sqlite"
)

//go:embed archiveschema/*.sql
var archiveSchema embed.FS

// archiveBatch is how many events move at a time: few enough that the writer is
// never held for 50 ms, enough that a million take minutes.
const archiveBatch = 100

// archivedEvent is an event on its way, with the digests that hold it in place.
type archivedEvent struct {
	Event
	hash, prev digest
	steps      []archivedStep
	last       progress
}

type archivedStep struct {
	transition
	hash, prev digest
}

// Archive moves events that ended before olderThan to monthly files beside the
// journal (journal-YYYY-MM.db, by the month of the append) and returns how many.
// Dead letters stay until they are revived or cleared.
//
// Per batch: copy and commit to the archive, read it back and prove it, then
// delete from the journal in one transaction that also records ids, anchors and
// counters. Killed in between, an event is in both files and Get takes it from
// the journal; the next run finds the copy there and goes on.
func (j *Journal) Archive(ctx context.Context, olderThan time.Time) (moved int, err error) {
	files := &archiveFiles{j: j, open: map[string]*sqlite.DB{}}
	defer func() { err = firstError(err, files.close()) }()
	var after EventID
	for {
		batch, err := j.terminalBatch(ctx, after, olderThan)
		if err != nil || len(batch) == 0 {
			return moved, err
		}
		after = batch[len(batch)-1].ID
		n, err := j.moveBatch(ctx, files, batch)
		moved += n
		if err != nil {
			return moved, err
		}
	}
}

func (j *Journal) moveBatch(ctx context.Context, files *archiveFiles, batch []archivedEvent) (int, error) {
	file := archiveName(batch[0].CreatedAt)
	db, err := files.get(ctx, file)
	if err != nil {
		return 0, err
	}
	if err := copyTo(ctx, db, batch); err != nil {
		return 0, err
	}
	crash.At("journal:archive-copied")
	if err := proveCopies(ctx, db, batch); err != nil {
		return 0, err
	}
	err = j.Update(ctx, func(tx *Tx) error { return tx.dropArchived(file, batch) })
	crash.At("journal:archive-dropped")
	if errors.Is(err, errArchived) {
		return 0, nil // another process moved them meanwhile
	}
	if err != nil {
		return 0, err
	}
	return len(batch), nil
}

func archiveName(at time.Time) string { return "journal-" + at.UTC().Format("2006-01") + ".db" }

// archiveFiles keeps the months of one run open.
type archiveFiles struct {
	j    *Journal
	open map[string]*sqlite.DB
}

func (a *archiveFiles) get(ctx context.Context, file string) (*sqlite.DB, error) {
	if db := a.open[file]; db != nil {
		return db, nil
	}
	db, err := sqlite.Open(ctx, filepath.Join(a.j.home, file), sqlite.Options{Sync: "full"})
	if err != nil {
		return nil, err
	}
	a.open[file] = db
	sub, err := fs.Sub(archiveSchema, "archiveschema")
	if err != nil {
		return nil, err
	}
	return db, db.Migrate(ctx, "archive", sub)
}

func (a *archiveFiles) close() error {
	var errs []error
	for _, db := range a.open {
		errs = append(errs, db.Close())
	}
	return firstError(errs...)
}

// terminal chooses what has ended before ?2 after event ?1. The ends of both
// chains stay, for the head to be compared with.
const terminal = `SELECT ` + eventColumns + ` FROM event e WHERE id > ?1 AND created_at < ?2
	AND id < (SELECT max(id) FROM event)
	AND NOT EXISTS(SELECT 1 FROM work w WHERE w.lane = e.lane AND w.event_id = e.id)
	AND NOT EXISTS(SELECT 1 FROM dead d WHERE d.event_id = e.id)
	AND NOT EXISTS(SELECT 1 FROM transition t WHERE t.event_id = e.id
		AND (t.at >= ?2 OR t.seq = (SELECT max(seq) FROM transition)))
	ORDER BY id LIMIT ?3`

// terminalBatch reads the next events that can go, all of one month.
func (j *Journal) terminalBatch(ctx context.Context, after EventID, olderThan time.Time) (batch []archivedEvent, err error) {
	err = j.view(ctx, func(tx *Tx) error {
		batch, err = tx.terminalEvents(after, olderThan)
		for i := range batch {
			if err := tx.loadSteps(&batch[i]); err != nil {
				return err
			}
		}
		return err
	})
	return batch, err
}

func (tx *Tx) terminalEvents(after EventID, olderThan time.Time) (batch []archivedEvent, err error) {
	rows, err := tx.sql.Query(terminal, after, olderThan.UnixMilli(), archiveBatch)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var a archivedEvent
		if a.Event, a.hash, err = scanEvent(rows); err != nil {
			return nil, err
		}
		if len(batch) > 0 && archiveName(a.CreatedAt) != archiveName(batch[0].CreatedAt) {
			break
		}
		batch = append(batch, a)
	}
	return batch, rows.Err()
}

// loadSteps reads an event's transitions and the digests before each row.
func (tx *Tx) loadSteps(a *archivedEvent) (err error) {
	if a.prev, err = tx.hashBefore("event", "id", int64(a.ID)); err != nil {
		return err
	}
	a.last = startOf(a.Event)
	rows, err := tx.sql.Query(`SELECT `+transitionColumns+` FROM transition WHERE event_id = ? ORDER BY n`, a.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var s archivedStep
		if s.transition, s.hash, err = scanTransition(rows); err != nil {
			return err
		}
		if s.prev, err = tx.hashBefore("transition", "seq", s.seq); err != nil {
			return err
		}
		a.last.state, a.last.reason = to[s.step], s.reason
		a.steps = append(a.steps, s)
	}
	return rows.Err()
}

func (tx *Tx) hashBefore(table, column string, seq int64) (digest, error) {
	if seq == 1 {
		return digest{}, nil
	}
	return tx.hashAt(table, column, seq-1)
}

// copyTo adds the batch to its archive; what a killed run left there stays.
func copyTo(ctx context.Context, db *sqlite.DB, batch []archivedEvent) error {
	return db.Write(ctx, func(tx *sqlite.Tx) error {
		for _, a := range batch {
			if err := a.copy(tx); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a archivedEvent) copy(tx *sqlite.Tx) error {
	_, err := tx.Exec(`INSERT INTO event(`+eventColumns+`, prev) VALUES(?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING`,
		a.ID, a.MessageID, a.Kind, a.Lane, a.Body, a.Counter, bit(a.Test), bit(a.Fact), a.CreatedAt.UnixMilli(), a.hash[:], a.prev[:])
	for _, s := range a.steps {
		if err == nil {
			_, err = tx.Exec(`INSERT INTO transition(`+transitionColumns+`, prev) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING`,
				s.seq, s.event, s.n, s.step, s.at, s.attempt, s.fence, s.term, s.holder, s.reason, s.detail, s.evidence, s.result, s.hash[:], s.prev[:])
		}
	}
	return err
}

// proveCopies reads the batch back from the archive and proves every digest.
func proveCopies(ctx context.Context, db *sqlite.DB, batch []archivedEvent) error {
	return db.Read(ctx, func(tx *sqlite.Tx) error {
		for _, a := range batch {
			if err := a.prove(tx); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a archivedEvent) prove(stx *sqlite.Tx) error {
	e, d, err := scanEvent(stx.QueryRow(`SELECT `+eventColumns+` FROM event WHERE id = ?`, a.ID))
	if err != nil {
		return err
	}
	if d != a.hash || hashEvent(a.prev, e) != a.hash {
		return damaged("event %d cannot be moved: the archive or the journal is damaged there", a.ID)
	}
	for _, s := range a.steps {
		t, d, err := scanTransition(stx.QueryRow(`SELECT `+transitionColumns+` FROM transition WHERE seq = ?`, s.seq))
		if err != nil {
			return err
		}
		if d != s.hash || hashTransition(s.prev, t) != s.hash {
			return damaged("transition %d cannot be moved: the archive or the journal is damaged there", s.seq)
		}
	}
	return nil
}

// archiveOf names the archive that holds an id. NotFound: none does.
func (tx *Tx) archiveOf(id MessageID) (file string, err error) {
	err = tx.sql.QueryRow(`SELECT coalesce((SELECT file FROM archived WHERE message_id = ?), '')`, id).Scan(&file)
	if err == nil && file == "" {
		err = notFound(id)
	}
	return file, err
}

// getArchived reads an event from its archive.
func (j *Journal) getArchived(ctx context.Context, file string, id MessageID) (r Record, err error) {
	path := filepath.Join(j.home, filepath.Base(file))
	db, err := sqlite.Open(ctx, path, sqlite.Options{ReadOnly: true})
	if err != nil {
		return r, fmt.Errorf("%q was moved to %s: %w", string(id), file, err)
	}
	defer db.Close()
	err = db.Read(ctx, func(stx *sqlite.Tx) error {
		r, err = (&Tx{j: j, sql: stx, ends: &ends{}}).fromArchive(id)
		return err
	})
	r.Archive = filepath.Base(file)
	return r, err
}

func (tx *Tx) fromArchive(id MessageID) (Record, error) {
	e, err := tx.event(id)
	if err != nil {
		return Record{}, err
	}
	p := startOf(e)
	if !e.Fact {
		if p, err = tx.ended(e); err != nil {
			return Record{}, err
		}
	}
	r := Record{Event: e, State: p.state, Reason: p.reason, Attempts: p.attempt}
	return r, tx.addHistory(&r)
}
