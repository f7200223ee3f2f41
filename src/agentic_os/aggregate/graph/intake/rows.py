"""Take a graph in: the files it names, the manifests beside them, its rows in the tables.

The part of a refresh that reads and parses; loaded only when something has changed.
"""

import hashlib
import json
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agentic_os.aggregate.graph.codes import LEFT_OUT_CODE, PENDING_CODE
from agentic_os.aggregate.graph.intake.files import BEYOND_SIZE, PENDING_SIZE, FileReader, base_of
from agentic_os.aggregate.graph.intake.listing import Listing, known_files
from agentic_os.aggregate.graph.intake.redaction import redacted_graph
from agentic_os.aggregate.graph.projects import GraphProject
from agentic_os.aggregate.graph.store import ExtraNode, counts_text, forget_graph, store_graph
from agentic_os.aggregate.graph.values import Graph
from agentic_os.code.reading import language_of
from agentic_os.errors import GraphError
from agentic_os.files.reading import Folder
from agentic_os.text.secrets.redaction import Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenIn:
    """What was done: files read, whether what edges depend on changed, and a fault if any."""

    files_read: int
    changed: bool
    fault: GraphError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRows:
    """One project's rows in the graph tables, inside a transaction of the store.

    Attributes:
        rid: the project's number.
        folder: its folder, open.
        now_ns: the time of this reading.
    """

    connection: sqlite3.Connection
    rid: int
    project: GraphProject
    folder: Folder
    redactor: Redactor
    now_ns: int

    def take_in(self, graph: Graph, *, renewed: bool) -> TakenIn:
        """Read what a graph names and store everything in place of what was there.

        Args:
            graph: what the graph file says.
            renewed: whether the graph file itself is new; otherwise something beside it is.
        """
        graph = redacted_graph(graph, self.redactor)
        paths = graph_paths(graph)
        reader = self._reader()
        base = base_of(reader.listing, paths)
        based = {path: f"{base}/{path}" if base else path for path in paths}
        count = reader.carry_out(reader.plan(sorted(based.values())))
        # What the graph names is as old as the graph; manifests are as we read them just now.
        reader.record_build_hashes(self.project.graph_path, renewed=renewed)
        return replace(self._store(graph, based, base, reader), files_read=count)

    def take_own(self, paths: Sequence[str] | None = None) -> TakenIn:
        """Make a graph of our own from the sources, in place of what was there.

        Args:
            paths: the sources, however many there are; those already known by default.
        """
        from agentic_os.aggregate.graph.links.derive import load_code, stored_facts
        from agentic_os.aggregate.graph.own.build import own_graph

        reader = self._reader()
        if paths is None:
            paths = [
                path
                for path, _ in known_files(self.connection, self.rid)
                if language_of(path) is not None
            ]
        else:
            reader.most_marks = sys.maxsize
        count = reader.carry_out(reader.plan(sorted(paths)))
        facts = stored_facts(self.connection)
        code = load_code(self.connection, self.rid, self.project, facts)
        graph = redacted_graph(own_graph(code), self.redactor)
        taken = self._store(graph, {path: path for path in graph_paths(graph)}, "", reader)
        return replace(taken, files_read=count)

    def _store(
        self, graph: Graph, based: Mapping[str, str], base: str, reader: FileReader
    ) -> TakenIn:
        """Store a graph whose files were read; ``based`` are their paths in the project."""
        extra = extra_nodes(self.project.name, graph, base, reader)
        reader.list_manifests(sorted({item.path for item in extra if item.package and item.path}))
        numbers = dict(known_files(self.connection, self.rid))
        files = {path: numbers[whole] for path, whole in based.items() if whole in numbers}
        files.update({item.path: numbers[item.path] for item in extra if item.path in numbers})
        fault: GraphError | None = None
        nodes = edges = 0
        try:
            nodes, edges = store_graph(self.connection, self.rid, graph, files, extra)
        except GraphError as refused:
            forget_graph(self.connection, self.rid)
            fault = refused
        self.connection.execute(
            "UPDATE graph_repo SET base=?, nodes=?, edges=? WHERE rid=?",
            (base, nodes, edges, self.rid),
        )
        return TakenIn(files_read=0, changed=self._settle(graph.counts), fault=fault)

    def follow_sources(self) -> TakenIn | None:
        """Take in changed sources of a graph that has not changed itself.

        Returns:
            ``None`` where a manifest changed: the nodes that stand for packages follow the
            manifests, so the graph has to be taken in again.
        """
        reader = self._reader()
        plan = reader.plan([path for path, _ in known_files(self.connection, self.rid)])
        if plan.manifests_changed:
            return None
        count = reader.carry_out(plan)
        (counts,) = self.connection.execute(
            "SELECT counts FROM graph_repo WHERE rid=?", (self.rid,)
        ).fetchone()
        return TakenIn(files_read=count, changed=self._settle(json.loads(counts)))

    def _reader(self) -> FileReader:
        listing = Listing(self.folder)
        return FileReader(self.connection, self.rid, listing, self.now_ns, self.redactor)

    def _settle(self, refused: dict[str, int]) -> bool:
        """Note what edges are derived from, in two hashes; tell whether it changed."""
        run = self.connection.execute
        graph, before = run(
            "SELECT sha256, content FROM graph_repo WHERE rid=?", (self.rid,)
        ).fetchone()
        content, layout = hashlib.sha256(str(graph).encode()), hashlib.sha256()
        for table, column, name in (
            # A source that waits for a later run has its hash and says nothing yet.
            ("graph_file", f"iif(size={PENDING_SIZE}, '', sha256)", "sha256 != ''"),
            ("graph_manifest", "sha256", "sha256"),
            ("graph_folder", "names", "names"),
        ):
            query = f"SELECT path, {column}, {name} FROM {table} WHERE rid=? ORDER BY path"  # noqa: S608 - fixed names
            for path, inside, outside in run(query, (self.rid,)):
                content.update(f"{path}\0{inside}\n".encode("utf-8", "surrogateescape"))
                layout.update(f"{path}\0{outside}\n".encode("utf-8", "surrogateescape"))
        counts = counts_text({**refused, **_unread(self.connection, self.rid)})
        run(
            "UPDATE graph_repo SET content=?, layout=?, counts=? WHERE rid=?",
            (content.hexdigest(), layout.hexdigest(), counts, self.rid),
        )
        return content.hexdigest() != str(before)


def _unread(connection: sqlite3.Connection, rid: int) -> dict[str, int]:
    """Count the sources that were not parsed: those of a later run, and those left out."""
    row = connection.execute(
        "SELECT coalesce(sum(size = ?), 0), coalesce(sum(size = ? OR length(facts) = 0), 0)"
        " FROM graph_file WHERE rid = ?",
        (PENDING_SIZE, BEYOND_SIZE, rid),
    ).fetchone()
    return {PENDING_CODE: row[0], LEFT_OUT_CODE: row[1]}


def graph_paths(graph: Graph) -> list[str]:
    """Return every file that a graph names, sorted."""
    paths = {node.path for node in graph.nodes}
    paths.update(edge.path for edge in graph.edges)
    paths.update(item.path for item in graph.hyperedges)
    paths.discard("")
    return sorted(paths)


def extra_nodes(name: str, graph: Graph, base: str, reader: FileReader) -> list[ExtraNode]:
    """Return the nodes that edges between projects need and the graph does not have.

    A source file that was read and has no node of its own; a package that a manifest
    declares; the project itself, where nothing stands for it.
    """
    prefix = f"{base}/" if base else ""
    with_node = {
        prefix + node.path
        for node in graph.nodes
        if node.path and node.label.rpartition("/")[2] == node.path.rpartition("/")[2]
    }
    extra = [
        ExtraNode(
            key=f"file:{path}", label=path.rpartition("/")[2], path=path, line=1, package=False
        )
        for path in reader.readable()
        if path not in with_node and language_of(path) is not None
    ]
    packages = {prefix + node.path for node in graph.nodes if node.package and node.path}
    at_root = any("/" not in path for path in packages)
    for manifest in reader.manifests():
        for package in manifest.packages:
            if manifest.path in packages:
                break
            packages.add(manifest.path)
            at_root = at_root or not manifest.folder
            extra.append(
                ExtraNode(
                    key=f"pkg_{package.ecosystem}_{package.name}",
                    label=package.display,
                    path=manifest.path,
                    line=package.line,
                    package=True,
                )
            )
    if not at_root:
        extra.append(ExtraNode(key="project", label=name, path="", line=0, package=True))
    return extra
