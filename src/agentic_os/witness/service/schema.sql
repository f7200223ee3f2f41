-- The witness's memory: hashes, keys, times and notes; never a word of a ledger.
-- The triggers repeat the invariants of rule.py, so that no other program that writes this
-- file can roll a row back without dropping them first.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE identity (
  identity_id   TEXT PRIMARY KEY,
  key_digits    TEXT NOT NULL,
  public_key    BLOB NOT NULL,
  registered_at INTEGER NOT NULL,
  proved        INTEGER NOT NULL DEFAULT 0 CHECK (proved IN (0, 1)),
  successor     TEXT,
  ordinal       INTEGER NOT NULL CHECK (ordinal >= 1),
  ledger_hash   TEXT NOT NULL,
  witnessed_at  INTEGER NOT NULL,
  answer        BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX identity_of_key ON identity (key_digits);

CREATE TABLE origin (
  origin        TEXT PRIMARY KEY,
  origin_sha256 TEXT NOT NULL UNIQUE,
  identity_id   TEXT,
  closed_at     INTEGER,
  size          INTEGER CHECK (size >= 0),
  root          BLOB CHECK (length(root) = 32),
  note          BLOB,
  cosigned_at   INTEGER,
  CHECK ((size IS NULL) = (root IS NULL)),
  CHECK ((size IS NULL) = (note IS NULL)),
  CHECK ((size IS NULL) = (cosigned_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX origin_of_identity ON origin (identity_id)
  WHERE identity_id IS NOT NULL AND closed_at IS NULL;

CREATE TABLE origin_key (
  origin     TEXT NOT NULL REFERENCES origin (origin),
  vkey       TEXT NOT NULL,
  source     TEXT NOT NULL CHECK (source IN ('listed', 'bound')),
  added_at   INTEGER NOT NULL,
  retired_at INTEGER,
  PRIMARY KEY (origin, vkey)
) STRICT, WITHOUT ROWID;

CREATE TABLE evidence (
  digest  TEXT PRIMARY KEY,
  subject TEXT NOT NULL,
  kind    TEXT NOT NULL CHECK (kind IN ('bookmark', 'checkpoint')),
  code    TEXT NOT NULL,
  seen_at INTEGER NOT NULL,
  body    BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX evidence_of_subject ON evidence (subject);

CREATE TRIGGER identity_stays BEFORE DELETE ON identity
BEGIN SELECT RAISE(ABORT, 'an identity is never forgotten'); END;

CREATE TRIGGER identity_advances BEFORE UPDATE ON identity
WHEN NEW.ordinal < OLD.ordinal
  OR (NEW.ordinal = OLD.ordinal AND NEW.ledger_hash <> OLD.ledger_hash)
  OR NEW.witnessed_at < OLD.witnessed_at
  OR NEW.proved < OLD.proved
  OR NEW.identity_id <> OLD.identity_id
  OR (OLD.successor IS NOT NULL AND NEW.successor IS NOT OLD.successor)
BEGIN SELECT RAISE(ABORT, 'an identity never goes back'); END;

CREATE TRIGGER origin_stays BEFORE DELETE ON origin
BEGIN SELECT RAISE(ABORT, 'an origin is never forgotten'); END;

CREATE TRIGGER origin_advances BEFORE UPDATE ON origin
WHEN NEW.origin <> OLD.origin
  OR (OLD.size IS NOT NULL AND (
        NEW.size IS NULL
        OR NEW.size < OLD.size
        OR (NEW.size = OLD.size AND NEW.root <> OLD.root)
        OR NEW.cosigned_at < OLD.cosigned_at))
  OR (OLD.closed_at IS NOT NULL AND NEW.closed_at IS NULL)
BEGIN SELECT RAISE(ABORT, 'an origin never goes back'); END;

CREATE TRIGGER origin_key_stays BEFORE DELETE ON origin_key
BEGIN SELECT RAISE(ABORT, 'a key is retired, never forgotten'); END;
