package doctor

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	defaultLimit = 10 * time.Second
	// grace is what a check gets, after its limit, to put things right and say so.
	grace = 3 * time.Second
)

// verdict is one check in progress; its fields may be read once done is closed.
type verdict struct {
	done   chan struct{}
	result Result
	root   Code // of a check that did not pass: the failure that explains it
}

// round is one run over a list of checks.
type round struct {
	patient *patient
	by      map[Code]*verdict
	mu      sync.Mutex // one observer call at a time
}

// run makes all checks, side by side as far as their dependencies allow, and
// returns the results in the order of the list.
func run(ctx context.Context, p *patient, checks []Check) []Result {
	r := &round{patient: p, by: make(map[Code]*verdict, len(checks))}
	for _, c := range checks {
		r.by[c.Code] = &verdict{done: make(chan struct{})}
	}
	var all sync.WaitGroup
	for _, c := range checks {
		all.Go(func() { r.settle(ctx, c) })
	}
	all.Wait()
	results := make([]Result, len(checks))
	for i, c := range checks {
		results[i] = r.by[c.Code].result
	}
	return results
}

// settle waits for what the check depends on and brings it to its result.
func (r *round) settle(ctx context.Context, c Check) {
	v := r.by[c.Code]
	defer close(v.done)
	v.result = Result{Code: c.Code, Title: c.Title}
	if root := r.obstacle(c); root != "" {
		v.root = root
		v.result.State, v.result.Detail = Skipped, fmt.Sprintf("because %s failed", root)
		r.tell(Progress{c.Code, c.Title, &v.result})
		return
	}
	r.tell(Progress{c.Code, c.Title, nil})
	began := time.Now()
	f := r.ask(ctx, c)
	v.result.TookMS = time.Since(began).Milliseconds()
	v.result.State, v.result.Detail, v.result.Remedy = f.State, f.Detail, f.Remedy
	if f.State == Fail {
		v.root = c.Code
	}
	r.tell(Progress{c.Code, c.Title, &v.result})
}

// obstacle waits for the dependencies and returns the failure at the root of the
// first that did not pass.
func (r *round) obstacle(c Check) Code {
	var root Code
	for _, code := range c.After {
		before := r.by[code]
		<-before.done
		if root == "" {
			root = before.root
		}
	}
	return root
}

// ask runs the check under its limit; one that does not come back is left
// behind.
func (r *round) ask(ctx context.Context, c Check) Finding {
	limit := c.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer := make(chan Finding, 1)
	go func() { answer <- c.Run(ctx, r.patient) }()
	select {
	case f := <-answer:
		return f
	case <-ctx.Done():
	}
	select {
	case f := <-answer:
		return f
	case <-time.After(grace):
		return fail("look at the disk and the load of this machine, then: arkamsg doctor", "no answer within %v", limit)
	}
}

func (r *round) tell(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.patient.Observe(p)
}
