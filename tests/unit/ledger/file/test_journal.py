"""The journal: one writer, nothing acknowledged that is not durable, frozen when in doubt."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agentic_os.crypto.canonical.texts import bare_hash
from agentic_os.crypto.keys.pairs import SigningKey
from agentic_os.errors import FilesError, LedgerError, VerificationError
from agentic_os.files.publishing import ExclusiveLock
from agentic_os.ledger.file import tail
from agentic_os.ledger.file.journal import BATCH_LINES, Journal, SignedDraft
from agentic_os.ledger.file.opening import (
    LOCK_NAME,
    begin_journal,
    open_journal,
    start_journal,
)
from agentic_os.ledger.file.storage import LEDGER_NAME, FileStorage
from agentic_os.ledger.file.tail import mend_tail
from agentic_os.ledger.file.verify import verify_storage
from agentic_os.ledger.line.entry import LINE_BYTES, Draft, draft
from agentic_os.ledger.line.frame import read_line
from agentic_os.ledger.line.payloads import Role
from agentic_os.ledger.rule.genesis import genesis_draft, self_made_bundle
from support.ledger.builder import KEYS, Builder, MemoryStorage, key

SIGNERS: dict[Role, SigningKey] = {"identity": KEYS["identity"], "operator": KEYS["operator"]}


def experience(number: int) -> SignedDraft:
    payload = {"id": f"exp_{number}", "content": f"event {number}"}
    return SignedDraft(draft("experience.create", payload), "identity")


@pytest.fixture
def folder(tmp_path: Path, build: Builder) -> Path:
    (tmp_path / LEDGER_NAME).write_bytes(build.experience(1).data)
    return tmp_path


def _append(journal: Journal, *numbers: int) -> None:
    journal.append([experience(number) for number in numbers], SIGNERS)


class FlakyStorage(MemoryStorage):
    """Forgets what was not synced, and fails where it is told to."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.durable = bytes(data)
        self.fail_append: BaseException | None = None
        self.fail_sync: BaseException | None = None
        self.in_place = True

    def append(self, data: bytes) -> None:
        if self.fail_append is not None:
            self.data += data[: len(data) // 2]
            raise self.fail_append
        super().append(data)

    def sync(self) -> None:
        if self.fail_sync is not None:
            raise self.fail_sync
        self.durable = bytes(self.data)

    def is_in_place(self) -> bool:
        return self.in_place


@pytest.fixture
def flaky(tmp_path: Path, build: Builder) -> tuple[FlakyStorage, Journal]:
    storage = FlakyStorage(build.experience(1).data)
    return storage, start_journal(storage, ExclusiveLock(tmp_path / LOCK_NAME))


def test_what_is_answered_is_durable(flaky: tuple[FlakyStorage, Journal]) -> None:
    storage, journal = flaky
    for number in range(2, 6):
        _append(journal, number)
        after_power_cut, _ = verify_storage(MemoryStorage(storage.durable))
        assert after_power_cut.verified
        assert after_power_cut.lines == journal.chain.size == number + 1


def test_a_batch_is_one_write_and_one_sync(
    flaky: tuple[FlakyStorage, Journal], monkeypatch: pytest.MonkeyPatch
) -> None:
    storage, journal = flaky
    calls: list[str] = []
    append, sync = storage.append, storage.sync

    def noted_append(data: bytes) -> None:
        calls.append("append")
        append(data)

    def noted_sync() -> None:
        calls.append("sync")
        sync()

    monkeypatch.setattr(storage, "append", noted_append)
    monkeypatch.setattr(storage, "sync", noted_sync)
    _append(journal, 2, 3, 4)
    assert calls == ["append", "sync"]
    assert journal.chain.size == 5


@pytest.mark.parametrize("where", ["append", "sync"])
def test_a_failure_between_write_and_answer_freezes(
    flaky: tuple[FlakyStorage, Journal], where: str
) -> None:
    storage, journal = flaky
    before = journal.chain.size
    setattr(storage, f"fail_{where}", OSError(28, "No space left on device"))
    with pytest.raises(LedgerError) as caught:
        _append(journal, 2)
    assert caught.value.code == "APPEND_UNCERTAIN"
    setattr(storage, f"fail_{where}", None)
    with pytest.raises(LedgerError) as caught:
        _append(journal, 3)
    assert caught.value.code == "JOURNAL_FROZEN"
    assert "No space left" in journal.frozen
    assert journal.chain.size == before
    recovered, _ = verify_storage(MemoryStorage(storage.durable))
    assert recovered.lines == before


def test_an_interrupted_write_freezes_too(flaky: tuple[FlakyStorage, Journal]) -> None:
    storage, journal = flaky
    storage.fail_sync = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        _append(journal, 2)
    assert "KeyboardInterrupt" in journal.frozen


def _cut(storage: FlakyStorage) -> None:
    storage.truncate(storage.size() - 10)


def _grow(storage: FlakyStorage) -> None:
    storage.data += b"{}\n"


def _edit(storage: FlakyStorage) -> None:
    at = storage.data.index(b"event 1")
    storage.data[at : at + 7] = b"event 9"


def _move(storage: FlakyStorage) -> None:
    storage.in_place = False


@pytest.mark.parametrize("change", [_cut, _grow, _edit, _move])
def test_a_tail_that_somebody_else_changed_freezes(
    flaky: tuple[FlakyStorage, Journal], change: Callable[[FlakyStorage], None]
) -> None:
    storage, journal = flaky
    change(storage)
    size = storage.size()
    with pytest.raises(LedgerError) as caught:
        _append(journal, 2)
    assert caught.value.code == "JOURNAL_TAIL_CHANGED"
    assert storage.size() == size
    assert journal.frozen


def test_a_disk_that_cannot_be_read_freezes(
    flaky: tuple[FlakyStorage, Journal], monkeypatch: pytest.MonkeyPatch
) -> None:
    storage, journal = flaky

    def broken(offset: int, count: int) -> bytes:
        raise OSError(5, f"Input/output error {offset} {count}")

    monkeypatch.setattr(storage, "read", broken)
    with pytest.raises(LedgerError) as caught:
        _append(journal, 2)
    assert caught.value.code == "JOURNAL_TAIL_CHANGED"


def test_what_a_reader_would_refuse_is_never_written(
    flaky: tuple[FlakyStorage, Journal],
) -> None:
    storage, journal = flaky
    size = storage.size()
    with pytest.raises(VerificationError) as refused:
        journal.append([experience(2)], {"identity": key(9)})
    assert refused.value.code == "LEDGER_KEY_WRONG"
    long = draft("experience.create", {"id": "e", "content": "\U0001f600" * 99_999})
    huge = [
        SignedDraft(
            draft("experience.create", {"id": "f", "content": "\\" * LINE_BYTES}), "identity"
        )
    ]
    with pytest.raises(LedgerError) as caught:
        journal.append(huge, SIGNERS)
    assert caught.value.code == "LEDGER_LINE_TOO_LONG"
    assert storage.size() == size
    assert not journal.frozen
    journal.append([SignedDraft(long, "identity")], SIGNERS)


def test_a_missing_signer_and_a_wrong_batch_are_refused(
    flaky: tuple[FlakyStorage, Journal],
) -> None:
    _, journal = flaky
    with pytest.raises(LedgerError) as caught:
        journal.append([experience(2)], {})
    assert caught.value.code == "SIGNER_MISSING"
    for count in (0, BATCH_LINES + 1):
        with pytest.raises(LedgerError) as caught:
            journal.append([experience(2)] * count, SIGNERS)
        assert caught.value.code == "BATCH_SIZE"


def test_the_tree_grows_with_the_journal(flaky: tuple[FlakyStorage, Journal]) -> None:
    _, journal = flaky
    assert journal.tree.root() == journal.chain.root
    _append(journal, 2, 3)
    assert journal.tree.size == journal.chain.size
    assert journal.tree.root() == journal.chain.root


def test_the_tree_is_of_the_lines_that_were_verified(
    flaky: tuple[FlakyStorage, Journal],
) -> None:
    storage, journal = flaky
    _append(journal, 2)
    _edit(storage)
    assert journal.tree.root() == journal.chain.root
    assert journal.tree.size == journal.chain.size


def test_one_process_has_the_ledger(folder: Path) -> None:
    with open_journal(folder) as journal:
        with pytest.raises(LedgerError) as caught:
            open_journal(folder)
        assert caught.value.code == "LEDGER_LOCKED"
        _append(journal, 2)
    with open_journal(folder) as journal:
        assert journal.chain.size == 3


def test_a_lock_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LedgerError) as caught:
        open_journal(tmp_path / "file")
    assert caught.value.code == "LEDGER_UNREADABLE"
    with pytest.raises(LedgerError) as caught:
        open_journal(tmp_path / "none")
    assert caught.value.code == "LEDGER_MISSING"


def test_a_missing_ledger_leaves_the_folder_unlocked(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(LedgerError) as caught:
            open_journal(tmp_path)
        assert caught.value.code == "LEDGER_MISSING"


def test_a_damaged_ledger_does_not_open(folder: Path) -> None:
    path = folder / LEDGER_NAME
    path.write_bytes(path.read_bytes().replace(b"event 1", b"event 2"))
    for _ in range(2):
        with pytest.raises(VerificationError, match="line 2"):
            open_journal(folder)


@pytest.mark.parametrize("torn", [b"{", b'{"entry":', b"\x00\xff", b'{"whole":"json"}'])
def test_a_torn_tail_is_copied_aside_then_cut(folder: Path, torn: bytes) -> None:
    path = folder / LEDGER_NAME
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    with open_journal(folder) as journal:
        assert journal.torn_aside.startswith(f"{LEDGER_NAME}.torn-")
        assert path.read_bytes() == whole
        aside = folder / journal.torn_aside
        assert aside.read_bytes() == torn
        assert aside.stat().st_mode & 0o777 == 0o600
        _append(journal, 2)


def test_a_whole_last_line_gets_its_end_back(folder: Path) -> None:
    path = folder / LEDGER_NAME
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with open_journal(folder) as journal:
        assert journal.chain.size == whole.count(b"\n")
        assert journal.torn_aside == ""
    assert path.read_bytes() == whole


def test_when_the_copy_fails_nothing_is_cut(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / LEDGER_NAME
    path.write_bytes(path.read_bytes() + b"torn")

    def full(*_: object) -> None:
        raise FilesError("no room", code="PUBLISH_FAILED")

    monkeypatch.setattr(tail, "publish", full)
    with pytest.raises(LedgerError) as caught:
        open_journal(folder)
    assert caught.value.code == "TORN_COPY_FAILED"
    assert path.read_bytes().endswith(b"torn")


def test_more_than_a_line_of_debris_is_damage_not_a_torn_tail(tmp_path: Path) -> None:
    storage = MemoryStorage(b"x" * (LINE_BYTES + 1))
    assert mend_tail(storage, tmp_path).action == "none"
    assert storage.size() == LINE_BYTES + 1


def _genesis() -> Draft:
    from support.ledger.builder import BORN

    envelope, published = self_made_bundle(
        laws="x", purpose="y", platform=KEYS["platform"], at=BORN
    )
    return genesis_draft(
        domain="example.org",
        envelope=envelope,
        ring0_key=published,
        platform=KEYS["platform"].public,
        operator=KEYS["operator"],
        identity=KEYS["identity"],
    )


def test_a_ledger_begins_with_its_genesis(tmp_path: Path) -> None:
    with begin_journal(tmp_path, _genesis(), {"platform": KEYS["platform"]}) as journal:
        assert journal.chain.size == 1
    with pytest.raises(LedgerError) as caught:
        begin_journal(tmp_path, _genesis(), {"platform": KEYS["platform"]})
    assert caught.value.code == "LEDGER_EXISTS"
    with open_journal(tmp_path) as journal:
        assert journal.chain.size == 1


def test_a_genesis_that_a_reader_would_refuse_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(VerificationError):
        begin_journal(tmp_path, _genesis(), {"platform": key(9)})
    assert not (tmp_path / LEDGER_NAME).exists()
    with begin_journal(tmp_path, _genesis(), {"platform": KEYS["platform"]}):
        pass


def test_a_genesis_that_cannot_be_synced_leaves_no_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: FileStorage) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FileStorage, "sync", full)
    with pytest.raises(LedgerError) as caught:
        begin_journal(tmp_path, _genesis(), {"platform": KEYS["platform"]})
    assert caught.value.code == "APPEND_UNCERTAIN"
    assert not (tmp_path / LEDGER_NAME).exists()


def test_an_old_hash_comes_from_the_lines_that_were_verified(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentic_os.ledger.rule.receipts.RECEIPT_LAG_LINES", 3)
    with open_journal(folder) as journal:
        _append(journal, *range(100, 108))
        lines = (folder / LEDGER_NAME).read_bytes().split(b"\n")[:-1]
        for seq in range(1, len(lines) + 1):
            assert journal.hash_at(seq) == bare_hash(read_line(lines[seq - 1]).hash)
        for seq in (0, len(lines) + 1):
            with pytest.raises(LedgerError) as caught:
                journal.hash_at(seq)
            assert caught.value.code == "LEDGER_SEQ_UNKNOWN"
        lines[1] = lines[1].replace(b'"hash":"sha256:', b'"hash":"sha256:0', 1)[:-1]
        with (folder / LEDGER_NAME).open("r+b") as file:
            file.write(b"\n".join(lines))
        with pytest.raises(LedgerError) as caught:
            journal.hash_at(2)
        assert caught.value.code == "JOURNAL_TAIL_CHANGED"
        assert journal.frozen
