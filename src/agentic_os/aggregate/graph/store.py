"""Writing a project's graph into the store, and taking it out again.

Every function here takes the store's connection and runs inside the caller's transaction.
Replacing a project leaves nothing of its former graph behind: its nodes, edges, stubs that
nobody uses any more, labels, hyperedges. What other projects' graphs hold is not touched.
"""

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import msgspec

from agentic_os.aggregate.graph.codes import graph_error
from agentic_os.aggregate.graph.tables import (
    CONFIDENCE_CODES,
    FLAG_FILE,
    FLAG_PACKAGE,
    FLAG_SYNTHETIC,
    MAX_PROJECT_NODES,
    PROJECT_SHIFT,
    node_range,
)
from agentic_os.aggregate.graph.values import Graph
from agentic_os.code.manifests.values import Manifest
from agentic_os.text.tokens import index_extra

_EXT_NAME_CHARS = 500
_CACHED_WORDS_ENTRIES = 16_384
_WORD = re.compile(r"[A-Za-z0-9]+")

_manifest_decoder = msgspec.msgpack.Decoder(Manifest)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraNode:
    """A node of ours that the graph lacks: a source file, or a manifest's package."""

    key: str
    label: str
    path: str
    line: int
    package: bool


def stored_manifests(connection: sqlite3.Connection, rid: int) -> list[Manifest]:
    """Return a project's manifests as stored, in order of path."""
    return [
        _manifest_decoder.decode(row[0])
        for row in connection.execute(
            "SELECT facts FROM graph_manifest WHERE rid=? ORDER BY path", (rid,)
        )
    ]


def forget_graph(connection: sqlite3.Connection, rid: int) -> None:
    """Delete a project's nodes, edges, stubs, labels and hyperedges; its files stay."""
    run = connection.execute
    low, high = node_range(rid)
    labels = run(
        "SELECT nid, label FROM graph_node WHERE nid BETWEEN ? AND ?", (low, high)
    ).fetchall()
    connection.executemany(
        "INSERT INTO graph_words(graph_words, rowid, label) VALUES('delete',?,?)",
        ((nid, label_words(label)) for nid, label in labels),
    )
    connection.executemany(
        "INSERT INTO graph_grams(graph_grams, rowid, label) VALUES('delete',?,?)", labels
    )
    stubs = [row[0] for row in run("SELECT DISTINCT xid FROM graph_ext_use WHERE rid=?", (rid,))]
    for xid in stubs:
        run("DELETE FROM graph_out WHERE src=? AND dst BETWEEN ? AND ?", (-xid, low, high))
        run("DELETE FROM graph_in WHERE dst=? AND src BETWEEN ? AND ?", (-xid, low, high))
    run("DELETE FROM graph_out WHERE src BETWEEN ? AND ?", (low, high))
    run("DELETE FROM graph_in WHERE dst BETWEEN ? AND ?", (low, high))
    run("DELETE FROM graph_node WHERE nid BETWEEN ? AND ?", (low, high))
    run("DELETE FROM graph_ext_use WHERE rid=?", (rid,))
    connection.executemany(
        "DELETE FROM graph_ext WHERE xid=? AND NOT EXISTS"
        " (SELECT 1 FROM graph_ext_use WHERE graph_ext_use.xid = graph_ext.xid)",
        ((xid,) for xid in stubs),
    )
    run(
        "DELETE FROM graph_hyper_member WHERE hid IN (SELECT hid FROM graph_hyper WHERE rid=?)",
        (rid,),
    )
    run("DELETE FROM graph_hyper WHERE rid=?", (rid,))


def forget_project_graph(connection: sqlite3.Connection, rid: int) -> None:
    """Delete everything of a project that left the fleet."""
    forget_graph(connection, rid)
    for table in ("graph_file", "graph_manifest", "graph_folder", "graph_repo"):
        connection.execute(f"DELETE FROM {table} WHERE rid=?", (rid,))  # noqa: S608 - fixed names
    # What its edges were derived from stays: it shows that a project went.
    connection.execute("DELETE FROM graph_near WHERE consumer=?", (rid,))


def store_graph(
    connection: sqlite3.Connection,
    rid: int,
    graph: Graph,
    files: dict[str, int],
    extra: Iterable[ExtraNode] = (),
) -> tuple[int, int]:
    """Store a project's graph in place of its former one.

    Args:
        connection: the store, inside a transaction.
        rid: the project's number.
        graph: what was read.
        files: numbers of the project's files by path.
        extra: nodes of ours to add.

    Returns:
        How many nodes and edges are stored now.

    Raises:
        GraphError: ``GRAPH_TOO_MANY_NODES`` beyond 16.7 million.
    """
    forget_graph(connection, rid)
    return _Writer(connection, rid, graph, files).write(extra)


def label_words(label: str) -> str:
    """Return what is indexed of a label: itself and the parts of its identifiers."""
    if label.isascii():
        # The same few words make up most labels.
        extra = " ".join(filter(None, map(_word_parts, _WORD.findall(label))))
    else:
        extra = index_extra(label)
    return f"{label} {extra}" if extra else label


_EdgeRow = tuple[int, int, int, int, int, int, float, int]
"""A row of ``graph_out``, score negated and 0 for no file, so that rows sort as they are."""


@lru_cache(maxsize=_CACHED_WORDS_ENTRIES)
def _word_parts(word: str) -> str:
    return index_extra(word)


@dataclass(slots=True)
class _Writer:
    connection: sqlite3.Connection
    rid: int
    graph: Graph
    files: dict[str, int]
    terms: dict[str, int] = field(default_factory=dict)
    numbers: list[int] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    def write(self, extra: Iterable[ExtraNode]) -> tuple[int, int]:
        """Write nodes, stubs, edges, hyperedges and labels."""
        if len(self.graph.nodes) > MAX_PROJECT_NODES // 2:
            raise graph_error("GRAPH_TOO_MANY_NODES")
        stubs = self._stubs()
        rows = list(self._node_rows(stubs))
        rows.extend(self._extra_rows(extra, len(rows)))
        many = self.connection.executemany
        many("INSERT INTO graph_node VALUES(?,?,?,?,?,?,?,?)", rows)
        many(
            "INSERT INTO graph_words(rowid, label) VALUES(?,?)",
            ((row[0], label_words(row[2])) for row in rows),
        )
        many(
            "INSERT INTO graph_grams(rowid, label) VALUES(?,?)", ((row[0], row[2]) for row in rows)
        )
        edges = self._edge_rows()
        many("INSERT OR IGNORE INTO graph_out VALUES(?,?,?,?,?,?,-?,nullif(?,0))", edges)
        self._backward(edges)
        self._hyperedges()
        return len(rows), len(edges)

    def _backward(self, edges: "list[_EdgeRow]") -> None:
        """Write the edges the other way round: SQLite sorts its own rows quickest."""
        low, high = node_range(self.rid)
        self.connection.execute(
            "INSERT OR IGNORE INTO graph_in SELECT dst, src, rel, conf FROM graph_out"
            " WHERE src BETWEEN ? AND ? ORDER BY dst, src, rel, conf",
            (low, high),
        )
        # Those that begin at a stub are few, and in a range that other projects share.
        self.connection.executemany(
            "INSERT OR IGNORE INTO graph_in SELECT dst, src, rel, conf FROM graph_out"
            " WHERE (src, dst, rel, line, ctx) = (?,?,?,?,?)",
            (row[:5] for row in edges if row[0] < 0),
        )

    def term(self, text: str) -> int:
        """Return a word's number, made when it is new."""
        number = self.terms.get(text)
        if number is None:
            run = self.connection.execute
            run("INSERT OR IGNORE INTO graph_term(text) VALUES(?)", (text,))
            number = int(run("SELECT tid FROM graph_term WHERE text=?", (text,)).fetchone()[0])
            self.terms[text] = number
        return number

    def _stubs(self) -> dict[str, int]:
        """Give numbers to the external names of this graph for the whole fleet."""
        names = sorted({_stub_name(node.label) for node in self.graph.nodes if node.external})
        self.connection.executemany(
            "INSERT OR IGNORE INTO graph_ext(name) VALUES(?)", ((name,) for name in names)
        )
        select = "SELECT xid FROM graph_ext WHERE name=?"
        return {name: int(self.connection.execute(select, (name,)).fetchone()[0]) for name in names}

    def _node_rows(
        self, stubs: dict[str, int]
    ) -> Iterator[tuple[int, str, str, int, int | None, int, int, int]]:
        start = self.rid << PROJECT_SHIFT
        uses: set[tuple[int, int, str]] = set()
        position = 0
        for node in self.graph.nodes:
            self.keys.add(node.key)
            if node.external:
                xid = stubs[_stub_name(node.label)]
                uses.add((self.rid, xid, node.key))
                self.numbers.append(-xid)
                continue
            nid = start | position
            position += 1
            self.numbers.append(nid)
            flags = FLAG_PACKAGE if node.package else 0
            if node.path and node.label.rpartition("/")[2] == node.path.rpartition("/")[2]:
                flags |= FLAG_FILE
            yield (
                nid,
                node.key,
                node.label,
                self.term(node.kind),
                self.files.get(node.path),
                node.line,
                node.community,
                flags,
            )
        self.connection.executemany("INSERT INTO graph_ext_use VALUES(?,?,?)", sorted(uses))

    def _extra_rows(
        self, extra: Iterable[ExtraNode], position: int
    ) -> Iterator[tuple[int, str, str, int, int | None, int, int, int]]:
        start = self.rid << PROJECT_SHIFT
        for item in extra:
            key = item.key
            while key in self.keys:
                key += "_"
            self.keys.add(key)
            flags = FLAG_SYNTHETIC | (FLAG_PACKAGE if item.package else FLAG_FILE)
            fid = self.files.get(item.path)
            yield (start | position, key, item.label, self.term("code"), fid, item.line, -1, flags)
            position += 1

    def _edge_rows(self) -> "list[_EdgeRow]":
        """Return the edges in the order of their key; of equals the surest comes first."""
        numbers, files = self.numbers, self.files.get
        words = {word for edge in self.graph.edges for word in (edge.relation, edge.context)}
        for word in sorted(words):
            self.term(word)
        terms, codes = self.terms, CONFIDENCE_CODES
        rows = [
            (
                numbers[edge.source],
                numbers[edge.target],
                terms[edge.relation],
                edge.line,
                terms[edge.context],
                codes[edge.confidence],
                -edge.score,
                files(edge.path, 0),
            )
            for edge in self.graph.edges
            if numbers[edge.source] > 0 or numbers[edge.target] > 0
        ]
        rows.sort()
        return rows

    def _hyperedges(self) -> None:
        run = self.connection.execute
        for item in self.graph.hyperedges:
            cursor = run(
                "INSERT INTO graph_hyper(rid, lid, label, rel, conf, score, fid, line)"
                " VALUES(?,?,?,?,?,?,?,?)",
                (
                    self.rid,
                    item.key,
                    item.label,
                    self.term(item.relation),
                    CONFIDENCE_CODES[item.confidence],
                    item.score,
                    self.files.get(item.path),
                    item.line,
                ),
            )
            members = sorted({self.numbers[member] for member in item.members})
            self.connection.executemany(
                "INSERT INTO graph_hyper_member VALUES(?,?)",
                ((cursor.lastrowid, member) for member in members),
            )


def _stub_name(label: str) -> str:
    return label[:_EXT_NAME_CHARS]


def counts_text(counts: dict[str, int]) -> str:
    """Encode the counts of what was refused, in a stable order; what did not occur is left out."""
    return json.dumps({code: count for code, count in counts.items() if count}, sort_keys=True)
