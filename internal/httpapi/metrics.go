package httpapi

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"arkamsg/journal"
)

// prefix stands before every name of ours (CONTRACT "status --json").
const prefix = "arkamsg_"

// scrapeWithin bounds how long a scrape may read the journal.
const scrapeWithin = 2 * time.Second

// metrics shows the journal's own numbers: nothing is counted twice, so a
// metric equals what `arkamsg status` says. Only the latency is our own, since
// the start of the daemon.
type metrics struct {
	journal  *journal.Journal
	log      *slog.Logger
	registry *prometheus.Registry
	latency  *prometheus.HistogramVec
}

func newMetrics(j *journal.Journal, version string, log *slog.Logger) *metrics {
	m := &metrics{journal: j, log: log, registry: prometheus.NewRegistry()}
	m.latency = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    prefix + "delivery_latency_seconds",
		Help:    "From the append of an event to its delivery, waiting included, since the start of the daemon.",
		Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200},
	}, []string{"kind"})
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: prefix + "build_info", Help: "Always 1; the label names the version.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m.registry.MustRegister(build, m.latency, m,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(m.log.Handler(), slog.LevelError), DisableCompression: true,
	})
}

// Observe is told every outcome that the daemon records (notifyd.Options). Tests
// leave no trace.
func (a *API) Observe(t journal.Ticket, s journal.State, _ journal.Reason) {
	if s == journal.Delivered && !t.Event.Test {
		waited := time.Since(t.Event.CreatedAt)
		a.metrics.latency.WithLabelValues(string(t.Event.Kind)).Observe(max(0, waited.Seconds()))
	}
}

// Describe sends nothing: which counters there are is the journal's business.
func (m *metrics) Describe(chan<- *prometheus.Desc) {}

// Collect reads the journal's projections; the cost does not grow with history.
// A journal that cannot be read is up 0, and the rest of the page stays.
func (m *metrics) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeWithin)
	defer cancel()
	sum, err := m.journal.Summary(ctx)
	if err == nil {
		err = m.leader(ctx, out)
	}
	if err != nil {
		m.log.Error("the journal cannot be read for metrics", keyError, err)
		gauge(out, "up", "Whether the journal can be read.", 0)
		return
	}
	gauge(out, "up", "Whether the journal can be read.", 1)
	counts(out, sum)
	lag(out, sum)
}

func (m *metrics) leader(ctx context.Context, out chan<- prometheus.Metric) error {
	lease, _, err := m.journal.Leader(ctx)
	if err == nil {
		gauge(out, "daemon_term", "The term of the last lease.", float64(lease.Term))
		gauge(out, "daemon_lease_seconds", "For how long the lease can still be trusted.",
			max(0, m.journal.Left(lease).Seconds()))
	}
	return err
}

func counts(out chan<- prometheus.Metric, sum journal.Summary) {
	counter(out, "events_total", sum.Events)
	counter(out, "delivered_total", sum.Delivered)
	counter(out, "failed_total", sum.Failed)
	for _, name := range slices.Sorted(maps.Keys(sum.Counters)) {
		counter(out, name, sum.Counters[name])
	}
}

func lag(out chan<- prometheus.Metric, sum journal.Summary) {
	const help = "Work that has no end yet, by state."
	gauge(out, "queue_depth", help, float64(sum.Queued), "state", string(journal.Queued))
	gauge(out, "queue_depth", help, float64(sum.Dispatched), "state", string(journal.Dispatched))
	age := 0.0
	if !sum.OldestQueued.IsZero() {
		age = max(0, time.Since(sum.OldestQueued).Seconds())
	}
	gauge(out, "oldest_queued_age_seconds", "Age of the oldest queued event; 0 when there is none.", age)
	gauge(out, "dead_letters", "Dead letters that nobody has retried or cleared.", float64(sum.Dead))
	waiting := map[journal.Reason]int{}
	for _, w := range sum.Waiting {
		waiting[w.Reason]++
	}
	for _, reason := range slices.Sorted(maps.Keys(waiting)) {
		gauge(out, "waiting", "Work at a closed gate, by reason; the 100 oldest are counted.",
			float64(waiting[reason]), "reason", string(reason))
	}
}

func counter(out chan<- prometheus.Metric, name string, value int64) {
	desc := prometheus.NewDesc(prefix+name, "As in arkamsg status: "+name+".", nil, nil)
	out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(value))
}

// gauge sends one value, with at most one label.
func gauge(out chan<- prometheus.Metric, name, help string, value float64, label ...string) {
	var names, values []string
	if len(label) == 2 {
		names, values = label[:1], label[1:]
	}
	desc := prometheus.NewDesc(prefix+name, help, names, nil)
	out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, values...)
}
