"""The parties of the witness's tests: a ledger's owner, an operator's root, a running service.

Lines are stand-ins (the witness sees only their hashes), but for ``key.transition``, which is
built as the ledger format says.
"""

import asyncio
import atexit
import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.texts import encode_base64, sha256_text
from agentic_os.crypto.envelope.profiles import ROOT_PROFILE, SLH_DSA_256S
from agentic_os.crypto.envelope.public_keys import make_identity_envelope, make_public_key_envelope
from agentic_os.crypto.keys.pairs import ED25519, ML_DSA_87, SigningKey
from agentic_os.crypto.keys.transition import line_text, transition_text
from agentic_os.crypto.tlog.merkle import leaf_hash
from agentic_os.crypto.tlog.merkle_tree import MerkleTree
from agentic_os.crypto.tlog.note_keys import NoteKey, NoteSigner
from agentic_os.witness.client.policy import QuorumPolicy, parse_policy
from agentic_os.witness.client.submission import KeyChange, WitnessedLedger
from agentic_os.witness.protocol.operator_root import OperatorRoot
from agentic_os.witness.service.config import ListedLog, WitnessConfig
from agentic_os.witness.service.desk import WitnessDesk
from agentic_os.witness.service.http import WitnessService
from agentic_os.witness.service.keyring import generate_witness
from agentic_os.witness.service.server import open_desk, running

if TYPE_CHECKING:
    from agentic_os.crypto.canonical.values import JsonInput

HTTP = httpx.Client()
"""One client for all tests: making one loads every certificate of the machine."""
atexit.register(HTTP.close)

BORN = datetime(2026, 1, 1, tzinfo=UTC)
DOMAIN = "operator.example"


def stand_in_root() -> OperatorRoot:
    """A root whose SLH-DSA half is a stand-in: signing with the real one takes seconds."""
    ml_dsa = SigningKey(ML_DSA_87, b"r" * 32)
    public = make_public_key_envelope(
        key_id="agentic_os_root_test",
        key_type="platform",
        profile=ROOT_PROFILE,
        keys=[(ML_DSA_87, ml_dsa.public.raw), (SLH_DSA_256S, b"s" * 64)],
        created_at=BORN,
        valid_days=3650,
    )
    return OperatorRoot(public=public, ml_dsa=ml_dsa, sign_slh=lambda _: b"\0" * 29_792)


@dataclass(kw_only=True)
class Owner:
    """An identity with its ledger: keys from a seed, lines, tree."""

    seed: int
    identity_seed: int = 0
    checkpoint_seed: int = 0
    lines: list[bytes] = field(default_factory=list)
    changes: tuple[KeyChange, ...] = ()

    @property
    def identity_key(self) -> SigningKey:
        return SigningKey(
            ML_DSA_87, hashlib.sha256(b"i%d/%d" % (self.seed, self.identity_seed)).digest()
        )

    @property
    def first_key_digits(self) -> str:
        first = SigningKey(ML_DSA_87, hashlib.sha256(b"i%d/0" % self.seed).digest())
        return first.key_id.removeprefix("sha256:")[:16]

    @property
    def origin(self) -> str:
        return f"{DOMAIN}/ledger/{self.first_key_digits}"

    @property
    def checkpoint_signer(self) -> NoteSigner:
        seed = hashlib.sha256(b"c%d/%d" % (self.seed, self.checkpoint_seed)).digest()
        return NoteSigner(kind="note", name=self.origin, private=SigningKey(ED25519, seed))

    @property
    def log(self) -> ListedLog:
        """Its checkpoint key as a witness lists a log's."""
        return log_of(self.checkpoint_signer.key)

    def add(self, count: int) -> "Owner":
        """Append lines; returns self."""
        self.lines += [b"line %d of %d" % (len(self.lines) + n, self.seed) for n in range(count)]
        return self

    def forked(self, at: int) -> "Owner":
        """The same owner, another line at index ``at``."""
        lines = list(self.lines)
        lines[at] = b"another line %d" % at
        return replace(self, lines=lines)

    def cut(self, size: int) -> "Owner":
        """The same owner with the first ``size`` lines."""
        return replace(self, lines=self.lines[:size])

    def rotated(self) -> "Owner":
        """The same owner after a ``key.transition`` line of the identity role."""
        old, new = self.identity_key, replace(self, identity_seed=self.identity_seed + 1)
        seq = len(self.lines) + 1
        line = transition_line(old, new.identity_key, seq=seq)
        change = KeyChange(seq=seq, line=line, old_public_key=old.public.raw)
        return replace(new, lines=[*self.lines, line], changes=(*self.changes, change))

    def tree(self) -> MerkleTree:
        tree = MerkleTree()
        for line in self.lines:
            tree.append(leaf_hash(line))
        return tree

    def hash_at(self, ordinal: int) -> str:
        """Like a ledger's: the hash of a line depends on all before it."""
        joined = b"\n".join(self.lines[:ordinal])
        return hashlib.sha256(joined).hexdigest()

    def ledger(self) -> WitnessedLedger:
        return WitnessedLedger(
            envelope=make_identity_envelope(self.identity_key.public, created_at=BORN),
            identity_key=self.identity_key,
            checkpoint_signer=self.checkpoint_signer,
            tree=self.tree(),
            hash_at=self.hash_at,
            key_changes=self.changes,
        )


def log_of(key: NoteKey) -> ListedLog:
    """A log whose origin is its key's name."""
    return ListedLog(origin=key.name, key=key)


def transition_line(old: SigningKey, new: SigningKey, *, seq: int) -> bytes:
    """A ``key.transition`` line (ledger format, sections File and Types)."""
    taking_over = transition_text(role="identity", old_key_id=old.key_id, new_key_id=new.key_id)
    entry: dict[str, JsonInput] = {
        "layer": "anchor",
        "payload": {
            "role": "identity",
            "new_public_key_b64": encode_base64(new.public.raw),
            "new_sig_b64": encode_base64(new.sign(taking_over)),
        },
        "ring": 0,
        "salt": "00" * 16,
        "seq": seq,
        "ts": "2026-01-01T00:00:00.000000000Z",
        "type": "key.transition",
    }
    prev_hash = "sha256:" + "1" * 64
    entry_hash = sha256_text(encode({"entry": entry, "prev_hash": prev_hash}))
    text = line_text(role="identity", key_id=old.key_id, entry_hash=entry_hash)
    signature: dict[str, JsonInput] = {
        "alg": ML_DSA_87,
        "key_id": old.key_id,
        "role": "identity",
        "sig_b64": encode_base64(old.sign(text)),
    }
    return encode({"entry": entry, "hash": entry_hash, "prev_hash": prev_hash, "sig": signature})


def new_witness(folder: Path, *, name: str = "witness.example/w1") -> Path:
    """Make a witness in ``folder`` and return the folder."""
    generate_witness(folder, name=name, root=stand_in_root(), now=BORN)
    return folder


@contextmanager
def desk_of(
    config: WitnessConfig, *, clock: Callable[[], float] | None = None
) -> Iterator[WitnessDesk]:
    """An open witness without a server."""
    desk = open_desk(config, clock=clock)
    try:
        yield desk
    finally:
        desk.store.close()


@dataclass(frozen=True, kw_only=True)
class Serving:
    """A running service: its address, the desk behind it, and the line a policy takes."""

    url: str
    desk: WitnessDesk
    config: WitnessConfig

    @property
    def policy_line(self) -> str:
        vkey = self.desk.keys.cosigner.key.vkey
        return f"witness {self.desk.keys.name.replace('/', '-')} {vkey} {self.url}\n"


@contextmanager
def serving(
    config: WitnessConfig, *, clock: Callable[[], float] | None = None
) -> Iterator[Serving]:
    """Run the real service (uvicorn, loopback) in a thread."""
    config = replace(config, port=config.port if config.port != 8787 else 0)
    with desk_of(config, clock=clock) as desk:
        service = WitnessService(desk)
        loop = asyncio.new_event_loop()
        ports: list[int] = []
        ready, stop = threading.Event(), asyncio.Event()

        async def run() -> None:
            async with running(service, config) as port:
                ports.append(port)
                ready.set()
                await stop.wait()

        def main() -> None:
            try:
                loop.run_until_complete(run())
            finally:
                ready.set()
                loop.close()

        thread = threading.Thread(target=main)
        thread.start()
        try:
            assert ready.wait(10)
            assert ports, "the service did not start"
            yield Serving(url=f"http://127.0.0.1:{ports[0]}", desk=desk, config=config)
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join(15)


def policy_of(*witnesses: Serving, quorum: str = "all") -> QuorumPolicy:
    """A policy over running witnesses: one group of all of them."""
    names = " ".join(item.policy_line.split()[1] for item in witnesses)
    lines = "".join(item.policy_line for item in witnesses)
    return parse_policy(f"{lines}group g {quorum} {names}\nquorum g\n".encode())
