package doctor

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func says(f Finding) func(context.Context, *patient) Finding {
	return func(context.Context, *patient) Finding { return f }
}

func quiet() *patient { return &patient{Options: Options{Observe: func(Progress) {}}} }

func TestOneFailureIsShoutedOnce(t *testing.T) {
	results := run(context.Background(), quiet(), []Check{
		{Code: "a", Run: says(fail("mend a", "broken"))},
		{Code: "b", After: []Code{"a"}, Run: says(ok("never asked"))},
		{Code: "c", After: []Code{"b"}, Run: says(ok("never asked"))},
		{Code: "d", Run: says(warn("mind d", "odd"))},
		{Code: "e", After: []Code{"d"}, Run: says(ok("a warning stops nobody"))},
	})
	var got []string
	for _, r := range results {
		got = append(got, string(r.Code)+" "+string(r.State)+" "+r.Detail)
	}
	want := []string{"a fail broken", "b skipped because a failed", "c skipped because a failed", "d warn odd", "e ok a warning stops nobody"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// Side by side: three checks of a second each take a second, and the third,
// which depends on both others, another one.
func TestChecksRunSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(ctx context.Context, _ *patient) Finding { pause(ctx, time.Second); return ok("") }
		began := time.Now()
		run(context.Background(), quiet(), []Check{
			{Code: "a", Run: slow}, {Code: "b", Run: slow}, {Code: "c", After: []Code{"a", "b"}, Run: slow},
		})
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestACheckThatHangsIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{})
		results := run(context.Background(), quiet(), []Check{
			{Code: "hangs", Limit: time.Second, Run: func(context.Context, *patient) Finding { <-wake; return ok("") }},
			{Code: "after", After: []Code{"hangs"}, Run: says(ok(""))},
			{Code: "beside", Run: says(ok(""))},
		})
		close(wake)
		if results[0].State != Fail || results[0].Remedy == "" || results[0].TookMS != (time.Second+grace).Milliseconds() {
			t.Errorf("the one that hangs: %+v", results[0])
		}
		if results[1].State != Skipped || results[2].State != OK {
			t.Errorf("the others: %+v", results[1:])
		}
	})
}

// A check that was left behind may still open something; it must not stay open.
func TestWhatComesTooLateIsClosedAtOnce(t *testing.T) {
	p := quiet()
	var order []int
	p.onClose(func() error { order = append(order, 1); return nil })
	p.onClose(func() error { order = append(order, 2); return nil })
	must(t, p.close())
	p.onClose(func() error { order = append(order, 3); return nil })
	if !slices.Equal(order, []int{2, 1, 3}) {
		t.Errorf("undone in the order %v", order)
	}
}

func TestTablesAreWhole(t *testing.T) {
	for name, table := range map[string][]Check{"home": homeChecks, "lab": labChecks} {
		seen := map[Code]bool{}
		for _, c := range table {
			if c.Title == "" || c.Run == nil || seen[c.Code] || strings.Trim(string(c.Code), "abcdefghijklmnopqrstuvwxyz_") != "" {
				t.Errorf("%s: %q is not a whole check of its own", name, c.Code)
			}
			for _, before := range c.After {
				if !seen[before] {
					t.Errorf("%s: %s depends on %s, which does not stand before it", name, c.Code, before)
				}
			}
			seen[c.Code] = true
		}
	}
	codes := Codes()
	if len(codes) != len(labChecks)+1 || codes[len(codes)-1] != "lab_clean" {
		t.Errorf("the lab makes every check, and looks behind itself: %v", codes)
	}
}

// Making the lab's table must not change the home's.
func TestHomeBeginsWithoutALab(t *testing.T) {
	for _, c := range homeChecks {
		if slices.Contains(c.After, codeLab) {
			t.Errorf("%s waits for a lab", c.Code)
		}
	}
}
