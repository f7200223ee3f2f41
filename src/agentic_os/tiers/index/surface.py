"""The semantic surface: passages whose meaning is near to a question's.

Memory and vaults of every project, code and documents of those whose corpus was taken, asked at
once in one table. What an embedder finds is only a candidate: ``confirm`` reads the file again.
Nothing heavy is imported where there is no index.
"""

import threading
import time
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, get_args

from agentic_os.aggregate.workspace import Workspace
from agentic_os.errors import SemanticIndexError
from agentic_os.results import Kind
from agentic_os.tiers.embed.selection import find_model, open_embedder
from agentic_os.tiers.index.chunks import CHUNK_KINDS, read_files, read_projects
from agentic_os.tiers.index.codes import NO_INDEX, OTHER_EMBEDDER, index_error
from agentic_os.tiers.index.state import STATE_NAME, IndexState, read_state
from agentic_os.tiers.index.table import (
    Near,
    PassageKey,
    forget_tables,
    is_table,
    lance_module,
    looks_at_all,
    open_table,
    table_path,
    tables,
    vectors_folder,
)
from agentic_os.tiers.interface import (
    ARM_CANDIDATES,
    SEMANTIC,
    Candidate,
    Found,
    ProjectScore,
    Query,
)
from agentic_os.tiers.lexical import TIER_OF_KIND, iso_time
from agentic_os.tiers.merging.fusion import Place, place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentic_os.tiers.embed.interface import Embedder, Vectors

_Asked = TypeVar("_Asked")
SPARE_CHUNKS = 2
"""Rows asked for each candidate: several chunks of one passage become one candidate."""
SPARE_UNCHANGED = 20
"""So many times more if what did not change is dropped afterwards."""
MIN_SIMILARITY = 0.1
"""Rows less near than this have nothing to do with the question."""
_opening = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexAnswer:
    """What the index answered.

    ``embedder`` is the model's name and ``vector`` the question as it encodes it; ``rows`` is how
    many were asked; ``indexed`` are the projects that have rows; ``unindexed`` counts the files
    in scope that are not in the index as they are in the store.
    """

    found: Found
    embedder: str
    vector: "Vectors | None"
    rows: int
    indexed: frozenset[str]
    unindexed: int


def ask_index(workspace: Workspace, query: Query) -> IndexAnswer:
    """Find the passages nearest to a question.

    Raises:
        SemanticIndexError: SEMANTIC_UNAVAILABLE (there is no index), MODEL_MISSING,
            EMBEDDER_CHANGED, EXTRA_MISSING, INDEX_DAMAGED or MODEL_FAILED.
    """
    folder = vectors_folder(workspace.store.space)
    if not tables(folder):
        raise index_error("SEMANTIC_UNAVAILABLE", NO_INDEX)
    started = time.perf_counter()
    embedder = embedder_of(workspace.places.data, workspace.settings.embedding_model)
    with _opening:
        # Not beside the model's: imports of one package in two threads can fail.
        lance_module()
    if not is_table(table_path(folder, embedder.fingerprint)):
        raise index_error("EMBEDDER_CHANGED", OTHER_EMBEDDER)
    stamp = _stamp(folder / STATE_NAME)
    state = _state(folder, stamp)
    if state is None or state.fingerprint != embedder.fingerprint:
        state = IndexState(fingerprint=embedder.fingerprint, model=embedder.name)
    scope = {
        project.id
        for project in workspace.fleet.projects
        if project.retrieval and (query.projects is None or project.id in query.projects)
    }
    kinds = query.kinds & frozenset(CHUNK_KINDS)
    near: list[Near] = []
    vector: Vectors | None = None
    if kinds or not query.kinds:
        vector = embedder.encode_query(query.text)
        limit = max(ARM_CANDIDATES, query.limit) * SPARE_CHUNKS
        if query.changed_since_ns is not None:
            limit *= SPARE_UNCHANGED

        def ask() -> list[Near]:
            table = open_table(folder, embedder.fingerprint)
            if table is None:
                raise index_error("EMBEDDER_CHANGED", OTHER_EMBEDDER)
            rows = table.rows
            return table.nearest(
                vector,
                limit=limit,
                projects=None if scope >= state.projects.keys() and state.projects else scope,
                kinds=kinds,
                exact=looks_at_all(_rows_in(state, scope, rows), rows),
            )

        near = _twice(ask)
    candidates = _candidates(near)
    if query.changed_since_ns is None:
        candidates = candidates[: max(ARM_CANDIDATES, query.limit)]
    return IndexAnswer(
        found=Found(
            surface=SEMANTIC,
            candidates=candidates,
            total=len(candidates),
            by_project=_by_project(candidates),
            milliseconds=(time.perf_counter() - started) * 1_000,
        ),
        embedder=embedder.name,
        vector=vector,
        rows=_rows_in(state, scope, state.rows),
        indexed=frozenset(name for name, project in state.projects.items() if project.rows),
        unindexed=_unindexed(workspace, state, stamp, scope),
    )


def similarities(
    workspace: Workspace, answer: IndexAnswer, candidates: "Sequence[Candidate]"
) -> dict[Place, float]:
    """Return the cosines of passages that other surfaces found, as far as the index holds them.

    So a similarity that nobody computed is never taken for none at all.
    """
    folder = vectors_folder(workspace.store.space)
    fingerprint = embedder_of(workspace.places.data, workspace.settings.embedding_model).fingerprint
    vector = answer.vector
    keys: dict[PassageKey, Place] = {
        (item.project, item.kind, item.path, item.start): place_of(item)
        for item in candidates
        if item.kind in CHUNK_KINDS
    }
    if vector is None or not keys:
        return {}

    def ask() -> dict[PassageKey, float]:
        table = open_table(folder, fingerprint)
        return {} if table is None else table.similarities(vector, keys)

    nearest: dict[Place, float] = {}
    for key, similarity in _twice(ask).items():
        place = keys[key]
        nearest[place] = max(similarity, nearest.get(place, -1.0))
    return nearest


def _twice(ask: "Callable[[], _Asked]") -> _Asked:
    """Ask again where the files of an older version were deleted under the question."""
    try:
        return ask()
    except SemanticIndexError as fault:
        if fault.code != "INDEX_DAMAGED":
            raise
    forget_tables()
    return ask()


def _stamp(path: Path) -> tuple[int, ...]:
    """Identify a published file: one that replaced it has another stamp."""
    try:
        seen = path.stat()
    except OSError:
        return ()
    return (seen.st_ino, seen.st_size, seen.st_mtime_ns)


@lru_cache(maxsize=4)
def _state(folder: Path, _stamp: tuple[int, ...]) -> IndexState | None:
    return read_state(folder)


def _unindexed(
    workspace: Workspace, state: IndexState, stamp: tuple[int, ...], scope: set[str]
) -> int:
    """As ``unindexed_files`` says; counted once for each state of store and index."""
    database = workspace.store.space.database
    key = (database, *_stamp(database)[:1], workspace.store.generation, state.fingerprint, *stamp)
    with _opening:
        found = _behind.get(key)
    if found is None:
        everyone = {project.id for project in workspace.fleet.projects if project.retrieval}
        found = unindexed_files(workspace, state, everyone)
        with _opening:
            _behind.clear()
            _behind[key] = found
    return sum(count for project, count in found.items() if project in scope)


_behind: dict[tuple[object, ...], dict[str, int]] = {}


def unindexed_files(workspace: Workspace, state: IndexState, scope: set[str]) -> dict[str, int]:
    """How many files of each project are not in the index as they are in the store."""
    connection = workspace.store.connection
    found = {}
    for pk, project in read_projects(connection):
        if project not in scope:
            continue
        known = state.projects.get(project)
        there = known.files if known else {}
        missing = sum(
            there.get(path) != sha256 for path, sha256 in read_files(connection, pk).items()
        )
        if missing:
            found[project] = missing
    return found


def embedder_of(data: Path, choice: str | None) -> "Embedder":
    """Return the embedder that a choice means; a process opens each one once.

    Raises:
        SemanticIndexError: as ``open_embedder``.
    """
    found = find_model(data, choice)
    key = "" if found is None else f"{found[0]}:{found[1].fingerprint}"
    with _opening:
        return _opened(data, choice, key)


@lru_cache(maxsize=2)
def _opened(data: Path, choice: str | None, _model: str) -> "Embedder":
    # One question is short: a second thread only waits, and is waited for.
    return open_embedder(data, choice, threads=1)


def _rows_in(state: IndexState, scope: set[str], rows: int) -> int:
    """How many rows a search looks at: those of the scope, as far as it is known."""
    if not state.projects:
        return rows
    return min(rows, sum(project.rows for name, project in state.projects.items() if name in scope))


def _candidates(near: list[Near]) -> list[Candidate]:
    """One candidate a passage, and a file's symbol: its nearest chunk stands for it."""
    kinds: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}
    found: dict[tuple[str, str, str, str, int], Candidate] = {}
    for row in near:
        if row.similarity < MIN_SIMILARITY:
            continue
        key = (row.project, row.kind, row.path, row.symbol, 0 if row.symbol else row.document)
        if key in found:
            continue
        found[key] = Candidate(
            project=row.project,
            kind=kinds[row.kind],
            tier=TIER_OF_KIND.get(row.kind),
            path=row.path,
            name=row.name,
            start=row.document,
            end=row.end,
            score=row.similarity,
            sha256=row.sha256,
            indexed_at=iso_time(row.indexed_at),
            symbol=row.symbol or None,
            lines=(row.start, row.end),
            text_hash=row.text_hash,
        )
    return list(found.values())


def _by_project(candidates: list[Candidate]) -> dict[str, ProjectScore]:
    found: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        found.setdefault(candidate.project, []).append(candidate)
    return {
        project: ProjectScore(
            counts=Counter(item.kind for item in own), best=max(item.score for item in own)
        )
        for project, own in found.items()
    }
