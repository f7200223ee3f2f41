import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentic_os.errors import WitnessError
from agentic_os.witness.rule.state import Bookmarked, IdentityState, TreeHead
from agentic_os.witness.service import rows as rows_module
from agentic_os.witness.service import store as store_module
from agentic_os.witness.service.rows import (
    EVIDENCE_BODY_BYTES,
    EVIDENCE_ENTRIES,
    EVIDENCE_PER_SUBJECT_ENTRIES,
    Evidence,
    StateRows,
)
from agentic_os.witness.service.store import WitnessStore, create_database

META = {"format": "test", "keys": "mine"}
ROOT = b"r" * 32


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "witness.db"
    create_database(made, meta=META)
    return made


@pytest.fixture
def store(path: Path) -> Iterator[WitnessStore]:
    opened = WitnessStore(path, meta=META)
    yield opened
    opened.close()


def put(
    rows: StateRows, ordinal: int, *, before: IdentityState | None, name: str = "did:a"
) -> None:
    rows.put_bookmark(
        before=before,
        identity_id=name,
        key_digits="00" * 8,
        public_key=b"{}",
        bookmark=Bookmarked(
            ordinal=ordinal, ledger_hash=f"{ordinal:064x}", witnessed_at=ordinal, answer=b"answer"
        ),
        proved=False,
    )


def put_origin(rows: StateRows, size: int, root: bytes = ROOT, at: int = 5) -> None:
    rows.add_origin("log")
    state = rows.origin("log")
    rows.put_head(
        before=state.head if state else None,
        origin="log",
        head=TreeHead(size=size, root=root, cosigned_at=at),
        note=b"note",
    )


def test_the_database_is_private_and_durable(path: Path, store: WitnessStore) -> None:
    store.submit(lambda rows: put(rows, 1, before=None)).result()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.with_name("witness.db-wal").stat().st_mode) == 0o600
    connection = store._writer
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_state_is_read_as_it_was_written(store: WitnessStore) -> None:
    store.submit(lambda rows: put(rows, 3, before=None)).result()
    store.submit(lambda rows: put(rows, 4, before=rows.identity("did:a"))).result()
    store.submit(lambda rows: put_origin(rows, 7)).result()
    store.submit(lambda rows: rows.bind_origin("log", "did:a", owner=None)).result()
    store.submit(lambda rows: rows.add_key("log", "k1", source="bound", now=1)).result()
    store.submit(lambda rows: rows.add_key("log", "k2", source="bound", now=2)).result()
    store.submit(
        lambda rows: rows.retire_keys("log", except_vkeys=frozenset({"k2"}), source="bound", now=3)
    ).result()

    identity, origin = store.read.identity("did:a"), store.read.origin("log")
    assert identity
    assert identity.bookmark
    assert (identity.bookmark.ordinal, identity.origin, identity.proved) == (4, "log", False)
    assert origin
    assert origin.head == TreeHead(size=7, root=ROOT, cosigned_at=5)
    assert (origin.keys, origin.retired_keys) == (frozenset({"k2"}), frozenset({"k1"}))
    assert store.read.identity("did:b") is None
    assert store.read.origin("nowhere") is None
    assert store.read.note("0" * 64) is None


def test_a_bound_key_that_was_retired_stays_so_and_a_listed_one_may_come_back(
    store: WitnessStore,
) -> None:
    def work(rows: StateRows) -> None:
        rows.add_origin("log")
        for source in ("bound", "listed"):
            rows.add_key("log", source, source=source, now=1)
            rows.retire_keys("log", except_vkeys=frozenset(), source=source, now=2)
            rows.add_key("log", source, source=source, now=3)

    store.submit(work).result()
    state = store.read.origin("log")

    assert state
    assert state.keys == frozenset({"listed"})
    assert state.retired_keys == frozenset({"bound"})
    assert store.read.listed_origins() == ("log",)


def test_a_write_over_a_row_that_changed_fails_and_is_undone(store: WitnessStore) -> None:
    store.submit(lambda rows: put(rows, 3, before=None)).result()
    stale = store.read.identity("did:a")
    store.submit(lambda rows: put(rows, 4, before=stale)).result()

    def work(rows: StateRows) -> None:
        rows.add_origin("half done")
        put(rows, 5, before=stale)

    with pytest.raises(WitnessError) as caught:
        store.submit(work).result()
    assert caught.value.code == "ROW_CHANGED"
    assert store.read.origin("half done") is None
    again = store.submit(lambda rows: put(rows, 9, before=None))
    with pytest.raises(WitnessError):
        again.result()
    assert store.frozen is None


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM identity",
        "DELETE FROM origin",
        "DELETE FROM origin_key",
        "UPDATE identity SET ordinal = 2",
        "UPDATE identity SET ledger_hash = 'other'",
        "UPDATE identity SET witnessed_at = 1",
        "UPDATE identity SET proved = 0",
        "UPDATE identity SET successor = 'did:c'",
        "UPDATE origin SET size = 6",
        "UPDATE origin SET root = zeroblob(32)",
        "UPDATE origin SET size = NULL, root = NULL, note = NULL, cosigned_at = NULL",
        "UPDATE origin SET cosigned_at = 1",
        "UPDATE origin SET closed_at = NULL",
        "UPDATE origin SET origin = 'renamed'",
    ],
)
def test_the_database_itself_refuses_to_go_back(
    path: Path, store: WitnessStore, statement: str
) -> None:
    def work(rows: StateRows) -> None:
        put(rows, 3, before=None)
        rows.mark_proved("did:a")
        rows.retire_identity("did:a", successor="did:b")
        put_origin(rows, 7)
        rows.add_key("log", "k", source="bound", now=1)
        rows.close_origin("log", now=9)

    store.submit(work).result()
    connection = sqlite3.connect(path)

    try:
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)
    finally:
        connection.close()


def test_a_trigger_fails_only_the_work_that_ran_into_it(store: WitnessStore) -> None:
    store.submit(lambda rows: put_origin(rows, 7)).result()
    bad = store.submit(lambda rows: put_origin(rows, 6))
    good = store.submit(lambda rows: put_origin(rows, 8))

    with pytest.raises(sqlite3.IntegrityError):
        bad.result()
    good.result()
    assert store.frozen is None


def test_works_that_wait_together_share_a_commit(store: WitnessStore) -> None:
    gate, started = threading.Event(), threading.Event()

    def first(_rows: StateRows) -> None:
        started.set()
        assert gate.wait(10)

    blocked = store.submit(first)
    assert started.wait(10)
    waiting = [
        store.submit(lambda rows, n=n: put(rows, 1, before=None, name=f"did:{n}"))  # type: ignore[misc]
        for n in range(50)
    ]
    assert not any(item.done() for item in waiting)
    gate.set()
    for item in [blocked, *waiting]:
        item.result(10)

    assert store.counts.works == 51
    assert store.counts.batches == 2
    assert store.counts.largest == 50
    assert store.read.totals().identities == 50


def test_a_cancelled_work_is_left_out(store: WitnessStore) -> None:
    gate, started = threading.Event(), threading.Event()

    def first(_rows: StateRows) -> None:
        started.set()
        assert gate.wait(10)

    store.submit(first)
    assert started.wait(10)
    cancelled = store.submit(lambda rows: rows.add_origin("cancelled"))
    kept = store.submit(lambda rows: rows.add_origin("kept"))
    assert cancelled.cancel()
    gate.set()
    kept.result(10)

    assert store.read.origin("cancelled") is None
    assert store.read.origin("kept")


def test_a_full_disk_freezes_until_restart(path: Path) -> None:
    opened = WitnessStore(path, meta=META)
    opened.submit(lambda rows: put_origin(rows, 7)).result()
    pages = opened._writer.execute("PRAGMA page_count").fetchone()[0]
    opened._writer.execute(f"PRAGMA max_page_count = {pages}")

    def work(rows: StateRows) -> None:
        put_origin(rows, 8)
        for n in range(200):
            rows.add_origin(f"{n}" * 50)

    first = opened.submit(work)
    with pytest.raises(WitnessError) as caught:
        first.result()
    assert caught.value.code == "STORAGE_FAILED"
    assert opened.frozen == "SQLITE_FULL"
    later = opened.submit(lambda rows: put_origin(rows, 9))
    with pytest.raises(WitnessError):
        later.result()
    opened.close()

    again = WitnessStore(path, meta=META)
    state = again.read.origin("log")
    again.close()
    assert again.frozen is None
    assert state
    assert state.head
    assert state.head.size == 7


def test_a_database_that_another_process_holds_is_busy_and_not_broken(
    path: Path, store: WitnessStore
) -> None:
    store._writer.execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        busy = store.submit(lambda rows: put_origin(rows, 7))
        with pytest.raises(WitnessError) as caught:
            busy.result()
    finally:
        other.execute("ROLLBACK")
        other.close()

    assert caught.value.code == "STORE_BUSY"
    assert store.frozen is None
    store.submit(lambda rows: put_origin(rows, 7)).result()


def test_a_fault_of_our_own_freezes_rather_than_acknowledges(store: WitnessStore) -> None:
    class Broken:
        in_transaction = False

        def execute(self, *_: object) -> None:
            raise RuntimeError("no such thing")

        def close(self) -> None:
            real.close()

    real = store._writer
    store._writer = Broken()  # type: ignore[assignment]
    failing = store.submit(lambda _rows: None)
    with pytest.raises(WitnessError):
        failing.result()
    assert store.frozen == "RuntimeError"


def test_a_rollback_that_fails_too_is_survived(store: WitnessStore) -> None:
    class Failing:
        in_transaction = True

        def execute(self, statement: str) -> None:
            if statement != "BEGIN IMMEDIATE":
                error = sqlite3.OperationalError(statement)
                error.sqlite_errorcode = sqlite3.SQLITE_IOERR
                error.sqlite_errorname = "SQLITE_IOERR"
                raise error

        def close(self) -> None:
            real.close()

    real = store._writer
    store._writer = Failing()  # type: ignore[assignment]
    failing = store.submit(lambda _rows: None)
    with pytest.raises(WitnessError):
        failing.result()
    assert store.frozen == "SQLITE_IOERR"


def test_closing_finishes_what_was_handed_in(path: Path) -> None:
    opened = WitnessStore(path, meta=META)
    works = [opened.submit(lambda rows, n=n: rows.add_origin(f"o{n}")) for n in range(20)]  # type: ignore[misc]
    opened.close()
    opened.close()

    assert all(work.done() and work.exception() is None for work in works)
    with pytest.raises(WitnessError) as caught:
        opened.submit(lambda _rows: None)
    assert caught.value.code == "STORE_CLOSED"


def test_keys_without_a_database_do_not_start(tmp_path: Path) -> None:
    with pytest.raises(WitnessError) as caught:
        WitnessStore(tmp_path / "witness.db", meta=META)
    assert caught.value.code == "DATABASE_MISSING"
    assert not (tmp_path / "witness.db").exists()


def test_a_linked_database_does_not_start(tmp_path: Path, path: Path) -> None:
    link = tmp_path / "linked.db"
    link.symlink_to(path)

    with pytest.raises(WitnessError) as caught:
        WitnessStore(link, meta=META)
    assert caught.value.code == "DATABASE_MISSING"


def test_a_database_is_made_once(path: Path) -> None:
    with pytest.raises(WitnessError) as caught:
        create_database(path, meta=META)
    assert caught.value.code == "DATABASE_EXISTS"


def test_a_database_of_other_keys_does_not_start(path: Path) -> None:
    with pytest.raises(WitnessError) as caught:
        WitnessStore(path, meta={**META, "keys": "yours"})
    assert caught.value.code == "DATABASE_KEYS"


def test_a_database_without_its_triggers_does_not_start(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER origin_advances")
    connection.close()

    with pytest.raises(WitnessError) as caught:
        WitnessStore(path, meta=META)
    assert caught.value.code == "DATABASE_INVALID"


@pytest.mark.parametrize("content", [b"", b"not a database" * 100])
def test_other_files_do_not_start(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "witness.db"
    path.write_bytes(content)

    with pytest.raises(WitnessError) as caught:
        WitnessStore(path, meta=META)
    assert caught.value.code == "DATABASE_INVALID"


def test_a_database_with_damaged_pages_does_not_start(path: Path) -> None:
    opened = WitnessStore(path, meta=META)
    for n in range(200):
        opened.submit(lambda rows, n=n: rows.add_origin(f"origin {n} " * 8)).result()  # type: ignore[misc]
    opened.close()
    data = bytearray(path.read_bytes())
    data[4096 * 5 : 4096 * 5 + 64] = os.urandom(64)
    data[-4096:-4032] = os.urandom(64)
    path.write_bytes(data)

    with pytest.raises(WitnessError) as caught:
        WitnessStore(path, meta=META)
    assert caught.value.code == "DATABASE_INVALID"


def test_a_sqlite_that_is_too_old_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "SQLITE_NEEDED", (99, 0, 0))

    with pytest.raises(WitnessError) as caught:
        WitnessStore(path, meta=META)
    assert caught.value.code == "SQLITE_TOO_OLD"


def test_a_file_system_without_a_durable_log_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "SYNCHRONOUS_FULL", 3)

    with pytest.raises(WitnessError) as caught:
        WitnessStore(path, meta=META)
    assert "durably" in caught.value.message


def evidence(n: int, subject: str = "did:a", size: int = 10) -> Evidence:
    return Evidence(
        subject=subject, kind="bookmark", code="ROLLBACK_OR_FORK", body=b"%010d" % n + b"x" * size
    )


def test_evidence_is_kept_once_and_bounded(store: WitnessStore) -> None:
    def work(rows: StateRows) -> list[bool]:
        kept = [rows.keep_evidence(evidence(1), now=1), rows.keep_evidence(evidence(1), now=2)]
        kept += [
            rows.keep_evidence(evidence(n), now=3)
            for n in range(2, EVIDENCE_PER_SUBJECT_ENTRIES + 3)
        ]
        kept.append(rows.keep_evidence(evidence(1, "did:b", EVIDENCE_BODY_BYTES), now=4))
        kept.append(rows.keep_evidence(evidence(99, "did:b"), now=4))
        return kept

    kept = store.submit(work).result()

    assert kept[:2] == [True, False]
    assert kept[2:] == [True] * (EVIDENCE_PER_SUBJECT_ENTRIES - 1) + [False, False, False, True]
    assert store.read.totals().evidence == EVIDENCE_PER_SUBJECT_ENTRIES + 1


def test_junk_contradictions_push_out_one_another(
    store: WitnessStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_module, "EVIDENCE_ENTRIES", 10)

    def work(rows: StateRows) -> list[bool]:
        kept = [rows.keep_evidence(evidence(0, "did:early"), now=1)]
        kept += [rows.keep_evidence(evidence(n, f"did:junk{n % 5}"), now=2 + n) for n in range(40)]
        kept.append(rows.keep_evidence(evidence(900, "did:late"), now=100))
        kept += [rows.keep_evidence(evidence(50 + n, "did:junk6"), now=101 + n) for n in range(9)]
        return kept

    store.submit(work).result()

    subjects = [
        row[0]
        for row in store.read._connection.execute("SELECT subject FROM evidence ORDER BY seen_at")
    ]
    assert len(subjects) == 10
    assert {"did:early", "did:late"} <= set(subjects)


def test_ten_thousand_junk_contradictions_close_the_table_to_nobody(store: WitnessStore) -> None:
    subjects = EVIDENCE_ENTRIES // EVIDENCE_PER_SUBJECT_ENTRIES

    def junk(rows: StateRows) -> int:
        return sum(
            rows.keep_evidence(evidence(n, f"did:junk{n % subjects}"), now=1 + n)
            for n in range(EVIDENCE_ENTRIES)
        )

    def late(rows: StateRows) -> list[bool]:
        return [rows.keep_evidence(evidence(n, "did:late"), now=n) for n in range(10**6, 10**6 + 3)]

    assert store.submit(junk).result() == EVIDENCE_ENTRIES
    assert store.submit(late).result() == [True, True, True]
    found = store.read._connection.execute(
        "SELECT count(*), sum(subject = 'did:late'), sum(length(body)) FROM evidence"
    ).fetchone()
    assert found[:2] == (EVIDENCE_ENTRIES, 3)


WRITER = """
import sys
from pathlib import Path
from agentic_os.witness.service.store import WitnessStore
from agentic_os.witness.rule.state import TreeHead
store = WitnessStore(Path(sys.argv[1]), meta={"format": "test", "keys": "mine"})
def step(rows):
    state = rows.origin("log")
    size = state.head.size + 1 if state.head else 1
    head = TreeHead(size=size, root=size.to_bytes(32, "big"), cosigned_at=size)
    rows.put_head(before=state.head, origin="log", head=head, note=b"n")
    return size
print(*[store.submit(step).result() for _ in range(100)])
store.close()
"""


def test_two_processes_on_one_database_never_give_one_size_twice(path: Path) -> None:
    opened = WitnessStore(path, meta=META)
    opened.submit(lambda rows: rows.add_origin("log")).result()
    opened.close()
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    sizes = [int(word) for item in running for word in item.communicate(timeout=60)[0].split()]

    assert sorted(sizes) == list(range(1, 201))
