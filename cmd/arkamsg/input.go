package main

import (
	"context"
	"io"
)

// An input is standard input that Ctrl-C interrupts: a read that waits for a
// keyboard would otherwise outlive the wish to stop. The read itself cannot be
// taken back; it ends with the process.
type input struct {
	ctx context.Context
	r   io.Reader
}

func (p *program) input(ctx context.Context) io.Reader { return input{ctx, p.stdin} }

func (i input) Read(b []byte) (int, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		own := make([]byte, len(b)) // b is the caller's again once we return
		n, err := i.r.Read(own)
		done <- result{own[:n], err}
	}()
	select {
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	case r := <-done:
		return copy(b, r.data), r.err
	}
}
