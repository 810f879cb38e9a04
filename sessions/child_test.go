package sessions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"arkamsg/internal/crash"
	"arkamsg/sessions"
)

// order is what a child process is told to deliver.
type order struct {
	Socket, Session, Profile, Text string
	Event, Token                   int64
}

// deliverMain is the process that the fault tests kill, stop and race: it pins
// and delivers until the outcome is final, as the daemon does.
func deliverMain(args []string) int {
	var o order
	if err := json.Unmarshal([]byte(args[0]), &o); err != nil {
		return 2
	}
	s := sessions.Connect(sessions.ServerOptions{SocketPath: o.Socket})
	profiles, err := sessions.Profiles(nil)
	if err != nil {
		return 2
	}
	end, again := time.After(2*time.Minute), time.Tick(10*time.Millisecond)
	for {
		select {
		case <-end:
			return 3 // the test that started us is gone
		case <-again:
		}
		t, err := s.Pin(context.Background(), sessions.Name(o.Session))
		if err != nil {
			continue
		}
		out, err := s.Deliver(context.Background(), sessions.Delivery{Target: t, Profile: profiles[o.Profile],
			Journal: journalID, Event: o.Event, Token: o.Token, Text: o.Text})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if out.State != sessions.Waiting && out.State != sessions.NotSubmitted {
			fmt.Println(out.State, out.Detail)
			return 0
		}
	}
}

// child starts a process for the order; label arms a crash point.
func child(t testing.TB, o order, label string) *exec.Cmd {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "deliver", string(raw))
	cmd.Env = append(os.Environ(), crash.Env+"="+label)
	cmd.Stderr = os.Stderr
	return cmd
}
