package competences

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"arkamsg/competences/document"
	"arkamsg/competences/slug"
	"arkamsg/internal/crash"
	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
)

// Promotion is a person's decision about a competence. Nothing but a person
// promotes (the golden rule of the seed): there is no HTTP route to this.
type Promotion struct {
	To        document.State // supervised or stable; always the next one
	By        string         // who decides
	Note      string         // why, if the counters do not say it
	Successes int            // runs seen since the last promotion, added to the file's counters
	Failures  int
	Override  bool // promote although too few runs were seen; needs a note
}

// Promote moves a competence to its next state: the new file is published, then
// the old one removed, so that the name is never free in between. Cut short, it
// is completed by the same command or the next start.
func (s *Service) Promote(ctx context.Context, id slug.Slug, p Promotion) (*document.Document, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	unlock, err := s.names.lock(ctx, string(id))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := s.journal.DB().Read(ctx, func(tx *sqlite.Tx) error { return unlearningBlocks(tx, id) }); err != nil {
		return nil, err
	}
	if err := s.completePromotions(id); err != nil {
		return nil, err
	}
	d, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	from := d.LearningState
	if err := p.apply(d, time.Now()); err != nil {
		return nil, err
	}
	if err := s.move(d, from); err != nil {
		return nil, err
	}
	return d, s.journal.DB().Write(context.WithoutCancel(ctx), func(tx *sqlite.Tx) error {
		return act(tx, id, "promoted to "+string(p.To), p.By, p.Note)
	})
}

func (p Promotion) validate() error {
	var problems []errkind.Problem
	if p.To != document.Supervised && p.To != document.Stable {
		problems = append(problems, errkind.Problem{Field: "--to", Message: "must be supervised or stable"})
	}
	if strings.TrimSpace(p.By) == "" {
		problems = append(problems, errkind.Problem{Field: "--by", Message: "say who decides"})
	}
	if p.Successes < 0 || p.Failures < 0 {
		problems = append(problems, errkind.Problem{Field: "--successes", Message: "counts only go up"})
	}
	if p.Override && strings.TrimSpace(p.Note) == "" {
		problems = append(problems, errkind.Problem{Field: "--note", Message: "an override needs its reason"})
	}
	if len(problems) == 0 {
		return nil
	}
	return errkind.New(errkind.Invalid, "this promotion is not complete").WithProblems(problems...)
}

// apply changes the document, or says why it may not be promoted.
func (p Promotion) apply(d *document.Document, now time.Time) error {
	next := map[document.State]document.State{document.Candidate: document.Supervised, document.Supervised: document.Stable}[d.LearningState]
	switch {
	case d.LearningState == document.Incomplete:
		return errkind.New(errkind.Refused, "%s is incomplete and cannot be promoted", d.ID).WithHint("arkamsg competence unlearn %s, then persist it whole", d.ID)
	case next != p.To:
		return errkind.New(errkind.Conflict, "%s is %s; it cannot become %s", d.ID, d.LearningState, p.To).WithHint("arkamsg competence show %s", d.ID)
	}
	d.Promotion.Successes += p.Successes
	d.Promotion.Failures += p.Failures
	need := d.Promotion.Required.Supervised
	if p.To == document.Stable {
		need = d.Promotion.Required.Stable
	}
	if d.Promotion.Successes < need && !p.Override {
		return errkind.New(errkind.Refused, "%s asks for %d successful runs, %d were seen", p.To, need, d.Promotion.Successes).
			WithHint("arkamsg competence promote %s --to %s --by NAME --successes N, or --override --note WHY", d.ID, p.To)
	}
	d.LearningState, d.LastUpdatedAt = p.To, document.Stamp(now)
	d.Promotion.History = append(d.Promotion.History, document.Promoted{To: p.To, At: document.Stamp(now), By: p.By, Note: p.Note})
	return nil
}

// move publishes the document in its new folder and clears the old one.
func (s *Service) move(d *document.Document, from document.State) error {
	data, err := document.Encode(d)
	if err != nil {
		return err
	}
	name := document.File(d.LearningState, d.ID)
	if there, err := s.disk.exists(name); err != nil || there {
		return errors.Join(err, errkind.New(errkind.Conflict, "%s/%s exists", Folder, name))
	}
	folder := d.LearningState.Folder()
	if err := s.place(folder, tempName(folder, d.ID), name, data); err != nil {
		return asFault(err)
	}
	crash.At("competences:promoted")
	return s.clear(document.File(from, d.ID), from.Folder())
}

func asFault(err error) error {
	var f *fault
	if errors.As(err, &f) {
		return errkind.New(errkind.NotNow, "the promotion failed at %s", f.step).Wrap(f.err)
	}
	return err
}

func (s *Service) clear(name, folder string) error {
	if err := s.disk.remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.disk.syncDir(folder)
}

// completeAllPromotions is completePromotions for the whole catalogue.
func (s *Service) completeAllPromotions() error {
	var errs []error
	for _, lower := range document.Folders[:len(document.Folders)-1] {
		ids, err := s.ids(lower)
		errs = append(errs, err, s.completePromotions(ids...))
	}
	return errors.Join(errs...)
}

// completePromotions removes the lower file of a competence that stands in two
// folders with one provenance.
func (s *Service) completePromotions(ids ...slug.Slug) error {
	var errs []error
	for i, lower := range document.Folders[:len(document.Folders)-1] {
		for _, id := range ids {
			if s.promotedBeyond(id, lower, document.Folders[i+1]) {
				errs = append(errs, s.clear(document.File(lower, id), lower.Folder()))
			}
		}
	}
	return errors.Join(errs...)
}

func (s *Service) promotedBeyond(id slug.Slug, lower, upper document.State) bool {
	if there, err := s.disk.exists(document.File(upper, id)); err != nil || !there {
		return false
	}
	was, err := document.Load(s.root, lower, id)
	is, err2 := document.Load(s.root, upper, id)
	return err == nil && err2 == nil && was.Provenance.PersistID == is.Provenance.PersistID
}
