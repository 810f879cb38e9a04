package httpapi

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"arkamsg/journal"
	"arkamsg/notifyd"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	d.unix("GET", "/healthz", "").want(t, 200, "")
	d.unix("GET", "/ops/readiness", "").want(t, 503, "") // nobody leads
	lease := d.lead()
	if got := d.tcp("GET", "/ops/readiness", "").want(t, 200, ""); got.fields["ready"] != true {
		t.Error(got.body)
	}
	if err := d.room.Journal.Resign(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	got := d.unix("GET", "/ops/readiness", "").want(t, 503, "")
	if !strings.Contains(got.body, `{"code":"daemon_lease","ok":false,`) || !strings.Contains(got.body, `{"code":"journal_writable","ok":true}`) {
		t.Error(got.body)
	}
}

func TestNotReadyOnceTheJournalIsGone(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	d.lead()
	if err := os.Rename(d.home.Journal(), d.home.Journal()+".away"); err != nil {
		t.Fatal(err)
	}
	got := d.unix("GET", "/ops/readiness", "").want(t, 503, "")
	if !strings.Contains(got.body, `{"code":"journal_files","ok":false,`) {
		t.Error(got.body)
	}
	if err := os.Rename(d.home.Journal()+".away", d.home.Journal()); err != nil {
		t.Fatal(err)
	}
}

// TestMetricsEqualStatus makes a little history and compares every number.
func TestMetricsEqualStatus(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	lease := d.lead()
	for _, id := range []string{"m1", "m2", "m3", "m1"} {
		d.unix("POST", "/api/v1/notify", envelope(id))
	}
	j, lane := d.room.Journal, notifyd.LaneOf("arka-lab-PMO-codex")
	block := func(tk journal.Ticket) error {
		return j.Fail(t.Context(), tk, journal.ReasonMissingSession, journal.Outcome{})
	}
	deliver := func(tk journal.Ticket) error { return j.Deliver(t.Context(), tk, journal.Outcome{}) }
	for _, end := range []func(journal.Ticket) error{block, deliver} {
		ticket, err := j.Claim(t.Context(), lane, lease.Holder, time.Minute, lease.Term)
		if err != nil {
			t.Fatal(err)
		}
		if err := end(ticket); err != nil {
			t.Fatal(err)
		}
	}
	status, err := d.room.Status(t.Context(), "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	got := d.metrics()
	want := map[string]int64{
		"up": 1, "events_total": status.Totals.Events, "delivered_total": status.Totals.Delivered,
		"failed_total": status.Totals.Failed, `queue_depth{state="queued"}`: int64(status.Lag.Queued),
		`queue_depth{state="dispatched"}`: int64(status.Lag.Dispatched), "daemon_term": int64(status.Daemon.Term),
		`build_info{version="v1.2.3"}`: 1, "dead_letters": 1,
	}
	for name, n := range status.Counters {
		want[name] = n
	}
	for name, n := range want {
		if v, ok := got[prefix+name]; !ok || v != float64(n) {
			t.Errorf("%s is %v (%t), status says %d", name, v, ok, n)
		}
	}
	if status.Counters[journal.CounterBlockedMissing] != 1 || status.Counters[journal.CounterDuplicates] != 1 || status.Lag.Queued != 1 {
		t.Errorf("the history is not what the test thinks: %+v", status)
	}
	if got[prefix+"oldest_queued_age_seconds"] <= 0 || got["go_goroutines"] == 0 || got["process_start_time_seconds"] == 0 {
		t.Error("age, go or process metrics are missing")
	}
}

func TestLatencyCountsDeliveriesOnly(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	event := journal.Event{Kind: journal.KindNotify, CreatedAt: time.Now().Add(-3 * time.Second)}
	tested := event
	tested.Test = true
	d.api.Observe(journal.Ticket{Event: event}, journal.Delivered, "")
	d.api.Observe(journal.Ticket{Event: event}, journal.Failed, journal.ReasonIndeterminate)
	d.api.Observe(journal.Ticket{Event: tested}, journal.Delivered, "")
	got := d.metrics()
	const name = prefix + "delivery_latency_seconds"
	if got[name+`_count{kind="notify"}`] != 1 || got[name+`_bucket{kind="notify",le="2.5"}`] != 0 || got[name+`_bucket{kind="notify",le="5"}`] != 1 {
		t.Errorf("latency %v", got)
	}
}

// metrics scrapes the page: the value of each series by its name and labels.
func (d *door) metrics() map[string]float64 {
	d.t.Helper()
	series := map[string]float64{}
	for line := range strings.Lines(d.unix("GET", "/metrics", "").want(d.t, 200, "").body) {
		line = strings.TrimSpace(line)
		i := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || i < 0 {
			continue
		}
		v, err := strconv.ParseFloat(line[i+1:], 64)
		if err != nil {
			d.t.Fatal(fmt.Errorf("%q: %w", line, err))
		}
		series[line[:i]] = v
	}
	return series
}
