package main

import (
	"slices"
	"strings"
	"testing"
)

func TestFlagsMayFollowArguments(t *testing.T) {
	app := (&program{}).app()
	for in, want := range map[string]string{
		"arkamsg show ID --json":                "arkamsg show --json ID",
		"arkamsg --home d show ID --json":       "arkamsg --home d show --json ID",
		"arkamsg --home=d dead show ID --json":  "arkamsg --home=d dead show --json ID",
		"arkamsg dead clear ID --why x":         "arkamsg dead clear --why x ID",
		"arkamsg push - --from A --wait 3s":     "arkamsg push --from A --wait 3s -",
		"arkamsg push --message -- --from":      "arkamsg push --message -- --from",
		"arkamsg pull -- --peek":                "arkamsg pull -- --peek",
		"arkamsg standin --log f x --swallow 1": "arkamsg standin --log f x --swallow 1",
		"arkamsg nothing --json":                "arkamsg nothing --json",
		"arkamsg":                               "arkamsg",
	} {
		got := flagsFirst(app, strings.Fields(in))
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
