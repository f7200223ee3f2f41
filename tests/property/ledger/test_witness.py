"""The witness as a state machine under any requests, and its readers under any bytes.

The model holds what the witness may answer; it is written from the rules of the module
docstring of ``rule`` and keeps whole trees, where the witness keeps a root.
"""

import asyncio
import json
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agentic_os.crypto.canonical.texts import encode_base64
from agentic_os.crypto.tlog.note import parse_signatures, verifies
from agentic_os.errors import CryptoError, VerificationError, WitnessError
from agentic_os.witness.client.policy import parse_policy
from agentic_os.witness.client.submission import build_bookmark
from agentic_os.witness.protocol.add_checkpoint import (
    AddCheckpoint,
    read_add_checkpoint,
    write_add_checkpoint,
)
from agentic_os.witness.protocol.json import read_receipt, read_request, write_request
from agentic_os.witness.protocol.refusal import Refusal, RequestRefusedError
from agentic_os.witness.service.config import WitnessConfig
from agentic_os.witness.service.desk import Reply
from agentic_os.witness.service.server import open_desk
from agentic_os.witness.service.work import Acknowledged
from support.witness.actors import Owner, new_witness

LENGTH = 12
# Ledgers of one identity: the honest one and forks of it at a few places.
HONEST = Owner(seed=1).add(LENGTH)
VERSIONS = [HONEST, HONEST.forked(0), HONEST.forked(4), HONEST.forked(9)]
LEDGERS = [owner.ledger() for owner in VERSIONS]
SIZES = st.integers(min_value=1, max_value=LENGTH)


class WitnessMachine(RuleBasedStateMachine):
    """Bookmarks (with and without proof) and checkpoints of any version, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self._place = tempfile.TemporaryDirectory()
        folder = new_witness(Path(self._place.name) / "w")
        self.desk = open_desk(WitnessConfig(folder=folder, requests_per_minute=0))
        self.ordinal, self.ledger_hash = 0, ""
        self.tree: tuple[bytes, ...] = ()
        self.is_proved = False

    def teardown(self) -> None:
        self.desk.store.close()
        self._place.cleanup()

    def ask(self, body: bytes, *, dialect: str) -> Reply:
        answer = self.desk.bookmark if dialect == "aii-os" else self.desk.add_checkpoint
        return asyncio.run(answer(body))

    @initialize()
    def begin(self) -> None:
        assert self.desk.store.read.totals().identities == 0

    @rule(version=st.integers(0, len(VERSIONS) - 1), size=SIZES)
    def bookmark_without_proof(self, version: int, size: int) -> None:
        request = build_bookmark(LEDGERS[version], ordinal=size, old_size=None, binds=False)
        result = self.ask(write_request(request), dialect="aii-os").result
        same = (size, request.ledger_hash) == (self.ordinal, self.ledger_hash)
        allowed = not self.is_proved and (size > self.ordinal or same)

        assert isinstance(result, Acknowledged) is allowed
        if allowed:
            self.ordinal, self.ledger_hash = size, request.ledger_hash

    @rule(
        version=st.integers(0, len(VERSIONS) - 1),
        size=SIZES,
        old=st.integers(0, LENGTH),
        binds=st.booleans(),
    )
    def bookmark_with_proof(self, version: int, size: int, old: int, binds: bool) -> None:
        if old > size:
            return
        request = build_bookmark(LEDGERS[version], ordinal=size, old_size=old, binds=binds)
        result = self.ask(write_request(request), dialect="aii-os").result
        leaves = tuple(VERSIONS[version].lines[:size])
        same = (size, request.ledger_hash) == (self.ordinal, self.ledger_hash)
        allowed = (
            (binds or self.is_proved)
            and (size > self.ordinal or same)
            and old == len(self.tree)
            and leaves[: len(self.tree)] == self.tree
        )

        assert isinstance(result, Acknowledged) is allowed, result
        if isinstance(result, Acknowledged):
            line = parse_signatures(json.loads(result.body)["cosignature"])[0]
            text = LEDGERS[version].head(size).note.text
            assert verifies(text, line, self.desk.keys.cosigner.key)
            assert read_receipt(result.body).ordinal == size
            self.ordinal, self.ledger_hash = size, request.ledger_hash
            self.tree, self.is_proved = leaves, True

    @rule(version=st.integers(0, len(VERSIONS) - 1), size=SIZES, old=st.integers(0, LENGTH))
    def checkpoint(self, version: int, size: int, old: int) -> None:
        if old > size:
            return
        ledger = LEDGERS[version]
        proof = ledger.tree.consistency_proof(old, size)
        request = AddCheckpoint(old_size=old, consistency=proof, head=ledger.head(size))
        result = self.ask(write_add_checkpoint(request), dialect="c2sp").result
        leaves = tuple(VERSIONS[version].lines[:size])
        if not self.is_proved:
            assert isinstance(result, Refusal)
            assert result.status == 404
            return
        allowed = old == len(self.tree) and leaves[: len(self.tree)] == self.tree
        assert isinstance(result, Acknowledged) is allowed, result
        if allowed:
            self.tree = leaves

    @invariant()
    def the_state_is_the_models(self) -> None:
        state = self.desk.store.read.origin(HONEST.origin)
        identity = self.desk.store.read.identity(LEDGERS[0].identity_id)
        mark = identity.bookmark if identity else None
        assert ((mark.ordinal, mark.ledger_hash) if mark else (0, "")) == (
            self.ordinal,
            self.ledger_hash,
        )
        assert (state.head.size if state and state.head else 0) == len(self.tree)
        assert (identity.proved if identity else False) is self.is_proved


TestWitnessMachine = WitnessMachine.TestCase
TestWitnessMachine.settings = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


BODY = json.loads(write_request(build_bookmark(LEDGERS[0], ordinal=6, old_size=3, binds=True)))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def changed_bodies(draw: st.DrawFn) -> bytes:
    tree: dict[str, Any] = json.loads(json.dumps(BODY))
    for _ in range(draw(st.integers(1, 3))):
        node: Any = tree
        while isinstance(node, dict) and node:
            name = draw(st.sampled_from(sorted(node)))
            if not isinstance(node[name], dict) or draw(st.booleans()):
                if draw(st.booleans()):
                    node[name] = draw(VALUES)
                else:
                    del node[name]
                break
            node = node[name]
    return json.dumps(tree).encode()


@given(body=st.one_of(st.binary(max_size=200), changed_bodies()))
@settings(max_examples=300, deadline=None)
def test_bookmarks_are_read_or_refused_and_written_back_alike(body: bytes) -> None:
    try:
        request = read_request(body)
    except RequestRefusedError as error:
        refusal = error.refusal
    else:
        assert read_request(write_request(request)) == request
        return
    assert (refusal.status, refusal.code) == (400, "MALFORMED")


CHECKPOINT = write_add_checkpoint(
    AddCheckpoint(
        old_size=3,
        consistency=LEDGERS[0].tree.consistency_proof(3, 6),
        head=LEDGERS[0].head(6),
    )
)


@given(
    body=st.one_of(
        st.binary(max_size=200),
        st.tuples(st.integers(0, len(CHECKPOINT)), st.binary(max_size=8), st.integers(0, 8)).map(
            lambda cut: CHECKPOINT[: cut[0]] + cut[1] + CHECKPOINT[cut[0] + cut[2] :]
        ),
    )
)
@settings(max_examples=400, deadline=None)
def test_checkpoint_bodies_are_read_or_refused_and_written_back_the_same(body: bytes) -> None:
    with suppress(RequestRefusedError):
        assert write_add_checkpoint(read_add_checkpoint(body)) == body


@given(data=st.binary(max_size=300))
@settings(max_examples=200, deadline=None)
def test_receipts_and_policies_of_any_bytes_are_refused(data: bytes) -> None:
    for read in (read_receipt, parse_policy):
        with suppress(CryptoError, VerificationError, WitnessError):
            read(data)


WORDS = st.sampled_from(["log", "witness", "group", "quorum", "a", "b", "all", "any", "1", "none"])
LINES = st.lists(st.lists(WORDS, max_size=5).map(" ".join), max_size=8).map("\n".join)


@given(text=LINES)
@settings(max_examples=200, deadline=None)
def test_a_policy_of_any_words_never_agrees_without_a_witness(text: str) -> None:
    try:
        policy = parse_policy(text.encode())
    except WitnessError as error:
        code = error.code
    else:
        assert policy.is_satisfied(()) is (policy.quorum == "none")
        return
    assert code == "POLICY_INVALID"


@given(hashes=st.lists(st.binary(min_size=32, max_size=32), max_size=64))
@settings(max_examples=50, deadline=None)
def test_no_random_proof_moves_a_witness(hashes: list[bytes]) -> None:
    fork = LEDGERS[1]
    lines = "".join(f"{encode_base64(item)}\n" for item in hashes)
    body = f"old 6\n{lines}\n".encode() + fork.head(9).note.data
    with tempfile.TemporaryDirectory() as place:
        folder = new_witness(Path(place) / "w")
        logs = (HONEST.log,)
        desk = open_desk(WitnessConfig(folder=folder, logs=logs, requests_per_minute=0))
        try:
            first = AddCheckpoint(old_size=0, consistency=(), head=LEDGERS[0].head(6))
            asyncio.run(desk.add_checkpoint(write_add_checkpoint(first)))
            reply = asyncio.run(desk.add_checkpoint(body))
            state = desk.store.read.origin(HONEST.origin)
        finally:
            desk.store.close()
    assert isinstance(reply.result, Refusal)
    assert reply.result.status in (400, 422)
    assert state
    assert state.head
    assert state.head.size == 6
