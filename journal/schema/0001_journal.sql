-- One row: who this journal is, and how much damage a person has accepted.
CREATE TABLE journal(
  one INTEGER PRIMARY KEY CHECK(one = 1),
  id TEXT NOT NULL CHECK(length(id) = 8),
  created_at INTEGER NOT NULL,
  accepted_event INTEGER NOT NULL DEFAULT 0,      -- the chains are not held against rows up to these
  accepted_transition INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Facts. Appended once, never changed.
CREATE TABLE event(
  id INTEGER PRIMARY KEY CHECK(id > 0),
  message_id TEXT NOT NULL UNIQUE CHECK(length(message_id) BETWEEN 1 AND 200),
  kind TEXT NOT NULL CHECK(length(kind) BETWEEN 1 AND 64),
  lane TEXT NOT NULL CHECK(length(lane) <= 1024),
  body BLOB NOT NULL,
  counter TEXT NOT NULL,
  test INTEGER NOT NULL CHECK(test IN (0, 1)),
  fact INTEGER NOT NULL CHECK(fact IN (0, 1)),
  created_at INTEGER NOT NULL,                    -- Unix milliseconds
  hash BLOB NOT NULL CHECK(length(hash) = 32),
  CHECK(fact = 1 OR length(lane) > 0)
) STRICT;

-- What became of them. The append itself is the first state and has no row.
CREATE TABLE transition(
  seq INTEGER PRIMARY KEY CHECK(seq > 0),
  event_id INTEGER NOT NULL,
  n INTEGER NOT NULL CHECK(n > 0),
  step TEXT NOT NULL CHECK(step IN ('claim','adopt','retry','deliver','fail','cancel','revive','clear')),
  at INTEGER NOT NULL,
  attempt INTEGER NOT NULL CHECK(attempt >= 0),
  fence INTEGER NOT NULL CHECK(fence >= 0),
  term INTEGER NOT NULL CHECK(term >= 0),
  holder TEXT NOT NULL,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,
  evidence TEXT NOT NULL,
  result BLOB,
  hash BLOB NOT NULL CHECK(length(hash) = 32),
  UNIQUE(event_id, n)
) STRICT;

-- Projections: small, mutable, rebuilt from the two tables above.
CREATE TABLE work(
  lane TEXT NOT NULL,
  event_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  test INTEGER NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('queued','dispatched')),
  attempt INTEGER NOT NULL DEFAULT 0 CHECK(attempt >= 0),
  fence INTEGER NOT NULL DEFAULT 0 CHECK(fence >= 0),
  n INTEGER NOT NULL DEFAULT 0 CHECK(n >= 0),     -- transitions so far
  holder TEXT NOT NULL DEFAULT '',
  term INTEGER NOT NULL DEFAULT 0,
  adopted INTEGER NOT NULL DEFAULT 0,
  lease_until INTEGER NOT NULL DEFAULT 0,         -- boot clock, nanoseconds
  due INTEGER NOT NULL DEFAULT 0,                 -- boot clock, nanoseconds
  boot TEXT NOT NULL DEFAULT '',                  -- the boot those two belong to
  reason TEXT NOT NULL DEFAULT '',                -- what it waits for
  since INTEGER NOT NULL DEFAULT 0,               -- Unix milliseconds
  note TEXT NOT NULL DEFAULT '',                  -- its holder's, for whoever takes over
  PRIMARY KEY(lane, event_id),
  CHECK((state = 'dispatched') = (holder <> ''))
) STRICT, WITHOUT ROWID;

CREATE TABLE dead(
  seq INTEGER PRIMARY KEY,                        -- the transition that failed it
  event_id INTEGER NOT NULL UNIQUE,
  lane TEXT NOT NULL,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL,
  test INTEGER NOT NULL
) STRICT;

CREATE TABLE counter(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE leader(
  one INTEGER PRIMARY KEY CHECK(one = 1),
  term INTEGER NOT NULL CHECK(term > 0),
  live INTEGER NOT NULL CHECK(live IN (0, 1)),
  holder TEXT NOT NULL,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  boot TEXT NOT NULL,
  lock_id TEXT NOT NULL,
  started_at INTEGER NOT NULL,                    -- Unix milliseconds, for people
  expires_at INTEGER NOT NULL,
  deadline INTEGER NOT NULL                       -- boot clock, nanoseconds
) STRICT;

-- What was moved to the monthly files: enough to keep ids unique for ever ...
CREATE TABLE archived(
  message_id TEXT PRIMARY KEY,
  event_id INTEGER NOT NULL,
  file TEXT NOT NULL,
  digest BLOB NOT NULL CHECK(length(digest) = 32), -- of kind and body
  state TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- ... and to follow the chains across the gap: rows first..last went to file;
-- prev is the hash before the first, hash that of the last.
CREATE TABLE anchor(
  chain TEXT NOT NULL CHECK(chain IN ('event','transition')),
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  file TEXT NOT NULL,
  prev BLOB NOT NULL CHECK(length(prev) = 32),
  hash BLOB NOT NULL CHECK(length(hash) = 32),
  PRIMARY KEY(chain, first),
  CHECK(last >= first)
) STRICT, WITHOUT ROWID;

-- The part of each counter that archived rows contributed.
CREATE TABLE baseline(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TRIGGER event_is_append_only_update BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'event is append-only'); END;
CREATE TRIGGER transition_is_append_only_update BEFORE UPDATE ON transition
BEGIN SELECT RAISE(ABORT, 'transition is append-only'); END;

-- A row leaves only when an anchor of the same transaction names its archive.
CREATE TRIGGER event_is_append_only_delete BEFORE DELETE ON event
WHEN NOT EXISTS(SELECT 1 FROM archived WHERE message_id = OLD.message_id AND event_id = OLD.id)
  OR NOT EXISTS(SELECT 1 FROM anchor WHERE chain = 'event' AND first <= OLD.id AND last >= OLD.id)
BEGIN SELECT RAISE(ABORT, 'event is append-only'); END;
CREATE TRIGGER transition_is_append_only_delete BEFORE DELETE ON transition
WHEN NOT EXISTS(SELECT 1 FROM anchor WHERE chain = 'transition' AND first <= OLD.seq AND last >= OLD.seq)
BEGIN SELECT RAISE(ABORT, 'transition is append-only'); END;
CREATE TRIGGER anchor_stays BEFORE DELETE ON anchor
BEGIN SELECT RAISE(ABORT, 'anchor is append-only'); END;
