package doctor

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"arkamsg/internal/config"
	"arkamsg/internal/errkind"
	"arkamsg/sessions"
)

// Code names a check for scripts and for the runbook. Codes are never renamed.
type Code string

// State is what came out of a check.
type State string

// The states of a check.
const (
	OK      State = "ok"
	Warn    State = "warn"    // worth knowing; stops no message
	Fail    State = "fail"    // stops messages
	Skipped State = "skipped" // because something it depends on failed
)

// A Finding is what a check says. Detail may have several lines. Remedy is what
// to type or do; a finding that is not OK always has one.
type Finding struct {
	State  State
	Detail string
	Remedy string
}

// A Check is one question about a home.
type Check struct {
	Code  Code
	Title string
	After []Code        // must have passed; they stand before it in their list
	Limit time.Duration // 0: defaultLimit
	Run   func(context.Context, *patient) Finding
}

// A Result is a finding with its check.
type Result struct {
	Code   Code   `json:"code"`
	Title  string `json:"title"`
	State  State  `json:"state"`
	Detail string `json:"detail"`
	Remedy string `json:"remedy"`
	TookMS int64  `json:"took_ms"`
}

// Verdicts of a report.
const (
	Pass   = "pass"
	Failed = "fail"
)

// A Report is the outcome of an examination. Its JSON is part of the contract.
type Report struct {
	Verdict string   `json:"verdict"`
	Lab     bool     `json:"lab"`
	Version string   `json:"version"`
	Home    string   `json:"home"`
	TookMS  int64    `json:"took_ms"`
	Checks  []Result `json:"checks"` // in the order of the list, whichever was first to end
}

// Passed reports whether nothing failed.
func (r Report) Passed() bool { return r.Verdict == Pass }

// Options say whom to examine.
type Options struct {
	Version string
	Home    config.Home                             // not used by Lab
	Load    func(config.Home) (*config.File, error) // nil: config.Load
	Session sessions.Name                           // gets the test message; "": the first that can be reached
	Program string                                  // the executable that Lab runs; "": this one
	Observe func(Progress)                          // nil: nobody watches; never called twice at once
}

// Progress tells an observer that a check begins, or (Result not nil) has ended.
type Progress struct {
	Code   Code
	Title  string
	Result *Result
}

// Home examines a home and its sessions. The error is Interrupted when ctx
// ended first; whatever is wrong with the home is in the report.
func Home(ctx context.Context, o Options) (Report, error) {
	return examine(ctx, o, homeChecks, false)
}

// Lab examines a scratch home on a private tmux server, made for the purpose and
// gone when Lab returns, also after an interruption.
func Lab(ctx context.Context, o Options) (Report, error) {
	o.Load, o.Session = config.Load, "" // nothing of the user's environment
	return examine(ctx, o, labChecks, true)
}

func examine(ctx context.Context, o Options, checks []Check, lab bool) (Report, error) {
	began := time.Now()
	if err := o.complete(); err != nil {
		return Report{}, err
	}
	p := &patient{Options: o, home: o.Home}
	report := Report{Verdict: Pass, Lab: lab, Version: o.Version}
	report.Checks = run(ctx, p, checks)
	err := p.close()
	if lab {
		report.Checks = append(report.Checks, p.leftovers(err))
	}
	if ctx.Err() != nil {
		return Report{}, errkind.New(errkind.Interrupted, "the examination was stopped").Wrap(errors.Join(ctx.Err(), err))
	}
	if slices.ContainsFunc(report.Checks, func(r Result) bool { return r.State == Fail }) {
		report.Verdict = Failed
	}
	report.Home, report.TookMS = string(p.home), time.Since(began).Milliseconds()
	return report, nil
}

func (o *Options) complete() error {
	if o.Load == nil {
		o.Load = config.Load
	}
	if o.Observe == nil {
		o.Observe = func(Progress) {}
	}
	if o.Program != "" {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return errkind.New(errkind.NotNow, "where this program lies cannot be found out").Wrap(err).
			WithHint("start it by its full path")
	}
	o.Program = self
	return nil
}

// Codes lists every code that a report can hold, in the order of the lab's list.
func Codes() []Code {
	var codes []Code
	for _, c := range slices.Concat(labChecks, homeChecks, []Check{leftoversCheck}) {
		if !slices.Contains(codes, c.Code) {
			codes = append(codes, c.Code)
		}
	}
	return codes
}
