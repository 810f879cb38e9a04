package competences

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"arkamsg/competences/document"
	"arkamsg/competences/primitives"
	"arkamsg/competences/refusal"
	"arkamsg/competences/slug"
	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
)

// Item is a line of the catalogue. A file that cannot be read is listed with
// its problems, because its name is taken all the same.
type Item struct {
	ID            slug.Slug         `json:"competence_id"`
	Name          string            `json:"name"`
	LearningState document.State    `json:"learning_state"`
	Path          string            `json:"yaml_path"`
	UpdatedAt     string            `json:"last_updated_at,omitempty"`
	Unlearning    bool              `json:"unlearning"`
	Problems      []errkind.Problem `json:"problems,omitempty"`
}

// List returns the catalogue, sorted by id.
func (s *Service) List(ctx context.Context) ([]Item, error) {
	blocked, err := s.blocked(ctx)
	if err != nil {
		return nil, err
	}
	items := []Item{}
	for _, folder := range document.Folders {
		ids, err := s.ids(folder)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if item, ok := s.item(folder, id); ok {
				item.Unlearning = blocked[string(id)]
				items = append(items, item)
			}
		}
	}
	slices.SortFunc(items, func(a, b Item) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Path, b.Path)) })
	return items, nil
}

// ids lists the slugs that have a file in a folder.
func (s *Service) ids(folder document.State) (ids []slug.Slug, err error) {
	entries, err := fs.ReadDir(s.root.FS(), folder.Folder())
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".yaml"); ok && slug.Valid(id) {
			ids = append(ids, slug.Slug(id))
		}
	}
	return ids, err
}

// item reads one file; false if it went away meanwhile.
func (s *Service) item(folder document.State, id slug.Slug) (Item, bool) {
	item := Item{ID: id, LearningState: folder, Path: Folder + "/" + document.File(folder, id)}
	d, err := s.load(folder, id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return item, false
	case err != nil:
		item.Problems = append(errkind.Problems(err), errkind.Problem{Message: "cannot be read as a competence"})
		return item, true
	}
	item.Name, item.LearningState, item.UpdatedAt = d.Name, d.LearningState, d.LastUpdatedAt
	return item, true
}

// load is document.Load that waits out the instant in which a new file still
// has its temporary name as well (two links, which a reader refuses).
func (s *Service) load(folder document.State, id slug.Slug) (d *document.Document, err error) {
	for range 5 {
		if d, err = document.Load(s.root, folder, id); errkind.Of(err) != errkind.Refused {
			return d, err
		}
		<-time.After(2 * time.Millisecond)
	}
	return nil, err
}

// Get returns a competence from wherever it stands. NotFound; Invalid if its
// file is not a competence.
func (s *Service) Get(_ context.Context, id slug.Slug) (*document.Document, error) {
	if !slug.Valid(string(id)) {
		return nil, noCompetence()
	}
	for _, folder := range document.Folders {
		d, err := s.load(folder, id)
		if !errors.Is(err, fs.ErrNotExist) {
			return d, err
		}
	}
	return nil, noCompetence()
}

func noCompetence() error {
	r := refusal.New(refusal.NotFound, errkind.NotFound, "there is no competence of this id")
	r.Err.WithHint("arkamsg competence list")
	return r
}

// Check lists what is wrong with a competence file: YAML, schema, kinds,
// parameters, personal data.
func (s *Service) Check(data []byte) []errkind.Problem {
	d, err := document.Decode(data)
	if err != nil {
		return append(errkind.Problems(err), errkind.Problem{Message: "is not a competence"})
	}
	problems := document.Check(d, primitives.Default())
	if want, err := slug.Make(d.Name); err != nil || want != d.ID {
		problems = append(problems, errkind.Problem{Field: "/id", Message: "does not follow from the name"})
	}
	for _, f := range s.Detector().Scan("", map[string]any{"name": d.Name, "intent": d.Intent, "methods": methodsOf(d), "annotations_semantiques": d.Provenance.Annotations}) {
		problems = append(problems, errkind.Problem{Field: f.Pointer, Message: "looks like personal data (" + f.Type + ")"})
	}
	return problems
}

func methodsOf(d *document.Document) []any {
	out := make([]any, len(d.Methods))
	for i, m := range d.Methods {
		out[i] = map[string]any{"params": m.Params, "label": m.Label, "note": m.Note}
	}
	return out
}

func (s *Service) blocked(ctx context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	err := s.journal.DB().Read(ctx, func(tx *sqlite.Tx) error {
		rows, err := tx.Query(`SELECT slug FROM competence_unlearning`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				return err
			}
			out[id] = true
		}
		return rows.Err()
	})
	return out, err
}
