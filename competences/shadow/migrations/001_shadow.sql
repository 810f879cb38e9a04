CREATE TABLE shadow_session (
	id         TEXT PRIMARY KEY,
	machine_id TEXT NOT NULL,
	name       TEXT NOT NULL,
	intent     TEXT NOT NULL,
	state      TEXT NOT NULL CHECK (state IN ('open', 'stopped')),
	next_seq   INTEGER NOT NULL DEFAULT 1,
	last_t     INTEGER NOT NULL DEFAULT 0,
	revision   INTEGER NOT NULL DEFAULT 0,
	started_at INTEGER NOT NULL,
	stopped_at INTEGER NOT NULL DEFAULT 0 CHECK ((state = 'stopped') = (stopped_at > 0))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX shadow_one_open ON shadow_session(machine_id) WHERE state = 'open';
CREATE INDEX shadow_stopped ON shadow_session(machine_id, stopped_at);

CREATE TABLE shadow_event (
	session TEXT NOT NULL REFERENCES shadow_session(id),
	seq     INTEGER NOT NULL,
	event   TEXT NOT NULL,
	PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE shadow_feedback (
	session  TEXT NOT NULL REFERENCES shadow_session(id),
	revision INTEGER NOT NULL,
	changes  TEXT NOT NULL,
	PRIMARY KEY (session, revision)
) STRICT, WITHOUT ROWID;
