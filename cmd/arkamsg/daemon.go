package main

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/urfave/cli/v2"

	"arkamsg/internal/config"
	"arkamsg/internal/httpapi"
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
			home, err := p.home(c)
			if err != nil {
				return err
			}
			file, err := p.load(home)
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

func (p *program) daemon(c *cli.Context, room *notifyd.Mailroom, log *slog.Logger) error {
	api, err := httpapi.New(httpapi.Options{Room: room, Logger: log, Version: version})
	if err != nil {
		return err
	}
	d, err := notifyd.NewDaemon(room, notifyd.Options{
		Logger:   log,
		Load:     func() (*config.File, error) { return p.load(room.Home) },
		Services: []notifyd.Service{api.Service()},
		Observe:  api.Observe,
		Ready:    func() { fmt.Fprintln(p.stderr, "ready") },
	})
	if err != nil {
		return err
	}
	return d.Run(c.Context)
}
