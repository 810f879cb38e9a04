package httpapi

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// parsed turns a response into a reply.
func parsed(resp *http.Response, body []byte) reply {
	r := reply{status: resp.StatusCode, header: resp.Header, body: string(body)}
	_ = json.Unmarshal(body, &r.fields) // not every body is an object
	return r
}

// part is a route that runs h at /api/v1/lea/x, described well enough.
func part(h http.HandlerFunc) Part {
	return Part{Handler: h, Patterns: []string{"/api/v1/lea/"}, OpenAPI: []byte(`{
		"tags":[{"name":"x","description":"x"}],
		"paths":{"/api/v1/lea/x":{"get":{"operationId":"x","responses":{
			"200":{"$ref":"#/components/responses/X"},"500":{"$ref":"#/components/responses/Internal"}}}}},
		"components":{"responses":{"X":{"description":"x","content":{"application/json":{"schema":{"type":"object"}}}}}}}`)}
}

func TestPanicIsOneAnswer(t *testing.T) {
	t.Parallel()
	d := openDoor(t, part(func(http.ResponseWriter, *http.Request) { panic("a secret of ours") }))
	got := d.unix("GET", "/api/v1/lea/x", "").want(t, 500, "internal")
	if strings.Contains(got.body, "secret") {
		t.Errorf("the panic goes out: %s", got.body)
	}
	id := got.header.Get("X-Correlation-Id")
	if id == "" || got.fields["correlation_id"] != id {
		t.Errorf("correlation id %q in the header, %v in the body", id, got.fields["correlation_id"])
	}
	var stack, line bool
	for _, l := range d.lines() {
		stack = stack || l["msg"] == "panic in a route" && l["correlation_id"] == id && strings.Contains(l["stack"].(string), "server_test.go")
		line = line || l["msg"] == "request" && l["correlation_id"] == id && l["status"] == 500.0 && l["level"] == "ERROR"
	}
	if !stack || !line {
		t.Errorf("stack %t, line %t in the log:\n%s", stack, line, d.log)
	}
	d.unix("GET", "/healthz", "").want(t, 200, "") // and life goes on
}

func TestHalfAnswerIsCutOff(t *testing.T) {
	t.Parallel()
	d := openDoor(t, part(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"half":`)
		_ = http.NewResponseController(w).Flush()
		panic("late")
	}))
	conn := d.dial()
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /api/v1/lea/x HTTP/1.1\r\nHost: x\r\n\r\n")
	whole, _ := io.ReadAll(conn)
	if text := string(whole); !strings.Contains(text, "half") || strings.Contains(text, "correlation_id") || strings.HasSuffix(text, "0\r\n\r\n") {
		t.Errorf("not cut off behind the first half: %s", text)
	}
}

func (d *door) lines() []map[string]any {
	d.t.Helper()
	var lines []map[string]any
	for line := range strings.Lines(d.log.String()) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			d.t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

func TestOneLinePerRequestWithoutSecrets(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	got := d.tcp("POST", "/api/v1/notify?token=query-secret", strings.Replace(envelope("m1"), "LD", "BodySecret", 1), "X-Other", "header-secret")
	got.want(t, 202, "")
	d.tcp("GET", "/healthz", "", "Authorization", "Bearer wrong-secret").want(t, 401, "token_invalid")
	eventually(t, "two lines", func() bool { return strings.Count(d.log.String(), `"msg":"request"`) == 2 })
	if log := d.log.String(); strings.Contains(strings.ToLower(log), "secret") || strings.Contains(log, goodToken) {
		t.Errorf("a secret in the log:\n%s", log)
	}
	for _, l := range d.lines() {
		if l["msg"] == "request" && l["status"] == 202.0 {
			if l["client"] != "client-1" || l["door"] != "tcp" || l["path"] != "/api/v1/notify" ||
				l["correlation_id"] != got.header.Get("X-Correlation-Id") {
				t.Errorf("line %v", l)
			}
		}
	}
}

// TestStopLetsRequestsFinish: what is in hand is answered, nobody new is let
// in, and then nothing is left.
func TestStopLetsRequestsFinish(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	d := openDoor(t, part(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-leave
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{}`)
	}))
	answered := make(chan reply, 1)
	go func() { answered <- d.unix("GET", "/api/v1/lea/x", "") }()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- d.stop() }()
	eventually(t, "nobody new is let in", func() bool {
		conn, err := net.Dial("unix", d.home.Socket())
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	close(leave)
	if got := <-answered; got.status != 200 {
		t.Errorf("in hand: %d", got.status)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestStopCutsOffTheEndless: a request that would never end is told so by its
// context, and run returns with its handler gone. (While a body is unread,
// net/http does not notice by itself that the connection has ended.)
func TestStopCutsOffTheEndless(t *testing.T) {
	t.Parallel()
	entered, left := make(chan struct{}), make(chan struct{})
	d := openDoor(t, part(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
		close(left)
	}))
	conn := d.dial()
	defer conn.Close()
	_, _ = io.WriteString(conn, "POST /api/v1/lea/x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
	<-entered
	started := time.Now()
	if err := d.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(started); took > 2*grace {
		t.Errorf("stopped after %s", took)
	}
	select {
	case <-left:
	default:
		t.Error("the handler lives on")
	}
}

func TestOneMoreConnectionWaits(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := capped(inner, 2)
	accepted := make(chan net.Conn)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	for range 3 {
		conn, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	first, second := <-accepted, <-accepted
	select {
	case <-accepted:
		t.Error("a third connection beside two")
	case <-time.After(100 * time.Millisecond):
	}
	_ = first.Close()
	_ = first.Close() // net/http does: one place comes free, not two
	third := <-accepted
	_, _ = second.Close(), third.Close()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	_ = l.Close() // twice, as net/http does
	<-ended
}

func TestServiceRunsUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	room := openRoom(t)
	room.Config.HTTP.Listen = ""
	api, err := New(Options{Room: room})
	if err != nil {
		t.Fatal(err)
	}
	run, err := api.Service().Listen(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	if got := knock(room.Home.Socket()); got != "answered" {
		t.Error(got)
	}
	cancel()
	if err := <-ended; err != nil || socketThere(room.Home.Socket()) {
		t.Errorf("%v, socket there: %t", err, socketThere(room.Home.Socket()))
	}
}
