package competences

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"arkamsg/competences/document"
	"arkamsg/competences/slug"
	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
	"arkamsg/journal"
)

// Examination is what Examine found.
type Examination struct {
	Competences int               // files
	Audited     int               // persists that were answered
	Problems    []errkind.Problem // Field is the file, from Folder on
}

// settling is how long a persist in flight may make files and journal differ.
const settling = 150 * time.Millisecond

// Examine compares the files of a home with its journal and changes nothing;
// the journal may be open for reading only. What it finds wrong it looks at
// again, because a persist that is just being answered is no problem.
func Examine(ctx context.Context, home string, j *journal.Journal) (x Examination, err error) {
	for range 3 {
		if x, err = examine(ctx, home, j); err != nil || len(x.Problems) == 0 {
			return x, err
		}
		select {
		case <-ctx.Done():
			return x, ctx.Err()
		case <-time.After(settling):
		}
	}
	return x, nil
}

func examine(ctx context.Context, home string, j *journal.Journal) (x Examination, err error) {
	kept, err := audited(ctx, j.DB())
	if err != nil {
		return x, err
	}
	x.Audited = len(kept)
	root, err := os.OpenRoot(filepath.Join(home, Folder))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if len(kept) > 0 {
			x.problem(Folder, "is not there, and the journal knows of competences")
		}
		return x, nil
	case err != nil:
		return x, err
	}
	defer root.Close()
	s := &Service{journal: j, root: root, disk: rootDisk{root}, audit: exporter{root: root, db: j.DB()}}
	return x, errors.Join(x.files(s), x.exports(ctx, s, kept), x.half(s), x.lost(s, kept))
}

func (x *Examination) problem(field, message string) {
	x.Problems = append(x.Problems, errkind.Problem{Field: field, Message: message})
}

// audited are the audit's competences, that nobody unlearned later; nil in a
// home that never had any of our tables.
func audited(ctx context.Context, db *sqlite.DB) (ids []slug.Slug, err error) {
	err = db.Read(ctx, func(tx *sqlite.Tx) error {
		ids = nil
		var tables int
		if err := tx.QueryRow(`SELECT count(*) FROM sqlite_master WHERE name = 'competence_audit'`).Scan(&tables); err != nil || tables == 0 {
			return err
		}
		ids = []slug.Slug{}
		rows, err := tx.Query(`SELECT line FROM competence_audit a WHERE NOT EXISTS
			(SELECT 1 FROM competence_act WHERE act = 'unlearned' AND slug = json_extract(a.line, '$.competence_id'))`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var line []byte
			var e entry
			if err := errors.Join(rows.Scan(&line), json.Unmarshal(line, &e)); err != nil {
				return err
			}
			ids = append(ids, slug.Slug(e.CompetenceID))
		}
		return rows.Err()
	})
	return ids, err
}

// files reads every competence.
func (x *Examination) files(s *Service) error {
	for _, folder := range document.Folders {
		ids, err := s.ids(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, id := range ids {
			item, there := s.item(folder, id)
			if !there {
				continue
			}
			x.Competences++
			for _, p := range item.Problems {
				x.problem(document.File(folder, id), p.String())
			}
		}
	}
	return nil
}

func (x *Examination) exports(ctx context.Context, s *Service, kept []slug.Slug) error {
	if kept == nil {
		return nil
	}
	problems, err := s.CheckExports(ctx)
	x.Problems = append(x.Problems, problems...)
	return err
}

// half finds what a crash left and the next start of the daemon puts right:
// temporary files of dead writers, and names in two folders.
func (x *Examination) half(s *Service) error {
	seen := map[string]string{}
	for _, folder := range document.Folders {
		entries, err := fs.ReadDir(s.root.FS(), folder.Folder())
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			at := folder.Folder() + "/" + e.Name()
			if _, pid, temp := strings.Cut(e.Name(), tempMark); temp && deadWriter(pid) {
				x.problem(at, "is half written, and its writer is dead")
			}
			if other, twice := seen[e.Name()]; twice {
				x.problem(at, "stands in "+other+" as well")
			}
			seen[e.Name()] = folder.Folder()
		}
	}
	return nil
}

// lost finds competences that were answered for and are in no folder.
func (x *Examination) lost(s *Service, kept []slug.Slug) error {
	for _, id := range kept {
		there := false
		for _, folder := range document.Folders {
			found, err := s.disk.exists(document.File(folder, id))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			there = there || found
		}
		if !there {
			x.problem(string(id), "was kept, was never unlearned, and is in no folder")
		}
	}
	return nil
}
