"""An identity remembers by whom it is witnessed, and does not go on without them."""

from pathlib import Path

import pytest

from agentic_os.errors import IdentityError, LedgerError
from agentic_os.identity.boot import BootOptions, boot_to_replace_policy
from agentic_os.identity.services import backup_identity, change_policy, restore_identity
from agentic_os.identity.witness_policy import AcceptedPolicy, kept_policy
from agentic_os.ledger.file.show import LineFilter
from agentic_os.ledger.file.storage import LEDGER_NAME
from agentic_os.ledger.writing import request
from agentic_os.witness.client.policy import QuorumPolicy, parse_policy
from support.ledger.actors import MemoryWitness, MemoryWitnesses, booted, born, notes

NONE = parse_policy(b"quorum none\n")


@pytest.fixture
def witnesses() -> MemoryWitnesses:
    return MemoryWitnesses(members=[MemoryWitness(), MemoryWitness(name="w2", seed=b"2")])


@pytest.fixture
def folder(tmp_path: Path, witnesses: MemoryWitnesses) -> Path:
    made = born(tmp_path / "me")
    with booted(made, witnesses) as identity:
        identity.append("agent", notes(1))
        assert identity.bookmark().quorum
    return made


def reason_of(folder: Path, witnesses: MemoryWitnesses | None) -> str:
    with booted(folder, witnesses) as identity:
        found = identity.report.reason
        assert (identity.report.mode == "ready") == (found is None)
        if found is not None:
            assert found.hint
            with pytest.raises(IdentityError, match="safe mode"):
                identity.append("agent", notes(99))
        return "" if found is None else found.code


class WithoutQuorum(MemoryWitnesses):
    """The same witnesses, and a policy that asks for none of them."""

    @property
    def policy(self) -> QuorumPolicy:
        lines = [line for line in super().policy.document.split(b"\n") if b"witness" in line]
        return parse_policy(b"\n".join([*lines, b"quorum none", b""]))


def test_the_first_acknowledgement_writes_the_policy_down(
    folder: Path, witnesses: MemoryWitnesses
) -> None:
    assert kept_policy(folder) == witnesses.policy
    with booted(folder, witnesses) as identity:
        accepted = identity.show(LineFilter(type="trust.epoch_accepted")).entries
        assert len(accepted) == 1
        assert witnesses.policy.digest in accepted[0].payload
        identity.append("agent", notes(2))
        identity.bookmark()
        assert identity.show(LineFilter(type="trust.epoch_accepted")).matched == 1


def test_nothing_is_remembered_before_a_witness_acknowledged(tmp_path: Path) -> None:
    made = born(tmp_path / "me")
    silent = MemoryWitnesses(members=[MemoryWitness(is_reachable=False)])
    with booted(made, silent) as identity:
        identity.append("agent", notes(1))
        identity.bookmark()
    assert reason_of(made, None) == ""


def test_without_its_policy_it_is_not_ready(folder: Path, witnesses: MemoryWitnesses) -> None:
    others = MemoryWitnesses(members=[MemoryWitness(name="w1", seed=b"o")])
    fewer = MemoryWitnesses(members=witnesses.members[:1])

    assert reason_of(folder, None) == "WITNESS_POLICY_MISSING"
    assert reason_of(folder, others) == "WITNESS_POLICY_CHANGED"
    assert reason_of(folder, fewer) == "WITNESS_POLICY_CHANGED"
    assert reason_of(folder, WithoutQuorum(members=witnesses.members)) == "WITNESS_POLICY_CHANGED"
    assert reason_of(folder, witnesses) == ""


def test_a_backup_carries_the_policy(
    folder: Path, witnesses: MemoryWitnesses, tmp_path: Path
) -> None:
    backup_identity(folder, tmp_path / "b.backup", password="correct horse")
    restored = tmp_path / "there"
    restore_identity(tmp_path / "b.backup", restored)

    assert kept_policy(restored) == witnesses.policy


def test_the_operator_decides_for_another_policy(folder: Path, witnesses: MemoryWitnesses) -> None:
    others = MemoryWitnesses(members=[MemoryWitness(name="w3", seed=b"3")])
    before = witnesses.policy.digest

    data = change_policy(folder, BootOptions(witnesses=others), reason="w1 and w2 closed")

    assert (data.epoch, data.digest, data.replaced) == (2, others.policy.digest, before)
    assert reason_of(folder, others) == ""
    assert reason_of(folder, witnesses) == "WITNESS_POLICY_CHANGED"
    with booted(folder, others) as identity:
        decisions = identity.show(LineFilter(type="policy.set")).entries
        assert [(one.role, "w1 and w2 closed" in one.payload) for one in decisions] == [
            ("operator", True)
        ]


def test_before_the_decision_is_written_nothing_else_is(
    folder: Path, witnesses: MemoryWitnesses
) -> None:
    others = MemoryWitnesses(members=[MemoryWitness(name="w3", seed=b"3")])
    before = (folder / LEDGER_NAME).read_bytes()
    with boot_to_replace_policy(folder, BootOptions(witnesses=others)) as identity:
        with pytest.raises(IdentityError) as caught:
            identity.append("agent", notes(2))
        assert caught.value.code == "WITNESS_POLICY_CHANGED"
        with pytest.raises(LedgerError) as locked:
            identity.accept_policy(reason="the operator's key is not open")
        assert locked.value.code == "SIGNER_MISSING"
        with pytest.raises(IdentityError):
            identity.bookmark()
    assert (folder / LEDGER_NAME).read_bytes() == before
    assert reason_of(folder, witnesses) == ""


def test_an_agent_cannot_accept_a_policy(folder: Path, witnesses: MemoryWitnesses) -> None:
    entry = request(
        "trust.epoch_accepted",
        {"root": "witness-policy", "trust_epoch": 2, "payload_sha256": NONE.digest},
    )
    with booted(folder, witnesses) as identity:
        with pytest.raises(LedgerError) as caught:
            identity.append("agent", [entry])
        assert caught.value.code == "RING_DENIED"
        # Not even with the identity's own key, past this program's verbs.
        identity._require_ready().writer.submit("agent", [entry])
    assert reason_of(folder, witnesses) == ""


def test_a_ledger_of_before_needs_those_who_cosigned_its_newest_receipt(
    tmp_path: Path, witnesses: MemoryWitnesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AcceptedPolicy, "first_epoch", lambda *_: [])
    made = born(tmp_path / "old")
    with booted(made, witnesses) as identity:
        identity.append("agent", notes(1))
        identity.bookmark()
    others = MemoryWitnesses(members=[MemoryWitness(name="w1", seed=b"o")])

    assert reason_of(made, None) == "WITNESS_POLICY_MISSING"
    assert reason_of(made, others) == "WITNESS_POLICY_CHANGED"
    assert reason_of(made, WithoutQuorum(members=witnesses.members)) == "WITNESS_POLICY_CHANGED"
    assert reason_of(made, witnesses) == ""


def test_an_address_is_no_part_of_what_is_trusted(witnesses: MemoryWitnesses) -> None:
    policy = witnesses.policy
    lines = policy.document.decode().split("\n")
    moved = parse_policy(
        "\n".join(f"{x} https://new.example" if x.startswith("witness") else x for x in lines)
        .replace("all-of-them 2", "all-of-them all")
        .encode()
    )
    assert moved.digest == policy.digest
    assert moved.document != policy.document
    assert parse_policy(moved.document) == moved
