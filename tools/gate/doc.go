// Command gate reads `go test -json` and lets a run pass only if it proved
// something: a failed or skipped test, a package that ran no test, and a run
// without any test end with exit code 1. What it prints is what go test would
// have printed for people, so that the closing lines stay the usual ones.
package main
