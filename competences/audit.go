package competences

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"arkamsg/internal/crash"
	"arkamsg/internal/durable"
	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
)

// The exports, below data/competences.
const (
	auditFile      = "persist_audit.jsonl"
	incompleteFile = "incomplete_learnings.jsonl"
)

// entry is one line of the audit, as the seed has it (§4).
type entry struct {
	PersistID       string  `json:"persist_id"`
	ClientPersistID string  `json:"client_persist_id"`
	Timestamp       string  `json:"timestamp"`
	MachineID       string  `json:"machine_id"`
	SessionID       string  `json:"session_id"`
	CompetenceName  string  `json:"competence_name"`
	CompetenceID    string  `json:"competence_id"`
	YAMLPath        string  `json:"yaml_path"`
	LearningState   string  `json:"learning_state"`
	Partial         bool    `json:"partial"`
	DropoutReason   *string `json:"dropout_reason"`
	ExternalAgentID *string `json:"external_agent_id"`
	AuditEntryID    int64   `json:"audit_entry_id"`
}

// exporter copies the audit table into the two JSONL files. The lines are
// appended in the order of their ids, under a lock on the file that other
// processes respect; what a crash tore or left out is put right by the next
// export, and nothing before the end of the file is ever touched.
//
// The incomplete learnings go first, so that an audit file which reaches a line
// tells that the other file does too; behind notes that this once failed.
type exporter struct {
	root *os.Root
	db   *sqlite.DB
	log  *slog.Logger

	mu     *sync.Mutex
	upTo   int64 // every line up to this id was exported by us
	behind bool
	ends   map[string]end // by file
}

// end is how a file was left: when it is still so, its last line is known.
type end struct {
	file os.FileInfo
	size int64
	id   int64
}

// export is a file and the column that it copies.
type export struct{ file, query string }

var (
	incompleteExport = export{incompleteFile, `SELECT id, incomplete FROM competence_audit WHERE incomplete <> '' AND id > ? ORDER BY id`}
	auditExport      = export{auditFile, `SELECT id, line FROM competence_audit WHERE id > ? ORDER BY id`}
	exports          = []export{incompleteExport, auditExport}
)

// recorded is a row of the audit that was just committed.
type recorded struct {
	id               int64
	line, incomplete []byte
}

// add exports a row. When its line is the next one of the audit file and the
// only one, nothing is asked of the database. A caller whose line another one
// has exported meanwhile is done at once.
func (e *exporter) add(ctx context.Context, r recorded) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.id <= e.upTo {
		return nil
	}
	if len(r.incomplete) == 0 && !e.behind {
		if added, err := e.addNext(r); added || err != nil {
			return err
		}
	}
	return e.copyAll(ctx)
}

func (e *exporter) addNext(r recorded) (added bool, err error) {
	f, last, err := e.open(auditFile)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if last != r.id-1 {
		return false, nil
	}
	return true, e.extend(f, auditFile, append(r.line, '\n'), r.id)
}

// catchUp exports whatever the files lack.
func (e *exporter) catchUp(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.copyAll(ctx)
}

func (e *exporter) copyAll(ctx context.Context) error {
	incomplete := e.copy(ctx, incompleteExport)
	e.behind = incomplete != nil
	return errors.Join(incomplete, e.copy(ctx, auditExport))
}

func (e *exporter) copy(ctx context.Context, x export) error {
	f, last, err := e.open(x.file)
	if err != nil {
		return err
	}
	defer f.Close()
	missing, last, err := e.missing(ctx, x.query, last)
	if err != nil {
		return err
	}
	return e.extend(f, x.file, missing, last)
}

// extend appends lines of which the last one has this id, durably.
func (e *exporter) extend(f *os.File, name string, lines []byte, id int64) error {
	if len(lines) > 0 {
		crash.At("competences:before-export")
		if _, err := f.Write(lines); err != nil {
			return err
		}
		crash.At("competences:export-written")
		if err := f.Sync(); err != nil {
			return err
		}
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	e.ends[name] = end{info, info.Size(), id}
	if name == auditFile {
		e.upTo = max(e.upTo, id)
	}
	return nil
}

// open opens or creates an export, takes its lock, cuts a torn last line and
// returns the id of the last whole one. Closing the file lets the lock go.
func (e *exporter) open(name string) (f *os.File, last int64, err error) {
	fresh := false
	f, err = e.root.OpenFile(name, os.O_RDWR|os.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		fresh = true
		f, err = e.root.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	}
	if err != nil {
		return nil, 0, err
	}
	if last, err = e.ready(f, name, fresh); err != nil {
		return nil, 0, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return f, last, nil
}

func (e *exporter) ready(f *os.File, name string, fresh bool) (last int64, err error) {
	if err := flock(f); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errkind.New(errkind.Refused, "%s/%s is not a regular file", Folder, name)
	}
	if known, ok := e.ends[name]; ok && known.size == info.Size() && os.SameFile(known.file, info) {
		return known.id, nil
	}
	if fresh {
		if err := durable.SyncDir(e.root, "."); err != nil {
			return 0, err
		}
	}
	if err := cutTornLine(f); err != nil {
		return 0, err
	}
	return lastID(f)
}

func flock(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// tailSize is more than any line has.
const tailSize = 64 << 10

// tail returns the end of the file and where it starts.
func tail(f *os.File) ([]byte, int64, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, 0, err
	}
	from := max(0, size-tailSize)
	buf := make([]byte, size-from)
	_, err = f.ReadAt(buf, from)
	return buf, from, err
}

func cutTornLine(f *os.File) error {
	buf, from, err := tail(f)
	if err != nil || len(buf) == 0 || buf[len(buf)-1] == '\n' {
		return err
	}
	end := bytes.LastIndexByte(buf, '\n') + 1
	if end == 0 && from > 0 {
		return errkind.New(errkind.Damaged, "the last line is longer than any of ours")
	}
	return f.Truncate(from + int64(end))
}

// lastID reads the audit_entry_id of the last line; 0 for an empty file.
func lastID(f *os.File) (int64, error) {
	buf, _, err := tail(f)
	if err != nil || len(buf) == 0 {
		return 0, err
	}
	line := buf[bytes.LastIndexByte(buf[:len(buf)-1], '\n')+1:]
	var e struct {
		ID int64 `json:"audit_entry_id"`
	}
	if err := json.Unmarshal(line, &e); err != nil || e.ID <= 0 {
		return 0, errkind.New(errkind.Damaged, "the last line is not an audit entry").
			WithHint("move the file away; it is written again from the journal")
	}
	return e.ID, nil
}

// missing collects the lines behind the last id of a file.
func (e *exporter) missing(ctx context.Context, query string, after int64) (lines []byte, last int64, err error) {
	err = e.db.Read(ctx, func(tx *sqlite.Tx) error {
		lines, last = nil, after
		rows, err := tx.Query(query, after)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var line []byte
			if err := rows.Scan(&last, &line); err != nil {
				return err
			}
			lines = append(append(lines, line...), '\n')
		}
		return rows.Err()
	})
	return lines, last, err
}

// CheckExports compares the JSONL files with the audit, line by line, and
// lists what differs. It changes nothing.
func (s *Service) CheckExports(ctx context.Context) ([]errkind.Problem, error) {
	var problems []errkind.Problem
	for _, x := range exports {
		want, _, err := s.audit.missing(ctx, x.query, 0)
		if err != nil {
			return nil, err
		}
		got, err := s.root.ReadFile(x.file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		problems = append(problems, diff(x.file, got, want)...)
	}
	return problems, nil
}

func diff(file string, got, want []byte) []errkind.Problem {
	if bytes.Equal(got, want) {
		return nil
	}
	g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(g), len(w)) {
		switch {
		case i >= len(g) || i == len(g)-1 && i < len(w)-1:
			return []errkind.Problem{{Field: file, Line: i + 1, Message: "ends before the journal does"}}
		case i >= len(w) || i == len(w)-1:
			return []errkind.Problem{{Field: file, Line: i + 1, Message: "goes on after the journal's end"}}
		case !bytes.Equal(g[i], w[i]):
			return []errkind.Problem{{Field: file, Line: i + 1, Message: "differs from the journal"}}
		}
	}
	return nil
}
