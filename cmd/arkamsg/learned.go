package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"arkamsg/competences"
	"arkamsg/competences/pii"
	"arkamsg/competences/shadow"
	"arkamsg/internal/clients"
	"arkamsg/internal/config"
	"arkamsg/internal/durable"
	"arkamsg/internal/errkind"
	"arkamsg/internal/httpapi"
	"arkamsg/internal/httpapi/lea"
	"arkamsg/journal"
	"arkamsg/notifyd"
)

// learned is what a home knows about competences: the keepers behind the verbs
// `competence` and `client` and behind /api/v1/lea.
type learned struct {
	clients *clients.Store
	service *competences.Service
	shadow  *shadow.Store
}

// openLearned opens them on the mailroom's journal. term is the daemon's, or nil
// for a program that is not the daemon.
func openLearned(ctx context.Context, room *notifyd.Mailroom, log *slog.Logger, term func() journal.Term) (*learned, error) {
	store, err := clients.Open(ctx, room.Journal.DB())
	if err != nil {
		return nil, err
	}
	settings, err := persistSettings(room.Home, room.Config)
	if err != nil {
		return nil, err
	}
	service, err := competences.Open(ctx, string(room.Home), room.Journal, store, competences.Options{
		Logger: log, Term: term, Settings: settings,
	})
	if err != nil {
		return nil, err
	}
	sessions, err := shadow.Open(ctx, room.Journal.DB(), store, service.Detector)
	if err != nil {
		return nil, errors.Join(err, service.Close())
	}
	return &learned{clients: store, service: service, shadow: sessions}, nil
}

// persistSettings is what arka.yaml says about persists. Its error is Invalid
// with every problem of the rules for personal data: better no door than one
// with holes.
func persistSettings(home config.Home, f *config.File) (competences.Settings, error) {
	net, err := piiRules(home, f.Persist.PIIRules)
	return competences.Settings{
		PerMinute:        f.Persist.PerMinute,
		MismatchConflict: f.Persist.Mismatch == "conflict",
		Agents:           f.ExternalAgents,
		PII:              net,
	}, err
}

// maxRules bounds a rules file; pii.Parse has its own limits below it.
const maxRules = 1 << 20

func piiRules(home config.Home, name string) (*pii.Detector, error) {
	if name == "" {
		return pii.Default(), nil
	}
	root, err := os.OpenRoot(string(home))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	data, err := durable.ReadFile(root, name, maxRules)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errkind.New(errkind.NotFound, "persist.pii_rules: there is no %s in %s", name, home).
			WithHint("arkamsg competence pii-rules > %s, or empty the key", name)
	}
	if err != nil {
		return nil, err
	}
	net, err := pii.Parse(data)
	if err != nil {
		return nil, errkind.New(errkind.Invalid, "%s (persist.pii_rules) is not accepted", name).WithProblems(errkind.Problems(err)...).
			WithHint("correct %s, or empty the key; a daemon that runs goes on with what it had", name)
	}
	return net, nil
}

// part is the HTTP door to them.
func (l *learned) part() (httpapi.Part, error) {
	return competencePart(lea.New(lea.Deps{Competences: l.service, Shadow: l.shadow, Clients: l.clients}))
}

// authenticate is who a bearer token belongs to, for the TCP door.
func (l *learned) authenticate(ctx context.Context, token string) (string, error) {
	p, err := l.clients.Authenticate(ctx, token)
	return p.ClientID, err
}

// route brings a persist from the journal to its file.
func (l *learned) route(ctx context.Context, _ <-chan struct{}, t journal.Ticket) error {
	return l.service.Route(ctx, t)
}

// recovery finishes, before the first route runs, what an earlier daemon left
// half done.
func (l *learned) recovery() notifyd.Service {
	return notifyd.Service{Name: "competences", Listen: func(ctx context.Context) (func(context.Context) error, error) {
		idle := func(ctx context.Context) error { <-ctx.Done(); return nil }
		return idle, l.service.Recover(ctx)
	}}
}
