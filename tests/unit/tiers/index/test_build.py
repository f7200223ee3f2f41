"""Building the index: what is embedded, what is written, what an interruption leaves."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentic_os.aggregate.store.space import space_for
from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.errors import SemanticIndexError, StoreLockedError
from agentic_os.files.publishing import ExclusiveLock
from agentic_os.results import IndexBuildData, IndexStatusData
from agentic_os.tiers.embed.onnx import OnnxEmbedder
from agentic_os.tiers.index import build as index_build
from agentic_os.tiers.index.build import build_index
from agentic_os.tiers.index.chunks import read_chunks
from agentic_os.tiers.index.state import STATE_NAME, drop_state, read_state
from agentic_os.tiers.index.status import index_status, optimize_index
from agentic_os.tiers.index.table import VECTORS_FOLDER, open_table, tables
from agentic_os.tiers.index.writer import VectorWriter
from support.fleet.builder import FleetBuilder
from support.model.lent import lend_tiny


@pytest.fixture
def ready(fleet: FleetBuilder, person: Person) -> FleetBuilder:
    """Three projects and a prepared model."""
    lend_tiny(data_of(person))
    for at in range(3):
        project = fleet.project(f"p{at}", "obsidian-only")
        project.fact("own", f"alpha beta number {at}", title=f"Own {at}")
        project.fact("same", "The very same words in each of them.", title="Same")
        project.note("n.md", f"# Note\n\ngamma delta {at}\n")
    return fleet


def data_of(person: Person) -> Path:
    return Path(person.environ["AGENTIC_OS_DATA_DIR"])


def folder_of(person: Person, fleet: FleetBuilder) -> Path:
    cache = Path(person.environ["AGENTIC_OS_CACHE_DIR"])
    return space_for(cache, [fleet.root]).folder / VECTORS_FOLDER


def build(person: Person, fleet: FleetBuilder, **options: Any) -> IndexBuildData:
    return build_index(person, [str(fleet.root)], **options).data


def status(person: Person, fleet: FleetBuilder) -> IndexStatusData:
    with open_workspace(person, [str(fleet.root)]) as workspace:
        return index_status(workspace).data


def versions(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*.manifest"))


class Counting:
    """Counts the texts that go through the model, and may stop after some."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, stop_after: int = 10**9) -> None:
        self.texts: list[str] = []
        real = OnnxEmbedder.encode_documents

        def encode(embedder: OnnxEmbedder, texts: Sequence[str]) -> Any:
            if len(self.texts) >= stop_after:
                raise KeyboardInterrupt
            self.texts += texts
            return real(embedder, texts)

        monkeypatch.setattr(OnnxEmbedder, "encode_documents", encode)


def test_only_the_files_that_changed_are_read_and_written(
    ready: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(person, ready)
    asked: list[object] = []
    real = read_chunks

    def read(*arguments: Any, paths: Any = None) -> Any:
        asked.append(paths)
        return real(*arguments, paths=paths)

    monkeypatch.setattr(index_build, "read_chunks", read)
    memory = ready.root / "p1/.agents/memory"
    (memory / "own.md").write_text("# Own\n\nquite another thing\n")
    (memory / "same.md").unlink()
    (memory / "new.md").write_text("# New\n\na third fact\n")

    done = build(person, ready)

    changed = {f".agents/memory/{name}.md" for name in ("own", "same", "new")}
    assert asked == [changed, changed]
    assert (done.projects_changed, done.embedded, done.chunks) == (1, 2, 9)
    assert status(person, ready).files_behind == 0
    assert build(person, ready).projects_changed == 0
    assert asked == [changed, changed]


def test_a_fact_that_is_no_template_any_more_is_embedded(
    ready: FleetBuilder, person: Person
) -> None:
    """Its bytes stay, and what is written about it elsewhere decides."""
    memory = ready.root / "p1/.agents/memory"
    (memory / "how.md").write_text("---\ntype: convention\n---\n# How\n\nfacts are written\n")
    before = build(person, ready).chunks
    (memory / "MEMORY.md").write_text("# Memory\n\n- [How](how.md): how facts are written\n")

    with open_workspace(person, [str(ready.root)]) as workspace:
        flag = workspace.store.connection.execute(
            "SELECT template FROM document JOIN file ON file.pk = document.file"
            " WHERE path LIKE '%how.md'"
        ).fetchall()
    after = build(person, ready)

    assert flag == [(0,)]
    assert after.chunks == before + 2


def test_every_text_is_embedded_once(
    ready: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = Counting(monkeypatch)

    data = build(person, ready)

    assert (data.projects, data.projects_changed, data.chunks) == (3, 3, 9)
    assert data.embedded == len(counting.texts) == len(set(counting.texts)) == 7
    assert data.model == "all-MiniLM-L6-v2"
    found = status(person, ready)
    assert (found.state, found.rows, found.projects, found.files_behind) == ("sound", 9, 3, 0)
    assert found.fingerprint == data.fingerprint
    assert found.bytes > 0


def test_an_unchanged_fleet_embeds_nothing_and_writes_nothing(
    ready: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(person, ready)
    folder = folder_of(person, ready)
    before = versions(folder)
    counting = Counting(monkeypatch)

    data = build(person, ready)

    assert (data.projects_changed, data.embedded, counting.texts) == (0, 0, [])
    assert versions(folder) == before
    (ready.root / "p0/.agents/memory/own.md").touch()
    assert build(person, ready).projects_changed == 0
    assert versions(folder) == before


def test_one_changed_fact_is_embedded_alone(
    ready: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(person, ready)
    ready.project("p1", "obsidian-only").fact("own", "ledger witness", title="Own 1")
    assert status(person, ready).projects_behind == (_id(person, ready, "p1"),)
    counting = Counting(monkeypatch)

    data = build(person, ready)

    assert (data.projects_changed, data.embedded) == (1, 1)
    assert counting.texts == [".agents/memory/own.md Own 1\nledger witness"]
    assert status(person, ready).files_behind == 0
    assert status(person, ready).rows == 9


def _id(person: Person, fleet: FleetBuilder, name: str) -> str:
    with open_workspace(person, [str(fleet.root)]) as workspace:
        return workspace.fleet.find(name, current=person.current).id


def test_a_move_of_lines_embeds_nothing(
    ready: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(person, ready)
    note = ready.root / "p2/.agents/vault/n.md"
    note.write_text("\n\n" + note.read_text())
    counting = Counting(monkeypatch)

    data = build(person, ready)

    assert (data.projects_changed, counting.texts) == (1, [])
    assert status(person, ready).files_behind == 0


def test_known_vectors_are_found_again_in_every_portion(
    ready: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(person, ready)
    for at in range(3):
        note = ready.root / f"p{at}/.agents/vault/n.md"
        note.write_text("\n\n" + note.read_text())
        ready.project(f"p{at}", "obsidian-only").fact("new", f"ledger {at}", title="New")
        (ready.root / f"p{at}/.agents/memory/same.md").unlink()
    monkeypatch.setattr(index_build, "PORTION_TEXTS", 1)
    counting = Counting(monkeypatch)

    data = build(person, ready)

    assert (data.projects_changed, data.embedded, len(counting.texts)) == (3, 3, 3)
    assert {text.rpartition("\n")[2] for text in counting.texts} == {
        f"ledger {at}" for at in range(3)
    }


def test_a_project_that_left_the_fleet_loses_its_rows(ready: FleetBuilder, person: Person) -> None:
    build(person, ready)
    (ready.root / "p0/.agents/config.yaml").unlink()

    data = build(person, ready)

    assert (data.projects, data.projects_removed, data.projects_changed) == (2, 1, 0)
    assert status(person, ready).rows == 6


def test_a_project_that_opts_out_loses_its_rows(ready: FleetBuilder, person: Person) -> None:
    build(person, ready)
    ready.project("p0", "none")

    assert build(person, ready).projects_removed == 1
    assert status(person, ready).rows == 6


def test_code_of_tier_three_is_taken_and_of_others_with_all(
    ready: FleetBuilder, person: Person
) -> None:
    full = ready.project("full", "obsidian-graphify-rag")
    full.write("src/light.py", "def lighthouse():\n    return 'alpha beta'\n")
    ready.project("p0", "obsidian-only").write("dock.py", "def dock():\n    return 'gamma'\n")

    first = build(person, ready)
    second = build(person, ready, everything=True)
    third = build(person, ready)

    assert (first.corpus_files, second.corpus_files, third.corpus_files) == (1, 2, 1)
    assert second.chunks > first.chunks == third.chunks
    assert second.embedded == 1
    assert third.embedded == 0


def test_an_interruption_keeps_finished_projects_and_the_next_run_goes_on(
    ready: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_build, "PORTION_TEXTS", 1)
    monkeypatch.setattr(index_build, "STEP_TEXTS", 1)
    with monkeypatch.context() as patched:
        stopping = Counting(patched, stop_after=4)
        with pytest.raises(KeyboardInterrupt):
            build(person, ready)
    folder = folder_of(person, ready)
    found = status(person, ready)
    assert found.rows == 3
    assert len(found.projects_behind) == 2
    counting = Counting(monkeypatch)

    data = build(person, ready)

    # Of the second project one text was embedded: it was put by, and is not embedded again.
    assert data.embedded == len(counting.texts) == 3
    assert not set(counting.texts) & set(stopping.texts)
    assert status(person, ready).rows == 9
    assert [path.suffix for path in sorted(folder.iterdir())] == [".lance", ".msgpack"]


def test_a_build_that_died_after_a_commit_embeds_nothing_again(
    ready: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(person, ready)
    drop_state(folder_of(person, ready))
    counting = Counting(monkeypatch)

    data = build(person, ready)

    assert (data.projects_changed, data.embedded, counting.texts) == (3, 0, [])
    assert status(person, ready).rows == 9


def test_state_that_speaks_of_another_table_is_not_believed(
    ready: FleetBuilder, person: Person
) -> None:
    build(person, ready)
    folder = folder_of(person, ready)
    state = (folder / STATE_NAME).read_bytes()
    (ready.root / "p0/.agents/config.yaml").unlink()
    build(person, ready)
    (folder / STATE_NAME).write_bytes(state)

    assert build(person, ready).projects_removed == 0
    found = status(person, ready)
    assert (found.rows, found.projects, found.files_behind) == (6, 2, 0)


def test_another_model_makes_a_table_of_its_own(
    ready: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build(person, ready)
    for path in (data_of(person) / "models").iterdir():
        path.rename(data_of(person) / path.name)
    lend_tiny(data_of(person), seed=8)
    changed = status(person, ready)
    assert (changed.state, changed.fingerprint) == ("changed", first.fingerprint)
    assert changed.files_behind == 9

    with monkeypatch.context() as patched:
        Counting(patched, stop_after=0)
        with pytest.raises(KeyboardInterrupt):
            build(person, ready)
    assert len(tables(folder_of(person, ready))) == 1

    second = build(person, ready)

    assert second.fingerprint != first.fingerprint
    assert second.embedded == 7
    assert len(tables(folder_of(person, ready))) == 1
    assert status(person, ready).state == "sound"


def test_an_empty_fleet_has_an_empty_index(fleet: FleetBuilder, person: Person) -> None:
    lend_tiny(data_of(person))

    assert build(person, fleet).chunks == 0
    fleet.project("p").fact("f", "alpha")
    assert build(person, fleet).chunks == 1


def test_without_a_model_nothing_is_made(fleet: FleetBuilder, person: Person) -> None:
    fleet.project("p").fact("f", "alpha")

    with pytest.raises(SemanticIndexError) as raised:
        build(person, fleet)

    assert raised.value.code == "MODEL_MISSING"
    assert "agentic-os model prepare" in raised.value.hint
    assert not folder_of(person, fleet).exists()


@pytest.mark.parametrize("package", ["lance", "onnxruntime"])
def test_without_the_extra_nothing_is_made(
    ready: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(SemanticIndexError) as raised:
        build(person, ready)

    assert raised.value.code == "EXTRA_MISSING"
    assert not folder_of(person, ready).exists()


def test_a_second_writer_waits_and_gives_up(
    ready: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(person, ready)
    monkeypatch.setattr("agentic_os.aggregate.workspace.WRITER_WAIT_SECONDS", 0.05)
    lock = ExclusiveLock(folder_of(person, ready).parent / "writer.lock")
    assert lock.try_acquire()
    try:
        with pytest.raises(StoreLockedError):
            build(person, ready)
    finally:
        lock.release()


@pytest.mark.parametrize("pattern", ["*.manifest", "data/*", "_versions/*"])
def test_a_damaged_index_is_made_anew(ready: FleetBuilder, person: Person, pattern: str) -> None:
    build(person, ready)
    folder = folder_of(person, ready)
    for path in folder.rglob(pattern):
        path.write_bytes(b"\0garbage" * 40)
    before = status(person, ready)

    data = build(person, ready)

    assert before.state == "damaged" or pattern == "data/*"
    assert (data.chunks, data.embedded) == (9, 7)
    assert status(person, ready).state == "sound"
    assert status(person, ready).rows == 9


def test_damage_that_shows_while_writing_is_made_good(
    ready: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(person, ready)
    ready.project("p0", "obsidian-only").fact("own", "rate limit", title="Own 0")
    real = VectorWriter.replace
    failing = [True]

    def replace_once(*arguments: Any) -> None:
        if failing:
            failing.clear()
            raise SemanticIndexError("x", code="INDEX_DAMAGED")
        real(*arguments)

    monkeypatch.setattr(VectorWriter, "replace", replace_once)

    assert build(person, ready).embedded == 7
    assert status(person, ready).rows == 9


def test_no_room_is_no_damage(
    ready: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(person, ready)
    ready.project("p0", "obsidian-only").fact("own", "rate limit", title="Own 0")

    def full(*_: Any) -> None:
        raise SemanticIndexError("x", code="INDEX_FULL")

    monkeypatch.setattr(VectorWriter, "replace", full)

    with pytest.raises(SemanticIndexError) as raised:
        build(person, ready)
    assert raised.value.code == "INDEX_FULL"
    assert status(person, ready).rows == 9


def test_progress_is_told(ready: FleetBuilder, person: Person) -> None:
    told: list[tuple[str, int, int, float | None]] = []

    build(person, ready, progress=lambda *what: told.append(what))

    stages = list(dict.fromkeys(stage for stage, *_ in told))
    assert stages == ["reading projects", "comparing", "embedding", "tidying"]
    assert ("embedding", 7, 7, None) in told
    assert ("comparing", 3, 3, None) in told


def test_no_more_than_ten_seconds_pass_between_two_commits(
    fleet: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    lend_tiny(data_of(person))
    for at, facts in enumerate((40, 1, 1, 20)):
        project = fleet.project(f"p{at}", "obsidian-only")
        for fact in range(facts):
            project.fact(f"f{fact}", f"alpha {at} beta {fact}", title=f"F{fact}")
    clock = [0.0]
    commits = [0.0]
    real = OnnxEmbedder.encode_documents

    def slow(embedder: OnnxEmbedder, texts: Sequence[str]) -> Any:
        clock[0] += 3.0
        return real(embedder, texts)

    def noting(name: str) -> None:
        done = getattr(VectorWriter, name)

        def wrapped(*arguments: Any, **named: Any) -> Any:
            commits.append(clock[0])
            return done(*arguments, **named)

        monkeypatch.setattr(VectorWriter, name, wrapped)

    monkeypatch.setattr(OnnxEmbedder, "encode_documents", slow)
    monkeypatch.setattr(index_build, "STEP_TEXTS", 2)
    monkeypatch.setattr("agentic_os.tiers.index.build.time.perf_counter", lambda: clock[0])
    noting("keep")
    noting("replace")

    data = build(person, fleet)

    assert data.embedded == 62
    assert clock[0] == 93.0
    assert max(after - before for before, after in pairwise(commits)) <= 10.0
    assert commits[-1] == clock[0]


def test_optimizing_keeps_every_row(ready: FleetBuilder, person: Person) -> None:
    with pytest.raises(SemanticIndexError) as raised:
        optimize_index(person, [str(ready.root)])
    assert raised.value.code == "SEMANTIC_UNAVAILABLE"
    build(person, ready)
    ready.project("p0", "obsidian-only").fact("own", "rate limit", title="Own 0")
    build(person, ready)

    data = optimize_index(person, [str(ready.root)]).data

    assert data.rows == 9
    assert 0 < data.bytes <= data.bytes_before
    state = read_state(folder_of(person, ready))
    assert state is not None
    table = open_table(folder_of(person, ready), state.fingerprint)
    assert table is not None
    assert table.rows == 9


def test_status_without_an_index_counts_what_would_be_in_it(
    ready: FleetBuilder, person: Person
) -> None:
    with open_workspace(person, [str(ready.root)]) as workspace:
        answer = index_status(workspace)

    assert (answer.data.state, answer.data.rows, answer.data.files_behind) == ("none", 0, 9)
    assert [item.code for item in answer.warnings] == ["SEMANTIC_UNAVAILABLE"]
    assert answer.warnings[0].severity == "info"


def test_status_follows_the_model_that_is_chosen(ready: FleetBuilder, person: Person) -> None:
    build(person, ready)
    with open_workspace(person, [str(ready.root)]) as workspace:
        settings = msgspec.structs.replace(workspace.settings, embedding_model="another")
        other = index_status(replace(workspace, settings=settings))
        settings = msgspec.structs.replace(workspace.settings, embedding_model="no/such-model")
        with pytest.raises(SemanticIndexError):
            index_status(replace(workspace, settings=settings))

    # A model that is not there has no fingerprint; the index is shown as it is.
    assert other.data.state == "sound"


def test_status_of_a_damaged_index(ready: FleetBuilder, person: Person) -> None:
    build(person, ready)
    for path in folder_of(person, ready).rglob("*.manifest"):
        path.write_bytes(b"x")

    with open_workspace(person, [str(ready.root)]) as workspace:
        answer = index_status(workspace)

    assert answer.data.state == "damaged"
    assert [item.code for item in answer.warnings] == ["INDEX_DAMAGED"]


def test_status_needs_the_extra(
    ready: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(person, ready)
    monkeypatch.setitem(sys.modules, "lance", None)

    with pytest.raises(SemanticIndexError) as raised:
        status(person, ready)
    assert raised.value.code == "EXTRA_MISSING"
