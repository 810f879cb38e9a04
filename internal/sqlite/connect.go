package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/mattn/go-sqlite3"

	"arkamsg/internal/errkind"
)

// applicationID marks a file as ours ("ARKA"); a truncated or foreign file
// would otherwise be taken for an empty database.
const applicationID = 0x41524b41

// role is what a connection is for.
type role uint8

const (
	roleWrite     role = iota
	roleRead           // sees the WAL, may need the -shm beside it
	roleImmutable      // reads the file alone: no WAL exists and nobody writes
)

// syncLevels maps Options.Sync to the number PRAGMA synchronous reads back.
var syncLevels = map[string]int64{"off": 0, "normal": 1, "full": 2}

// dsn carries every pragma the driver knows, so that each connection has them.
func dsn(path string, r role, sync string) string {
	q := url.Values{}
	q.Set("_busy_timeout", "1000") // begin repeats it up to a minute
	q.Set("_foreign_keys", "1")
	q.Set("_recursive_triggers", "1") // so that REPLACE cannot delete past a trigger
	q.Set("_stmt_cache_size", "128")
	switch r {
	case roleWrite:
		q.Set("mode", "rw")
		q.Set("_txlock", "immediate")
		q.Set("_journal_mode", "WAL")
		q.Set("_synchronous", strings.ToUpper(sync))
	case roleRead:
		q.Set("mode", "ro")
	case roleImmutable:
		q.Set("mode", "ro")
		q.Set("immutable", "1")
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path}).String() + "?" + q.Encode()
}

// connector opens one kind of connection and proves each before it is used.
type connector struct {
	driver *sqlite3.SQLiteDriver
	dsn    string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c connector) Driver() driver.Driver                        { return c.driver }

// connect returns a pool of at most n connections of the role.
func connect(path string, r role, sync string, n int) *sql.DB {
	hook := func(c *sqlite3.SQLiteConn) error { return prove(c, r, sync) }
	db := sql.OpenDB(connector{&sqlite3.SQLiteDriver{ConnectHook: hook}, dsn(path, r, sync)})
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db
}

// prove sets what the DSN cannot carry, then reads every pragma back.
func prove(c *sqlite3.SQLiteConn, r role, sync string) error {
	if err := setExtras(c, r); err != nil {
		return err
	}
	want := []pragma{{"application_id", int64(applicationID)}, {"foreign_keys", int64(1)}, {"busy_timeout", int64(1000)}, {"recursive_triggers", int64(1)}}
	if r == roleWrite {
		want = append(want, pragma{"journal_mode", "wal"}, pragma{"synchronous", syncLevels[sync]})
	}
	for _, p := range want {
		if err := p.readBack(c); err != nil {
			return err
		}
	}
	return nil
}

func setExtras(c *sqlite3.SQLiteConn, r role) error {
	extras := "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY;"
	if r == roleWrite {
		// 2000 pages keep the WAL near 8 MB; the alarm is at 16 (RELIABILITY 15).
		extras += "PRAGMA wal_autocheckpoint=2000; PRAGMA journal_size_limit=16777216;"
	}
	_, err := c.Exec(extras, nil)
	return err
}

type pragma struct {
	name string
	want driver.Value
}

func (p pragma) readBack(c *sqlite3.SQLiteConn) error {
	got, err := pragmaValue(c, p.name)
	switch {
	case err != nil:
		return err
	case got == p.want:
		return nil
	case p.name == "application_id":
		return errkind.New(errkind.Damaged, "%s is not a database of arkamsg (application id %v)", c.GetFilename("main"), got).
			WithHint("put the right file or a backup back, then: arkamsg journal verify")
	}
	return errkind.New(errkind.NotNow, "PRAGMA %s is %v instead of %v", p.name, got, p.want)
}

func pragmaValue(c *sqlite3.SQLiteConn, name string) (driver.Value, error) {
	rows, err := c.Query("PRAGMA "+name, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(row); err != nil {
		if err == io.EOF {
			err = fmt.Errorf("PRAGMA %s says nothing", name)
		}
		return nil, err
	}
	return row[0], nil
}
