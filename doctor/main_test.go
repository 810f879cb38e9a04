package doctor

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"arkamsg/internal/config"
	"arkamsg/internal/lab"
	"arkamsg/internal/standin"
	"arkamsg/notifyd"
	"arkamsg/sessions"
)

// Under an agent's name the test binary is the stand-in; with parentEnv, a parent.
func TestMain(m *testing.M) {
	if slices.Contains([]string{"codex", "generic"}, filepath.Base(os.Args[0])) {
		os.Exit(standin.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if os.Getenv(parentEnv) != "" {
		if err := beParent(); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if builtIn != "" {
		_ = os.RemoveAll(builtIn)
	}
	os.Exit(code)
}

const pmo = "arka-local-PMO-codex"

// house is a home with a private tmux server, and usually a daemon.
type house struct {
	t    *testing.T
	lab  *lab.Lab
	home config.Home
	told string // who hears of what PMO cannot be told: policy.escalation.fallback
}

// newHouse makes a home whose one agent, PMO, sits in a pane.
func newHouse(t *testing.T, standinArgs ...string) *house {
	t.Helper()
	l, err := lab.Start()
	must(t, err)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("the lab is not gone: %v", err)
		}
	})
	h := &house{t: t, lab: l, home: config.Home(filepath.Join(l.Dir(), "home")), told: "PMO"}
	must(t, os.Mkdir(string(h.home), 0o700))
	h.configure(func(*config.Init) {})
	h.seat(pmo, standinArgs...)
	return h
}

func (h *house) configure(change func(*config.Init)) {
	h.t.Helper()
	in := config.Init{
		Socket:  config.Tmux{SocketPath: h.lab.Socket()},
		Allow:   map[sessions.Role][]sessions.Name{"PMO": {pmo}},
		Aliases: map[string]sessions.Role{"pmo": "PMO"},
	}
	change(&in)
	text, err := config.Render(in)
	must(h.t, err)
	text = bytes.Replace(text, []byte("fallback: Owner"), []byte("fallback: "+h.told), 1)
	must(h.t, os.WriteFile(h.home.Config(), text, 0o600))
}

// seat opens a session with a stand-in, and waits until it is at its prompt.
func (h *house) seat(session string, args ...string) {
	h.t.Helper()
	program, err := h.lab.Program("codex")
	must(h.t, err)
	argv := append([]string{program, "--log", filepath.Join(h.lab.Dir(), session+".jsonl")}, args...)
	must(h.t, h.lab.Open(lab.Pane{Session: session, Argv: argv, Width: 160}))
	eventually(h.t, func() bool {
		screen, err := h.lab.Screen(session)
		return err == nil && strings.Contains(screen, "›")
	})
}

// open opens the home as push does.
func (h *house) open() *notifyd.Mailroom {
	h.t.Helper()
	file, err := config.Load(h.home)
	must(h.t, err)
	room, err := notifyd.Open(context.Background(), h.home, file, notifyd.OpenOptions{})
	must(h.t, err)
	return room
}

// hire runs a daemon in this process until the test ends or it is let go.
func (h *house) hire() (letGo func()) {
	h.t.Helper()
	room := h.open()
	ready := make(chan struct{})
	d, err := notifyd.NewDaemon(room, notifyd.Options{
		Load:     func() (*config.File, error) { return config.Load(h.home) },
		Services: []notifyd.Service{{Name: "http", Listen: func(context.Context) (func(context.Context) error, error) { return h.answer() }}},
		Ready:    func() { close(ready) },
	})
	must(h.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan error, 1)
	go func() { gone <- errors.Join(d.Run(ctx), room.Close()) }()
	select {
	case <-ready:
	case err := <-gone:
		h.t.Fatal(err)
	}
	var once bool
	letGo = func() {
		if once {
			return
		}
		once = true
		cancel()
		if err := <-gone; err != nil {
			h.t.Errorf("the daemon: %v", err)
		}
	}
	h.t.Cleanup(letGo)
	return letGo
}

// answer serves /healthz on the home's socket.
func (h *house) answer() (func(context.Context) error, error) {
	l, err := net.Listen("unix", h.home.Socket())
	if err != nil {
		return nil, err
	}
	must(h.t, os.Chmod(h.home.Socket(), 0o600))
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			http.NotFound(w, r)
		}
	})}
	return func(ctx context.Context) error {
		context.AfterFunc(ctx, func() { _ = server.Close() })
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}, nil
}

// options examine the house with nothing of the environment's.
func (h *house) options() Options { return Options{Version: "test", Home: h.home} }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits for a condition of the outside world.
func eventually(t *testing.T, what func() bool) {
	t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !what() {
		select {
		case <-deadline.C:
			t.Fatal("it never came true")
		case <-tick.C:
		}
	}
}
