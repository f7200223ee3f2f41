CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE descriptor(
    path TEXT PRIMARY KEY,          -- absolute path of the config file
    value BLOB NOT NULL             -- the registry's own encoding of the parsed descriptor
) WITHOUT ROWID;

CREATE TABLE project(
    pk INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    folder TEXT NOT NULL,           -- absolute path of the chosen checkout
    tier INTEGER,
    retrieval INTEGER NOT NULL,
    branch TEXT,
    commit_id TEXT,
    view BLOB NOT NULL              -- ProjectView as JSON
);

CREATE TABLE file(
    pk INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project(pk) ON DELETE CASCADE,
    role TEXT NOT NULL,
    path TEXT NOT NULL,             -- relative to the project, POSIX
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    read_at_ns INTEGER NOT NULL,
    UNIQUE(project, path)
);
CREATE INDEX file_corpus ON file(project) WHERE role IN ('source', 'document');

CREATE TABLE swept(                 -- projects whose next sweep need only be compared
    project INTEGER PRIMARY KEY,
    digest BLOB NOT NULL            -- of everything the last sweep listed
);

CREATE TABLE document(
    pk INTEGER PRIMARY KEY,
    file INTEGER NOT NULL REFERENCES file(pk),
    project INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    label TEXT NOT NULL,
    type TEXT NOT NULL,
    line_start INTEGER NOT NULL,
    line_end INTEGER NOT NULL,
    body TEXT NOT NULL,             -- redacted, whole lines
    extra TEXT NOT NULL,
    template INTEGER NOT NULL,
    group_hash TEXT NOT NULL
);
CREATE INDEX document_file ON document(file);
CREATE INDEX document_project ON document(project, kind);
CREATE INDEX document_template ON document(pk) WHERE template;
CREATE INDEX document_group ON document(group_hash) WHERE kind = 'memory';

CREATE VIRTUAL TABLE document_words USING fts5(
    name, label, body, extra,
    content='document', content_rowid='pk', tokenize='porter unicode61'
);
CREATE VIRTUAL TABLE document_grams USING fts5(
    body, content='', detail=none, columnsize=0, tokenize='trigram'
);
-- A larger buffer spares the first aggregate most of its segment merges.
INSERT INTO document_words(document_words, rank) VALUES('hashsize', 16777216);
INSERT INTO document_grams(document_grams, rank) VALUES('hashsize', 16777216);

CREATE TABLE index_link(
    file INTEGER NOT NULL REFERENCES file(pk),
    project INTEGER NOT NULL,
    title TEXT NOT NULL,
    target TEXT NOT NULL,           -- relative to the project, POSIX
    line INTEGER NOT NULL
);
CREATE INDEX index_link_file ON index_link(file);
CREATE INDEX index_link_project ON index_link(project);

CREATE TABLE listed(file INTEGER PRIMARY KEY);  -- facts that a MEMORY.md links

CREATE TABLE capability(
    file INTEGER NOT NULL REFERENCES file(pk),
    project INTEGER NOT NULL,
    section TEXT NOT NULL,
    name TEXT NOT NULL,
    detail TEXT NOT NULL,
    line INTEGER NOT NULL,
    declared INTEGER NOT NULL
);
CREATE INDEX capability_file ON capability(file);

CREATE TABLE instruction(
    file INTEGER NOT NULL REFERENCES file(pk),
    project INTEGER NOT NULL,
    value BLOB NOT NULL             -- documents.Instruction as JSON
);
CREATE INDEX instruction_file ON instruction(file);

CREATE TABLE redaction(
    file INTEGER NOT NULL REFERENCES file(pk),
    rule TEXT NOT NULL,
    line INTEGER NOT NULL
);
CREATE INDEX redaction_file ON redaction(file);

CREATE TABLE problem(
    project INTEGER NOT NULL,
    path TEXT NOT NULL,
    code TEXT NOT NULL,
    severity TEXT NOT NULL,
    message TEXT NOT NULL,
    hint TEXT NOT NULL,
    line INTEGER,
    unread INTEGER NOT NULL         -- 1: evidence that was not read, 2: no evidence
);
CREATE INDEX problem_project ON problem(project);
