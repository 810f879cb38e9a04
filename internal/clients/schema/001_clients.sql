CREATE TABLE clients_client (
	id          TEXT PRIMARY KEY,
	name        TEXT NOT NULL,
	kind        TEXT NOT NULL CHECK (kind IN ('agent', 'machine', 'mcp')),
	machine_id  TEXT NOT NULL CHECK ((kind = 'machine') = (machine_id <> '')),
	secret      BLOB NOT NULL CHECK (length(secret) = 32),
	created_at  INTEGER NOT NULL,
	rotated_at  INTEGER NOT NULL DEFAULT 0,
	revoked_at  INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE clients_token (
	hash       BLOB PRIMARY KEY CHECK (length(hash) = 32),
	client_id  TEXT NOT NULL REFERENCES clients_client(id),
	issued_at  INTEGER NOT NULL,
	expires_at INTEGER NOT NULL CHECK (expires_at > issued_at),
	revoked_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX clients_token_client ON clients_token(client_id);
CREATE INDEX clients_token_expiry ON clients_token(expires_at);

CREATE TABLE clients_user (
	name       TEXT PRIMARY KEY,
	password   TEXT NOT NULL,
	admin      INTEGER NOT NULL DEFAULT 0 CHECK (admin IN (0, 1)),
	created_at INTEGER NOT NULL,
	changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE clients_session (
	hash       BLOB PRIMARY KEY CHECK (length(hash) = 32),
	user       TEXT NOT NULL REFERENCES clients_user(name),
	issued_at  INTEGER NOT NULL,
	expires_at INTEGER NOT NULL CHECK (expires_at > issued_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX clients_session_user ON clients_session(user);
