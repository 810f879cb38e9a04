package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"arkamsg/journal"
)

// fail ID REASON DETAIL EVIDENCE ends a queued message as a daemon would. The
// evidence may hold Go escapes.
func fail(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: fail ID REASON DETAIL EVIDENCE")
	}
	evidence, err := strconv.Unquote(`"` + args[3] + `"`)
	ts.Check(err)
	ctx := context.Background()
	j, err := journal.Open(ctx, ts.Getenv("ARKA_HOME"), journal.Options{})
	ts.Check(err)
	ticket, err := j.ClaimEvent(ctx, journal.MessageID(args[0]), "test", time.Minute, 0)
	if err == nil {
		err = j.Fail(ctx, ticket, journal.Reason(args[1]), journal.Outcome{Detail: args[2], Evidence: evidence})
	}
	ts.Check(errors.Join(err, j.Close()))
}
