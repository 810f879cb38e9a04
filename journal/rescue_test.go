package journal

import (
	"os"
	"path/filepath"
	"testing"
)

// What is rescued is this journal up to its head, and nothing that took its
// place.
func TestRescueTakesNothingElse(t *testing.T) {
	j, _ := openTest(t)
	fillLane(t, j, 2)
	dir := t.TempDir()
	older, whole := filepath.Join(dir, "older.db"), filepath.Join(dir, "whole.db")
	check(t, j.Backup(t.Context(), older))
	must(j.Append(t.Context(), note("later", "lane")))
	check(t, j.Backup(t.Context(), whole))
	other, _ := openTest(t)
	foreign := filepath.Join(dir, "foreign.db")
	check(t, other.Backup(t.Context(), foreign))

	for path, ours := range map[string]bool{older: false, whole: true, foreign: false} {
		if err := j.proveOurs(t.Context(), path); (err == nil) != ours {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
	check(t, os.Remove(j.head.path)) // rm journal.*
	if err := j.proveOurs(t.Context(), whole); err != nil {
		t.Errorf("without a head: %v", err)
	}
	if err := j.proveOurs(t.Context(), foreign); err == nil {
		t.Error("without a head a foreign journal is taken for ours")
	}
}
