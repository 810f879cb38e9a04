package main

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/urfave/cli/v2"

	"arkamsg/internal/config"
	"arkamsg/internal/httpapi"
	"arkamsg/journal"
	"arkamsg/notifyd"
)

func (p *program) daemonVerb() *cli.Command {
	return &cli.Command{
		Name:  "daemon",
		Usage: "deliver messages until stopped (Ctrl-C, SIGTERM)",
		Description: "Runs in the foreground, for systemd, launchd and tmux alike. Prints 'ready' on\n" +
			"standard error once it answers on <home>/arkamsg.sock. One daemon per home.\n" +
			"Changes of arka.yaml take effect without a restart.",
		Action: func(c *cli.Context) error {
			home, file, err := p.configuration(c)
			if err != nil {
				return err
			}
			log := p.logger(c, slog.LevelInfo)
			room, err := notifyd.Open(c.Context, home, file, notifyd.OpenOptions{Logger: log})
			if err != nil {
				return err
			}
			return errors.Join(p.daemon(c, room, log), room.Close())
		},
	}
}

func (p *program) daemon(c *cli.Context, room *notifyd.Mailroom, log *slog.Logger) (err error) {
	var d *notifyd.Daemon
	known, err := openLearned(c.Context, room, log, func() journal.Term { return d.Term() })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, known.service.Close()) }()
	part, err := known.part()
	if err != nil {
		return err
	}
	api, err := httpapi.New(httpapi.Options{
		Room: room, Logger: log, Version: version, Authenticator: known.authenticate, Parts: []httpapi.Part{part},
	})
	if err != nil {
		return err
	}
	d, err = notifyd.NewDaemon(room, notifyd.Options{
		Logger:   log,
		Load:     func() (*config.File, error) { return p.reload(room.Home, known) },
		Routes:   map[journal.Kind]notifyd.Route{journal.KindPersist: known.route},
		Services: []notifyd.Service{known.recovery(), api.Service()},
		Observe:  api.Observe,
		Ready:    func() { fmt.Fprintln(p.stderr, "ready") },
	})
	if err != nil {
		return err
	}
	return d.Run(c.Context)
}

// reload reads arka.yaml again for everybody who lives by it.
func (p *program) reload(home config.Home, known *learned) (*config.File, error) {
	file, err := p.load(home)
	if err != nil {
		return nil, err
	}
	settings, err := persistSettings(home, file)
	if err != nil {
		return nil, err
	}
	known.service.Configure(settings)
	return file, nil
}
