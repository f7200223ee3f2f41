"""A fleet above the size from which a vector index answers: the figures mean the same there."""

import shutil
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from agentic_os.aggregate.workspace import Person, Workspace, open_workspace
from agentic_os.results import Hit
from agentic_os.tiers.embed.selection import open_embedder
from agentic_os.tiers.index import table
from agentic_os.tiers.index.build import build_index
from agentic_os.tiers.index.writer import INDEX_FROM_ROWS
from agentic_os.tiers.interface import ARM_CANDIDATES, Query
from agentic_os.tiers.route import search
from support.fleet.builder import FleetBuilder
from support.model.lent import lend_tiny

CHUNKS = 12_000
SOURCE_BYTES = 10_000_000
PROJECTS = 6
QUESTIONS = (
    "close the connection when nobody answers",
    "escape characters for markup",
    "write a log record to a rotating file",
    "compare two versions of a name",
    "which thread runs the callback",
)


Large = tuple[Person, Path]
"""A person and the root of a fleet."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Large:
    """A fleet of this Python's own library, embedded by the tiny model."""
    folder = tmp_path_factory.mktemp("large")
    places = {f"AGENTIC_OS_{name}_DIR": str(folder / name) for name in ("CONFIG", "DATA", "CACHE")}
    person = Person(environ={**places, "HOME": str(folder)}, home=folder, current=folder)
    lend_tiny(folder / "DATA")
    fleet = FleetBuilder(root=folder / "root")
    projects = [fleet.project(f"p{at}", "obsidian-graphify-rag") for at in range(PROJECTS)]
    left = SOURCE_BYTES
    for at, path in enumerate(sorted(Path(sysconfig.get_path("stdlib")).glob("[a-z]*/*.py"))):
        if path.parts[-2] not in {"test", "site-packages", "idlelib"} and left > 0:
            left -= path.stat().st_size
            target = projects[at % PROJECTS].folder / path.parts[-2] / path.name
            target.parent.mkdir(exist_ok=True)
            shutil.copy(path, target)
    built = build_index(person, [str(fleet.root)])
    assert built.data.chunks >= CHUNKS > INDEX_FROM_ROWS
    return person, fleet.root


@pytest.fixture
def workspace(large: Large) -> Iterator[Workspace]:
    person, root = large
    with open_workspace(person, [str(root)]) as opened:
        yield opened


def ask(workspace: Workspace, text: str, projects: frozenset[str] | None = None) -> list[Hit]:
    query = Query(text=text, mode="semantic", limit=10, projects=projects)
    return list(search(workspace, query).data.hits)


def places_of(hits: list[Hit]) -> list[tuple[str, str, tuple[int, int]]]:
    return [(hit.project, hit.path, hit.lines) for hit in hits]


def test_exact_and_indexed_answers_agree(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    agree(workspace, monkeypatch)


def agree(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [project.id for project in workspace.fleet.projects]
    scopes = (None, frozenset(ids[:2]), frozenset(ids[:5]))
    asked = [(text, scope) for text in QUESTIONS for scope in scopes]
    indexed = [ask(workspace, text, scope) for text, scope in asked]
    assert all(len(hits) == 10 for hits in indexed)

    monkeypatch.setattr(table, "EXACT_BELOW_ROWS", 1_000_000)
    exact = [ask(workspace, text, scope) for text, scope in asked]

    assert [places_of(hits) for hits in indexed] == [places_of(hits) for hits in exact]
    assert [hit.score for hits in indexed for hit in hits] == [
        hit.score for hits in exact for hit in hits
    ]


def test_what_is_found_is_what_brute_force_finds(workspace: Workspace) -> None:
    folder = table.vectors_folder(workspace.store.space)
    embedder = open_embedder(workspace.places.data)
    opened = table.open_table(folder, embedder.fingerprint)
    assert opened is not None
    rows = opened._dataset.to_table(columns=["path", "vector"])
    matrix = np.stack(rows.column("vector").to_numpy())
    paths = rows.column("path").to_pylist()
    for text in QUESTIONS:
        cosines = matrix @ embedder.encode_query(text)
        best = {paths[at] for at in np.argsort(-cosines)[:ARM_CANDIDATES]}

        found = search(workspace, Query(text=text, mode="semantic", limit=10)).data.hits

        assert {hit.path for hit in found} <= best


def test_rows_that_came_and_went_since_the_index_was_made(
    large: Large, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, root = large
    paths = sorted(root.rglob("*.py"))
    for path in paths[::40]:
        path.write_text(f"{path.read_text()}\n\ndef compare_versions(name):\n    return name\n")
    for path in paths[1::60]:
        path.unlink()

    built = build_index(person, [str(root)]).data

    assert built.embedded < len(paths)
    with open_workspace(person, [str(root)]) as opened:
        folder = table.vectors_folder(opened.store.space)
        embedder = open_embedder(opened.places.data)
        written = table.open_table(folder, embedder.fingerprint)
        assert written is not None
        assert 0 < (written.unindexed_rows() or 0) < built.chunks
        assert built.chunks == written.rows
        agree(opened, monkeypatch)
        gone = {str(path.relative_to(root)).partition("/")[2] for path in paths[1::60]}
        assert gone.isdisjoint(hit.path for text in QUESTIONS for hit in ask(opened, text))
