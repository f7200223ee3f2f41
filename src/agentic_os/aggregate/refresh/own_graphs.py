"""Make graphs of our own for the projects without a graph file.

Done by ``index build`` and ``graph build`` alone, under the writer lock: only they walk source
trees. Afterwards every refresh follows the sources that are known, by their content; a graph
file that comes later takes the place of ours.
"""

import os
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path

from agentic_os.aggregate.graph.projects import graph_projects
from agentic_os.aggregate.refresh.corpus_files import CorpusFiles, tracked
from agentic_os.aggregate.store.database import Store, transaction
from agentic_os.errors import FilesError
from agentic_os.files.reading import Folder
from agentic_os.registry.descriptor.memory_block import CONVENTIONAL_GRAPH_PATH, GRAPH_TIER
from agentic_os.registry.fleet import Fleet
from agentic_os.registry.project import Project
from agentic_os.text.secrets.redaction import Redactor

PORTION_SOURCES = 500
"""Sources whose graphs are committed together: an interruption costs a few seconds."""


def build_own_graphs(
    store: Store,
    fleet: Fleet,
    redactor: Redactor,
    *,
    everyone: bool = False,
    home: Path | None = None,
    corpus: AbstractSet[str] = frozenset(),
    sources: bool = False,
) -> tuple[str, ...]:
    """Make the graphs of the projects that have none, and return the ids of those projects.

    Args:
        store: a store opened by ``writing`` that ``refresh`` has brought up to date.
        fleet: all projects.
        redactor: takes secrets out before anything is stored.
        everyone: every project with retrieval, not only those of tier 2 and above and those that
            were taken in without a descriptor.
        home: the person's home folder, whose own ``.git`` makes no checkout.
        corpus: ids of projects whose sources the store holds already, so that they need not be
            listed again.
        sources: also read sources again that changed; questions to the graph do so anyway.
    """
    # Parsers that no other step of a build needs.
    from agentic_os.aggregate.graph.intake.refresh import refresh_graphs

    folders = frozenset(os.path.realpath(project.folder) for project in fleet.projects)
    wanted = {
        project.id: _stored_sources(store, project)
        if project.id in corpus
        else _sources(project, folders, home)
        for project in fleet.projects
        if project.retrieval
        and project.wants("graph")
        and (everyone or (project.tier or 0) >= GRAPH_TIER or project.has_corpus)
        and not _has_graph(project)
    }
    own = {project for project, paths in wanted.items() if paths}
    known = store.connection.execute("SELECT project FROM graph_repo WHERE status='own'")
    kept = {row[0] for row in known}
    for portion in _portions({project: wanted[project] for project in sorted(own)}):
        kept |= portion.keys()
        with transaction(store.connection):
            refresh_graphs(
                store.connection,
                graph_projects(fleet, kept),
                sources=sources,
                redactor=redactor,
                own=portion,
            )
    return tuple(sorted(own))


def _portions(own: dict[str, list[str]]) -> Iterator[dict[str, list[str]]]:
    """Put projects together until there are enough sources for a commit; at least one portion."""
    portion: dict[str, list[str]] = {}
    for project, paths in own.items():
        portion[project] = paths
        if sum(map(len, portion.values())) >= PORTION_SOURCES:
            yield portion
            portion = {}
    if portion or not own:
        yield portion


def _has_graph(project: Project) -> bool:
    graph = project.surfaces.graph
    path = CONVENTIONAL_GRAPH_PATH if graph is None else graph.path
    try:
        with Folder.open(project.folder) as folder:
            folder.stat(path)
    except FilesError as fault:
        # One that is there and refused is named elsewhere; ours must not hide it.
        return fault.code != "FILE_MISSING"
    return True


def _stored_sources(store: Store, project: Project) -> list[str]:
    """List the sources that the corpus holds of a project."""
    from agentic_os.code.reading import language_of

    rows = store.connection.execute(_STORED_SOURCES, (project.id,))
    return [path for (path,) in rows if language_of(path) is not None]


_STORED_SOURCES = """
SELECT file.path FROM file JOIN project ON project.pk = file.project
WHERE project.id = ? AND file.role = 'source' ORDER BY file.path
"""


def _sources(project: Project, folders: frozenset[str], home: Path | None) -> list[str]:
    """List the sources of a project that are read: those that its index would hold."""
    from agentic_os.code.reading import language_of

    start = f"{os.path.realpath(project.folder)}/"
    files = CorpusFiles(
        known=tracked(project.folder, home=home),
        others={folder[len(start) :] for folder in folders if folder.startswith(start)},
        held=frozenset(),
    )
    try:
        with Folder.open(project.folder) as folder:
            return sorted(
                found.path for found in files.walk(folder) if language_of(found.path) is not None
            )
    except FilesError:
        return []
