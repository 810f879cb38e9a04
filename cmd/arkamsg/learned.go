package main

import (
	"context"
	"errors"
	"log/slog"

	"arkamsg/competences"
	"arkamsg/competences/shadow"
	"arkamsg/internal/clients"
	"arkamsg/internal/config"
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
	service, err := competences.Open(ctx, string(room.Home), room.Journal, store, competences.Options{
		Logger: log, Term: term, Settings: persistSettings(room.Config),
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

func persistSettings(f *config.File) competences.Settings {
	return competences.Settings{
		PerMinute:        f.Persist.PerMinute,
		MismatchConflict: f.Persist.Mismatch == "conflict",
		Agents:           f.ExternalAgents,
	}
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
