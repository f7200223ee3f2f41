"""Repair: a torn tail, a cosigned prefix, and nothing that rewrites or shortens."""

from dataclasses import replace
from pathlib import Path

import pytest

from agentic_os.crypto.keys.pairs import ED25519, SigningKey
from agentic_os.crypto.tlog.checkpoint import Checkpoint, sign_checkpoint
from agentic_os.crypto.tlog.note import sign_text
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.errors import LedgerError, VerificationError
from agentic_os.ledger.file.opening import lock_folder, open_journal
from agentic_os.ledger.file.repair import repair_end, restore_prefix
from agentic_os.ledger.file.storage import LEDGER_NAME
from support.ledger.builder import Builder
from support.ledger.stories import story

LOG = SigningKey(ED25519, b"l" * 32)
WITNESS = NoteSigner(kind="cosignature", name="w.example", private=SigningKey(ED25519, b"w" * 32))
STRANGER = NoteSigner(kind="cosignature", name="x.example", private=SigningKey(ED25519, b"x" * 32))


def _note(builder: Builder, *, by: NoteSigner = WITNESS, origin: str = "") -> bytes:
    chain = builder.chain()
    name = origin or chain.origin
    head = sign_checkpoint(
        Checkpoint(origin=name, size=chain.size, root=chain.root),
        NoteSigner(kind="note", name=name, private=LOG),
    )
    note = head.note.signed_by(sign_text(head.note.text, by, time=1_800_000_000))
    return replace(head, note=note).note.data


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "me"
    made.mkdir()
    return made


def test_a_torn_tail_is_set_aside(folder: Path, build: Builder) -> None:
    (folder / LEDGER_NAME).write_bytes(build.data + b"torn")
    data = repair_end(folder)
    assert (data.action, data.lines) == ("tail_cut", 1)
    assert (folder / data.set_aside).read_bytes() == b"torn"
    again = repair_end(folder)
    assert (again.action, again.set_aside, again.lines) == ("none", "", 1)


def test_a_whole_last_line_gets_its_end_back(folder: Path, build: Builder) -> None:
    data = build.experience(1).data
    (folder / LEDGER_NAME).write_bytes(data[:-1])
    done = repair_end(folder)
    assert (done.action, done.set_aside, done.lines) == ("newline_restored", "", 2)
    assert (folder / LEDGER_NAME).read_bytes() == data


def test_a_line_that_was_set_aside_comes_back(folder: Path, build: Builder) -> None:
    data = build.experience(1).experience(2).data
    lines = data.splitlines(keepends=True)
    (folder / LEDGER_NAME).write_bytes(b"".join(lines[:-1]))
    for name, aside in (("1", b"debris"), ("2", lines[-1][:-1]), ("3", lines[0][:-1])):
        (folder / f"{LEDGER_NAME}.torn-{name}").write_bytes(aside)
    done = repair_end(folder)
    assert (done.action, done.set_aside) == ("tail_restored", f"{LEDGER_NAME}.torn-2")
    assert (folder / LEDGER_NAME).read_bytes() == data
    assert repair_end(folder).action == "none"


def test_a_last_line_that_is_forged_is_no_line(folder: Path, build: Builder) -> None:
    data = build.experience(1).data
    (folder / LEDGER_NAME).write_bytes(data[:-1].replace(b"event 1", b"event 2"))
    assert repair_end(folder).action == "tail_cut"


@pytest.mark.parametrize("present", [True, False])
def test_a_cosigned_prefix_is_restored(folder: Path, tmp_path: Path, present: bool) -> None:
    builder = story(12)
    note = _note(builder)
    kept = builder.data
    builder.experience(99)
    (tmp_path / "copy").write_bytes(builder.data)
    damaged = builder.data.replace(b"event 1", b"event X")
    if present:
        (folder / LEDGER_NAME).write_bytes(damaged)
    data = restore_prefix(
        folder, tmp_path / "copy", checkpoint=note, witnesses=[WITNESS.key, STRANGER.key]
    )
    assert (data.action, data.lines) == ("prefix_restored", builder.chain().size - 1)
    assert (folder / LEDGER_NAME).read_bytes() == kept
    if present:
        assert (folder / data.set_aside).read_bytes() == damaged
    else:
        assert data.set_aside == ""
    with open_journal(folder) as journal:
        assert journal.chain.size == data.lines
    assert not list(folder.glob("*.restoring"))


def test_a_ledger_that_verifies_is_not_shortened(folder: Path, tmp_path: Path) -> None:
    builder = story(12)
    note = _note(builder)
    (tmp_path / "copy").write_bytes(builder.data)
    builder.experience(99)
    (folder / LEDGER_NAME).write_bytes(builder.data)
    with pytest.raises(LedgerError) as caught:
        restore_prefix(folder, tmp_path / "copy", checkpoint=note, witnesses=[WITNESS.key])
    assert caught.value.code == "LEDGER_INTACT"
    assert (folder / LEDGER_NAME).read_bytes() == builder.data


@pytest.mark.parametrize("longer", [0, 9])
def test_a_ledger_that_verifies_without_what_was_cosigned_is_set_aside(
    folder: Path, tmp_path: Path, longer: int
) -> None:
    builder = Builder().genesis()
    present = Builder(lines=list(builder.lines), prev_hash=builder.prev_hash)
    for number in range(longer):
        present.experience(100 + number)  # a fork, longer than what was cosigned
    for number in range(4):
        builder.experience(number)
    (tmp_path / "copy").write_bytes(builder.data)
    (folder / LEDGER_NAME).write_bytes(present.data)
    data = restore_prefix(
        folder, tmp_path / "copy", checkpoint=_note(builder), witnesses=[WITNESS.key]
    )
    assert data.lines == 5
    assert (folder / LEDGER_NAME).read_bytes() == builder.data
    assert (folder / data.set_aside).read_bytes() == present.data


def test_only_a_pinned_witness_counts(folder: Path, tmp_path: Path, build: Builder) -> None:
    (tmp_path / "copy").write_bytes(build.data)
    for note, pinned in (
        (_note(build, by=STRANGER), [WITNESS.key]),
        (_note(build), []),
        (_note(build), [NoteSigner(kind="note", name="w.example", private=LOG).key]),
        (b"no note", [WITNESS.key]),
    ):
        with pytest.raises(VerificationError) as caught:
            restore_prefix(folder, tmp_path / "copy", checkpoint=note, witnesses=pinned)
        assert caught.value.code == "CHECKPOINT_NOT_COSIGNED"


def test_another_copy_is_not_restored(folder: Path, tmp_path: Path, build: Builder) -> None:
    note = _note(story(12))
    copy = tmp_path / "copy"
    for data, code in (
        (build.data, "LEDGER_HEAD_MISMATCH"),
        (story(12).data, "LEDGER_HEAD_MISMATCH"),  # other salts: the same story, another ledger
        (story(12).data.replace(b"event 1", b"event X"), "LEDGER_HASH_WRONG"),
    ):
        copy.write_bytes(data)
        with pytest.raises(VerificationError) as caught:
            restore_prefix(folder, copy, checkpoint=note, witnesses=[WITNESS.key])
        assert caught.value.code == code
        assert list(folder.iterdir()) == [folder / "ledger.lock"]


def test_another_origin_is_not_restored(folder: Path, tmp_path: Path, build: Builder) -> None:
    (tmp_path / "copy").write_bytes(build.data)
    note = _note(build, origin="other.example/ledger/0123456789abcdef")
    with pytest.raises(VerificationError) as caught:
        restore_prefix(folder, tmp_path / "copy", checkpoint=note, witnesses=[WITNESS.key])
    assert caught.value.code == "LEDGER_HEAD_MISMATCH"


def test_a_missing_copy_and_a_busy_ledger_are_said(
    folder: Path, tmp_path: Path, build: Builder
) -> None:
    note = _note(build)
    with pytest.raises(LedgerError) as caught:
        restore_prefix(folder, tmp_path / "none", checkpoint=note, witnesses=[WITNESS.key])
    assert caught.value.code == "LEDGER_MISSING"
    lock = lock_folder(folder)
    try:
        with pytest.raises(LedgerError) as caught:
            restore_prefix(folder, tmp_path / "none", checkpoint=note, witnesses=[WITNESS.key])
        assert caught.value.code == "LEDGER_LOCKED"
    finally:
        lock.release()


def test_a_full_disk_leaves_the_damaged_file(
    folder: Path, tmp_path: Path, build: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentic_os.ledger.file.storage import FileStorage

    (tmp_path / "copy").write_bytes(build.data)
    (folder / LEDGER_NAME).write_bytes(b"damaged\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FileStorage, "append", full)
    with pytest.raises(LedgerError, match="No space left"):
        restore_prefix(folder, tmp_path / "copy", checkpoint=_note(build), witnesses=[WITNESS.key])
    assert (folder / LEDGER_NAME).read_bytes() == b"damaged\n"
