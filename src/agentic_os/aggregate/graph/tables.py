"""The graph's tables in the fleet's store, and the numbers they use.

- ``graph_node.nid`` is ``rid << 24 | position``: a project's nodes are one range of numbers,
  so replacing a project touches one range of each table.
- ``graph_out`` and ``graph_in`` hold the edges in both directions, clustered by their key;
  ``line`` and ``ctx`` in the key keep parallel edges apart.
- External stubs are not nodes: they stand in ``graph_ext`` under one number for the whole
  fleet, and edges reach them as the negative of it. A walk that asks for ``dst > 0`` never
  meets one.
- ``graph_cross`` holds the edges between projects; it is derived anew where a change can
  show in it, as
  is ``graph_near``, which keeps what was nearly linked, with the reason it was not.
- ``graph_file`` and ``graph_manifest`` keep what each source and manifest says, so that the
  derivation opens no file.
"""

PROJECT_SHIFT = 24
MAX_PROJECT_NODES = (1 << PROJECT_SHIFT) - 1

FLAG_SYNTHETIC = 1
"""A node of ours: a file or package that the graph has no node for."""
FLAG_FILE = 2
FLAG_PACKAGE = 4

CONFIDENCE_CODES = {"EXTRACTED": 0, "INFERRED": 1, "AMBIGUOUS": 2}
AMBIGUOUS_CODE = CONFIDENCE_CODES["AMBIGUOUS"]
"""Edges of this code and above are never walked."""
CONFIDENCE_WORDS = ("EXTRACTED", "INFERRED", "AMBIGUOUS")

STATUS_CURRENT = "current"
STATUS_STALE = "stale"
STATUS_MISSING = "missing"
STATUS_REFUSED = "refused"
STATUS_OWN = "own"
"""There is no graph file; the graph is one of ours, made from the sources."""


def node_range(rid: int) -> tuple[int, int]:
    """Return the first and last node number that a project's nodes can have."""
    return rid << PROJECT_SHIFT, (rid << PROJECT_SHIFT) | MAX_PROJECT_NODES


GRAPH_DDL = """
CREATE TABLE graph_repo(
    rid INTEGER PRIMARY KEY,
    project TEXT NOT NULL UNIQUE,   -- the project's id in the fleet
    graph_path TEXT NOT NULL,       -- relative to the project, POSIX
    status TEXT NOT NULL,           -- current, stale (last good kept), missing, refused, own
    code TEXT NOT NULL,             -- why it is not current
    message TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    read_at_ns INTEGER NOT NULL,
    sha256 TEXT NOT NULL,           -- of the graph that the tables hold
    content TEXT NOT NULL,          -- hash of everything edges are derived from
    layout TEXT NOT NULL,           -- hash of its file names and manifests alone
    base TEXT NOT NULL,             -- folder that the graph's paths are relative to
    built_at_commit TEXT NOT NULL,
    graphify_version TEXT NOT NULL,
    schema_version INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    edges INTEGER NOT NULL,
    counts TEXT NOT NULL            -- JSON: what was refused in the file, by code
);

CREATE TABLE graph_term(tid INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);

CREATE TABLE graph_file(
    fid INTEGER PRIMARY KEY,
    rid INTEGER NOT NULL,
    path TEXT NOT NULL,             -- relative to the project, POSIX
    size INTEGER NOT NULL,          -- -1: not there, or refused
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    read_at_ns INTEGER NOT NULL,
    sha256 TEXT NOT NULL,           -- when it was last read
    built TEXT NOT NULL,            -- when the graph was built: Graphify's MD5, else our SHA-256
    facts BLOB,                     -- SourceFacts as MessagePack (layout 3)
    UNIQUE(rid, path)
);

CREATE TABLE graph_manifest(
    rid INTEGER NOT NULL,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    read_at_ns INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    facts BLOB NOT NULL,            -- Manifest as MessagePack
    PRIMARY KEY(rid, path)
) WITHOUT ROWID;

CREATE TABLE graph_folder(
    rid INTEGER NOT NULL,
    path TEXT NOT NULL,
    names TEXT NOT NULL,            -- folders (with a slash) and Python files in it, one a line
    digest TEXT NOT NULL,           -- of all names in it; empty for a folder that is not there
    PRIMARY KEY(rid, path)
) WITHOUT ROWID;

CREATE TABLE graph_node(
    nid INTEGER PRIMARY KEY,
    lid TEXT NOT NULL,              -- the node's id inside its project
    label TEXT NOT NULL,
    kind INTEGER NOT NULL,          -- graph_term
    fid INTEGER,                    -- graph_file
    line INTEGER NOT NULL,          -- 0: unknown
    community INTEGER NOT NULL,     -- -1: none
    flags INTEGER NOT NULL
);
CREATE INDEX graph_node_label ON graph_node(label COLLATE NOCASE);
CREATE INDEX graph_node_lid ON graph_node(lid);
CREATE INDEX graph_node_fid ON graph_node(fid);

CREATE VIRTUAL TABLE graph_words USING fts5(
    label, content='', detail=none, columnsize=0, tokenize='porter unicode61'
);
CREATE VIRTUAL TABLE graph_grams USING fts5(
    label, content='', detail=none, columnsize=0, tokenize='trigram'
);

CREATE TABLE graph_out(
    src INTEGER NOT NULL,
    dst INTEGER NOT NULL,           -- negative: graph_ext
    rel INTEGER NOT NULL,           -- graph_term
    line INTEGER NOT NULL,
    ctx INTEGER NOT NULL,           -- graph_term
    conf INTEGER NOT NULL,
    score REAL NOT NULL,
    fid INTEGER,
    PRIMARY KEY(src, dst, rel, line, ctx)
) WITHOUT ROWID;
CREATE TABLE graph_in(
    dst INTEGER NOT NULL,
    src INTEGER NOT NULL,
    rel INTEGER NOT NULL,
    conf INTEGER NOT NULL,
    PRIMARY KEY(dst, src, rel, conf)
) WITHOUT ROWID;

CREATE TABLE graph_ext(xid INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE graph_ext_use(
    rid INTEGER NOT NULL,
    xid INTEGER NOT NULL,
    lid TEXT NOT NULL,
    PRIMARY KEY(rid, xid, lid)
) WITHOUT ROWID;
CREATE INDEX graph_ext_use_xid ON graph_ext_use(xid);

CREATE TABLE graph_hyper(
    hid INTEGER PRIMARY KEY,
    rid INTEGER NOT NULL,
    lid TEXT NOT NULL,
    label TEXT NOT NULL,
    rel INTEGER NOT NULL,
    conf INTEGER NOT NULL,
    score REAL NOT NULL,
    fid INTEGER,
    line INTEGER NOT NULL
);
CREATE INDEX graph_hyper_rid ON graph_hyper(rid);
CREATE TABLE graph_hyper_member(
    hid INTEGER NOT NULL,
    nid INTEGER NOT NULL,           -- negative: graph_ext
    PRIMARY KEY(hid, nid)
) WITHOUT ROWID;
CREATE INDEX graph_hyper_member_nid ON graph_hyper_member(nid);

CREATE TABLE graph_cross(
    src INTEGER NOT NULL,
    dst INTEGER NOT NULL,
    rel INTEGER NOT NULL,
    rule TEXT NOT NULL,
    line INTEGER NOT NULL,          -- in the consumer's file
    conf INTEGER NOT NULL,
    score REAL NOT NULL,
    consumer_path TEXT NOT NULL,
    provider_path TEXT NOT NULL,
    provider_line INTEGER NOT NULL,
    detail TEXT NOT NULL,           -- the name that was matched
    PRIMARY KEY(src, dst, rel, rule, line, detail)
) WITHOUT ROWID;
CREATE INDEX graph_cross_dst ON graph_cross(dst, src);

CREATE TABLE graph_derived(         -- what a project's edges were derived from
    rid INTEGER PRIMARY KEY,
    layout TEXT NOT NULL,           -- with its place and remote
    content TEXT NOT NULL,
    reads TEXT NOT NULL,            -- JSON: by source, the projects (rid) that it looked into
    dropped TEXT NOT NULL           -- JSON: near-misses that were not kept, by rule
);

CREATE TABLE graph_near(
    consumer INTEGER NOT NULL,      -- rid
    rule TEXT NOT NULL,
    code TEXT NOT NULL,
    subject TEXT NOT NULL,
    path TEXT NOT NULL,
    line INTEGER NOT NULL,
    candidates TEXT NOT NULL,       -- JSON: project ids that nearly provided it
    detail TEXT NOT NULL,
    PRIMARY KEY(consumer, rule, code, subject, path, line)
) WITHOUT ROWID;
"""
