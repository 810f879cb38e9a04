package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// version is set by the build (-ldflags -X main.version=…).
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default comes back: a second one ends the
	// program at once, whatever it is doing.
	context.AfterFunc(ctx, stop)
	p := &program{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		getenv: os.Getenv, getwd: os.Getwd,
	}
	code := p.run(ctx, os.Args)
	stop()
	os.Exit(code)
}
