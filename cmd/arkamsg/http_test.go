package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// placeholder stands in a body of a script for one of its variables.
var placeholder = regexp.MustCompile(`@([A-Z_]+)@`)

// request METHOD PATH [BODY] asks the daemon on its socket, with the bearer
// $TOKEN when that is set. @NAME@ in the file BODY stands for $NAME. Status,
// headers and body go to stdout, the body also into the file "answer". Negated:
// the connection must break.
func request(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: [!] request METHOD PATH [BODY]")
	}
	status, header, body, err := ask(ts, args[0], args[1], args[2:])
	if neg {
		if err == nil {
			ts.Fatalf("it was answered: %s\n%s", status, body)
		}
		return
	}
	ts.Check(err)
	fmt.Fprintln(ts.Stdout(), status)
	ts.Check(header.Write(ts.Stdout()))
	fmt.Fprintf(ts.Stdout(), "\n%s\n", body)
	ts.Check(os.WriteFile(ts.MkAbs("answer"), body, 0o600))
}

func ask(ts *testscript.TestScript, method, path string, file []string) (string, http.Header, []byte, error) {
	var body []byte
	for _, name := range file {
		body = placeholder.ReplaceAllFunc([]byte(ts.ReadFile(name)), func(m []byte) []byte { return []byte(ts.Getenv(string(m[1 : len(m)-1]))) })
	}
	r, err := http.NewRequest(method, "http://arkamsg"+path, bytes.NewReader(body))
	ts.Check(err)
	if len(file) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if token := ts.Getenv("TOKEN"); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := toSocket(filepath.Join(ts.Getenv("ARKA_HOME"), "arkamsg.sock")).Do(r)
	if err != nil {
		return "", nil, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	return res.Status, res.Header, answer, err
}

func toSocket(path string) *http.Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}, Timeout: 30 * time.Second}
}

// field NAME FILE KEY keeps a text or number of the JSON object in a file as
// $NAME.
func field(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: field NAME FILE KEY")
	}
	var object map[string]json.RawMessage
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &object))
	raw, ok := object[args[2]]
	if !ok {
		ts.Fatalf("%s has no %s", args[1], args[2])
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	ts.Setenv(args[0], text)
}
