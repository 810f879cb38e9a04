-- One row per idempotency key. See the package comment for the states.
CREATE TABLE competence_persist (
	key        BLOB PRIMARY KEY CHECK (length(key) = 32),  -- sha256(machine_id, persist_id)
	generation INTEGER NOT NULL CHECK (generation > 0),
	message_id TEXT NOT NULL UNIQUE,
	lane       TEXT NOT NULL,
	payload    BLOB NOT NULL CHECK (length(payload) = 32), -- sha256 of the canonical body
	state      TEXT NOT NULL CHECK (state IN ('pending', 'done', 'failed')),
	code       TEXT NOT NULL DEFAULT '',
	response   BLOB CHECK ((state = 'done') = (response IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- The audit. The JSONL files are exports of these lines.
CREATE TABLE competence_audit (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	key        BLOB NOT NULL UNIQUE,
	line       TEXT NOT NULL,
	incomplete TEXT NOT NULL DEFAULT ''  -- the line of incomplete_learnings.jsonl, if any
) STRICT;
CREATE INDEX competence_audit_incomplete ON competence_audit(id) WHERE incomplete <> '';
CREATE TRIGGER competence_audit_no_update BEFORE UPDATE ON competence_audit
BEGIN SELECT raise(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER competence_audit_no_delete BEFORE DELETE ON competence_audit
BEGIN SELECT raise(ABORT, 'the audit is append-only'); END;

-- A slug in here is blocked: what it taught is being unlearned.
CREATE TABLE competence_unlearning (
	slug       TEXT PRIMARY KEY,
	started_at INTEGER NOT NULL,
	started_by TEXT NOT NULL,
	reason     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What people did to competences: promotions, unlearnings.
CREATE TABLE competence_act (
	id     INTEGER PRIMARY KEY AUTOINCREMENT,
	at     INTEGER NOT NULL,
	slug   TEXT NOT NULL,
	act    TEXT NOT NULL,
	by     TEXT NOT NULL,
	detail TEXT NOT NULL
) STRICT;
CREATE TRIGGER competence_act_no_update BEFORE UPDATE ON competence_act
BEGIN SELECT raise(ABORT, 'acts are append-only'); END;
CREATE TRIGGER competence_act_no_delete BEFORE DELETE ON competence_act
BEGIN SELECT raise(ABORT, 'acts are append-only'); END;
