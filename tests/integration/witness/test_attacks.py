"""The attack table: what is done to an identity, and who notices, with which code.

``docs/explanation/attack-table.md`` is the expectation: every row of its first table is run here
against a real identity and two running witnesses, every row of its second against a running
witness alone. A row that no test runs, or a test without a row, fails.

An attacker here is somebody with full access to the machine: files, keys, backups. What they do
not have is the witnesses' memory.
"""

import ast
import hashlib
import json
import re
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.texts import encode_base64, sha256_text
from agentic_os.crypto.envelope.public_keys import make_identity_envelope
from agentic_os.crypto.keys.files import read_key
from agentic_os.crypto.keys.pairs import ED25519, ML_DSA_87, SigningKey, generate_key
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.errors import AgenticOSError
from agentic_os.identity.birth import give_birth
from agentic_os.identity.boot import BootOptions, boot
from agentic_os.identity.services import verify_ledger
from agentic_os.identity.session import Identity
from agentic_os.ledger.layout import key_path
from agentic_os.ledger.line.entry import draft, encode_entry, new_salt, sign_line, timestamp
from agentic_os.ledger.writing import request
from agentic_os.witness.client.http import WitnessClient
from agentic_os.witness.client.policy import parse_policy
from agentic_os.witness.client.rounds import WitnessRounds
from agentic_os.witness.client.submission import build_bookmark
from agentic_os.witness.protocol.add_checkpoint import AddCheckpoint, write_add_checkpoint
from agentic_os.witness.protocol.json import write_request
from agentic_os.witness.service.clock import WatchedClock
from agentic_os.witness.service.config import WitnessConfig
from support.witness.actors import HTTP, Owner, Serving, new_witness, policy_of, serving

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "attack-table.md"
NOTHING = "-"
NOT_ASKED = "not asked"
FORKS = 20
POLICY_FILE = """\
witness witness.example-w1 {}
witness witness.example-w2 {}
group g any witness.example-w1 witness.example-w2
quorum g
"""


def rows_of(page: str, heading: str) -> dict[str, tuple[str, ...]]:
    """The rows of the table below a heading: first cell (as a name) to the others."""
    section = page.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows: dict[str, tuple[str, ...]] = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) > 2 and not set(line) <= set("|-: "):
            rows[cells[0]] = tuple(cell.replace("`", "") for cell in cells[1:])
    rows.pop("what is done", None)
    return rows


TEXT = PAGE.read_text(encoding="utf-8")
ATTACKS_ON_A_LEDGER = rows_of(TEXT, "On the ledger of an identity")
ATTACKS_ON_A_WITNESS = rows_of(TEXT, "On a witness")


@dataclass(kw_only=True)
class World:
    """One machine and two witnesses elsewhere."""

    place: Path
    services: tuple[Serving, ...] = ()
    policy: str = "accepted"
    """Which policy is at hand: the accepted one, one without a quorum, or none."""

    @property
    def me(self) -> Path:
        return self.place / "me"

    @property
    def ledger(self) -> Path:
        return self.me / "ledger.jsonl"

    def lines(self) -> list[bytes]:
        return self.ledger.read_bytes().splitlines()

    def write(self, lines: list[bytes]) -> None:
        self.ledger.write_bytes(b"".join(line + b"\n" for line in lines))

    def forget_derived(self) -> None:
        """Remove what is computed from the ledger, and what says how far it went."""
        for name in ("witness-tail.json", "verified-head.json", "safe-mode.json"):
            (self.me / name).unlink(missing_ok=True)
        for path in [*self.me.glob("projection.db*"), *self.me.glob("snapshot-*")]:
            path.unlink()

    def witnesses(self, *services: Serving) -> WitnessRounds:
        policy = policy_of(*(services or self.services), quorum="any")
        return WitnessRounds(policy=policy, folder=self.me / "witness", clock=time.time)

    def unreachable(self) -> WitnessRounds:
        """The accepted policy, where none of its witnesses has an address."""
        policy = parse_policy(POLICY_FILE.format(*self.vkeys()).encode())
        return WitnessRounds(policy=policy, folder=self.me / "witness", clock=time.time)

    def vkeys(self) -> list[str]:
        origins = [self.place, *self.place.parents]
        folder = next(one for one in origins if (one / "w1").is_dir())
        return [(folder / name / "cosigner.vkey").read_text().strip() for name in ("w1", "w2")]

    def booted(self, *services: Serving) -> Identity:
        witnesses: WitnessRounds | None
        witnesses = self.witnesses(*services) if services else self.unreachable()
        if self.policy == "none":
            witnesses = None
        elif self.policy == "without quorum":
            lines = witnesses.policy.document.split(b"group")[0]
            witnesses = replace(witnesses, policy=parse_policy(lines + b"quorum none\n"))
        return boot(self.me, BootOptions(witnesses=witnesses))

    def regrow(self, count: int) -> None:
        """Let the identity itself write on, as its owner would."""
        with_identity(self.me, count, self.unreachable(), is_witnessed=False)


def with_identity(
    folder: Path,
    count: int,
    witnesses: WitnessRounds | None = None,
    *,
    is_witnessed: bool = True,
) -> None:
    identity = boot(folder, BootOptions(witnesses=witnesses))
    try:
        assert identity.report.mode == "ready", identity.report.reason
        notes = [
            request("working.note", {"id": f"n{time.time_ns()}", "content": "a note"})
            for _ in range(count)
        ]
        identity.append("agent", notes)
        if witnesses and is_witnessed:
            answer = identity.bookmark()
            assert answer.quorum
            assert {item.code for item in answer.witnesses} == {"ACKNOWLEDGED"}
    finally:
        identity.close()


@contextmanager
def witnesses_of(place: Path) -> Iterator[tuple[Serving, Serving]]:
    def config(name: str) -> WitnessConfig:
        return WitnessConfig(folder=place / name, port=0, requests_per_minute=0)

    with serving(config("w1")) as one, serving(config("w2")) as two:
        yield one, two


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A life: born, witnessed twice, written on; with copies of everything after the first."""
    place = tmp_path_factory.mktemp("golden")
    world = World(place=place)
    new_witness(place / "w1", name="witness.example/w1")
    new_witness(place / "w2", name="witness.example/w2")
    give_birth(world.me, domain="operator.example", laws="Be kind.")
    give_birth(place / "somebody-else", domain="operator.example", laws="Be kind.")
    with_identity(place / "somebody-else", 30)
    for name in ("", "-old", "-new"):
        if name:
            for folder in ("me", "w1", "w2"):
                shutil.copytree(place / folder, place / f"{folder}{name}")
        if name != "-new":
            with witnesses_of(place) as services:
                with_identity(world.me, 10, world.witnesses(*services))
    world.regrow(3)
    return place


@pytest.fixture
def world(golden: Path, tmp_path: Path) -> World:
    for folder in golden.iterdir():
        shutil.copytree(folder, tmp_path / folder.name)
    return World(place=tmp_path)


def verified(world: World) -> str:
    try:
        findings = verify_ledger(world.me).findings
    except AgenticOSError as error:
        return error.code
    return findings[0].code if findings else NOTHING


def booted_codes(world: World, *services: Serving) -> tuple[str, ...]:
    """What boot says by itself, then what each witness is found to say.

    A witness speaks at boot or, where boot was content, to the next bookmark; it is not asked
    where boot stopped before.
    """
    try:
        identity = world.booted(*services)
    except AgenticOSError as error:
        return (error.code, *(NOT_ASKED for _ in services))
    try:
        report = identity.report
        if report.witnesses and report.reason is not None:
            said = {one.witness: one.code for one in report.witnesses if one.conflict}
            return (NOTHING, *(said.get(name_in_policy(one), NOTHING) for one in services))
        if report.reason is not None:
            return (report.reason.code, *(NOT_ASKED for _ in services))
        if not services:
            return (NOTHING,)
        answers = {one.witness: one.code for one in identity.bookmark().witnesses}
    finally:
        identity.close()
    codes = [answers[name_in_policy(one)] for one in services]
    return (NOTHING, *(NOTHING if code == "ACKNOWLEDGED" else code for code in codes))


def name_in_policy(service: Serving) -> str:
    return service.policy_line.split()[1]


def cut_tail(world: World) -> None:
    world.write(world.lines()[:-2])


def cut_tail_and_forget(world: World) -> None:
    cut_tail(world)
    world.forget_derived()


def cut_below_the_receipts(world: World) -> None:
    world.write(world.lines()[:8])


def cut_and_roll_back_all(world: World) -> None:
    shutil.rmtree(world.me)
    shutil.copytree(world.place / "me-old", world.me)


def cut_and_regrow(world: World) -> None:
    longer = len(world.lines()) + 5
    cut_and_roll_back_all(world)
    world.forget_derived()
    world.regrow(longer - len(world.lines()))


def forget_and_regrow(world: World) -> None:
    cut_and_regrow(world)
    shutil.rmtree(world.me / "witness")


def edit_payload(world: World) -> None:
    lines = world.lines()
    lines[5] = lines[5].replace(b"a note", b"a lie!", 1)
    world.write(lines)


def edit_signature(world: World) -> None:
    lines = world.lines()
    at = lines[5].index(b'"sig_b64":"') + 20
    other = b"A" if lines[5][at : at + 1] != b"A" else b"B"
    lines[5] = lines[5][:at] + other + lines[5][at + 1 :]
    world.write(lines)


def swap_lines(world: World) -> None:
    lines = world.lines()
    lines[4], lines[5] = lines[5], lines[4]
    world.write(lines)


def double_a_line(world: World) -> None:
    lines = world.lines()
    world.write([*lines[:6], lines[5], *lines[6:]])


def drop_a_line(world: World) -> None:
    lines = world.lines()
    world.write([*lines[:5], *lines[6:]])


def replay_a_receipt(world: World) -> None:
    lines = world.lines()
    receipts = [json.loads(line) for line in lines if b'"system.witnessed"' in line]
    assert receipts
    world.write([*lines, own_line(world, "system.witnessed", receipts[0]["entry"]["payload"])])


def sign_with_another_key(world: World) -> None:
    note = {"id": "n", "content": "not mine"}
    world.write([*world.lines(), own_line(world, "working.note", note, generate_key(ML_DSA_87))])


def resign_with_another_key(world: World) -> None:
    """A line in the middle, as it was, under the signature of a key that the attacker made."""
    lines = world.lines()
    whole = json.loads(lines[5])
    entry = encode(whole["entry"])
    other = generate_key(ML_DSA_87)
    lines[5] = sign_line(entry, prev_hash=whole["prev_hash"], role="identity", key=other)
    world.write(lines)


def claim_the_old_origin(world: World) -> None:
    """Somebody's new genesis that says it is the old ledger; the old identity's keys are gone."""
    old_origin = json.loads(world.lines()[0])["entry"]["payload"]["origin"]
    memory = world.place / "kept"
    shutil.copytree(world.me / "witness", memory)
    shutil.rmtree(world.me)
    give_birth(world.me, domain="operator.example", laws="Be mine.")
    shutil.copytree(memory, world.me / "witness")
    payload = json.loads(world.lines()[0])["entry"]["payload"]
    payload["origin"] = old_origin
    entry = encode_entry(draft("ring0.genesis", payload), seq=1, ts=timestamp(), salt=new_salt())
    platform = read_key(key_path(world.me, "platform"))
    nothing_before = f"sha256:{'0' * 64}"
    world.write([sign_line(entry, prev_hash=nothing_before, role="platform", key=platform)])
    world.forget_derived()


def own_line(
    world: World, kind: str, payload: dict[str, str], key: SigningKey | None = None
) -> bytes:
    """A well-formed next line, signed with the identity's key or another."""
    lines = world.lines()
    entry = encode_entry(draft(kind, payload), seq=len(lines) + 1, ts=timestamp(), salt=new_salt())
    signer = key or read_key(key_path(world.me, "identity"))
    prev_hash = json.loads(lines[-1])["hash"]
    return sign_line(entry, prev_hash=prev_hash, role="identity", key=signer)


def delete_the_ledger(world: World) -> None:
    world.ledger.unlink()


def delete_ledger_and_keys(world: World) -> None:
    delete_the_ledger(world)
    shutil.rmtree(world.me / "keys")


def born_again(world: World) -> None:
    memory = world.place / "kept"
    shutil.copytree(world.me / "witness", memory)
    shutil.rmtree(world.me)
    give_birth(world.me, domain="operator.example", laws="Be kind.")
    shutil.copytree(memory, world.me / "witness")


def born_again_without_memory(world: World) -> None:
    born_again(world)
    shutil.rmtree(world.me / "witness")


def swap_in_anothers_ledger(world: World) -> None:
    shutil.copy(world.place / "somebody-else" / "ledger.jsonl", world.ledger)
    world.forget_derived()


def swap_in_somebody_else(world: World) -> None:
    memory = world.place / "kept"
    shutil.copytree(world.me / "witness", memory)
    shutil.rmtree(world.me)
    shutil.copytree(world.place / "somebody-else", world.me)
    shutil.rmtree(world.me / "witness", ignore_errors=True)
    shutil.copytree(memory, world.me / "witness")


def nothing(_: World) -> None:
    """Leave everything as it is."""


def roll_back_one_witness(world: World) -> None:
    shutil.rmtree(world.place / "w1")
    shutil.copytree(world.place / "w1-old", world.place / "w1")


def roll_back_everything_but_one(world: World) -> None:
    cut_and_roll_back_all(world)
    world.forget_derived()
    roll_back_one_witness(world)


def roll_back_everything(world: World) -> None:
    roll_back_everything_but_one(world)
    shutil.rmtree(world.place / "w2")
    shutil.copytree(world.place / "w2-old", world.place / "w2")


def roll_back_and_lose_the_policy(world: World) -> None:
    cut_and_roll_back_all(world)
    world.forget_derived()
    world.policy = "none"


def roll_back_and_ask_nobody(world: World) -> None:
    cut_and_roll_back_all(world)
    world.forget_derived()
    world.policy = "without quorum"


ON_A_LEDGER: dict[str, Callable[[World], None]] = {
    "nothing": nothing,
    "cut off lines that are younger than the last bookmark": cut_tail,
    "the same, and delete projection and snapshots": cut_tail_and_forget,
    "cut the ledger below its last bookmark": cut_below_the_receipts,
    "roll back the whole folder, projection and client memory": cut_and_roll_back_all,
    "roll back all of it and write on, past the old length": cut_and_regrow,
    "roll back, write on, and delete the client's memory": forget_and_regrow,
    "roll back all of it, and take the witness policy away": roll_back_and_lose_the_policy,
    "roll back all of it, and give a policy without a quorum": roll_back_and_ask_nobody,
    "edit a payload": edit_payload,
    "edit a signature": edit_signature,
    "swap two lines": swap_lines,
    "double a line": double_a_line,
    "drop an inner line": drop_a_line,
    "replay an old receipt, signed anew": replay_a_receipt,
    "sign a line anew with another key": resign_with_another_key,
    "add a line signed with another key": sign_with_another_key,
    "delete the ledger": delete_the_ledger,
    "delete the ledger and the keys": delete_ledger_and_keys,
    "a new genesis in the old place": born_again,
    "a new genesis, and delete the client's memory": born_again_without_memory,
    "a new genesis that claims the old name": claim_the_old_origin,
    "swap in another identity's ledger": swap_in_anothers_ledger,
    "swap in another identity, keys and all": swap_in_somebody_else,
    "roll back one witness": roll_back_one_witness,
    "roll back the folder and one of two witnesses": roll_back_everything_but_one,
    "roll back the folder and every witness": roll_back_everything,
}


def observed(world: World, *services: Serving) -> tuple[str, ...]:
    """What verify says, boot alone, and each of two witnesses: the world's, or ``services``."""
    alone = World(place=world.place / "alone", policy=world.policy)
    shutil.copytree(world.me, alone.me)
    by_files = (verified(alone), *booted_codes(alone))
    if services:
        return (*by_files, *booted_codes(world, *services)[1:])
    with witnesses_of(world.place) as own:
        return (*by_files, *booted_codes(world, *own)[1:])


def test_every_row_has_its_attack() -> None:
    assert list(ATTACKS_ON_A_LEDGER) == [*ON_A_LEDGER, "fork at any of 20 places, and write on"]
    assert list(ATTACKS_ON_A_WITNESS) == list(ON_A_WITNESS)


def test_the_tests_that_rows_name_are_there() -> None:
    named = [row[-1] for row in rows_of(TEXT, "On files, databases and doors").values()]
    assert named
    for place in named:
        path, _, name = place.partition("::")
        tree = ast.parse((PAGE.parents[2] / path).read_bytes())
        assert name in {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}, place


@pytest.mark.parametrize("name", ON_A_LEDGER)
def test_who_notices_what_is_done_to_a_ledger(world: World, name: str) -> None:
    ON_A_LEDGER[name](world)

    assert observed(world) == ATTACKS_ON_A_LEDGER[name]


@pytest.fixture(scope="module")
def steady(
    golden: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Serving, Serving]]:
    """Witnesses for attacks that are refused: a refusal leaves them as they are."""
    place = tmp_path_factory.mktemp("steady")
    for name in ("w1", "w2"):
        shutil.copytree(golden / name, place / name)
    with witnesses_of(place) as services:
        yield services


@pytest.mark.parametrize("place", range(FORKS))
def test_a_fork_at_any_place_is_noticed_by_the_witness(
    golden: Path, tmp_path: Path, steady: tuple[Serving, Serving], place: int
) -> None:
    for folder in ("me", "w1", "w2"):
        shutil.copytree(golden / folder, tmp_path / folder)
    world = World(place=tmp_path)
    lines = world.lines()
    kept = 2 + place
    assert kept < len(lines) - 3
    world.write(lines[:kept])
    world.forget_derived()
    world.regrow(len(lines) + 3 - kept)

    expected = ATTACKS_ON_A_LEDGER["fork at any of 20 places, and write on"]
    assert observed(world, *steady) == expected


def post(running: Serving, body: bytes) -> str:
    answer = HTTP.post(f"{running.url}/witness/bookmark", content=body)
    return f"{answer.status_code} {answer.json().get('code', 'ACKNOWLEDGED')}"


def bookmark(running: Serving, owner: Owner, *, old: int | None, binds: bool = False) -> str:
    request = build_bookmark(owner.ledger(), ordinal=len(owner.lines), old_size=old, binds=binds)
    return post(running, write_request(request))


def standing(running: Serving, owner: Owner, memory: Path) -> str:
    rounds = WitnessRounds(policy=policy_of(running), folder=memory, clock=time.time)
    result = rounds.witness(owner.ledger())
    return result.outcomes[0].code


def unproved_fork(running: Serving, _: Path) -> str:
    owner = Owner(seed=1).add(9)
    assert bookmark(running, owner, old=None) == "201 ACKNOWLEDGED"
    return bookmark(running, owner.forked(3).add(2), old=None)


def unproved_rollback(running: Serving, _: Path) -> str:
    owner = Owner(seed=1).add(9)
    assert bookmark(running, owner, old=None) == "201 ACKNOWLEDGED"
    return bookmark(running, owner.cut(8), old=None)


def unproved_fork_of_the_same_length(running: Serving, _: Path) -> str:
    owner = Owner(seed=1).add(9)
    assert bookmark(running, owner, old=None) == "201 ACKNOWLEDGED"
    return bookmark(running, owner.forked(3), old=None)


def proved_fork(running: Serving, _: Path) -> str:
    owner = Owner(seed=1).add(9)
    assert bookmark(running, owner, old=0, binds=True) == "201 ACKNOWLEDGED"
    return bookmark(running, owner.forked(3).add(2), old=9)


def downgrade(running: Serving, _: Path) -> str:
    owner = Owner(seed=1).add(9)
    assert bookmark(running, owner, old=0, binds=True) == "201 ACKNOWLEDGED"
    return bookmark(running, owner.add(1), old=None)


def squat(running: Serving, _: Path) -> str:
    victim, squatter = Owner(seed=1), Owner(seed=2).add(5)
    signer = NoteSigner(kind="note", name=victim.origin, private=SigningKey(ED25519, bytes(32)))
    ledger = replace(squatter.ledger(), checkpoint_signer=signer)
    return post(running, write_request(build_bookmark(ledger, ordinal=5, old_size=0, binds=True)))


def retired_checkpoint_key(running: Serving, _: Path) -> str:
    owner = Owner(seed=1).add(9)
    assert bookmark(running, owner, old=0, binds=True) == "201 ACKNOWLEDGED"
    renewed = replace(owner, checkpoint_seed=1).add(1)
    assert bookmark(running, renewed, old=9, binds=True) == "200 ACKNOWLEDGED"
    return bookmark(running, replace(renewed, checkpoint_seed=0).add(1), old=10, binds=True)


def retired_identity_key(running: Serving, _: Path) -> str:
    owner = Owner(seed=1).add(9)
    assert bookmark(running, owner, old=0, binds=True) == "201 ACKNOWLEDGED"
    rotated = owner.rotated()
    assert bookmark(running, rotated, old=9, binds=True) == "201 ACKNOWLEDGED"
    return bookmark(running, replace(owner, lines=[*rotated.lines, b"x"]), old=10)


def others_identity_id(running: Serving, _: Path) -> str:
    owner, other = Owner(seed=1).add(9), Owner(seed=2).add(9)
    assert bookmark(running, owner, old=None) == "201 ACKNOWLEDGED"
    request = build_bookmark(other.ledger(), ordinal=9, old_size=None, binds=False)
    claimed = replace(request, identity_id=owner.ledger().identity_id)
    text = claimed.text
    signature = replace(
        claimed.signature,
        signature_input_sha256=sha256_text(text),
        sig_b64=encode_base64(other.identity_key.sign(text)),
    )
    return post(running, write_request(replace(claimed, signature=signature)))


def fast_forward(running: Serving, memory: Path) -> str:
    """Whoever stole the checkpoint key cosigns a far longer tree; the owner comes after."""
    owner = Owner(seed=1).add(9)
    assert standing(running, owner, memory) == "ACKNOWLEDGED"
    thief = replace(owner, lines=[*owner.lines, *(b"stolen %d" % n for n in range(90))])
    ledger = thief.ledger()
    head = ledger.head(99)
    proof = ledger.tree.consistency_proof(9, 99)
    body = write_add_checkpoint(AddCheckpoint(old_size=9, consistency=proof, head=head))
    assert HTTP.post(f"{running.url}/add-checkpoint", content=body).status_code == 200
    return standing(running, owner.add(1), memory)


def replayed_request(running: Serving, _: Path) -> str:
    owner = Owner(seed=1).add(9)
    request = build_bookmark(owner.ledger(), ordinal=9, old_size=0, binds=True)
    assert post(running, write_request(request)) == "201 ACKNOWLEDGED"
    assert bookmark(running, owner.add(2), old=9) == "200 ACKNOWLEDGED"
    return post(running, write_request(request))


def other_key_behind_the_address(running: Serving, memory: Path) -> str:
    owner = Owner(seed=1).add(9)
    assert standing(running, owner, memory) == "ACKNOWLEDGED"
    with serving(WitnessConfig(folder=new_witness(memory / "other"), port=0)) as other:
        policy = policy_of(running)
        moved = replace(policy.witnesses[0], url=other.url)
        rounds = WitnessRounds(
            policy=replace(policy, witnesses=(moved,)), folder=memory, clock=time.time
        )
        return rounds.witness(owner.add(1).ledger()).outcomes[0].code


def other_envelope(running: Serving, _: Path) -> str:
    owner = Owner(seed=1).add(9)
    assert bookmark(running, owner, old=None) == "201 ACKNOWLEDGED"
    at = datetime(2026, 2, 2, tzinfo=UTC)
    envelope = make_identity_envelope(owner.identity_key.public, created_at=at)
    ledger = replace(owner.cut(2).ledger(), envelope=envelope)
    request = build_bookmark(ledger, ordinal=2, old_size=None, binds=False)
    return post(running, write_request(request))


def line_end_in_the_id(running: Serving, _: Path) -> str:
    request = build_bookmark(Owner(seed=1).add(1).ledger(), ordinal=1, old_size=None, binds=False)
    tree = json.loads(write_request(request))
    return post(running, json.dumps({**tree, "identity_id": tree["identity_id"] + "\n"}).encode())


def time_outside_the_calendar(running: Serving, _: Path) -> str:
    request = build_bookmark(Owner(seed=1).add(1).ledger(), ordinal=1, old_size=None, binds=False)
    tree = json.loads(write_request(request))
    tree["identity_public_key"]["expires_at"] = "9999-12-31T23:59:59-23:59"
    return post(running, json.dumps(tree).encode())


def many_identities(running: Serving, _: Path) -> str:
    most = running.config.client_registrations_per_day
    for seed in range(most):
        assert bookmark(running, Owner(seed=seed).add(1), old=None) == "201 ACKNOWLEDGED"
    return bookmark(running, Owner(seed=most).add(1), old=None)


def many_connections(running: Serving, _: Path) -> str:
    host, port = running.url.removeprefix("http://").split(":")
    with ExitStack() as stack:
        lines = [
            stack.enter_context(socket.create_connection((host, int(port)), timeout=10))
            for _ in range(running.config.client_connections + 1)
        ]
        return f"{lines[-1].recv(12).decode()[-3:]} TOO_MANY_CONNECTIONS"


def leaping_clock(running: Serving, _: Path) -> str:
    days = [0]
    running.desk._clock = WatchedClock(lambda: time.time() + 86_400 * days[0], time.time)
    owner = Owner(seed=1).add(1)
    assert bookmark(running, owner, old=None) == "201 ACKNOWLEDGED"
    days[0] = 400
    leapt = bookmark(running, owner.add(1), old=None)
    days[0] = 0
    assert bookmark(running, owner, old=None) == "200 ACKNOWLEDGED"
    return leapt


def answered_by(running: Serving, memory: Path, answer: Callable[[str], httpx.Response]) -> str:
    """Ask a witness behind somebody who answers in its place, once it has acknowledged."""
    owner = Owner(seed=1).add(9)
    assert standing(running, owner, memory) == "ACKNOWLEDGED"

    def between(request: httpx.Request) -> httpx.Response:
        if request.url.path.startswith("/witness/pubkey"):
            return HTTP.get(f"{running.url}{request.url.path}")
        return answer(request.method)

    rounds = WitnessRounds(
        policy=policy_of(running),
        folder=memory,
        clock=time.time,
        connect=lambda url: WitnessClient(url, transport=httpx.MockTransport(between)),
    )
    outcome = rounds.witness(owner.add(1).ledger()).outcomes[0]
    assert not outcome.is_conflict
    assert standing(running, owner, memory) == "ACKNOWLEDGED"  # nothing was latched
    return outcome.code


def unsigned_conflict(running: Serving, memory: Path) -> str:
    refusal = {"error": "witness bookmark rollback or fork", "witnessed_size": 5000}
    return answered_by(running, memory, lambda _: httpx.Response(409, json=refusal))


def silence(running: Serving, memory: Path) -> str:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        policy = policy_of(running)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        rounds = WitnessRounds(
            policy=replace(policy, witnesses=(replace(policy.witnesses[0], url=url),)),
            folder=memory,
            clock=time.time,
            connect=lambda url: WitnessClient(url, total_seconds=0.3),
        )
        return rounds.witness(Owner(seed=1).add(1).ledger()).outcomes[0].code


def replayed_note(running: Serving, memory: Path) -> str:
    """A note of 200 days ago, shown to the owner of a ledger that was rolled back to it."""
    owner = Owner(seed=1).add(9)
    running.desk._clock = lambda: time.time() - 200 * 86_400
    assert bookmark(running, owner, old=0, binds=True) == "201 ACKNOWLEDGED"
    digest = hashlib.sha256(owner.origin.encode()).hexdigest()
    old = HTTP.get(f"{running.url}/{digest}/checkpoint").content
    assert bookmark(running, Owner(seed=1).add(30), old=9) == "200 ACKNOWLEDGED"

    def replaying(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200 if request.method == "GET" else 503, content=old)

    rounds = WitnessRounds(
        policy=policy_of(running),
        folder=memory,
        clock=time.time,
        connect=lambda url: WitnessClient(url, transport=httpx.MockTransport(replaying)),
    )
    return rounds.ask_standing(owner.ledger())[0].code


ON_A_WITNESS: dict[str, Callable[[Serving, Path], str]] = {
    "without proof: a smaller ordinal": unproved_rollback,
    "without proof: another hash at the same ordinal": unproved_fork_of_the_same_length,
    "without proof: a longer fork": unproved_fork,
    "with proof: a longer fork": proved_fork,
    "go back from proved to unproved bookmarks": downgrade,
    "replay an old signed request": replayed_request,
    "bind another identity's origin": squat,
    "claim another identity's id": others_identity_id,
    "use a checkpoint key that was replaced": retired_checkpoint_key,
    "use an identity key that was replaced": retired_identity_key,
    "steal the checkpoint key and cosign a far longer tree": fast_forward,
    "put another witness behind the address": other_key_behind_the_address,
    "come with the same key in another envelope, at a smaller ordinal": other_envelope,
    "put a line end into the identity's id": line_end_in_the_id,
    "give a time that lies outside the calendar": time_outside_the_calendar,
    "register identity after identity": many_identities,
    "hold connection after connection": many_connections,
    "set its clock 400 days ahead": leaping_clock,
    "answer in its place that there is a conflict": unsigned_conflict,
    "let it say nothing": silence,
    "show a client the public note of 200 days ago": replayed_note,
}


@pytest.mark.parametrize("name", ON_A_WITNESS)
def test_who_notices_what_is_done_to_a_witness(tmp_path: Path, name: str) -> None:
    config = WitnessConfig(folder=new_witness(tmp_path / "w"), port=0, requests_per_minute=0)
    with serving(config) as running:
        code = ON_A_WITNESS[name](running, tmp_path / "client")

    assert (code,) == ATTACKS_ON_A_WITNESS[name][:1]


def test_the_page_is_exact_about_its_codes() -> None:
    answers = [row[:1] for row in ATTACKS_ON_A_WITNESS.values()]
    for cells in [*ATTACKS_ON_A_LEDGER.values(), *answers]:
        for cell in cells:
            assert re.fullmatch(r"-|not asked|(\d{3} )?[A-Z_]+", cell), cell
