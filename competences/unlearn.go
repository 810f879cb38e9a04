package competences

import (
	"context"
	"errors"
	"time"

	"arkamsg/competences/document"
	"arkamsg/competences/refusal"
	"arkamsg/competences/slug"
	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
)

// Unlearning blocks a slug while what it taught is being unlearned.
type Unlearning struct {
	Slug      slug.Slug `json:"competence_id"`
	StartedAt time.Time `json:"started_at"`
	StartedBy string    `json:"started_by"`
	Reason    string    `json:"reason"`
}

// errUnlearning carries the seed's words (§5).
var errUnlearning = refusal.New(refusal.UnlearningActive, errkind.Conflict, "désapprentissage actif")

// unlearningBlocks returns errUnlearning while the slug is blocked.
func unlearningBlocks(tx *sqlite.Tx, id slug.Slug) error {
	var n int
	err := tx.QueryRow(`SELECT count(*) FROM competence_unlearning WHERE slug = ?`, string(id)).Scan(&n)
	if err == nil && n > 0 {
		return errUnlearning
	}
	return err
}

// BeginUnlearning blocks a slug. Again is no error: the first one stands.
func (s *Service) BeginUnlearning(ctx context.Context, id slug.Slug, by, reason string) (u Unlearning, begun bool, err error) {
	if !slug.Valid(string(id)) {
		return u, false, refusal.New(refusal.NameInvalid, errkind.Invalid, "this is not the id of a competence")
	}
	if found := s.Detector().Scan("/reason", reason); len(found) > 0 {
		return u, false, refusal.PII(found)
	}
	err = s.journal.DB().Write(ctx, func(tx *sqlite.Tx) error {
		now := time.Now()
		res, err := tx.Exec(`INSERT INTO competence_unlearning(slug, started_at, started_by, reason) VALUES(?,?,?,?) ON CONFLICT DO NOTHING`,
			string(id), now.UnixMilli(), by, reason)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if begun = n == 1; err == nil && begun {
			err = act(tx, id, "unlearning begun", by, reason)
		}
		if err == nil {
			u, err = readUnlearning(tx, id)
		}
		return err
	})
	return u, begun, err
}

// EndUnlearning lifts the block. NotFound without one.
func (s *Service) EndUnlearning(ctx context.Context, id slug.Slug, by string) (u Unlearning, err error) {
	err = s.journal.DB().Write(ctx, func(tx *sqlite.Tx) error {
		if u, err = readUnlearning(tx, id); noRows(err) {
			return refusal.New(refusal.NotFound, errkind.NotFound, "nothing is being unlearned under this id")
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM competence_unlearning WHERE slug = ?`, string(id)); err != nil {
			return err
		}
		return act(tx, id, "unlearning ended", by, "")
	})
	return u, err
}

func readUnlearning(tx *sqlite.Tx, id slug.Slug) (Unlearning, error) {
	u := Unlearning{Slug: id}
	var at int64
	err := tx.QueryRow(`SELECT started_at, started_by, reason FROM competence_unlearning WHERE slug = ?`, string(id)).
		Scan(&at, &u.StartedBy, &u.Reason)
	u.StartedAt = time.UnixMilli(at).UTC()
	return u, err
}

func act(tx *sqlite.Tx, id slug.Slug, what, by, detail string) error {
	_, err := tx.Exec(`INSERT INTO competence_act(at, slug, act, by, detail) VALUES(?,?,?,?,?)`,
		time.Now().UnixMilli(), string(id), what, by, detail)
	return err
}

// Unlearn takes a competence out of the catalogue for good: the name is
// blocked, persists that came before are let finish, every file of it is
// removed, the block is lifted. An unlearning that was begun before is
// completed. NotFound if there is nothing to unlearn.
func (s *Service) Unlearn(ctx context.Context, id slug.Slug, by, reason string) error {
	_, begun, err := s.BeginUnlearning(ctx, id, by, reason)
	if err != nil {
		return err
	}
	unlock, err := s.names.lock(ctx, string(id))
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.endPending(ctx, id); err != nil {
		return err // still blocked, as below
	}
	removed, err := s.removeAll(id)
	if err != nil {
		return err // still blocked: the same command completes it
	}
	if err := s.logRemoval(ctx, id, by, removed); err != nil {
		return err
	}
	if len(removed) == 0 && begun {
		return refusal.New(refusal.NotFound, errkind.NotFound, "there is no competence of this id")
	}
	return nil
}

// endPending waits for persists of the slug that were appended before it was
// blocked, in whatever process, so that none of them publishes behind our back.
func (s *Service) endPending(ctx context.Context, id slug.Slug) error {
	var keys []key
	err := s.journal.DB().Read(ctx, func(tx *sqlite.Tx) (err error) {
		keys, err = pendingKeys(tx, id)
		return err
	})
	for _, k := range keys {
		if _, end := s.finish(ctx, k, row{lane: laneOf(id)}); end != nil {
			err = errors.Join(err, unknown(end))
		}
	}
	return err
}

func pendingKeys(tx *sqlite.Tx, id slug.Slug) (keys []key, err error) {
	rows, err := tx.Query(`SELECT key FROM competence_persist WHERE lane = ? AND state = 'pending'`, string(laneOf(id)))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var raw []byte
		if err := rows.Scan(&raw); err != nil {
			return nil, err
		}
		keys = append(keys, key(raw))
	}
	return keys, rows.Err()
}

func (s *Service) removeAll(id slug.Slug) (removed []string, err error) {
	for _, folder := range document.Folders {
		name := document.File(folder, id)
		there, err := s.disk.exists(name)
		if err != nil {
			return removed, err
		}
		if !there {
			continue
		}
		if err := s.disk.remove(name); err != nil {
			return removed, err
		}
		if err := s.disk.syncDir(folder.Folder()); err != nil {
			return removed, err
		}
		removed = append(removed, name)
	}
	return removed, nil
}

func (s *Service) logRemoval(ctx context.Context, id slug.Slug, by string, removed []string) error {
	return s.journal.DB().Write(ctx, func(tx *sqlite.Tx) error {
		for _, name := range removed {
			if err := act(tx, id, "unlearned", by, name); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`DELETE FROM competence_unlearning WHERE slug = ?`, string(id))
		return err
	})
}
