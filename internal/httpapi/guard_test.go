package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// plain asks over the socket for a path that the document cannot know.
func plain(t *testing.T, d *door, method, path string) reply {
	t.Helper()
	conn, err := net.Dial("unix", d.home.Socket())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return talk(t, conn, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", method, path))
}

// talk writes raw text and reads one response.
func talk(t *testing.T, conn net.Conn, text string) reply {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(resp, b)
}

func TestTCPTrustsNobody(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	_, port, _ := net.SplitHostPort(d.addr)
	for name, c := range map[string]struct {
		method, path string
		header       []string
		status       int
		code         string
	}{
		"good":                {"GET", "/healthz", nil, 200, ""},
		"by name":             {"GET", "/healthz", []string{"Host", "LocalHost:" + port}, 200, ""},
		"own origin":          {"POST", "/api/v1/notify", []string{"Origin", "http://" + d.addr}, 422, "invalid"},
		"rebinding":           {"GET", "/healthz", []string{"Host", "evil.example:" + port}, 403, "host_not_allowed"},
		"rebinding own":       {"GET", "/healthz", []string{"Host", "evil.example:" + port, "Origin", "http://evil.example:" + port, "Sec-Fetch-Site", "same-origin"}, 403, "host_not_allowed"},
		"host suffix":         {"GET", "/healthz", []string{"Host", "127.0.0.1.evil.example:" + port}, 403, "host_not_allowed"},
		"other port":          {"GET", "/healthz", []string{"Host", "127.0.0.1:1"}, 403, "host_not_allowed"},
		"no port":             {"GET", "/healthz", []string{"Host", "127.0.0.1"}, 403, "host_not_allowed"},
		"foreign read":        {"GET", "/metrics", []string{"Origin", "http://evil.example", "Host", "evil.example:" + port}, 403, "host_not_allowed"},
		"foreign origin read": {"GET", "/metrics", []string{"Origin", "http://evil.example"}, 403, "cross_origin"},
		"null origin read":    {"GET", "/metrics", []string{"Origin", "null"}, 403, "cross_origin"},
		"foreign write":       {"POST", "/api/v1/notify", []string{"Origin", "http://evil.example"}, 403, "cross_origin"},
		"cross-site write":    {"POST", "/api/v1/notify", []string{"Sec-Fetch-Site", "cross-site"}, 403, "cross_origin"},
		"same-site write":     {"POST", "/api/v1/notify", []string{"Sec-Fetch-Site", "same-site"}, 403, "cross_origin"},
		"no token":            {"GET", "/healthz", []string{"Authorization", ""}, 401, "token_missing"},
		"no token, write":     {"POST", "/api/v1/notify", []string{"Authorization", ""}, 401, "token_missing"},
		"no token, head":      {"HEAD", "/healthz", []string{"Authorization", ""}, 401, ""},
		"empty token":         {"GET", "/ops/readiness", []string{"Authorization", "Bearer "}, 401, "token_missing"},
		"basic":               {"GET", "/openapi.json", []string{"Authorization", "Basic " + goodToken}, 401, "token_missing"},
		"bad token":           {"GET", "/metrics", []string{"Authorization", "Bearer x"}, 401, "token_invalid"},
		"cannot be asked":     {"GET", "/healthz", []string{"Authorization", "Bearer broken"}, 500, "internal"},
		"nobody knows":        {"POST", "/api/v1/notify", []string{"Authorization", "Bearer later"}, 503, "not_now"},
	} {
		body := ""
		if c.method == "POST" {
			body = "{}"
		}
		got := d.tcp(c.method, c.path, body, c.header...)
		if code, _ := got.fields["code"].(string); got.status != c.status || code != c.code {
			t.Errorf("%s: %d %s, want %d %s", name, got.status, got.body, c.status, c.code)
		}
		if got.status == 401 && got.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: 401 without WWW-Authenticate", name)
		}
		if got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: opened to other origins", name)
		}
	}
}

func TestSocketRefusesWebPages(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	d.unix("POST", "/api/v1/notify", "{}", "Sec-Fetch-Site", "cross-site").want(t, 403, "cross_origin")
}

func TestTCPNeedsAuthenticatorAndLoopback(t *testing.T) {
	t.Parallel()
	room := openRoom(t)
	for name, c := range map[string]struct {
		listen string
		auth   Authenticator
	}{
		"nobody checks tokens": {"127.0.0.1:0", nil},
		"everywhere":           {"0.0.0.0:0", authenticator},
		"no such address":      {"127.0.0.1:x", authenticator},
	} {
		room.Config.HTTP.Listen = c.listen
		api, err := New(Options{Room: room, Authenticator: c.auth})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := api.Service().Listen(context.Background()); err == nil {
			t.Errorf("%s: listens", name)
		}
		if socketThere(room.Home.Socket()) {
			t.Errorf("%s: the socket stays behind", name)
		}
	}
}

// TestHeaderBound sends headers that just fit into 8 KiB and headers that do
// not end within it. (Nothing more may follow: what the server leaves unread
// resets the connection.)
func TestHeaderBound(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	const begin, end = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Fill: ", "\r\n\r\n"
	fits := begin + strings.Repeat("x", 8<<10-len(begin+end)-1) + end
	endless := begin + strings.Repeat("x", 8<<10-len(begin))
	for text, want := range map[string]int{fits: 200, endless: 431} {
		conn := d.dial()
		if got := talk(t, conn, text); got.status != want {
			t.Errorf("headers of %d bytes: %d, want %d", len(text), got.status, want)
		}
		_ = conn.Close()
	}
}

// TestSlowHeaders drips a header that never ends, as slowloris does.
func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	conn := d.dial()
	defer conn.Close()
	started := time.Now()
	if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, conn)
		close(ended)
	}()
	drip := time.NewTicker(100 * time.Millisecond)
	defer drip.Stop()
	for {
		select {
		case <-ended:
			if took := time.Since(started); took < headerTimeout || took > headerTimeout+2*time.Second {
				t.Errorf("cut off after %s", took)
			}
			return
		case <-drip.C:
			_, _ = io.WriteString(conn, "X-Drip: x\r\n") // fails once we are cut off
		}
		if time.Since(started) > 10*time.Second {
			t.Fatal("never cut off")
		}
	}
}

func (d *door) dial() net.Conn {
	d.t.Helper()
	conn, err := net.Dial("unix", d.home.Socket())
	if err != nil {
		d.t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(15 * time.Second)); err != nil {
		d.t.Fatal(err)
	}
	return conn
}
