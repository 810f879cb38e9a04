package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
)

func open(t *testing.T, path string, o sqlite.Options) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

var tables = fstest.MapFS{"0001_t.sql": {Data: []byte(`CREATE TABLE t(n INTEGER PRIMARY KEY) STRICT`)}}

func openWithTable(t *testing.T) *sqlite.DB {
	t.Helper()
	db := open(t, filepath.Join(t.TempDir(), "odd name?#%.db"), sqlite.Options{})
	if err := db.Migrate(t.Context(), "test", tables); err != nil {
		t.Fatal(err)
	}
	return db
}

func insert(n int) func(*sqlite.Tx) error {
	return func(tx *sqlite.Tx) error {
		_, err := tx.Exec(`INSERT INTO t(n) VALUES(?)`, n)
		return err
	}
}

func count(t *testing.T, db *sqlite.DB) (n int) {
	t.Helper()
	err := db.Read(t.Context(), func(tx *sqlite.Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM t`).Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestOneCallersErrorIsHisAlone holds the writer until a group has formed, then
// lets every third caller fail after writing, by error or by panic.
func TestOneCallersErrorIsHisAlone(t *testing.T) {
	db := openWithTable(t)
	ours := errors.New("ours")
	entered, release := make(chan bool), make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = db.Write(context.Background(), func(*sqlite.Tx) error {
			close(entered)
			<-release
			return nil
		})
	})
	<-entered
	errs := make([]error, 30)
	for i := range errs {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = fmt.Errorf("%v", p)
				}
			}()
			errs[i] = db.Write(context.Background(), func(tx *sqlite.Tx) error {
				if err := insert(i)(tx); err != nil || i%3 > 0 {
					return err
				}
				if i%2 == 0 {
					panic("ours")
				}
				return ours
			})
		})
	}
	close(release)
	wg.Wait()
	for i, err := range errs {
		if (err != nil) != (i%3 == 0) || err != nil && err.Error() != "ours" {
			t.Errorf("caller %d: %v", i, err)
		}
	}
	if n := count(t, db); n != 20 {
		t.Errorf("%d rows, want 20", n)
	}
}

func TestCancelledBeforeItsTurnWritesNothing(t *testing.T) {
	db := openWithTable(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Write(ctx, insert(1)); errkind.Of(err) != errkind.NotNow || errkind.IsUnknown(err) || !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if n := count(t, db); n != 0 {
		t.Fatalf("%d rows", n)
	}
}

// TestTwoWritersQueue: two connections as two processes have them; nobody ever
// hears of "busy".
func TestTwoWritersQueue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	a, b := open(t, path, sqlite.Options{Sync: "off"}), open(t, path, sqlite.Options{Sync: "off"})
	if err := a.Migrate(t.Context(), "test", tables); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w, db := range []*sqlite.DB{a, b} {
		for k := range 3 {
			wg.Go(func() {
				for i := range 100 {
					if err := db.Write(context.Background(), insert(w*1000+k*100+i)); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	if n := count(t, a); n != 600 {
		t.Fatalf("%d rows", n)
	}
}

func TestHooksOfTheRolledBackAreForgotten(t *testing.T) {
	db := openWithTable(t)
	ran := 0
	write := func(err error) {
		_ = db.Write(t.Context(), func(tx *sqlite.Tx) error {
			tx.OnCommit(func() { ran++ })
			return err
		})
	}
	write(errors.New("no"))
	write(nil)
	if ran != 1 {
		t.Fatalf("ran %d times", ran)
	}
}

// TestFailingAfterCommitIsUnknown: the effect is there, and the caller is told
// that it may be.
func TestFailingAfterCommitIsUnknown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	var fail error
	db := open(t, path, sqlite.Options{AfterCommit: func() error { return fail }})
	if err := db.Migrate(t.Context(), "test", tables); err != nil {
		t.Fatal(err)
	}
	fail = errors.New("after")
	if err := db.Write(t.Context(), insert(1)); !errkind.IsUnknown(err) || errkind.Hint(err) == "" {
		t.Fatalf("%v", err)
	}
	if n := count(t, db); n != 1 {
		t.Fatalf("%d rows", n)
	}
}

// TestReadOnlyCreatesNothingAndFollowsAWriter reads a closed database without
// -wal or -shm appearing, then sees what a writer does after.
func TestReadOnlyCreatesNothingAndFollowsAWriter(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.db")
	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true}); errkind.Of(err) != errkind.NotFound {
		t.Fatalf("%v", err)
	}
	w := open(t, path, sqlite.Options{})
	if err := w.Migrate(t.Context(), "test", tables); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ro := open(t, path, sqlite.Options{ReadOnly: true})
	if n := count(t, ro); n != 0 {
		t.Fatal(n)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Fatalf("reading left %v", files)
	}
	if err := ro.Write(t.Context(), insert(1)); errkind.Of(err) != errkind.Refused {
		t.Fatalf("%v", err)
	}
	w = open(t, path, sqlite.Options{})
	if err := w.Write(t.Context(), insert(1)); err != nil {
		t.Fatal(err)
	}
	if n := count(t, ro); n != 1 {
		t.Fatalf("the reader stayed in the past: %d", n)
	}
}

func TestBackupIsProvedBeforeItGetsItsName(t *testing.T) {
	db := openWithTable(t)
	if err := db.Write(t.Context(), insert(1)); err != nil {
		t.Fatal(err)
	}
	dst := filepath.Join(t.TempDir(), "copy.db")
	bad := errors.New("bad copy")
	if err := db.Backup(t.Context(), dst, func(string) error { return bad }); !errors.Is(err, bad) {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(filepath.Dir(dst)); len(files) != 0 {
		t.Fatalf("a refused copy left %v", files)
	}
	if err := db.Backup(t.Context(), dst, nil); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(t.Context(), dst, nil); errkind.Of(err) != errkind.Conflict {
		t.Fatalf("overwrote a backup: %v", err)
	}
	if n := count(t, open(t, dst, sqlite.Options{ReadOnly: true})); n != 1 {
		t.Fatal(n)
	}
}

func TestFirstOpenersRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			db, err := sqlite.Open(context.Background(), path, sqlite.Options{})
			if err == nil {
				err = errors.Join(db.Migrate(context.Background(), "test", tables), db.Write(context.Background(), insert(i)), db.Close())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := count(t, open(t, path, sqlite.Options{})); n != 8 {
		t.Fatal(n)
	}
	if files, _ := filepath.Glob(path + ".new-*"); len(files) > 0 {
		t.Fatalf("left %v", files)
	}
}
