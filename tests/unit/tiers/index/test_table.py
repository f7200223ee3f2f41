"""The table of vectors: written and read, with vectors of the test's own."""

import os
import stat
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import lance
import lancedb
import numpy as np
import numpy.typing as npt
import pytest

from agentic_os.errors import SemanticIndexError, UsageError
from agentic_os.tiers.index import table as vectors
from agentic_os.tiers.index import writer as vectors_writing
from agentic_os.tiers.index.chunks import Chunk
from agentic_os.tiers.index.state import (
    STATE_NAME,
    IndexState,
    ProjectState,
    drop_state,
    read_state,
    write_state,
)
from agentic_os.tiers.index.table import (
    Near,
    VectorTable,
    filter_of,
    index_faults,
    looks_at_all,
    open_table,
    table_name,
    table_path,
    tables,
)
from agentic_os.tiers.index.writer import VectorWriter, discard_table, private_files, writing

MADE_BY = "ab" * 32
DIMENSION = 16
Matrix = npt.NDArray[np.float32]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with private_files():
        yield tmp_path / "vectors"


def writer(folder: Path) -> VectorWriter:
    return VectorWriter(folder, fingerprint=MADE_BY, dimension=DIMENSION)


def opened(folder: Path) -> VectorTable:
    table = open_table(folder, MADE_BY)
    assert table is not None
    return table


def unit(seed: int) -> Matrix:
    values = np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)
    return values / np.linalg.norm(values)


def chunk(name: str, *, kind: str = "code", start: int = 1, sha256: str = "f" * 64) -> Chunk:
    return Chunk(
        id=name,
        kind=kind,
        path=f"{name}.py",
        name=name,
        symbol=name,
        document=start,
        start=start,
        end=start + 1,
        sha256=sha256,
        text_hash=f"hash-{name}",
        indexed_at=7,
        text=name,
    )


def put(made: VectorWriter, project: str, *numbers: int, start: int = 1) -> None:
    rows = [(project, chunk(f"{project}-{number}", start=start)) for number in numbers]
    vectors = (
        np.stack([unit(number) for number in numbers])
        if numbers
        else np.empty((0, DIMENSION), np.float32)
    )
    made.replace({project: None}, rows, vectors)


def names(found: list[Near]) -> list[str]:
    return [near.name for near in found]


def test_what_was_written_is_found_by_its_vector(folder: Path) -> None:
    put(writer(folder), "one", 1, 2, 3)

    (first, *rest) = opened(folder).nearest(unit(2), limit=2)

    assert first.similarity == pytest.approx(1.0, abs=1e-6)
    assert first == Near(
        project="one",
        kind="code",
        path="one-2.py",
        name="one-2",
        symbol="one-2",
        document=1,
        start=1,
        end=2,
        sha256="f" * 64,
        text_hash="hash-one-2",
        indexed_at=7,
        similarity=first.similarity,
    )
    assert len(rest) == 1


def test_a_project_is_replaced_and_the_others_stay(folder: Path) -> None:
    made = writer(folder)
    put(made, "one", 1, 2)
    put(made, "two", 1, 2)

    put(made, "one", 2, 3)

    table = opened(folder)
    assert sorted(names(table.nearest(unit(1), limit=9, projects={"one"}))) == ["one-2", "one-3"]
    assert sorted(names(table.nearest(unit(1), limit=9, projects={"two"}))) == ["two-1", "two-2"]
    assert table.rows == made.rows == 4


def test_rows_that_stay_as_they_are_are_not_written_again(folder: Path) -> None:
    made = writer(folder)
    put(made, "one", *range(50))
    before = sum(path.stat().st_size for path in folder.rglob("data/*"))

    put(made, "one", *range(50))
    put(made, "one", *range(51))

    assert opened(folder).rows == 51
    assert sum(path.stat().st_size for path in folder.rglob("data/*")) < before * 1.5
    put(made, "one", *range(51), start=40)
    assert {near.start for near in opened(folder).nearest(unit(1), limit=99)} == {40}


def test_some_files_of_a_project_are_replaced(folder: Path) -> None:
    made = writer(folder)
    put(made, "one", 1, 2, 3)
    put(made, "two", 1)

    made.replace({"one": {"one-2.py", "one-4.py"}}, [("one", chunk("one-4"))], np.stack([unit(4)]))

    found = opened(folder).nearest(unit(1), limit=9)
    assert sorted(names(found)) == ["one-1", "one-3", "one-4", "two-1"]
    assert (made.rows_of("one"), made.rows_of("two"), made.rows_of("none")) == (3, 1, 0)


def test_projects_that_are_gone_lose_their_rows(folder: Path) -> None:
    made = writer(folder)
    made.forget(["one"])
    put(made, "one", 1)
    put(made, "it's", 2)

    made.forget(["it's"])
    version = opened(folder).version
    made.forget(["it's"])

    assert names(opened(folder).nearest(unit(1), limit=9)) == ["it's-2"]
    assert opened(folder).version == version


def test_an_empty_table_answers(folder: Path) -> None:
    put(writer(folder), "one")

    assert opened(folder).nearest(unit(1), limit=5) == []
    assert opened(folder).rows == 0


def test_projects_and_kinds_narrow_before_the_nearest_are_taken(folder: Path) -> None:
    made = writer(folder)
    near = [(f"p{at}", chunk(f"n{at}", kind="memory" if at % 2 else "code")) for at in range(20)]
    made.replace(
        {f"p{at}": None for at in range(20)}, near, np.stack([unit(at) for at in range(20)])
    )
    made.tidy()
    table = opened(folder)

    assert names(table.nearest(unit(3), limit=1, projects={"p7"})) == ["n7"]
    assert len(table.nearest(unit(3), limit=20, kinds={"memory"})) == 10
    assert table.nearest(unit(3), limit=20, projects={"p4"}, kinds={"memory"}) == []
    assert table.nearest(unit(3), limit=20, projects=set()) == []


def test_vectors_that_are_known_are_given_back(folder: Path) -> None:
    made = writer(folder)
    assert made.missing({"hash-one-1"}) == {"hash-one-1"}
    put(made, "one", 1, 2, 3)

    again = writer(folder)

    assert again.missing({"hash-one-1", "other"}) == {"other"}
    found = again.vectors(["hash-one-3", "other", "hash-one-1"])
    assert found.keys() == {"hash-one-1", "hash-one-3"}
    assert np.allclose(found["hash-one-3"], unit(3))


def test_vectors_of_an_unfinished_project_are_put_by(folder: Path) -> None:
    made = writer(folder)
    made.keep({"a": unit(1), "b": unit(2)})
    made.keep({"c": unit(3)})

    again = writer(folder)

    assert again.missing({"a", "c", "d"}) == {"d"}
    found = again.vectors(["c", "a"])
    assert np.allclose(found["a"], unit(1))
    assert np.allclose(found["c"], unit(3))
    put(again, "one", 1)
    again.finish()
    assert [path.name for path in folder.iterdir()] == [f"{table_name(MADE_BY)}.lance"]


def test_tables_of_other_embedders_go_when_a_build_is_finished(folder: Path) -> None:
    other = VectorWriter(folder, fingerprint="cd" * 32, dimension=4)
    other.replace({"p": None}, [("p", chunk("x"))], np.ones((1, 4), np.float32))
    made = writer(folder)
    put(made, "one", 1)
    assert len(tables(folder)) == 2

    made.finish()

    assert tables(folder) == (table_path(folder, MADE_BY),)
    assert open_table(folder, "cd" * 32) is None


def test_everything_is_private(folder: Path) -> None:
    made = writer(folder)
    put(made, "one", 1, 2)
    made.keep({"a": unit(1)})
    made.tidy()
    write_state(folder, IndexState(fingerprint=MADE_BY, model="m"))

    for path in (folder, *folder.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_the_umask_is_put_back() -> None:
    before = os.umask(0o022)
    with private_files():
        pass
    assert os.umask(before) == 0o022


def test_a_vector_index_is_kept_from_a_number_of_rows_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors_writing, "INDEX_FROM_ROWS", 600)
    made = writer(folder)
    put(made, "one", *range(500))
    made.tidy()
    assert opened(folder).unindexed_rows() is None

    put(made, "two", *range(500, 700))
    made.tidy()
    table = opened(folder)
    assert table.unindexed_rows() == 0
    approximate = table.nearest(unit(650), limit=10, exact=False)
    assert names(approximate)[0] == "two-650"
    assert names(table.nearest(unit(3), limit=1, projects={"two"}, exact=False))[0][:4] == "two-"

    put(made, "three", *range(700, 710))
    assert opened(folder).unindexed_rows() == 10
    assert names(opened(folder).nearest(unit(705), limit=1, exact=False)) == ["three-705"]
    made.tidy()
    assert opened(folder).unindexed_rows() == 0
    put(made, "four", *range(800, 2000))
    made.tidy()
    assert opened(folder).unindexed_rows() == 0

    made.forget(["one"])
    made.tidy()
    assert opened(folder).unindexed_rows() is None


def test_a_similarity_is_the_cosine_whatever_found_the_row(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors_writing, "INDEX_FROM_ROWS", 600)
    made = writer(folder)
    put(made, "one", *range(1_000))
    put(made, "two", *range(1_000, 1_400))
    made.tidy()
    put(made, "late", *range(1_400, 1_700))
    table = opened(folder)
    assert table.unindexed_rows() == 300

    for question, scope in (
        (unit(3) * 7, None),
        (unit(9_000), {"one", "late"}),
        (unit(8), {"late"}),
    ):
        exact = table.nearest(question, limit=40, projects=scope)
        found = table.nearest(question, limit=40, projects=scope, exact=False)

        assert {row.name: row.similarity for row in found} == pytest.approx(
            {row.name: row.similarity for row in exact}
        )
        assert names(found) == names(exact)
        direction = question / np.linalg.norm(question)
        numbers = [int(name.rpartition("-")[2]) for name in names(found)]
        assert [row.similarity for row in found] == pytest.approx(
            [float(unit(number) @ direction) for number in numbers], abs=1e-5
        )


def test_passages_that_others_found_have_their_true_cosine(folder: Path) -> None:
    made = writer(folder)
    put(made, "p0", 1, 2, 3)
    table = opened(folder)
    found = table.nearest(unit(2), limit=3)
    keys = {(row.project, row.kind, row.path, row.document): row.similarity for row in found}

    assert table.similarities(unit(2), keys) == pytest.approx(keys)
    assert table.similarities(unit(2), [("p0", "code", "no such file", 1)]) == {}
    assert table.similarities(unit(2), []) == {}


def test_tidying_deletes_old_versions_and_keeps_the_rows(folder: Path) -> None:
    made = writer(folder)
    made.tidy()
    for number in range(6):
        put(made, f"p{number}", number)
    before = len(list(folder.rglob("*.manifest")))

    made.tidy(keep=timedelta(0))

    assert len(list(folder.rglob("*.manifest"))) < before
    assert opened(folder).rows == 6


def test_small_pieces_are_put_together_and_large_ones_stay(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors_writing, "SMALL_ROWS", 20)
    monkeypatch.setattr(vectors_writing, "MOST_SMALL_PIECES", 2)
    monkeypatch.setattr(vectors_writing, "LATE_ROWS", 4)
    made = writer(folder)
    put(made, "large", *range(30))
    made.keep_tidy()
    (large,) = folder.rglob("data/*.lance")
    for number in range(6):
        put(made, f"p{number}", number)
        made.keep_tidy()

        assert len(list(folder.rglob("data/*.lance"))) <= 1 + 3
        assert [near.similarity for near in nearest_of(folder, number)] == pytest.approx([1, 1])

    assert large.exists()
    assert opened(folder).rows == 36


def nearest_of(folder: Path, number: int) -> list[Near]:
    projects = {f"p{number}", "large"}
    return opened(folder).nearest(unit(number), limit=2, projects=projects)


def test_a_reader_that_was_opened_before_sees_its_own_version(folder: Path) -> None:
    made = writer(folder)
    put(made, "one", 1)
    before = opened(folder)

    put(made, "one", 2)
    made.tidy(keep=timedelta(minutes=1))

    assert names(before.nearest(unit(1), limit=9)) == ["one-1"]
    assert names(opened(folder).nearest(unit(1), limit=9)) == ["one-2"]


def test_it_is_a_table_of_lancedb(folder: Path) -> None:
    made = writer(folder)
    put(made, "one", 1, 2)

    table = lancedb.connect(folder).open_table(table_name(MADE_BY))

    assert table.count_rows() == 2
    (first,) = table.search(unit(2)).limit(1).select(["name", "_distance"]).to_list()
    assert first["name"] == "one-2"
    assert table.schema.metadata[b"fingerprint"] == MADE_BY.encode()


def test_there_is_no_table_before_the_first_commit(folder: Path) -> None:
    assert open_table(folder, MADE_BY) is None
    assert tables(folder) == ()
    broken = table_path(folder, MADE_BY)
    (broken / "data").mkdir(parents=True)
    (broken / "data/half.lance").write_bytes(b"half")

    assert open_table(folder, MADE_BY) is None
    put(writer(folder), "one", 1)
    assert opened(folder).rows == 1
    assert not (broken / "data/half.lance").exists()


def garble(folder: Path, pattern: str) -> int:
    found = [path for path in folder.rglob(pattern) if path.is_file()]
    for path in found:
        path.write_bytes(os.urandom(path.stat().st_size))
    return len(found)


@pytest.mark.parametrize("pattern", ["*.manifest", "data/*.lance"])
def test_garbage_is_damage(folder: Path, pattern: str) -> None:
    made = writer(folder)
    put(made, "one", 1, 2)
    assert garble(folder, pattern)

    with pytest.raises(SemanticIndexError) as raised:
        opened(folder).nearest(unit(1), limit=3)
    assert raised.value.code == "INDEX_DAMAGED"
    assert str(folder) not in raised.value.message
    with pytest.raises(SemanticIndexError):
        writer(folder)

    discard_table(folder, MADE_BY)
    put(writer(folder), "one", 1)
    assert opened(folder).rows == 1


def test_a_missing_file_is_damage(folder: Path) -> None:
    put(writer(folder), "one", 1, 2)
    for path in folder.rglob("data/*"):
        path.unlink()

    with pytest.raises(SemanticIndexError) as raised:
        opened(folder).nearest(unit(1), limit=3)
    assert raised.value.code == "INDEX_DAMAGED"


def test_without_the_package_the_extra_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(writer(folder), "one", 1)
    monkeypatch.setitem(sys.modules, "lance", None)

    for ask in (lambda: open_table(folder, MADE_BY), lambda: writer(folder)):
        with pytest.raises(SemanticIndexError) as raised:
            ask()
        assert raised.value.code == "EXTRA_MISSING"
        assert "extra `rag`" in raised.value.hint


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("LanceError(IO): No space left on device (os error 28)", "INDEX_FULL"),
        ("File too large (os error 27)", "INDEX_FULL"),
        ("Permission denied (os error 13)", "INDEX_UNWRITABLE"),
        ("unexpected end of file", "INDEX_DAMAGED"),
    ],
)
def test_what_the_engine_says_becomes_a_code(said: str, code: str) -> None:
    with pytest.raises(SemanticIndexError) as raised, writing():
        raise OSError(said)
    assert raised.value.code == code


def test_other_faults_pass() -> None:
    for fault in (KeyboardInterrupt, UsageError("x").__class__):
        with pytest.raises(fault), writing():
            raise fault("x") if fault is UsageError else fault
    with pytest.raises(KeyboardInterrupt), index_faults():
        raise KeyboardInterrupt
    with pytest.raises(SystemExit), index_faults():
        raise SystemExit


def test_a_panic_of_the_engine_is_damage() -> None:
    panic = type("PanicException", (BaseException,), {})

    with pytest.raises(SemanticIndexError) as raised, index_faults():
        raise panic
    assert raised.value.code == "INDEX_DAMAGED"


@pytest.mark.parametrize(
    ("rows", "of", "exact"),
    [
        (9_999, 1_000_000, True),
        (10_000, 10_000, False),
        (10_000, 40_001, True),
        (99_999, 1_000_000, True),
        (100_000, 1_000_000, False),
    ],
)
def test_few_rows_are_all_looked_at(rows: int, of: int, exact: bool) -> None:
    assert looks_at_all(rows, of) is exact


def test_a_table_made_anew_is_not_taken_for_the_old_one(folder: Path) -> None:
    put(writer(folder), "one", 1)
    assert names(opened(folder).nearest(unit(1), limit=9)) == ["one-1"]
    discard_table(folder, MADE_BY)

    put(writer(folder), "two", 1)

    assert names(opened(folder).nearest(unit(1), limit=9)) == ["two-1"]


def test_few_tables_are_kept_open(tmp_path: Path) -> None:
    for at in range(6):
        put(writer(tmp_path / f"v{at}"), "one", at)
        assert opened(tmp_path / f"v{at}").rows == 1

    assert len(vectors._opened) == 4
    assert opened(tmp_path / "v0").rows == 1


def test_filters_quote_what_they_are_given() -> None:
    assert filter_of(None) is None
    assert filter_of({"b", "a'"}) == "project IN ('a''', 'b')"
    assert filter_of(set(), {"code"}) == "false AND kind IN ('code')"


def test_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    state = IndexState(
        fingerprint=MADE_BY,
        model="m",
        projects={"p": ProjectState(rows=3, files={"a.md": "0"})},
    )
    assert read_state(tmp_path) is None

    write_state(tmp_path, state)

    assert read_state(tmp_path) == state
    assert state.rows == 3
    drop_state(tmp_path)
    drop_state(tmp_path)
    assert read_state(tmp_path) is None


@pytest.mark.parametrize("data", [b"", b"\xff" * 40, b"\x81\xa1a\x01", b"\xc0"])
def test_state_that_is_garbage_is_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / STATE_NAME).write_bytes(data)

    assert read_state(tmp_path) is None


def test_state_of_another_schema_is_none(tmp_path: Path) -> None:
    write_state(tmp_path, IndexState(fingerprint="a", model="m", schema=99))

    assert read_state(tmp_path) is None


def test_the_engine_is_a_package_of_its_own() -> None:
    assert lance.__version__
