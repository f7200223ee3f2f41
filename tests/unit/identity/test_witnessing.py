"""Witnessing: when, what is kept, what a crash leaves, and what latches."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentic_os.crypto.envelope.public_keys import make_named_envelope
from agentic_os.crypto.keys.files import read_key, write_key
from agentic_os.crypto.keys.pairs import ML_DSA_87, generate_key
from agentic_os.errors import IdentityError, LedgerError
from agentic_os.identity import witnessing
from agentic_os.identity.boot import BootOptions
from agentic_os.identity.folder.keyring import KeyRing
from agentic_os.identity.folder.pinned_keys import PinnedKeys
from agentic_os.identity.folder.witness_tail import read_tail
from agentic_os.identity.services import change_policy, repair_conflict
from agentic_os.identity.witnessing import BOOKMARK_ENTRIES, bookmark_due, receipt_due
from agentic_os.ledger.file.show import LineFilter
from agentic_os.ledger.file.storage import LEDGER_NAME
from agentic_os.ledger.writing import request
from support.ledger.actors import MemoryWitness, MemoryWitnesses, abandon, booted, born, notes

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return born(tmp_path / "me")


@pytest.mark.parametrize(
    ("unanchored", "last", "due"),
    [
        (0, None, "not_due"),
        (0, NOW - timedelta(days=9), "not_due"),
        (1, None, "time"),
        (1, NOW - timedelta(hours=23, minutes=59), "not_due"),
        (1, NOW - timedelta(hours=24), "time"),
        (99, NOW, "not_due"),
        (100, NOW, "entries"),
        (100, None, "entries"),
    ],
)
def test_a_bookmark_is_due_after_entries_or_time(
    unanchored: int, last: datetime | None, due: str
) -> None:
    assert bookmark_due(unanchored=unanchored, last=last, now=NOW) == due
    assert BOOKMARK_ENTRIES == 100


def test_a_receipt_is_kept_in_the_ledger(folder: Path) -> None:
    witnesses = MemoryWitnesses(members=[MemoryWitness(), MemoryWitness(name="w2", seed=b"x")])
    with booted(folder, witnesses) as identity:
        identity.append("agent", notes(1, 2))
        data = identity.bookmark()
        assert (data.due, data.ordinal, data.quorum) == ("asked", 3, True)
        assert [(one.witness, one.code, one.receipt_seq) for one in data.witnesses] == [
            ("w1", "ACKNOWLEDGED", 5),
            ("w2", "ACKNOWLEDGED", 6),
        ]
        shown = identity.show(LineFilter(type="system.witnessed"))
        assert [view.seq for view in shown.entries] == [5, 6]
        assert "checkpoint" in shown.entries[0].payload
    with booted(folder, witnesses) as identity:
        assert identity.report.mode == "ready"
        assert [one.code for one in identity.report.witnesses] == ["BEHIND", "BEHIND"]
        assert len(list((folder / "witness-keys").iterdir())) == 2


def test_receipts_do_not_count_towards_the_next_bookmark(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(witnessing, "BOOKMARK_ENTRIES", 3)
    witnesses = MemoryWitnesses(
        members=[MemoryWitness(seed=bytes([n]), name=f"w{n}") for n in (1, 2, 3)]
    )
    with booted(folder, witnesses) as identity:
        db = identity.projection.db

        def is_due() -> bool:
            return receipt_due(db, NOW)

        assert is_due()  # never witnessed before
        identity.bookmark()
        assert not is_due()  # three receipts, and nothing else
        identity.append("agent", notes(1, 2))
        assert not is_due()
        identity.append("agent", notes(3))
        assert is_due()


def test_shutdown_bookmarks_what_is_unanchored(folder: Path) -> None:
    witnesses = MemoryWitnesses(members=[MemoryWitness()])
    with booted(folder, witnesses) as identity:
        identity.append("agent", notes(1))
    assert witnesses.asked == 1
    tail = read_tail(folder)
    assert tail is not None
    assert tail.ledger_ordinal == 2
    with booted(folder, witnesses) as identity:
        assert identity.show(LineFilter()).lines == 4


def test_an_unreachable_witness_is_reported_not_passed_over(folder: Path) -> None:
    witnesses = MemoryWitnesses(members=[MemoryWitness(is_reachable=False)])
    with booted(folder, witnesses) as identity:
        assert identity.report.mode == "ready"
        assert [one.code for one in identity.report.witnesses] == ["WITNESS_UNREACHABLE"]
        data = identity.bookmark()
        assert (data.quorum, data.witnesses[0].code) == (False, "WITNESS_UNREACHABLE")
        assert read_tail(folder) is None


def test_without_witnesses_a_bookmark_says_so(folder: Path) -> None:
    with booted(folder) as identity:
        with pytest.raises(IdentityError) as caught:
            identity.bookmark()
        assert caught.value.code == "NO_WITNESSES"


def test_a_receipt_that_a_crash_kept_out_is_settled_at_boot(folder: Path) -> None:
    witnesses = MemoryWitnesses(members=[MemoryWitness()])
    identity = booted(folder, witnesses)
    identity.append("agent", notes(1))
    ready = identity._require_ready()
    witnesses.witness(ready.seen_by_witnesses())  # answered and kept by the client
    abandon(identity)  # the process dies before it could write
    with booted(folder, witnesses) as again:
        assert again.report.receipts_settled == 1
        assert again.show(LineFilter(type="system.witnessed")).matched == 1
    with booted(folder, witnesses) as third:
        assert third.report.receipts_settled == 0


def test_after_a_lost_answer_the_next_receipt_fits(folder: Path) -> None:
    witness = MemoryWitness()
    witnesses = MemoryWitnesses(members=[witness])
    with booted(folder, witnesses) as identity:
        identity.append("agent", notes(1))
        identity.bookmark()
        identity.append("agent", notes(2))
        witness.loses_answers = True
        assert identity.bookmark().witnesses[0].code == "WITNESS_UNREACHABLE"
        witness.loses_answers = False
        identity.append("agent", notes(3))
        assert identity.bookmark().witnesses[0].receipt_seq is not None
    with booted(folder, witnesses) as identity:
        assert identity.report.mode == "ready"


def test_a_witness_that_only_cosigns_leaves_no_receipt(folder: Path) -> None:
    witnesses = MemoryWitnesses(members=[MemoryWitness(gives_receipts=False)])
    with booted(folder, witnesses) as identity:
        identity.append("agent", notes(1))
        answer = identity.bookmark().witnesses[0]
        assert (answer.code, answer.receipt_seq) == ("ACKNOWLEDGED", None)
        assert identity.show(LineFilter()).lines == 3
        tail = read_tail(folder)
        assert tail is not None
        assert tail.ledger_ordinal == 2


def test_a_rolled_back_ledger_is_noticed_by_the_witness_and_latched(folder: Path) -> None:
    witness = MemoryWitness()
    witnesses = MemoryWitnesses(members=[witness])
    early = (folder / LEDGER_NAME).read_bytes()
    with booted(folder, witnesses) as identity:
        identity.append("agent", notes(1, 2))
    newest = (folder / LEDGER_NAME).read_bytes()
    (folder / LEDGER_NAME).write_bytes(early)
    for path in [folder / "witness-tail.json", *folder.glob("projection.db*")]:
        path.unlink()
    for path in folder.glob("snapshot-*"):
        path.unlink()
    with booted(folder, witnesses) as identity:
        assert identity.report.reason is not None
        assert identity.report.reason.code == "WITNESS_AHEAD"
    witness.is_reachable = False
    with booted(folder, witnesses) as identity:
        assert identity.report.reason is not None
        assert identity.report.reason.code == "WITNESS_AHEAD"
        assert "latched at" in identity.report.reason.message
    options = BootOptions(witnesses=witnesses)
    with pytest.raises(IdentityError) as caught:
        repair_conflict(folder, options)
    assert caught.value.code == "CONFLICT_REMAINS"
    (folder / LEDGER_NAME).write_bytes(newest)
    with pytest.raises(IdentityError):
        repair_conflict(folder, options)  # the witness is still out of reach
    witness.is_reachable = True
    assert repair_conflict(folder, options).action == "latch_released"
    with booted(folder, witnesses) as identity:
        assert identity.report.mode == "ready"
    with pytest.raises(IdentityError) as caught:
        repair_conflict(folder, options)
    assert caught.value.code == "NOTHING_LATCHED"


def test_a_conflict_in_a_session_ends_writing_and_latches(folder: Path) -> None:
    witness = MemoryWitness()
    witnesses = MemoryWitnesses(members=[witness])
    with booted(folder, witnesses) as identity:
        identity.append("agent", notes(1))
        identity.bookmark()
        witness.root = b"\x00" * 32  # the witness holds another history
        identity.append("agent", notes(2))
        data = identity.bookmark()
        assert data.witnesses[0].code == "WITNESS_FORK"
        assert identity.refusal is not None
        with pytest.raises(IdentityError) as caught:
            identity.append("agent", notes(3))
        assert caught.value.code == "SAFE_MODE"
    with booted(folder, witnesses) as identity:
        assert identity.report.mode == "safe_mode"
    # The operator decides for another policy, without that witness, and the ledger says so.
    others = MemoryWitnesses(members=[MemoryWitness(name="w2", seed=b"2")])
    changed = change_policy(folder, BootOptions(witnesses=others), reason="w1 lost its disk")
    assert (changed.epoch, changed.witnesses) == (2, ("w2",))
    with booted(folder, others) as identity:
        assert identity.report.mode == "ready"


def test_a_damaged_ledger_keeps_its_latch(folder: Path) -> None:
    witness = MemoryWitness(size=9, root=b"\x00" * 32)
    witnesses = MemoryWitnesses(members=[witness])
    with booted(folder, witnesses) as identity:
        assert identity.report.mode == "safe_mode"
    path = folder / LEDGER_NAME
    path.write_bytes(path.read_bytes()[:-2] + b"\n")
    with pytest.raises(IdentityError) as caught:
        repair_conflict(folder, BootOptions(witnesses=MemoryWitnesses(members=[])))
    assert caught.value.code == "CONFLICT_REMAINS"
    assert (folder / "safe-mode.json").exists()


def test_the_identity_changes_its_key_and_is_witnessed_on(folder: Path) -> None:
    witnesses = MemoryWitnesses(members=[MemoryWitness()])
    with booted(folder, witnesses) as identity:
        identity.append("agent", notes(1))
        identity.bookmark()
        first = identity.report.identity_id
        data = identity.rotate("identity", reason="a new machine")
        assert data.old_key_id != data.new_key_id
        identity.append("agent", notes(2))
        assert identity.bookmark().witnesses[0].code == "ACKNOWLEDGED"
    with booted(folder, witnesses) as identity:
        assert identity.report.mode == "ready"
        assert identity.report.identity_id != first
        changes = identity._require_ready().seen_by_witnesses().key_changes
        assert [change.seq for change in changes] == [data.seq]
    names = sorted(path.name for path in (folder / "keys").iterdir())
    assert data.retired in names
    assert not any("next" in name for name in names)


@pytest.mark.parametrize("role", ["operator", "platform"])
def test_other_roles_change_their_keys_when_unlocked(folder: Path, role: str) -> None:
    with booted(folder) as identity:
        with pytest.raises(LedgerError) as caught:
            identity.rotate(role)  # type: ignore[arg-type]  # parametrised names
        assert caught.value.code == "SIGNER_MISSING"
        identity.unlock(role)  # type: ignore[arg-type]  # parametrised names
        identity.rotate(role)  # type: ignore[arg-type]  # parametrised names
        if role == "operator":
            identity.append("operator", [request("policy.set", {"key": "k", "value": 1})])
    with booted(folder) as identity:
        identity.unlock(role)  # type: ignore[arg-type]  # parametrised names
        assert identity.report.mode == "ready"


def test_a_crash_in_a_key_change_is_finished_at_boot(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = booted(folder)
    with monkeypatch.context() as patch:

        def die(*_: object) -> str:
            raise KeyboardInterrupt

        patch.setattr(KeyRing, "settle", die)
        with pytest.raises(KeyboardInterrupt):
            identity.rotate("identity")
    abandon(identity)
    assert (folder / "keys" / "identity-next.key").exists()
    with booted(folder) as again:
        assert again.report.mode == "ready"
        again.append("agent", notes(1))
    assert not (folder / "keys" / "identity-next.key").exists()


def test_a_waiting_key_that_no_line_names_is_set_aside(folder: Path) -> None:
    waiting = generate_key(ML_DSA_87)
    write_key(folder / "keys" / "identity-next.key", waiting)
    with booted(folder) as identity:
        assert identity.report.mode == "ready"
    assert not (folder / "keys" / "identity-next.key").exists()
    aside = next((folder / "keys").glob("identity-unused-*.key"))
    assert read_key(aside).seed == waiting.seed


def test_a_crash_in_the_operators_key_change_is_finished_at_unlock(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = booted(folder)
    identity.unlock("operator")
    with monkeypatch.context() as patch:

        def die(*_: object) -> str:
            raise KeyboardInterrupt

        patch.setattr(KeyRing, "settle", die)
        with pytest.raises(KeyboardInterrupt):
            identity.rotate("operator")
    abandon(identity)
    with booted(folder) as again:
        again.unlock("operator")
        policy = request("policy.set", {"key": "k", "value": 1})
        assert again.append("operator", [policy]).lines == 3


def test_a_key_change_that_is_refused_leaves_no_key_behind(folder: Path) -> None:
    with booted(folder) as identity:
        with pytest.raises(LedgerError):
            identity.rotate("identity", reason="x" * 2_000)
        assert not list((folder / "keys").glob("*next*"))
        identity.append("agent", notes(1))


def test_a_key_of_somebody_else_is_no_key_of_ours(folder: Path) -> None:
    path = folder / "keys" / "operator.key"
    path.unlink()
    write_key(path, generate_key(ML_DSA_87))
    with booted(folder) as identity:
        with pytest.raises(IdentityError) as caught:
            identity.unlock("operator")
        assert caught.value.code == "KEY_MISMATCH"


def test_a_receipt_that_cannot_be_kept_is_told(folder: Path) -> None:
    witness = MemoryWitness()
    with booted(folder, MemoryWitnesses(members=[witness])) as identity:
        identity.append("agent", notes(1))
        other = make_named_envelope(witness.receipt_key.public, key_type="witness", created_at=NOW)
        PinnedKeys(folder).pin(other)
        identity._require_ready().pinned[other.key_id] = other
        answer = identity.bookmark().witnesses[0]
        assert (answer.code, answer.receipt_seq) == ("ACKNOWLEDGED", None)
        assert "could not be kept" in answer.message


def test_a_damaged_latch_or_tail_is_never_nothing(folder: Path) -> None:
    (folder / "safe-mode.json").mkdir()
    with booted(folder) as identity:
        assert identity.report.reason is not None
        assert identity.report.reason.code == "SAFE_MODE_LATCHED"
    (folder / "safe-mode.json").rmdir()
    (folder / "witness-tail.json").mkdir()
    with booted(folder) as identity:
        assert identity.report.reason is not None
        assert identity.report.reason.code == "WITNESS_TAIL_INVALID"
    (folder / "witness-tail.json").rmdir()
    (folder / "witness-tail.json").write_bytes(b'{"ledger_ordinal": 1}')
    with booted(folder) as identity:
        assert identity.report.reason is not None
        assert identity.report.reason.code == "WITNESS_TAIL_INVALID"


def test_a_lost_envelope_is_made_again_and_a_link_is_refused(folder: Path) -> None:
    path = folder / "identity-envelope.json"
    path.unlink()
    with booted(folder) as identity:
        assert identity.report.mode == "ready"
    path.rename(folder / "elsewhere")
    path.symlink_to("elsewhere")
    with booted(folder) as identity:
        assert identity.report.reason is not None
        assert identity.report.reason.code == "ENVELOPE_INVALID"


def test_a_pinned_key_is_never_replaced(folder: Path) -> None:
    witness = MemoryWitness()
    pinned = PinnedKeys(folder)
    pinned.pin(witness.envelope)
    pinned.pin(witness.envelope)
    assert set(PinnedKeys(folder)) == {witness.envelope.key_id}
    other = make_named_envelope(witness.receipt_key.public, key_type="witness", created_at=NOW)
    with pytest.raises(IdentityError) as caught:
        pinned.pin(other)
    assert caught.value.code == "WITNESS_KEY_CHANGED"


def test_a_lost_witness_key_is_safe_mode(folder: Path) -> None:
    witnesses = MemoryWitnesses(members=[MemoryWitness()])
    with booted(folder, witnesses) as identity:
        identity.bookmark()
    for path in (folder / "witness-keys").iterdir():
        path.unlink()
    with booted(folder, witnesses) as identity:
        assert identity.report.reason is not None
        assert identity.report.reason.code == "LEDGER_WITNESS_KEY_UNKNOWN"
