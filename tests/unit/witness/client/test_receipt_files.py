import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import pytest

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.crypto.tlog.checkpoint_proof import parse_tlog_proof
from agentic_os.crypto.tlog.merkle import leaf_hash
from agentic_os.errors import AgenticOSError, CryptoError, VerificationError
from agentic_os.witness.client.http import WitnessClient
from agentic_os.witness.client.memory import WitnessMemory
from agentic_os.witness.client.outcomes import RoundResult
from agentic_os.witness.client.policy import QuorumPolicy, parse_policy
from agentic_os.witness.client.receipt_files import (
    RECEIPT_SCHEMA,
    export_proof,
    export_receipt,
    verify_receipt,
)
from agentic_os.witness.client.rounds import WitnessRounds
from agentic_os.witness.protocol.operator_root import OperatorRoot
from agentic_os.witness.protocol.served_key import ServedKey
from agentic_os.witness.service.config import WitnessConfig
from support.witness.actors import Owner, Serving, new_witness, policy_of, serving


@dataclass(frozen=True, kw_only=True)
class World:
    folder: Path
    owner: Owner
    result: RoundResult
    policy: QuorumPolicy
    answer: bytes
    served: ServedKey
    root: PublicKeyEnvelope


class Vouched(Protocol):
    folder: Path
    root: OperatorRoot


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, vouched: Vouched) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("receipts")
    new_witness(folder / "w2", name="witness.example/w2")
    owner = Owner(seed=1).add(7)

    def config(place: Path) -> WitnessConfig:
        return WitnessConfig(folder=place, port=0)

    with serving(config(vouched.folder)) as one, serving(config(folder / "w2")) as two:
        policy = _with_log(policy_of(one, two), owner, one, two)
        rounds = WitnessRounds(policy=policy, folder=folder / "c", clock=time.time)
        result = rounds.witness(owner.ledger())
        assert result.is_quorum
        with WitnessClient(one.url) as client:
            served = client.receipt_key()
        assert served
        memory = WitnessMemory(folder / "c", one.desk.keys.cosigner.key)
        (answer,) = memory.receipts()
        yield World(
            folder=folder,
            owner=owner,
            result=result,
            policy=policy,
            answer=answer,
            served=served,
            root=vouched.root.public,
        )


def _with_log(policy: QuorumPolicy, owner: Owner, *running: Serving) -> QuorumPolicy:
    log = f"log {owner.checkpoint_signer.key.vkey}\n"
    lines = "".join(item.policy_line for item in running)
    names = " ".join(item.name for item in policy.witnesses)
    return parse_policy(f"{log}{lines}group g all {names}\nquorum g\n".encode())


@pytest.fixture
def proof(world: World, tmp_path: Path) -> Path:
    path = tmp_path / "line-7.tlog-proof"
    export_proof(
        path,
        tree=world.owner.tree(),
        seq=7,
        leaf=leaf_hash(world.owner.lines[6]),
        head=world.result.head,
    )
    return path


def code(path: Path, **trust: object) -> str:
    with pytest.raises(AgenticOSError) as caught:
        verify_receipt(path, **trust)  # type: ignore[arg-type]
    return caught.value.code


def test_a_proof_verifies_offline_by_the_policy(world: World, proof: Path) -> None:
    report = verify_receipt(proof, policy=world.policy)
    with_line = verify_receipt(proof, policy=world.policy, line=world.owner.lines[6])

    assert report == with_line
    assert (report.kind, report.subject, report.ordinal, report.size) == (
        "tlog-proof",
        world.owner.origin,
        7,
        7,
    )
    assert [item.name for item in report.cosigners] == ["witness.example/w1", "witness.example/w2"]
    assert all(abs(item.time - time.time()) < 600 for item in report.cosigners)


def test_a_proof_is_about_one_line_alone(world: World, proof: Path) -> None:
    assert code(proof, policy=world.policy, line=world.owner.lines[5]) == "RECEIPT_INVALID"
    parsed = parse_tlog_proof(proof.read_bytes())
    proof.write_bytes(replace(parsed, index=5).data)
    assert code(proof, policy=world.policy) == "RECEIPT_INVALID"


def test_a_proof_needs_something_to_be_checked_against(world: World, proof: Path) -> None:
    assert code(proof) == "TRUST_MISSING"
    other_logs = replace(world.policy, logs=())
    assert code(proof, policy=other_logs) == "TRUST_MISSING"
    key = world.owner.checkpoint_signer.key
    assert verify_receipt(proof, policy=other_logs, log_key=key).ordinal == 7
    other = Owner(seed=2).checkpoint_signer.key
    assert code(proof, policy=other_logs, log_key=other) == "TRUST_MISSING"
    parsed = parse_tlog_proof(proof.read_bytes())
    proof.write_bytes(replace(parsed, extra=b"").data)
    assert code(proof, policy=world.policy) == "TRUST_MISSING"
    assert verify_receipt(proof, policy=world.policy, line=world.owner.lines[6]).ordinal == 7


def test_a_missing_cosignature_or_log_signature_is_missed(world: World, proof: Path) -> None:
    parsed = parse_tlog_proof(proof.read_bytes())
    lines = parsed.head.note.signatures

    def written(*kept: int) -> Path:
        note = replace(parsed.head.note, signatures=tuple(lines[n] for n in kept))
        proof.write_bytes(replace(parsed, head=replace(parsed.head, note=note)).data)
        return proof

    assert code(written(0, 1), policy=world.policy) == "QUORUM_MISSING"
    assert code(written(0), policy=world.policy) == "QUORUM_MISSING"
    assert code(written(1, 2), policy=world.policy) == "RECEIPT_INVALID"
    no_witness = replace(world.policy, witnesses=(), groups=(), quorum="none")
    assert verify_receipt(written(0), policy=no_witness).cosigners == ()
    strangers = replace(world.policy, logs=(), witnesses=())
    assert (
        code(written(1), policy=strangers, log_key=world.owner.checkpoint_signer.key)
        == "RECEIPT_INVALID"
    )


def test_an_edited_head_does_not_verify(world: World, proof: Path) -> None:
    data = proof.read_bytes()
    proof.write_bytes(data.replace(b"\n7\n", b"\n8\n", 1))

    assert code(proof, policy=world.policy) == "RECEIPT_INVALID"


def test_a_line_above_the_head_cannot_be_exported(world: World, tmp_path: Path) -> None:
    with pytest.raises(CryptoError):
        export_proof(
            tmp_path / "x",
            tree=world.owner.tree(),
            seq=8,
            leaf=bytes(32),
            head=world.result.head,
        )


def test_a_receipt_file_verifies_by_the_root(world: World, tmp_path: Path) -> None:
    path = tmp_path / "receipt.json"
    export_receipt(path, answer=world.answer, key=world.served)
    report = verify_receipt(path, root=world.root)

    assert (report.kind, report.subject, report.ordinal) == (
        "receipt",
        world.owner.ledger().identity_id,
        7,
    )
    assert report.witnessed_at
    assert code(path) == "TRUST_MISSING"
    assert code(path, root=world.served.public) == "MANIFEST_INVALID"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b'"ledger_ordinal":7', b'"ledger_ordinal":8', "RECEIPT_INVALID"),
        (RECEIPT_SCHEMA.encode(), b"agentic-os-witness-receipt/2", "RECEIPT_INVALID"),
        (b'"receipt":{', b'"receipt":[', "RECEIPT_INVALID"),
        (b'"critical":true', b'"critical":false', "MANIFEST_INVALID"),
    ],
)
def test_an_edited_receipt_file_does_not_verify(
    world: World, tmp_path: Path, old: bytes, new: bytes, expected: str
) -> None:
    path = tmp_path / "receipt.json"
    export_receipt(path, answer=world.answer, key=world.served)
    data = path.read_bytes()
    assert data.count(old) == 1
    path.write_bytes(data.replace(old, new))

    assert code(path, root=world.root) == expected


def test_a_receipt_from_outside_the_keys_window_is_refused(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "receipt.json"
    export_receipt(path, answer=world.answer, key=world.served)
    data = path.read_bytes()
    year = b'"witnessed_at":"20'
    path.write_bytes(data.replace(year, b'"witnessed_at":"19'))
    monkeypatch.setattr("agentic_os.witness.client.receipt_files.check_receipt", lambda *_: None)

    assert code(path, root=world.root) == "RECEIPT_INVALID"


def test_a_receipt_without_manifest_is_not_exported(world: World, tmp_path: Path) -> None:
    with pytest.raises(VerificationError):
        export_receipt(
            tmp_path / "x", answer=world.answer, key=replace(world.served, manifest=None)
        )


@pytest.mark.parametrize("content", [b"", b"junk", b"\xff\xfe", b"[]"])
def test_other_files_are_no_receipts(world: World, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)

    assert code(path, root=world.root, policy=world.policy) == "RECEIPT_INVALID"
