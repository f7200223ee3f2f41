"""``index status`` and ``index optimize``: what the semantic index holds, and its upkeep."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from agentic_os.aggregate.store.database import building
from agentic_os.aggregate.store.space import space_bytes
from agentic_os.aggregate.workspace import Person, Workspace, open_workspace
from agentic_os.errors import SemanticIndexError
from agentic_os.results import Answer, IndexOptimizeData, IndexStatusData
from agentic_os.tiers.embed.selection import find_model, open_embedder
from agentic_os.tiers.index.codes import INDEX_CODES, NO_INDEX, OTHER_EMBEDDER, index_error
from agentic_os.tiers.index.state import IndexState, read_state
from agentic_os.tiers.index.surface import unindexed_files
from agentic_os.tiers.index.table import is_table, open_table, table_path, tables, vectors_folder
from agentic_os.tiers.index.writer import VectorWriter, private_files


def index_status(workspace: Workspace) -> Answer[IndexStatusData]:
    """Report what the index holds, and what of the store is not in it yet.

    A damaged index, or one of another embedder, is an answer with a warning, not an error.
    """
    folder = vectors_folder(workspace.store.space)
    known = read_state(folder)
    size = _bytes(workspace)
    if not tables(folder):
        data = _nothing(workspace, "none", known=None, size=size)
        return _answer(workspace, data, "SEMANTIC_UNAVAILABLE", NO_INDEX)
    chosen = _chosen_fingerprint(workspace)
    fingerprint = chosen or (known.fingerprint if known else "")
    if not is_table(table_path(folder, fingerprint)):
        data = _nothing(workspace, "changed", known=known, size=size)
        return _answer(workspace, data, "EMBEDDER_CHANGED", OTHER_EMBEDDER)
    state = known or IndexState(fingerprint=fingerprint, model="")
    try:
        table = open_table(folder, fingerprint)
        rows = 0 if table is None else table.rows
        scanned = None if table is None else table.unindexed_rows()
    except SemanticIndexError as fault:
        if fault.code != "INDEX_DAMAGED":
            raise
        data = _nothing(workspace, "damaged", known=known, size=size)
        return _answer(workspace, data, fault.code, fault.message)
    behind = unindexed_files(workspace, state, _scope(workspace))
    return Answer(
        data=IndexStatusData(
            state="sound",
            rows=rows,
            projects=sum(project.rows > 0 for project in state.projects.values()),
            files_behind=sum(behind.values()),
            projects_behind=tuple(sorted(behind)),
            bytes=size,
            model=state.model or None,
            fingerprint=state.fingerprint,
            vector_index=scanned is not None,
            rows_scanned=scanned or 0,
        ),
        warnings=workspace.warnings,
    )


def optimize_index(person: Person, command_line_roots: Sequence[str]) -> Answer[IndexOptimizeData]:
    """Compact the table, fold new rows into its indexes, delete old versions.

    Raises:
        SemanticIndexError: SEMANTIC_UNAVAILABLE (there is no index), INDEX_DAMAGED, INDEX_FULL,
            INDEX_UNWRITABLE or EXTRA_MISSING.
        StoreLockedError: another process writes.
    """
    with open_workspace(person, command_line_roots) as workspace:
        folder = vectors_folder(workspace.store.space)
        state = read_state(folder)
        if state is None or not is_table(table_path(folder, state.fingerprint)):
            raise index_error("SEMANTIC_UNAVAILABLE", NO_INDEX)
        with building(workspace.store.space), private_files():
            before = _bytes(workspace)
            writer = VectorWriter(folder, fingerprint=state.fingerprint, dimension=0)
            writer.tidy()
            data = IndexOptimizeData(rows=writer.rows, bytes_before=before, bytes=_bytes(workspace))
    return Answer(data=data, warnings=workspace.warnings)


def _chosen_fingerprint(workspace: Workspace) -> str | None:
    """Return the fingerprint of the embedder that would be opened; ``None`` if there is none."""
    data, choice = workspace.places.data, workspace.settings.embedding_model
    found = find_model(data, choice)
    if found is not None:
        return found[1].fingerprint
    if choice is None or "/" not in choice:
        return None
    return open_embedder(data, choice).fingerprint


def _scope(workspace: Workspace) -> set[str]:
    return {project.id for project in workspace.fleet.projects if project.retrieval}


def _bytes(workspace: Workspace) -> int:
    space = workspace.store.space
    return space_bytes(replace(space, folder=vectors_folder(space)))


def _nothing(
    workspace: Workspace,
    state: Literal["none", "changed", "damaged"],
    *,
    known: IndexState | None,
    size: int,
) -> IndexStatusData:
    empty = IndexState(fingerprint="", model="")
    behind = unindexed_files(workspace, empty, _scope(workspace))
    return IndexStatusData(
        state=state,
        rows=0,
        projects=0,
        files_behind=sum(behind.values()),
        projects_behind=tuple(sorted(behind)),
        bytes=size,
        model=known.model if known else None,
        fingerprint=known.fingerprint if known else None,
    )


def _answer(
    workspace: Workspace, data: IndexStatusData, code: str, message: str
) -> Answer[IndexStatusData]:
    return Answer(data=data, warnings=(*workspace.warnings, INDEX_CODES.diagnostic(code, message)))
