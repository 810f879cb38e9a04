package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"arkamsg/internal/errkind"
)

// Tx is a transaction in hand. It must not outlive the function it was given to.
type Tx struct {
	db     *DB
	ctx    context.Context
	conn   *sql.Conn
	hooks  []func()
	writes bool

	// Scratch is for what one caller learned and the next in the same group may
	// use. It is emptied when somebody rolls back.
	Scratch any
}

// Exec runs one statement. Statements are prepared once per connection.
func (tx *Tx) Exec(query string, args ...any) (sql.Result, error) {
	if !tx.writes {
		res, err := tx.conn.ExecContext(tx.ctx, query, args...)
		return res, tx.explain(err)
	}
	named, err := namedValues(args)
	if err != nil {
		return nil, err
	}
	res, err := tx.db.raw.ExecContext(tx.ctx, query, named)
	return res, tx.explain(err)
}

// namedValues converts arguments as database/sql does.
func namedValues(args []any) ([]driver.NamedValue, error) {
	named := make([]driver.NamedValue, len(args))
	for i, a := range args {
		v, err := driver.DefaultParameterConverter.ConvertValue(a)
		if err != nil {
			return nil, errkind.New(errkind.Internal, "argument %d", i+1).Wrap(err)
		}
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return named, nil
}

// Query runs a statement that returns rows; close them before the next write.
func (tx *Tx) Query(query string, args ...any) (*sql.Rows, error) {
	rows, err := tx.conn.QueryContext(tx.ctx, query, args...)
	return rows, tx.explain(err)
}

// QueryRow runs a statement that returns at most one row (sql.ErrNoRows).
func (tx *Tx) QueryRow(query string, args ...any) *Row {
	return &Row{tx: tx, row: tx.conn.QueryRowContext(tx.ctx, query, args...)}
}

// OnCommit runs f after the durable commit and before the caller of Write is
// told. It is forgotten when the transaction or this caller's savepoint rolls
// back.
func (tx *Tx) OnCommit(f func()) { tx.hooks = append(tx.hooks, f) }

func (tx *Tx) explain(err error) error {
	if err == nil {
		return nil
	}
	return tx.db.explain("use", err)
}

// Row is one row that has not been read yet.
type Row struct {
	tx  *Tx
	row *sql.Row
}

// Scan copies the columns into dest, like sql.Row.
func (r *Row) Scan(dest ...any) error { return r.tx.explain(r.row.Scan(dest...)) }
