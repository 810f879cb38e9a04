-- A month of terminal history. Each row keeps the digest before it, so that the
-- file can be proved by itself.
CREATE TABLE event(
  id INTEGER PRIMARY KEY,
  message_id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL, lane TEXT NOT NULL, body BLOB NOT NULL, counter TEXT NOT NULL,
  test INTEGER NOT NULL, fact INTEGER NOT NULL, created_at INTEGER NOT NULL,
  hash BLOB NOT NULL CHECK(length(hash) = 32),
  prev BLOB NOT NULL CHECK(length(prev) = 32)
) STRICT;
CREATE TABLE transition(
  seq INTEGER PRIMARY KEY,
  event_id INTEGER NOT NULL, n INTEGER NOT NULL, step TEXT NOT NULL, at INTEGER NOT NULL,
  attempt INTEGER NOT NULL, fence INTEGER NOT NULL, term INTEGER NOT NULL,
  holder TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL, evidence TEXT NOT NULL, result BLOB,
  hash BLOB NOT NULL CHECK(length(hash) = 32),
  prev BLOB NOT NULL CHECK(length(prev) = 32),
  UNIQUE(event_id, n)
) STRICT;
CREATE TRIGGER event_stays BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'archive is append-only'); END;
CREATE TRIGGER event_is BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'archive is append-only'); END;
CREATE TRIGGER transition_stays BEFORE DELETE ON transition BEGIN SELECT RAISE(ABORT, 'archive is append-only'); END;
CREATE TRIGGER transition_is BEFORE UPDATE ON transition BEGIN SELECT RAISE(ABORT, 'archive is append-only'); END;
