"""The logical content of a store, to compare stores that came to be in different ways."""

import sqlite3
from pathlib import Path

from agentic_os.aggregate.graph.tables import PROJECT_SHIFT
from agentic_os.aggregate.workspace import Person, open_workspace

Dump = dict[str, list[tuple[object, ...]]]

TABLES = {
    "project": "SELECT id, name, tier, retrieval FROM project",
    "file": "SELECT project.id, role, path, size, sha256 FROM file"
    " JOIN project ON project.pk = file.project",
    "document": "SELECT project.id, file.path, kind, document.name, label, type, line_start,"
    " line_end, body, extra, template, group_hash, document.file IN listed FROM document"
    " JOIN file ON file.pk = document.file JOIN project ON project.pk = document.project",
    "index_link": "SELECT project.id, file.path, title, target, line FROM index_link"
    " JOIN file ON file.pk = index_link.file JOIN project ON project.pk = index_link.project",
    "capability": "SELECT project.id, file.path, section, capability.name, detail, line, declared"
    " FROM capability JOIN file ON file.pk = capability.file"
    " JOIN project ON project.pk = capability.project",
    "redaction": "SELECT file.path, rule, line FROM redaction JOIN file ON file.pk = file",
    "problem": "SELECT project.id, path, code, severity, message, line, unread FROM problem"
    " JOIN project ON project.pk = problem.project",
    "graph_repo": "SELECT project, graph_path, status, code, message, sha256, nodes, edges"
    " FROM graph_repo",
    "graph_node": "SELECT repo.project, node.lid, node.label, node.line, file.path"
    " FROM graph_node AS node JOIN graph_repo AS repo ON repo.rid = node.nid >> :shift"
    " LEFT JOIN graph_file AS file ON file.fid = node.fid",
    "graph_edge": "SELECT one.lid, other.lid, term.text, edge.line, edge.score"
    " FROM graph_out AS edge JOIN graph_node AS one ON one.nid = edge.src"
    " JOIN graph_node AS other ON other.nid = edge.dst JOIN graph_term AS term"
    " ON term.tid = edge.rel",
    "words": "SELECT term, doc, cnt FROM words_vocabulary",
    "grams": "SELECT term, doc FROM grams_vocabulary",
}


def dump(connection: sqlite3.Connection) -> Dump:
    """The logical content of a store: everything but row numbers and times."""
    connection.execute("PRAGMA query_only=0")
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.words_vocabulary"
        " USING fts5vocab(main, document_words, row)"
    )
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.grams_vocabulary"
        " USING fts5vocab(main, document_grams, row)"
    )
    return {
        name: sorted(connection.execute(query, {"shift": PROJECT_SHIFT}).fetchall(), key=repr)
        for name, query in TABLES.items()
    }


def opened(person: Person, root: Path) -> Dump:
    """The content of the person's own store once it is up to date."""
    with open_workspace(person, [str(root)], freshness="wait") as workspace:
        return dump(workspace.store.connection)


def fresh(person: Person, root: Path, cache: Path) -> Dump:
    """The content of a store that is made in an empty cache."""
    environ = {**person.environ, "AGENTIC_OS_CACHE_DIR": str(cache)}
    return opened(Person(environ=environ, home=person.home, current=person.current), root)
