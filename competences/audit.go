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
type exporter struct {
	root *os.Root
	db   *sqlite.DB
	log  *slog.Logger

	mu   *sync.Mutex
	upTo int64 // every line up to this id was exported by us
}

// exports pairs a file with the column it copies.
var exports = []struct{ file, query string }{
	{auditFile, `SELECT id, line FROM competence_audit WHERE id > ? ORDER BY id`},
	{incompleteFile, `SELECT id, incomplete FROM competence_audit WHERE incomplete <> '' AND id > ? ORDER BY id`},
}

// catchUp exports whatever the files lack. A caller whose line (id) another
// one has exported meanwhile is done at once.
func (e *exporter) catchUp(ctx context.Context, id int64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if id > 0 && id <= e.upTo {
		return nil
	}
	var errs []error
	for _, x := range exports {
		last, err := e.export(ctx, x.file, x.query)
		errs = append(errs, err)
		if err == nil && x.file == auditFile {
			id = max(id, last)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	e.upTo = max(e.upTo, id)
	return nil
}

func (e *exporter) export(ctx context.Context, name, query string) (last int64, err error) {
	f, err := e.open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if last, err = lastID(f); err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	missing, last, err := e.missing(ctx, query, last)
	if err != nil || len(missing) == 0 {
		return last, err
	}
	crash.At("competences:before-export")
	if _, err := f.Write(missing); err != nil {
		return 0, err
	}
	crash.At("competences:export-written")
	return last, f.Sync()
}

// open opens or creates an export, takes its lock and cuts a torn last line.
// Closing the file lets the lock go.
func (e *exporter) open(name string) (*os.File, error) {
	fresh := false
	f, err := e.root.OpenFile(name, os.O_RDWR|os.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		fresh = true
		f, err = e.root.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	}
	if err != nil {
		return nil, err
	}
	if err := e.ready(f, name, fresh); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (e *exporter) ready(f *os.File, name string, fresh bool) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errkind.New(errkind.Refused, "%s/%s is not a regular file", Folder, name)
	}
	if err := flock(f); err != nil {
		return err
	}
	if fresh {
		if err := durable.SyncDir(e.root, "."); err != nil {
			return err
		}
	}
	return cutTornLine(f)
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
