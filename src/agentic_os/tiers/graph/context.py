"""What every question to the graph shares: the store, the projects, names, walks, views."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from agentic_os.aggregate.graph.codes import (
    GRAPH_CODES,
    LEFT_OUT_CODE,
    PENDING_CODE,
    REFUSED_PATH_CODE,
    graph_omission,
)
from agentic_os.aggregate.graph.tables import STATUS_MISSING, STATUS_REFUSED, STATUS_STALE
from agentic_os.code.roles import PATH_ROLES
from agentic_os.errors import UsageError
from agentic_os.results import Answer, Diagnostic, Omission
from agentic_os.text.fencing import one_line
from agentic_os.tiers.graph.answers import GraphNodeView, Outcome
from agentic_os.tiers.graph.names import NameFinder
from agentic_os.tiers.graph.views import Viewer
from agentic_os.tiers.graph.walk import Scope, Walker, relation_numbers

if TYPE_CHECKING:
    from agentic_os.aggregate.workspace import Workspace

_NO_GRAPH = "no project has a code graph; agentic-os graph build --all makes them"
DEFAULT_LIMIT_NODES = 50
MAX_LIMIT_NODES = 10_000
MAX_DEPTH_HOPS = 50
MAX_CANDIDATES_ENTRIES = 20

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFolder:
    """Where a project is and at which commit, for questions about its graph."""

    folder: Path
    commit: str | None = None


class Unsettled(NamedTuple):
    """Why a name stands for no one node, and which it may mean."""

    outcome: Outcome
    candidates: tuple[GraphNodeView, ...]


class CodeGraph:
    """The graph of one open store; every question takes one."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        folders: Mapping[str, GraphFolder],
        *,
        check: bool = True,
        workspace: "Workspace | None" = None,
    ) -> None:
        """Ask ``connection``.

        Args:
            connection: the store, open for reading.
            folders: the fleet's projects by id.
            check: whether files are read to see if their lines still hold.
            workspace: whose warnings the answers carry; a bare store has none.
        """
        self.workspace = workspace
        self.connection = connection
        self.folders = folders
        self.check = check
        self.projects: dict[int, str] = dict(
            connection.execute("SELECT rid, project FROM graph_repo").fetchall()
        )

    def numbers(self, projects: frozenset[str] | None) -> frozenset[int] | None:
        """Return the numbers of projects; ``None`` for all."""
        if projects is None:
            return None
        return frozenset(number for number, project in self.projects.items() if project in projects)

    def with_nodes(self) -> int:
        """Return how many projects have a graph with anything in it."""
        row = self.connection.execute("SELECT count(*) FROM graph_repo WHERE nodes > 0")
        return int(row.fetchone()[0])

    def finder(self, projects: frozenset[str] | None) -> NameFinder:
        """Find names in the given projects."""
        return NameFinder(self.connection, self.projects, self.numbers(projects))

    def walker(
        self, projects: frozenset[str] | None, *, relations: Sequence[str], externals: bool
    ) -> Walker:
        """Walk in the given projects along the given relations."""
        wanted = relation_numbers(self.connection, relations) if relations else None
        scope = Scope(projects=self.numbers(projects), relations=wanted, externals=externals)
        return Walker(self.connection, scope)

    def unknown(self, relations: Sequence[str]) -> list[Omission]:
        """Say which of the relations that were asked for no graph has."""
        return [
            GRAPH_CODES.omission(
                "GRAPH_RELATION_UNKNOWN",
                "graph",
                f"no graph has an edge of the relation {one_line(relation)}",
            )
            for relation in dict.fromkeys(relations)
            if not relation_numbers(self.connection, (relation,))
        ]

    @contextmanager
    def viewer(self) -> Iterator[Viewer]:
        """Make views; files that were opened are closed afterwards."""
        viewer = Viewer(
            connection=self.connection,
            projects=self.projects,
            folders={key: item.folder for key, item in self.folders.items()},
            check=self.check,
        )
        try:
            yield viewer
        finally:
            viewer.close()

    def meant(self, viewer: Viewer, name: str, projects: frozenset[str] | None) -> int | Unsettled:
        """Return the one node that has a name, or what the name may mean instead, best first."""
        finder = self.finder(projects)
        exact = finder.exact(name).rows
        if len(exact) == 1:
            return exact[0].nid
        rows = finder.search(name).rows or finder.near(name)
        return Unsettled(
            "ambiguous" if exact else "unknown",
            tuple(viewer.node(row) for row in rows[:MAX_CANDIDATES_ENTRIES]),
        )

    def answer(
        self,
        data: _T,
        projects: frozenset[str] | None,
        viewer: Viewer,
        omissions: Sequence[Omission] = (),
        *,
        incomplete: bool = False,
    ) -> Answer[_T]:
        """Say what the answer could not be computed from."""
        left_out = list(omissions)
        if not self.projects:
            left_out.append(
                GRAPH_CODES.omission(
                    "GRAPH_NONE",
                    "fleet",
                    _NO_GRAPH,
                )
            )
        left_out += [
            GRAPH_CODES.omission("GRAPH_NONE", project, "its stack has no graph")
            for project in sorted((projects or frozenset()) - set(self.projects.values()))
            if self.projects
        ]
        for project, path, status, code, message, counts in self.connection.execute(
            "SELECT project, graph_path, status, code, message, counts FROM graph_repo"
            " ORDER BY project"
        ):
            if projects is not None and project not in projects:
                continue
            left_out += _unread_sources(project, counts)
            if status == STATUS_MISSING:
                left_out.append(
                    GRAPH_CODES.omission(
                        "GRAPH_MISSING", project, f"it has no {one_line(path)} yet"
                    )
                )
            elif status in {STATUS_REFUSED, STATUS_STALE}:
                # Evidence that is there and cannot be read (ADR 0003), whatever is left of it.
                incomplete = True
                kept = "" if status == STATUS_REFUSED else "; its last good graph was used"
                left_out.append(graph_omission(code, project, one_line(message) + kept))
        if viewer.unchecked:
            left_out.append(
                GRAPH_CODES.omission(
                    "FILES_NOT_CHECKED",
                    "graph",
                    "too many files to see whether their lines still hold",
                    count=len(viewer.unchecked),
                )
            )
        warnings: tuple[Diagnostic, ...] = ()
        if self.workspace is not None:
            warnings = self.workspace.warnings_for(projects)
            vain = self.workspace.unanswerable(projects)
            left_out += vain
            incomplete = incomplete or bool(vain)
        return Answer(
            data=data,
            omissions=tuple(left_out),
            warnings=warnings,
            incomplete=incomplete,
        )


def _unread_sources(project: str, counts: str) -> list[Omission]:
    if not any(code in counts for code in _UNREAD_CODES):
        return []
    known = json.loads(counts)
    return [
        GRAPH_CODES.omission(code, project, count=known[code])
        for code in _UNREAD_CODES
        if code in known
    ]


_UNREAD_CODES = (PENDING_CODE, LEFT_OUT_CODE, REFUSED_PATH_CODE)


def code_graph(workspace: "Workspace", *, check: bool = True) -> CodeGraph:
    """Open the graph of a workspace.

    Args:
        workspace: the fleet and its open store.
        check: whether files are read to see if their lines still hold.
    """
    folders = {
        project.id: GraphFolder(folder=project.folder, commit=project.commit)
        for project in workspace.fleet.projects
        if project.retrieval
    }
    return CodeGraph(workspace.store.connection, folders, check=check, workspace=workspace)


def check_roles(roles: Sequence[str]) -> None:
    """Refuse a role that no file can have."""
    for role in roles:
        if role not in PATH_ROLES:
            raise UsageError(
                f"there is no role {one_line(role)}", hint=f"The roles are {', '.join(PATH_ROLES)}."
            )


def check_limit(limit: int) -> None:
    """Refuse a limit out of bounds.

    Raises:
        UsageError: it is not between 1 and ``MAX_LIMIT_NODES``.
    """
    if not 1 <= limit <= MAX_LIMIT_NODES:
        raise UsageError(f"the limit must be between 1 and {MAX_LIMIT_NODES}")


def check_depth(depth: int) -> None:
    """Refuse a depth out of bounds.

    Raises:
        UsageError: it is not between 1 and ``MAX_DEPTH_HOPS``.
    """
    if not 1 <= depth <= MAX_DEPTH_HOPS:
        raise UsageError(f"the depth must be between 1 and {MAX_DEPTH_HOPS}")
