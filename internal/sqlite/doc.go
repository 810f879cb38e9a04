// Package sqlite is the only place where arkamsg touches SQLite.
//
// A [DB] is one file in WAL mode with one writing connection and a few reading
// ones. What it promises:
//
//   - Write returns nil only after COMMIT succeeded with the asked durability,
//     and after the files were seen to be still the files (RELIABILITY 1, 8).
//     A COMMIT that failed is an error with Unknown set: it may have happened.
//   - Concurrent callers of Write in one process share a transaction (group
//     commit). One caller's error rolls back only what that caller did: the group
//     runs again then, with a savepoint for each. There is no goroutine: the first
//     caller to come leads, the others wait for it, and the next in the queue
//     leads next.
//   - Two processes that write at once queue. SQLITE_BUSY becomes a NotNow error
//     only after a minute of somebody else holding the lock.
//   - Read sees one consistent snapshot and never waits for a writer.
//   - A database is created complete or not at all: it is built under another
//     name and renamed without replacing (nobody sees an empty file).
//   - Opened read-only it creates nothing, and works in a folder that cannot be
//     written.
//
// Pragmas travel in the DSN and are read back on every connection, because one
// that is run through a pool reaches one connection in three. Nothing here opens
// the database, -wal or -shm by any other way than SQLite: closing such a
// descriptor would drop SQLite's locks (RELIABILITY 10). The files are compared
// by lstat only.
//
// When the files are no longer the files (deleted, replaced, hard-linked) the DB
// is poisoned: every later Write is refused as Damaged; [DB.Backup] can still
// rescue what the open descriptors hold.
package sqlite
