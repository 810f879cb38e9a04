package bench

import (
	"slices"
	"testing"
	"time"
)

// sample is how long something took, time after time. Medians are compared, not
// sums: the machine is shared, and one stall of its disk must not decide.
type sample []time.Duration

// time adds one run of f.
func (s *sample) time(f func()) {
	start := time.Now()
	f()
	*s = append(*s, time.Since(start))
}

// at is the q-th quantile, 0 to 1.
func (s sample) at(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// report shows a quantile in milliseconds.
func (s sample) report(b *testing.B, q float64, unit string) {
	b.ReportMetric(float64(s.at(q).Microseconds())/1000, unit)
}

// ratio is by how much the median of ours is above theirs.
func ratio(ours, theirs sample) float64 { return float64(ours.at(0.5)) / float64(theirs.at(0.5)) }

// quietly hides the time per iteration, which adds up what is compared here.
func quietly(b *testing.B) { b.ReportMetric(0, "ns/op") }
