"""One function a question: verify, show, repair, back up, restore, health."""

import json
from pathlib import Path

import pytest

from agentic_os.errors import LedgerError, VerificationError
from agentic_os.identity.boot import BootOptions, boot
from agentic_os.identity.health import identity_health
from agentic_os.identity.services import (
    backup_identity,
    repair_from_copy,
    repair_tail,
    restore_identity,
    show_ledger,
    verify_ledger,
)
from agentic_os.ledger.file.show import LineFilter
from agentic_os.ledger.file.storage import LEDGER_NAME
from support.ledger.actors import LAWS, MemoryWitness, MemoryWitnesses, booted, born, notes

PASSWORD = "correct horse"


@pytest.fixture
def witnesses() -> MemoryWitnesses:
    return MemoryWitnesses(members=[MemoryWitness()])


@pytest.fixture
def folder(tmp_path: Path, witnesses: MemoryWitnesses) -> Path:
    made = born(tmp_path / "me")
    with booted(made, witnesses) as identity:
        identity.append("agent", notes(1, 2))
    return made


def test_a_folder_or_a_file_is_verified(folder: Path) -> None:
    for place in (folder, folder / LEDGER_NAME):
        data = verify_ledger(place)
        assert data.verified
        assert data.lines == 5
    gold = verify_ledger(folder, ledger_format="aii-gold")
    assert [one.code for one in gold.findings] == ["GOLD_LINE_INVALID"]
    with pytest.raises(LedgerError) as caught:
        verify_ledger(folder / "none")
    assert caught.value.code == "LEDGER_MISSING"


def test_lines_are_shown_without_booting(folder: Path) -> None:
    assert show_ledger(folder, LineFilter(type="experience.create")).matched == 2
    assert show_ledger(folder / LEDGER_NAME, LineFilter()).lines == 5


def test_a_backup_boots_on_another_machine(
    folder: Path, tmp_path: Path, witnesses: MemoryWitnesses
) -> None:
    data = backup_identity(folder, tmp_path / "b.tar.gz", password=PASSWORD)
    restored = restore_identity(tmp_path / "b.tar.gz", tmp_path / "there")
    assert restored.head_hash == data.head_hash
    options = BootOptions(
        passwords={"identity": PASSWORD, "operator": PASSWORD}, witnesses=witnesses
    )
    with boot(tmp_path / "there", options) as identity:
        assert identity.report.mode == "ready"
        assert identity.report.restored_from == "ledger"
        identity.unlock("operator")
        identity.append("agent", notes(3))


def test_an_old_backup_is_noticed_by_the_witness(
    folder: Path, tmp_path: Path, witnesses: MemoryWitnesses
) -> None:
    backup_identity(folder, tmp_path / "b.tar.gz", password=PASSWORD)
    with booted(folder, witnesses) as identity:
        identity.append("agent", notes(3))
    restore_identity(tmp_path / "b.tar.gz", tmp_path / "there")
    options = BootOptions(passwords={"identity": PASSWORD}, witnesses=witnesses)
    with boot(tmp_path / "there", options) as identity:
        assert identity.report.reason is not None
        assert identity.report.reason.code == "WITNESS_AHEAD"


def test_a_cosigned_copy_repairs(folder: Path, tmp_path: Path, witnesses: MemoryWitnesses) -> None:
    import msgspec

    copy = tmp_path / "copy.jsonl"
    copy.write_bytes((folder / LEDGER_NAME).read_bytes())
    note = msgspec.json.decode((folder / "verified-head.json").read_bytes())["checkpoint"]
    path = folder / LEDGER_NAME
    path.write_bytes(path.read_bytes().replace(b"event 1", b"event X"))
    assert identity_health(folder).state == "damaged"
    data = repair_from_copy(folder, copy, checkpoint=note.encode(), policy=witnesses.policy)
    assert (data.action, data.lines) == ("prefix_restored", 3)
    with booted(folder, witnesses) as identity:
        assert identity.report.mode == "ready"
        assert identity.report.receipts_settled == 1  # the receipt line lay beyond the head
        assert identity.report.restored_from == "ledger"  # nothing derived from lost lines is left


def test_a_note_that_a_quorum_did_not_cosign_repairs_nothing(tmp_path: Path) -> None:
    """Of two witnesses who must both agree, either alone is not enough."""
    witnesses = MemoryWitnesses(members=[MemoryWitness(), MemoryWitness(name="w2", seed=b"v")])
    folder = born(tmp_path / "me")
    with booted(folder, witnesses) as identity:
        identity.append("agent", notes(1, 2))
        identity.bookmark()
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes((folder / LEDGER_NAME).read_bytes())
    note = json.loads((folder / "verified-head.json").read_bytes())["checkpoint"]
    signed = note.splitlines(keepends=True)
    path = folder / LEDGER_NAME
    path.write_bytes(path.read_bytes().replace(b"event 1", b"event X"))
    damaged = path.read_bytes()
    for one in (signed[:-1], [*signed[:-2], signed[-1]]):
        with pytest.raises(VerificationError) as caught:
            repair_from_copy(
                folder, copy, checkpoint="".join(one).encode(), policy=witnesses.policy
            )
        assert caught.value.code == "QUORUM_MISSING"
        assert path.read_bytes() == damaged
    done = repair_from_copy(folder, copy, checkpoint=note.encode(), policy=witnesses.policy)
    assert done.action == "prefix_restored"


def test_a_torn_tail_repairs(folder: Path) -> None:
    with (folder / LEDGER_NAME).open("ab") as file:
        file.write(b"torn")
    health = identity_health(folder)
    assert (health.state, health.findings[0].code) == ("damaged", "LEDGER_TAIL_TORN")
    assert repair_tail(folder).action == "tail_cut"
    assert identity_health(folder).state == "sound"


def test_a_repair_that_mends_nothing_says_what_is_wrong(folder: Path) -> None:
    assert repair_tail(folder).findings == ()
    path = folder / LEDGER_NAME
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    done = repair_tail(folder)
    assert (done.action, [one.code for one in done.findings]) == ("none", ["LEDGER_TRUNCATED"])


def test_health_says_what_to_do(folder: Path, tmp_path: Path) -> None:
    assert identity_health(tmp_path / "none").state == "absent"
    sound = identity_health(folder)
    assert (sound.state, sound.lines) == ("sound", 5)
    (folder / "safe-mode.json").write_bytes(b"x")
    assert identity_health(folder).state == "latched"
    (folder / "witness-keys" / "x.json").write_bytes(b"x")
    assert identity_health(folder).findings[0].code == "WITNESS_KEY_INVALID"
    (folder / LEDGER_NAME).unlink()
    missing = identity_health(folder)
    assert (missing.state, missing.findings[0].code) == ("damaged", "LEDGER_MISSING")
    for health in (identity_health(folder), missing):
        assert all(one.hint for one in health.findings)


def test_the_constitution_is_in_the_ledger(folder: Path) -> None:
    first = show_ledger(folder, LineFilter(last_seq=1)).entries[0]
    assert LAWS.splitlines()[0] in first.payload
