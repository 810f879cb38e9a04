package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"

	"github.com/mattn/go-sqlite3"

	"arkamsg/internal/crash"
	"arkamsg/internal/errkind"
)

// maxGroup bounds one transaction, so that nobody waits for too many others.
const maxGroup = 128

// group is the queue of callers of Write. The first to come to an empty queue
// leads: it runs everybody's function in one transaction, then hands the lead to
// the first who came meanwhile.
type group struct {
	mu      sync.Mutex
	leading bool
	queue   []*request
}

// request is one caller of Write.
type request struct {
	ctx       context.Context
	fn        func(*Tx) error
	err       error
	panicked  any
	hooks     []func()
	turn      chan bool // true: you lead; false: it is done
	appointed bool
}

// Write runs fn in a transaction and returns when it is durable. fn's error
// rolls back what fn did and is returned as it is; fn must not keep tx. An error
// with Unknown set means that the effect may have happened. fn may run twice: the
// first run is rolled back when another caller of the same group fails.
func (db *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	if db.opts.ReadOnly {
		return errkind.New(errkind.Refused, "%s is open for reading only", db.path)
	}
	r := &request{ctx: ctx, fn: fn, turn: make(chan bool, 1)}
	if db.group.join(r) || db.group.wait(r) {
		db.lead()
	}
	if r.panicked != nil {
		panic(r.panicked)
	}
	return r.err
}

// join enters the queue and reports whether the caller leads.
func (g *group) join(r *request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue = append(g.queue, r)
	if g.leading {
		return false
	}
	g.leading = true
	return true
}

// wait returns true when the caller must lead and false when its work is done.
func (g *group) wait(r *request) bool {
	select {
	case lead := <-r.turn:
		return lead
	case <-r.ctx.Done():
	}
	if g.withdraw(r) {
		return false
	}
	return <-r.turn // too late: a leader has it in hand, or it is to lead
}

// withdraw leaves the queue unless somebody has taken the request already.
func (g *group) withdraw(r *request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, q := range g.queue {
		if q == r && !r.appointed {
			g.queue = append(g.queue[:i], g.queue[i+1:]...)
			r.err = noTime(r.ctx)
			return true
		}
	}
	return false
}

func noTime(ctx context.Context) error {
	return errkind.New(errkind.NotNow, "no time left before writing; nothing was written").Wrap(ctx.Err())
}

func (g *group) take() []*request {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.queue), maxGroup)
	batch := append([]*request(nil), g.queue[:n]...)
	g.queue = append(g.queue[:0], g.queue[n:]...)
	return batch
}

// next appoints a new leader, or nobody.
func (g *group) next() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue) == 0 {
		g.leading = false
		return
	}
	g.queue[0].appointed = true
	g.queue[0].turn <- true
}

func (db *DB) lead() {
	batch := db.group.take()
	db.writerMu.Lock()
	db.commit(batch)
	db.writerMu.Unlock()
	for _, r := range batch {
		r.turn <- false // buffered: nobody has to listen
	}
	db.group.next()
}

// commit runs the batch in one transaction and leaves each outcome in its
// request.
func (db *DB) commit(batch []*request) {
	alive := db.attempt(batch, false)
	if len(batch) > 1 && len(alive) < len(batch) {
		db.rollback()
		alive = db.attempt(batch, true)
	}
	if len(alive) == 0 {
		db.rollback()
		return
	}
	crash.At("journal:before-commit")
	if err := db.exec("COMMIT"); err != nil {
		db.rollback()
		fail(alive, db.unknown("commit to", err))
		return
	}
	crash.At("journal:committed")
	db.acknowledge(alive)
}

// attempt begins and runs everybody. Errors are rare, so the first attempt does
// without savepoints and is given up as a whole when somebody fails; the second
// gives each caller one, so that an error rolls back only what is its own.
func (db *DB) attempt(batch []*request, savepoints bool) []*request {
	tx, err := db.begin(batch)
	if err != nil {
		fail(batch, err)
		return nil
	}
	return db.runAll(tx, batch, savepoints)
}

// begin opens the writer if needed and takes the write lock.
func (db *DB) begin(batch []*request) (*Tx, error) {
	if e := db.poisoned.Load(); e != nil {
		return nil, e
	}
	if err := db.openWriter(batch[0].ctx); err != nil {
		return nil, err
	}
	if err := retryBusy(batch[0].ctx, func() error { return db.exec("BEGIN IMMEDIATE") }); err != nil {
		return nil, db.explain("lock", err)
	}
	crash.At("journal:begun")
	return &Tx{db: db, ctx: context.Background(), conn: db.writer, writes: true}, nil
}

// runAll runs each caller's function and returns those that want the commit.
func (db *DB) runAll(tx *Tx, batch []*request, savepoints bool) []*request {
	alive := make([]*request, 0, len(batch))
	for _, r := range batch {
		db.runOne(tx, r, savepoints)
		if r.err == nil {
			alive = append(alive, r)
			continue
		}
		if !savepoints {
			return nil
		}
		if db.rolledBack() { // SQLite gave the whole transaction up (disk full, I/O)
			fail(batch, r.err)
			return nil
		}
	}
	return alive
}

func (db *DB) runOne(tx *Tx, r *request, savepoint bool) {
	r.err, r.panicked = nil, nil
	if r.ctx.Err() != nil {
		r.err = noTime(r.ctx)
		return
	}
	if savepoint {
		if r.err = db.explain("use", db.exec("SAVEPOINT caller")); r.err != nil {
			return
		}
	}
	tx.hooks = nil
	r.err = guard(r, tx)
	r.hooks = tx.hooks
	if savepoint {
		db.endSavepoint(tx, r)
	}
}

func (db *DB) endSavepoint(tx *Tx, r *request) {
	if r.err != nil {
		tx.Scratch = nil
		if db.rolledBack() {
			return
		}
		r.err = joined(r.err, db.exec("ROLLBACK TO caller"))
	}
	if err := db.exec("RELEASE caller"); err != nil && r.err == nil {
		r.err = db.explain("use", err)
	}
}

// guard keeps one caller's panic from taking the others along; it is raised
// again in the caller's own goroutine.
func guard(r *request, tx *Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.panicked, err = p, fmt.Errorf("panic: %v", p)
		}
	}()
	return tx.db.explainFn(r.fn(tx))
}

// acknowledge is the last step before the callers are told: the files are still
// the files, the head is written.
func (db *DB) acknowledge(alive []*request) {
	if err := db.checkFiles(); err != nil {
		fail(alive, db.unknown("commit to", err))
		return
	}
	for _, r := range alive {
		for _, f := range r.hooks {
			f()
		}
	}
	if db.opts.AfterCommit == nil {
		return
	}
	if err := db.opts.AfterCommit(); err != nil {
		fail(alive, db.unknown("finish the commit to", err))
	}
}

func fail(batch []*request, err error) {
	for _, r := range batch {
		r.err = err
	}
}

// unknown says that it may have happened (RELIABILITY 2).
func (db *DB) unknown(op string, err error) error {
	kind := kindOf(err)
	var e *errkind.Error
	if errors.As(err, &e) {
		kind = e.Kind
	}
	if kind != errkind.Damaged {
		kind = errkind.NotNow
	}
	out := errkind.New(kind, "%s %s failed; it may have happened all the same", op, db.path).Wrap(err).AsUnknown()
	out.Hint = "repeat with the same id"
	if h := errkind.Hint(err); h != "" {
		out.Hint = h
	}
	return out
}

// exec runs a statement on the writer's driver connection itself: database/sql
// in between would cost as much again, and its locks serve nobody here, because
// only the leader of a group uses this connection.
func (db *DB) exec(stmt string, args ...driver.NamedValue) error {
	_, err := db.raw.ExecContext(context.Background(), stmt, args)
	return err
}

// rollback ends a transaction that is not wanted; a connection that cannot even
// do that is thrown away.
func (db *DB) rollback() {
	if db.rolledBack() {
		return
	}
	if err := db.exec("ROLLBACK"); err != nil {
		_ = db.dropWriter()
	}
}

// rolledBack reports whether SQLite has no transaction open.
func (db *DB) rolledBack() bool {
	return db.raw == nil || db.raw.AutoCommit()
}

// openWriter opens the one writing connection and remembers which files it has.
func (db *DB) openWriter(ctx context.Context) error {
	if db.closed.Load() {
		return errClosed(db.path)
	}
	if db.writer != nil {
		return nil
	}
	pool := connect(db.path, roleWrite, db.opts.Sync, 1)
	conn, err := openConn(ctx, pool)
	if err == nil {
		db.writer, db.writerDB = conn, pool
		err = conn.Raw(func(c any) error {
			db.raw = c.(*sqlite3.SQLiteConn)
			return db.meetFiles(ctx)
		})
	}
	if err != nil {
		_, _ = db.dropWriter(), pool.Close() // the first error is the one to show
	}
	return db.explain("open", err)
}

func openConn(ctx context.Context, pool *sql.DB) (conn *sql.Conn, err error) {
	err = retryBusy(ctx, func() error {
		conn, err = pool.Conn(ctx)
		return err
	})
	return conn, err
}

// meetFiles begins once so that -wal and -shm exist, then records the files; a
// connection opened again must meet the same ones.
func (db *DB) meetFiles(ctx context.Context) error {
	if err := retryBusy(ctx, func() error { return db.exec("BEGIN IMMEDIATE") }); err != nil {
		return err
	}
	defer db.exec("ROLLBACK") //nolint:errcheck // nothing was written
	if db.identity.known {
		return db.checkFiles()
	}
	return db.identity.see(db.path)
}

// joined keeps err as it is when nothing else went wrong.
func joined(err, other error) error {
	if other == nil {
		return err
	}
	return errors.Join(err, other)
}
