"""The client before running services: quorum, conflicts, memory, standing."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Protocol

import pytest

from agentic_os.crypto.tlog.note import open_note
from agentic_os.errors import WitnessError
from agentic_os.witness.client import rounds as client_rounds
from agentic_os.witness.client.http import WitnessClient
from agentic_os.witness.client.memory import WitnessMemory
from agentic_os.witness.client.outcomes import RoundResult
from agentic_os.witness.client.policy import QuorumPolicy, parse_policy
from agentic_os.witness.client.rounds import WitnessRounds
from agentic_os.witness.client.submission import check_receipt
from agentic_os.witness.service.config import WitnessConfig
from support.witness.actors import Owner, Serving, new_witness, policy_of, serving, stand_in_root


class Start(Protocol):
    def __call__(self, name: str = "w1", **settings: object) -> Serving: ...


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    with ExitStack() as stack:

        def begin(name: str = "w1", **settings: object) -> Serving:
            folder = tmp_path / name
            if not folder.exists():
                new_witness(folder, name=f"witness.example/{name}")
            config = WitnessConfig(folder=folder, port=0, requests_per_minute=0)
            return stack.enter_context(serving(replace(config, **settings)))  # type: ignore[arg-type]

        yield begin


@pytest.fixture
def client_folder(tmp_path: Path) -> Path:
    return tmp_path / "client"


def rounds(policy: QuorumPolicy, folder: Path) -> WitnessRounds:
    return WitnessRounds(policy=policy, folder=folder, clock=time.time)


def codes(result: RoundResult) -> list[str]:
    return [item.code for item in result.outcomes]


def memory(running: Serving, folder: Path) -> WitnessMemory:
    return WitnessMemory(folder, running.desk.keys.cosigner.key)


def test_a_head_gathers_receipts_and_cosignatures(start: Start, client_folder: Path) -> None:
    one, two = start("w1"), start("w2")
    asking = rounds(policy_of(one, two), client_folder)
    owner = Owner(seed=1).add(3)
    first = asking.witness(owner.ledger())
    second = asking.witness(owner.add(4).ledger())

    assert codes(first) == codes(second) == ["ACKNOWLEDGED", "ACKNOWLEDGED"]
    assert second.is_quorum
    assert second.conflicts == ()
    keys = [one.desk.keys.cosigner.key, two.desk.keys.cosigner.key]
    assert len(open_note(second.head.note, keys)) == 2
    assert len(second.head.note.signatures) == 3
    for outcome in second.outcomes:
        assert outcome.receipt
        assert outcome.receipt_key
        check_receipt(outcome.receipt, outcome.receipt_key)
        assert (outcome.receipt.previous_ordinal, outcome.receipt.ordinal) == (3, 7)
    state = memory(one, client_folder).state()
    assert state.acknowledged
    assert (state.acknowledged.ordinal, state.conflict) == (7, "")
    assert len(memory(one, client_folder).receipts()) == 2


def test_one_witness_down_is_reported_and_the_quorum_decides(
    start: Start, client_folder: Path
) -> None:
    one, two = start("w1"), start("w2")
    down = two.policy_line.rsplit(" ", 1)[0] + " http://127.0.0.1:9\n"
    ledger = Owner(seed=1).add(3).ledger()
    names = "witness.example-w1 witness.example-w2"
    for quorum, agrees in (("any", True), ("all", False)):
        text = f"{one.policy_line}{down}group g {quorum} {names}\nquorum g\n"
        result = rounds(parse_policy(text.encode()), client_folder).witness(ledger)
        assert codes(result) == ["ACKNOWLEDGED", "WITNESS_UNREACHABLE"]
        assert result.is_quorum is agrees
        assert result.conflicts == ()


def test_a_policy_without_addresses_asks_nobody(client_folder: Path) -> None:
    asking = rounds(parse_policy(b"quorum none"), client_folder)
    ledger = Owner(seed=1).add(3).ledger()

    assert asking.witness(ledger).outcomes == ()
    assert asking.witness(ledger).is_quorum
    assert asking.ask_standing(ledger) == ()


def test_a_rolled_back_ledger_finds_its_witness_ahead(start: Start, client_folder: Path) -> None:
    one = start()
    asking = rounds(policy_of(one), client_folder)
    owner = Owner(seed=1).add(9)
    asking.witness(owner.ledger())
    (before,) = asking.ask_standing(owner.ledger())
    (grown,) = asking.ask_standing(replace(owner, lines=[*owner.lines, b"more"]).ledger())
    (standing,) = asking.ask_standing(owner.cut(6).ledger())
    result = asking.witness(owner.cut(6).ledger())
    latched = asking.witness(owner.ledger())

    assert (before.code, grown.code) == ("LEVEL", "BEHIND")
    assert (standing.code, standing.is_conflict) == ("WITNESS_AHEAD", True)
    assert codes(result) == ["WITNESS_AHEAD"]
    assert [item.name for item in result.conflicts] == ["witness.example-w1"]
    assert codes(latched) == ["WITNESS_AHEAD"]
    asking.release("witness.example-w1")
    assert codes(asking.witness(owner.ledger())) == ["ACKNOWLEDGED"]
    with pytest.raises(WitnessError):
        asking.release("nobody")


@pytest.mark.parametrize("extra", [0, 4])
def test_a_forked_ledger_is_found_whatever_its_length(
    start: Start, client_folder: Path, extra: int
) -> None:
    one = start()
    asking = rounds(policy_of(one), client_folder)
    owner = Owner(seed=1).add(9)
    asking.witness(owner.ledger())
    forked = owner.forked(4).add(extra)
    (standing,) = asking.ask_standing(forked.ledger())

    assert standing.code == "WITNESS_FORK"
    assert codes(asking.witness(forked.ledger())) == ["WITNESS_FORK"]


def test_a_client_that_forgot_still_finds_the_fork(start: Start, tmp_path: Path) -> None:
    one = start()
    owner = Owner(seed=1).add(9)
    rounds(policy_of(one), tmp_path / "first").witness(owner.ledger())
    fresh = rounds(policy_of(one), tmp_path / "second")

    assert codes(fresh.witness(owner.forked(4).add(3).ledger())) == ["WITNESS_FORK"]
    fresh.release("witness.example-w1")
    assert codes(fresh.witness(owner.add(3).ledger())) == ["ACKNOWLEDGED"]


def test_a_witness_restored_from_an_old_copy_is_noticed(
    tmp_path: Path, client_folder: Path
) -> None:
    folder = new_witness(tmp_path / "w")
    config = WitnessConfig(folder=folder, port=0, requests_per_minute=0)
    owner = Owner(seed=1).add(3)
    now = [1_900_000_000.0]

    def asking_at(running: Serving) -> WitnessRounds:
        return replace(rounds(policy_of(running), client_folder), clock=lambda: now[0])

    with serving(config, clock=lambda: now[0]) as running:
        asking_at(running).witness(owner.ledger())
    copies = {path.name: path.read_bytes() for path in folder.iterdir()}
    now[0] += 60
    with serving(config, clock=lambda: now[0]) as running:
        asking_at(running).witness(owner.add(3).ledger())
    for path in folder.iterdir():
        path.unlink()
    for name, data in copies.items():
        (folder / name).write_bytes(data)
        (folder / name).chmod(0o600)
    with serving(config, clock=lambda: now[0]) as running:
        asking = asking_at(running)
        (soon,) = asking.ask_standing(owner.ledger())
        now[0] += 3600
        (later,) = asking.ask_standing(owner.ledger())
        result = asking.witness(owner.add(2).ledger())

    # The monitoring read of a witness may lag for an hour; the round's answer may not.
    assert (soon.code, later.code) == ("BEHIND", "WITNESS_WENT_BACK")
    assert codes(result) == ["WITNESS_WENT_BACK"]


def test_a_witness_born_again_with_the_old_keys_is_noticed(
    tmp_path: Path, client_folder: Path
) -> None:
    from agentic_os.witness.service.keyring import DATABASE_FILE, read_witness_keys
    from agentic_os.witness.service.store import create_database

    folder = new_witness(tmp_path / "w")
    config = WitnessConfig(folder=folder, port=0)
    owner = Owner(seed=1).add(3)
    with serving(config) as running:
        rounds(policy_of(running), client_folder).witness(owner.ledger())
    for path in folder.glob("witness.db*"):
        path.unlink()
    create_database(folder / DATABASE_FILE, meta=read_witness_keys(folder).meta)
    with serving(config) as running:
        asking = rounds(policy_of(running), client_folder)
        (standing,) = asking.ask_standing(owner.ledger())
        result = asking.witness(owner.add(1).ledger())

    # Nothing that it has signed contradicts what it signed before: it is told, and not latched.
    assert standing.code == "REFUSED_CONFLICT"
    assert codes(result) == ["REFUSED_CONFLICT"]
    assert not result.conflicts


def test_a_lost_answer_is_made_up_for(start: Start, client_folder: Path) -> None:
    one = start()
    asking = rounds(policy_of(one), client_folder)
    owner = Owner(seed=1).add(3)
    asking.witness(owner.ledger())
    lost = memory(one, client_folder).state()
    asking.witness(owner.add(2).ledger())
    memory(one, client_folder).keep_state(lost)
    result = asking.witness(owner.add(2).ledger())

    assert codes(result) == ["ACKNOWLEDGED"]
    assert result.outcomes[0].receipt
    assert result.outcomes[0].receipt.previous_ordinal == 5


def test_the_same_head_is_acknowledged_again(start: Start, client_folder: Path) -> None:
    one = start()
    asking = rounds(policy_of(one), client_folder)
    ledger = Owner(seed=1).add(3).ledger()
    first, second = asking.witness(ledger), asking.witness(ledger)

    assert codes(first) == codes(second) == ["ACKNOWLEDGED"]
    assert first.outcomes[0].receipt == second.outcomes[0].receipt


def test_a_change_of_key_goes_on_at_old_and_new_witnesses(
    start: Start, client_folder: Path
) -> None:
    one, two = start("w1"), start("w2")
    owner = Owner(seed=1).add(3)
    rounds(policy_of(one), client_folder).witness(owner.ledger())
    rotated = owner.rotated().add(2)
    result = rounds(policy_of(one, two), client_folder).witness(rotated.ledger())
    twice = rotated.rotated()
    again = rounds(policy_of(one, two), client_folder).witness(twice.ledger())
    old = rounds(policy_of(one), client_folder).witness(
        replace(owner, lines=[*twice.lines, b"x"]).ledger()
    )

    assert codes(result) == codes(again) == ["ACKNOWLEDGED", "ACKNOWLEDGED"]
    assert codes(old) == ["REFUSED_CONFLICT"]


def test_below_the_cadence_is_no_conflict(start: Start, client_folder: Path) -> None:
    one = start(min_cadence=5)
    asking = rounds(policy_of(one), client_folder)
    owner = Owner(seed=1).add(3)
    asking.witness(owner.ledger())
    early = asking.witness(owner.add(2).ledger())
    due = asking.witness(owner.add(3).ledger())

    assert (codes(early), codes(due)) == (["NOT_DUE"], ["ACKNOWLEDGED"])
    with WitnessClient(one.url) as client:
        assert client.min_cadence() == 5


def test_a_refusal_that_is_no_conflict_passes(start: Start, client_folder: Path) -> None:
    one = start(registration="listed")
    result = rounds(policy_of(one), client_folder).witness(Owner(seed=1).add(3).ledger())

    assert codes(result) == ["REGISTRATION_CLOSED"]
    assert not result.conflicts


def test_a_root_must_vouch_when_one_is_asked_for(start: Start, client_folder: Path) -> None:
    one = start()
    asking = replace(rounds(policy_of(one), client_folder), root=stand_in_root().public)
    result = asking.witness(Owner(seed=1).add(3).ledger())

    # The stand-in's SLH-DSA half is no signature: both algorithms must verify.
    assert codes(result) == ["MANIFEST_INVALID"]
    assert memory(one, client_folder).receipt_key() is None


def test_another_receipt_key_is_a_conflict(start: Start, client_folder: Path) -> None:
    one, two = start("w1"), start("w2")
    asking = rounds(policy_of(one), client_folder)
    owner = Owner(seed=1).add(3)
    asking.witness(owner.ledger())
    swapped = policy_of(one).witnesses[0]
    impostor = replace(policy_of(one), witnesses=(replace(swapped, url=two.url),))
    result = rounds(impostor, client_folder).witness(owner.add(1).ledger())

    assert codes(result) == ["WITNESS_KEY_CHANGED"]


def test_another_cosigner_behind_the_address_does_not_count(
    start: Start, client_folder: Path
) -> None:
    one, two = start("w1"), start("w2")
    swapped = replace(policy_of(one).witnesses[0], url=two.url)
    policy = replace(policy_of(one), witnesses=(swapped,))
    asking = rounds(policy, client_folder)
    ledger = Owner(seed=1).add(3).ledger()
    result = asking.witness(ledger)
    (standing,) = asking.ask_standing(ledger)

    assert codes(result) == ["COSIGNATURE_INVALID"]
    assert not result.is_quorum
    assert standing.code == "COSIGNATURE_INVALID"


def test_a_witness_that_was_never_asked_is_unknown(start: Start, client_folder: Path) -> None:
    (standing,) = rounds(policy_of(start()), client_folder).ask_standing(
        Owner(seed=1).add(3).ledger()
    )

    assert (standing.code, standing.is_conflict) == ("UNKNOWN", False)


def test_an_unreachable_witness_is_said_to_be_so(start: Start, client_folder: Path) -> None:
    one = start()
    line = one.policy_line.rsplit(" ", 1)[0] + " http://127.0.0.1:9\n"
    policy = parse_policy(f"{line}quorum witness.example-w1\n".encode())
    (standing,) = rounds(policy, client_folder).ask_standing(Owner(seed=1).add(3).ledger())

    assert standing.code == "WITNESS_UNREACHABLE"


def test_a_damaged_memory_is_not_an_empty_one(start: Start, client_folder: Path) -> None:
    one = start()
    asking = rounds(policy_of(one), client_folder)
    ledger = Owner(seed=1).add(3).ledger()
    asking.witness(ledger)
    for name in ("state.json", "keys.json"):
        (path,) = client_folder.glob(f"*/{name}")
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        assert codes(asking.witness(ledger)) == ["MEMORY_INVALID"]
        path.write_bytes(whole)
    (path,) = client_folder.glob("*/state.json")
    path.unlink()
    path.mkdir()
    assert codes(asking.witness(ledger)) == ["NOT_REGULAR"]


def test_the_clock_of_a_witness_may_be_off_by_less_than_a_day(
    start: Start, client_folder: Path
) -> None:
    one = start()
    asking = WitnessRounds(
        policy=policy_of(one), folder=client_folder, clock=lambda: time.time() + 2 * 24 * 3600
    )
    result = asking.witness(Owner(seed=1).add(3).ledger())

    assert codes(result) == ["COSIGNATURE_INVALID"]
    assert datetime.now(UTC).year >= 2026


def test_a_name_that_is_looked_up_for_ever_holds_up_nobody(
    start: Start, client_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = start("w1"), start("w2")
    monkeypatch.setattr(client_rounds, "ROUND_SECONDS", 4.0)
    let_go = threading.Event()
    looked_up: list[str] = []

    def connect(url: str) -> WitnessClient:
        if url == two.url:
            looked_up.append(url)
            let_go.wait(30)
        return WitnessClient(url)

    asking = replace(rounds(policy_of(one, two), client_folder), connect=connect)
    ledger = Owner(seed=1).add(3).ledger()
    try:
        assert codes(asking.witness(ledger)) == ["ACKNOWLEDGED", "WITNESS_UNREACHABLE"]
        again = asking.ask_standing(ledger)
        assert [item.code for item in again] == ["LEVEL", "WITNESS_UNREACHABLE"]
        assert "a moment ago" in again[1].message
        assert len(looked_up) == 1
    finally:
        let_go.set()


def a_minute_later() -> float:
    return time.monotonic() + client_rounds.AGAIN_SECONDS


def test_who_let_us_wait_is_asked_again_later(
    start: Start, client_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_rounds, "LONG_SECONDS", 0.1)
    one = start("w1")
    ledger = Owner(seed=1).add(3).ledger()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        nowhere = f"http://127.0.0.1:{silent.getsockname()[1]}"
        clients = iter([WitnessClient(nowhere, total_seconds=0.3), WitnessClient(one.url)])
        asking = replace(
            rounds(policy_of(one), client_folder),
            connect=lambda _: next(clients),
        )
        assert codes(asking.witness(ledger)) == ["WITNESS_UNREACHABLE"]
        assert codes(asking.witness(ledger)) == ["WITNESS_UNREACHABLE"]  # not asked
        monkeypatch.setattr(client_rounds, "time", SimpleNamespace(monotonic=a_minute_later))
        assert codes(asking.witness(ledger)) == ["ACKNOWLEDGED"]


def test_a_defect_of_ours_is_not_swallowed(start: Start, client_folder: Path) -> None:
    def connect(_: str) -> WitnessClient:
        raise ZeroDivisionError

    asking = replace(rounds(policy_of(start("w1")), client_folder), connect=connect)
    with pytest.raises(ZeroDivisionError):
        asking.ask_standing(Owner(seed=1).add(3).ledger())
