package notifyd

import (
	"context"
	"log/slog"
	"time"

	"arkamsg/internal/config"
	"arkamsg/internal/watch"
	"arkamsg/sessions"
)

// settings is what the daemon takes from one reading of arka.yaml. It is never
// changed, only replaced as a whole.
type settings struct {
	file      *config.File
	directory sessions.Directory
	profiles  map[string]sessions.Profile
	tmux      *sessions.Server
}

func newSettings(f *config.File, log *slog.Logger) (*settings, error) {
	profiles, err := sessions.Profiles(f.Providers)
	if err != nil {
		return nil, err
	}
	return &settings{
		file:      f,
		directory: directory(f),
		profiles:  profiles,
		tmux:      Tmux(f, log),
	}, nil
}

// Tmux is a connection to the tmux server that the configuration names.
func Tmux(f *config.File, log *slog.Logger) *sessions.Server {
	return sessions.Connect(sessions.ServerOptions{
		SocketName: f.Tmux.SocketName, SocketPath: f.Tmux.SocketPath, Logger: log,
	})
}

// profile is the one for a provider; one that nobody described is generic.
func (s *settings) profile(provider string) sessions.Profile {
	if p, ok := s.profiles[provider]; ok {
		return p
	}
	return s.profiles["generic"]
}

// reload follows arka.yaml until ctx ends. A file that cannot be accepted is
// refused as a whole, in the log, and the settings in force stay.
func (d *Daemon) reload(ctx context.Context) error {
	changes, err := watch.Files(ctx, d.room.Home.Config())
	if err != nil {
		return err
	}
	defer drain(changes)
	for range changes {
		if !settled(ctx, changes) {
			return nil
		}
		file, err := d.opts.Load()
		if err == nil {
			err = d.use(file)
		}
		if err != nil {
			d.log.Error("arka.yaml refused; the settings in force stay", keyError, err)
			continue
		}
		d.log.Info("arka.yaml reloaded")
		d.nudge()
	}
	return nil
}

// use puts a configuration in force.
func (d *Daemon) use(file *config.File) error {
	s, err := newSettings(file, d.log)
	if err != nil {
		return err
	}
	if old := d.settings.Load(); old != nil {
		d.warnOfRestart(old.file, file)
	}
	d.settings.Store(s)
	d.room.inForce.Store(file)
	return nil
}

// warnOfRestart names what was changed and is only read at the start.
func (d *Daemon) warnOfRestart(old, now *config.File) {
	for field, changed := range map[string]bool{
		"journal.sync":   old.Journal.Sync != now.Journal.Sync,
		"messaging.root": old.Messaging.Root != now.Messaging.Root,
		"http.listen":    old.HTTP.Listen != now.HTTP.Listen,
	} {
		if changed {
			d.log.Warn("takes effect at the next start", keyField, field)
		}
	}
}

// drain waits until a watcher whose context is over has gone.
func drain[T any](changes <-chan T) {
	for range changes {
	}
}

// settled swallows the burst of events that one save of an editor causes, but
// not for ever: a tree that never rests is looked at all the same.
func settled(ctx context.Context, changes <-chan string) bool {
	const rest = 50 * time.Millisecond
	quiet, late := time.NewTimer(rest), time.NewTimer(20*rest)
	defer quiet.Stop()
	defer late.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case _, ok := <-changes:
			if !ok {
				return false
			}
			quiet.Reset(rest)
		case <-quiet.C:
			return true
		case <-late.C:
			return true
		}
	}
}
