package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestCtrlCEndsAWaitForTheKeyboard(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	keyboard, hands := io.Pipe()
	defer hands.Close()
	p := &program{stdin: keyboard}
	cancel()
	if _, err := io.ReadAll(p.input(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("reading ended with %v", err)
	}
}

func TestInputIsWhatWasTyped(t *testing.T) {
	p := &program{stdin: strings.NewReader("line one\nline two\n")}
	got, err := io.ReadAll(p.input(t.Context()))
	if err != nil || string(got) != "line one\nline two\n" {
		t.Errorf("read %q, %v", got, err)
	}
}
