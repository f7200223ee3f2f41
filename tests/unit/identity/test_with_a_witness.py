"""An identity and the real witness service, by this program's own client."""

import json
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from agentic_os.crypto.canonical.json import encode
from agentic_os.errors import IdentityError
from agentic_os.identity.boot import BootOptions, boot
from agentic_os.identity.folder.witness_tail import newest_note
from agentic_os.identity.services import repair_conflict
from agentic_os.identity.session import Identity
from agentic_os.ledger.file.head import read_cosigned_note
from agentic_os.ledger.file.show import LineFilter
from agentic_os.witness.client.policy import parse_policy
from agentic_os.witness.client.rounds import WitnessRounds
from agentic_os.witness.protocol.add_checkpoint import AddCheckpoint, write_add_checkpoint
from agentic_os.witness.service.config import WitnessConfig
from support.ledger.actors import abandon, born, notes
from support.witness.actors import HTTP, Serving, new_witness, policy_of, serving

APPENDS = 104


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = new_witness(tmp_path_factory.mktemp("witness") / "w")
    with serving(WitnessConfig(folder=folder)) as running:
        yield running


def _options(folder: Path, service: Serving) -> BootOptions:
    rounds = WitnessRounds(policy=policy_of(service), folder=folder / "witness", clock=time.time)
    return BootOptions(witnesses=rounds)


def _boot(folder: Path, service: Serving) -> Identity:
    return boot(folder, _options(folder, service))


def test_a_life_with_a_witness(tmp_path: Path, service: Serving) -> None:
    folder = born(tmp_path / "me")
    with _boot(folder, service) as identity:
        assert [one.code for one in identity.report.witnesses] == ["UNKNOWN"]
        identity.append("agent", notes(1, 2))
        answer = identity.bookmark()
        assert answer.quorum
        assert [(one.code, one.receipt_seq) for one in answer.witnesses] == [("ACKNOWLEDGED", 5)]
        identity.rotate("identity")
        identity.append("agent", notes(3))
        assert identity.bookmark().witnesses[0].code == "ACKNOWLEDGED"
    with _boot(folder, service) as identity:
        assert identity.report.mode == "ready"
        assert [one.code for one in identity.report.witnesses] == ["BEHIND"]
        assert identity.show(LineFilter(type="system.witnessed")).matched == 2


def test_two_witnesses_at_most_double_what_an_append_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every byte but those of the tables, which are a cache; each append is a life of its own."""
    written = 0

    def count(fd: int, data: bytes | memoryview) -> int:
        nonlocal written
        done = write(fd, data)
        written += done if stat.S_ISREG(os.fstat(fd).st_mode) else 0
        return done

    write = os.write
    monkeypatch.setattr(os, "write", count)

    def taken(folder: Path, options: BootOptions) -> int:
        """What the second to the last append take, receipts of a hundred entries among them."""
        before = 0
        for number in range(APPENDS):
            with boot(folder, options) as identity:
                identity.append("agent", notes(number))
            if number == 0:
                before = written
        return written - before

    alone = taken(born(tmp_path / "alone"), BootOptions())
    with ExitStack() as services:
        lines = []
        for name in ("w1", "w2"):
            home = new_witness(tmp_path / name, name=f"witness.example/{name}")
            config = WitnessConfig(folder=home, requests_per_minute=0, client_requests_per_minute=0)
            lines.append(services.enter_context(serving(config)).policy_line)
        names = " ".join(line.split()[1] for line in lines)
        policy = parse_policy("".join([*lines, f"group two all {names}\nquorum two\n"]).encode())
        folder = born(tmp_path / "me")
        rounds = WitnessRounds(policy=policy, folder=folder / "witness", clock=time.time)
        witnessed = taken(folder, BootOptions(witnesses=rounds))
        with boot(folder, BootOptions(witnesses=rounds)) as identity:
            assert [one.code for one in identity.report.witnesses] == ["LEVEL", "LEVEL"]
            assert identity.show(LineFilter(type="system.witnessed")).matched == 4
    assert witnessed < 2 * alone


def test_the_head_is_stated_now_and_then_and_the_note_is_kept_each_time(
    tmp_path: Path, service: Serving
) -> None:
    folder = born(tmp_path / "me")
    sizes = []
    for count in (1, 10, 20, 30):
        with _boot(folder, service) as identity:
            identity.append("agent", notes(*range(count * 100, count * 100 + count)))
        head, note = read_cosigned_note(folder), newest_note(folder)
        assert head is not None
        assert note is not None
        sizes.append((head.checkpoint.size, note.checkpoint.size))
    assert sizes == [(2, 2), (2, 14), (34, 34), (34, 64)]
    with _boot(folder, service) as identity:
        identity.export_proof(64, tmp_path / "line.tlog-proof")
    tail = folder / "witness-tail.json"
    kept = json.loads(tail.read_bytes())
    tail.write_bytes(encode({**kept, "checkpoint": "none"}))
    with pytest.raises(IdentityError) as caught:
        newest_note(folder)
    assert caught.value.code == "WITNESS_TAIL_INVALID"
    del kept["checkpoint"]
    tail.write_bytes(encode(kept))
    assert newest_note(folder) == read_cosigned_note(folder)


def test_a_receipt_of_the_clients_memory_is_settled(tmp_path: Path, service: Serving) -> None:
    folder = born(tmp_path / "me")
    identity = _boot(folder, service)
    identity.append("agent", notes(1))
    ready = identity._require_ready()
    assert ready.witnesses is not None
    ready.witnesses.witness(ready.seen_by_witnesses())
    abandon(identity)  # the process dies before it could write the receipt
    with _boot(folder, service) as again:
        assert again.report.receipts_settled == 1
    kept = next((folder / "witness").glob("*/receipts.jsonl"))
    kept.write_bytes(b"damaged\n")
    with _boot(folder, service) as third:
        assert (third.report.mode, third.report.receipts_settled) == ("ready", 0)


def test_a_rollback_latches_and_a_newer_copy_releases(tmp_path: Path, service: Serving) -> None:
    folder = born(tmp_path / "me")
    with _boot(folder, service) as identity:
        identity.append("agent", notes(1))
        identity.bookmark()
    shutil.copytree(folder, tmp_path / "old")
    with _boot(folder, service) as identity:
        identity.append("agent", notes(2))
    newest = (folder / "ledger.jsonl").read_bytes()
    for name in ("ledger.jsonl", "witness-tail.json", "verified-head.json"):
        shutil.copy(tmp_path / "old" / name, folder / name)
    (folder / "projection.db").unlink()  # or these would know that there was more
    for path in folder.glob("snapshot-*"):
        path.unlink()
    with _boot(folder, service) as identity:
        assert identity.report.reason is not None
        assert identity.report.reason.code == "WITNESS_AHEAD"
    (folder / "ledger.jsonl").write_bytes(newest)
    assert repair_conflict(folder, _options(folder, service)).action == "latch_released"
    with _boot(folder, service) as identity:
        assert identity.report.mode == "ready"


def test_a_stolen_checkpoint_key_is_replaced_and_retired(tmp_path: Path, service: Serving) -> None:
    folder = born(tmp_path / "me")
    with _boot(folder, service) as identity:
        identity.append("agent", notes(1))
        assert identity.bookmark().quorum
        stolen = identity._require_ready().keys.note_signer(
            identity._require_ready().journal.chain.origin
        )
        data = identity.rotate_checkpoint()
        assert data.old_key_id == stolen.key.vkey != data.new_key_id
        identity.append("agent", notes(2))
        assert identity.bookmark().witnesses[0].code == "ACKNOWLEDGED"
        ready = identity._require_ready()
        thief = replace(ready.seen_by_witnesses(), checkpoint_signer=stolen)
        size = thief.tree.size
        proof = thief.tree.consistency_proof(size, size)
        body = write_add_checkpoint(
            AddCheckpoint(old_size=size, consistency=proof, head=thief.head(size))
        )
        assert HTTP.post(f"{service.url}/add-checkpoint", content=body).status_code == 403
    assert (folder / "keys" / data.retired).is_file()
    with _boot(folder, service) as identity:
        assert identity.report.mode == "ready"


def test_appends_with_a_witness_hardly_lengthen_the_ledger(
    tmp_path: Path, service: Serving
) -> None:
    """Each command bookmarks at its end; only a due one leaves a receipt in the ledger."""
    alone, seen = born(tmp_path / "alone"), born(tmp_path / "seen")
    for number in range(12):
        with boot(alone) as identity:
            identity.append("agent", notes(number))
        with _boot(seen, service) as identity:
            identity.append("agent", notes(number))
        assert identity.farewell is not None
        assert identity.farewell.witnesses[0].code == "ACKNOWLEDGED"

    def written(folder: Path) -> int:
        files = [folder / "ledger.jsonl", *folder.glob("witness/*/receipts.jsonl")]
        return sum(path.stat().st_size for path in files)

    assert written(seen) <= 2 * written(alone)
    with _boot(seen, service) as identity:
        assert identity.report.mode == "ready"
        assert identity.show(LineFilter(type="system.witnessed")).matched == 1
        # A receipt follows cosignatures, and is judged by the last receipt, not by them.
        identity.append("agent", notes(50))
        answer = identity.bookmark()
        assert (answer.quorum, answer.witnesses[0].code) == (True, "ACKNOWLEDGED")
        assert identity.show(LineFilter(type="system.witnessed")).matched == 2


def test_a_lost_envelope_is_not_replaced_in_silence(tmp_path: Path, service: Serving) -> None:
    folder = born(tmp_path / "me")
    with _boot(folder, service) as identity:
        identity.append("agent", notes(1))
    (folder / "identity-envelope.json").unlink()
    with _boot(folder, service) as identity:
        assert identity.report.reason is not None
        assert identity.report.reason.code == "ENVELOPE_INVALID"
