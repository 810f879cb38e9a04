package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"arkamsg/internal/config"
	"arkamsg/internal/errkind"
	"arkamsg/internal/httpapi/openapitest"
	"arkamsg/journal"
	"arkamsg/notifyd"
	"arkamsg/sessions"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(strangerSocket); path != "" {
		beStranger(path)
		return
	}
	m.Run()
}

// goodToken is the only one that the test's authenticator knows.
const goodToken = "a-token-that-must-not-be-logged"

func authenticator(_ context.Context, token string) (string, error) {
	switch token {
	case goodToken:
		return "client-1", nil
	case "broken":
		return "", errors.New("a bug")
	case "later":
		return "", errkind.New(errkind.NotNow, "the journal is busy")
	}
	return "", errkind.New(errkind.Refused, "unknown token")
}

// A door is an API that runs, with its home.
type door struct {
	t    *testing.T
	api  *API
	home config.Home
	room *notifyd.Mailroom
	spec *openapitest.Spec
	addr string // of TCP
	log  *buffer
	stop func() error
}

// openRoom opens a fresh home.
func openRoom(t *testing.T) *notifyd.Mailroom {
	t.Helper()
	file := config.Default()
	file.Project = "lab"
	file.Journal.Sync = "off"
	file.HTTP.Listen = "127.0.0.1:0"
	file.Allow = map[sessions.Role][]sessions.Name{"PMO": {"arka-lab-PMO-codex"}}
	room, err := notifyd.Open(t.Context(), config.Home(t.TempDir()), file, notifyd.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := room.Close(); err != nil {
			t.Error(err)
		}
	})
	return room
}

// openDoor runs an API on both ways in until the test ends.
func openDoor(t *testing.T, parts ...Part) *door {
	t.Helper()
	d := &door{t: t, room: openRoom(t), log: &buffer{}}
	d.home = d.room.Home
	log := slog.New(slog.NewJSONHandler(d.log, nil))
	var err error
	d.api, err = New(Options{Room: d.room, Logger: log, Version: "v1.2.3", Authenticator: authenticator, Parts: parts})
	if err != nil {
		t.Fatal(err)
	}
	if d.spec, err = openapitest.Parse(d.api.document); err != nil {
		t.Fatal(err)
	}
	doors, err := d.api.open()
	if err != nil {
		t.Fatal(err)
	}
	d.addr = doors[1].listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- runAll(ctx, doors) }()
	d.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		if err := d.stop(); err != nil {
			t.Errorf("the door did not close: %v", err)
		}
	})
	return d
}

// lead takes the lease that a daemon would hold.
func (d *door) lead() journal.Lease {
	d.t.Helper()
	lease, err := d.room.Journal.Lead(d.t.Context(), journal.Candidate{Host: "lab", PID: 1, LockID: "1:1"}, time.Minute)
	if err != nil {
		d.t.Fatal(err)
	}
	return lease
}

// unix asks over the socket; every response is held to the document.
func (d *door) unix(method, path, body string, header ...string) reply {
	d.t.Helper()
	return d.ask(&http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", d.home.Socket())
		},
	}, "http://arkamsg"+path, method, body, header...)
}

// tcp asks over TCP with the good token, unless a header says otherwise.
func (d *door) tcp(method, path, body string, header ...string) reply {
	d.t.Helper()
	header = append([]string{"Authorization", "Bearer " + goodToken}, header...)
	return d.ask(&http.Transport{}, "http://"+d.addr+path, method, body, header...)
}

type reply struct {
	status int
	header http.Header
	body   string
	fields map[string]any // when the body is an object
}

func (d *door) ask(transport *http.Transport, url, method, body string, header ...string) reply {
	d.t.Helper()
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(d.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		switch {
		case header[i] == "Host":
			r.Host = header[i+1]
		case header[i+1] == "":
			r.Header.Del(header[i])
		default:
			r.Header.Set(header[i], header[i+1])
		}
	}
	client := http.Client{Transport: d.spec.Transport(d.t, transport), Timeout: 20 * time.Second}
	resp, err := client.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		d.t.Fatal(err)
	}
	got := reply{status: resp.StatusCode, header: resp.Header, body: string(b)}
	_ = json.Unmarshal(b, &got.fields) // not every body is an object
	return got
}

// want fails the test unless status and code are these.
func (r reply) want(t *testing.T, status int, code string) reply {
	t.Helper()
	got, _ := r.fields["code"].(string)
	if r.status != status || got != code {
		t.Errorf("status %d, code %q; want %d, %q: %s", r.status, got, status, code, r.body)
	}
	return r
}

// envelope is a valid one with the id.
func envelope(id string) string {
	return fmt.Sprintf(`{"type":"notify","v":1,"message_id":%q,"ts":1767225600000,"session":"arka-lab-PMO-codex",`+
		`"provider":"codex","session_prefix":"arka","resource":{"pointer":"ptr:msg:%s"},"sender":"LD"}`, id, id)
}

// buffer is a log that may be written and read at once.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// eventually polls until ok or 5 s have passed.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(5 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("never: %s", what)
		case <-tick.C:
		}
	}
}
