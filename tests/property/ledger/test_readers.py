"""Any bytes in, a value or a coded error out: every reader of the ledger's and witness's rooms.

Each reader gets real documents of its own and of the others, cut, spliced and nested, and plain
junk. What reads a file is given one.
"""

import gzip
import io
import json
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentic_os.cli.actions.trust.ledger.notes import read_note
from agentic_os.crypto.canonical.json import canonicalize, read_value
from agentic_os.crypto.envelope.public_keys import read_known_envelope, read_public_key_envelope
from agentic_os.crypto.envelope.signed import read_envelope
from agentic_os.crypto.keys.files import decode_key, encode_key, read_key
from agentic_os.crypto.keys.transition import verify_transition_line
from agentic_os.crypto.tlog.checkpoint import parse_checkpoint, parse_signed_checkpoint
from agentic_os.crypto.tlog.checkpoint_proof import parse_tlog_proof
from agentic_os.crypto.tlog.note import parse_note, parse_signatures
from agentic_os.crypto.tlog.note_keys import NoteSigner, parse_vkey
from agentic_os.errors import AgenticOSError
from agentic_os.identity.folder.keyring import read_envelope_file
from agentic_os.identity.folder.pinned_keys import PinnedKeys
from agentic_os.identity.folder.witness_tail import TAIL_NAME, read_tail
from agentic_os.identity.safe_mode import read_latch
from agentic_os.identity.witness_policy import (
    EPOCH_TYPE,
    POLICY_NAME,
    is_policy_entry,
    kept_policy,
)
from agentic_os.ledger.backup.restore import restore_backup
from agentic_os.ledger.file.head import HEAD_NAME, read_cosigned_note, read_head, state_head
from agentic_os.ledger.file.verify import verify_storage
from agentic_os.ledger.gold import read_public_key, verify_gold
from agentic_os.ledger.layout import (
    ENVELOPE_NAME,
    SAFE_MODE_NAME,
    WITNESS_FOLDER,
    WITNESS_KEYS_FOLDER,
)
from agentic_os.ledger.line.frame import read_line
from agentic_os.ledger.projection.database import SqliteDatabase
from agentic_os.ledger.projection.snapshot import Seal, peek_seal, read_seal, restore_snapshot
from agentic_os.ledger.projection.tables import Cursor, Projection
from agentic_os.ledger.rule.genesis import _laws_of
from agentic_os.witness.client.http import WitnessClient
from agentic_os.witness.client.memory import KEYS_FILE, RECEIPTS_FILE, STATE_FILE, WitnessMemory
from agentic_os.witness.client.policy import parse_policy
from agentic_os.witness.client.receipt_files import verify_receipt
from agentic_os.witness.client.submission import build_bookmark
from agentic_os.witness.protocol.add_checkpoint import AddCheckpoint, read_add_checkpoint
from agentic_os.witness.protocol.json import read_receipt, read_request, write_request
from agentic_os.witness.protocol.operator_root import read_root
from agentic_os.witness.service.config import CONFIG_FILE, read_witness_config
from agentic_os.witness.service.keyring import VKEY_FILE, read_witness_keys
from support.ledger.builder import KEYS, MemoryStorage
from support.ledger.gold import gold_line
from support.ledger.stories import story
from support.witness.actors import Owner, new_witness

OWNER = Owner(seed=1).add(5)
BOOKMARK = build_bookmark(OWNER.ledger(), ordinal=5, old_size=0, binds=True)
REQUEST = write_request(BOOKMARK)
ASKED: dict[str, Callable[[WitnessClient], object]] = {
    "receipt key": WitnessClient.receipt_key,
    "cadence": WitnessClient.min_cadence,
    "bookmark": lambda client: client.bookmark(BOOKMARK),
    "checkpoint": lambda client: client.add_checkpoint(
        AddCheckpoint(old_size=0, consistency=(), head=OWNER.ledger().head(3))
    ),
    "newest": lambda client: client.newest("00" * 32),
}
NOTE = OWNER.ledger().head(3).note.data
SIGNER: NoteSigner = OWNER.checkpoint_signer
SEAL = Seal(
    origin="",
    cursor=Cursor(1, ""),
    schema="",
    digest="",
    rows=1,
    key_id="",
    sig_b64="",
)
SCRATCH = Path(tempfile.mkdtemp(prefix="readers-"))


def in_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    """A reader of one file of a folder, as a reader of bytes."""
    folder = SCRATCH / name.replace("/", "-")
    path = folder / name

    def reader(data: bytes) -> object:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(data)
        path.chmod(0o600)
        return read(folder)

    return reader


def memory_file(name: str, read: Callable[[WitnessMemory], object]) -> Callable[[bytes], object]:
    memory = WitnessMemory(SCRATCH / name, SIGNER.key)

    def reader(data: bytes) -> object:
        memory._folder.mkdir(parents=True, exist_ok=True)
        (memory._folder / name).write_bytes(data)
        return read(memory)

    return reader


def restored(folder: Path) -> object:
    return restore_backup(folder / "a.backup", folder / "there")


def keys_with_another_vkey(data: bytes) -> object:
    home = SCRATCH / "witness"
    if not home.exists():
        new_witness(home)
    (home / VKEY_FILE).write_bytes(data)
    return read_witness_keys(home)


def answering(ask: Callable[[WitnessClient], object]) -> Callable[[bytes], object]:
    """A client whose witness answers everything with the same bytes, as 200 and as 409."""

    def reader(data: bytes) -> None:
        for status in (200, 409):
            answers = httpx.MockTransport(lambda _, code=status: httpx.Response(code, content=data))
            with (
                suppress(AgenticOSError),
                WitnessClient("http://witness.test", transport=answers) as client,
            ):
                ask(client)

    return reader


def snapshot_rows(data: bytes) -> object:
    """A snapshot whose seal says that ``data`` is its only row."""
    path = SCRATCH / "snapshot-2.jsonl.gz"
    path.write_bytes(gzip.compress(SEAL.document + b"\n" + data + b"\n"))
    with closing(Projection(SqliteDatabase(None))) as projection:
        return restore_snapshot(projection, path, replace(SEAL, rows=1))


def root_with_another_secret(data: bytes) -> object:
    home = SCRATCH / "root"
    home.mkdir(exist_ok=True, mode=0o700)
    for name in ("root.key", "root.public.json", "root.slh-dsa.key"):
        (home / name).write_bytes(data)
        (home / name).chmod(0o600)
    return read_root(home)


def text(read: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: read(data.decode("utf-8", "surrogateescape"))


READERS: dict[str, Callable[[bytes], object]] = {
    "canonical form": canonicalize,
    "canonical value": read_value,
    "line": read_line,
    "ledger": lambda data: verify_storage(MemoryStorage(data)),
    "gold": lambda data: verify_gold(MemoryStorage(data), key=KEYS["identity"].public),
    "gold key": read_public_key,
    "public key": read_public_key_envelope,
    "known public key": read_known_envelope,
    "envelope": read_envelope,
    "private key": decode_key,
    "private key with a password": lambda data: decode_key(data, password="x"),
    "key file": in_file("identity.key", lambda folder: read_key(folder / "identity.key")),
    "note": parse_note,
    "signatures": text(parse_signatures),
    "checkpoint": text(parse_checkpoint),
    "signed checkpoint": parse_signed_checkpoint,
    "proof": parse_tlog_proof,
    "vkey": text(parse_vkey),
    "policy": parse_policy,
    "kept policy": in_file(f"{WITNESS_FOLDER}/{POLICY_NAME}", kept_policy),
    "head": lambda data: read_head(data, [SIGNER.key]),
    "kept head": in_file(HEAD_NAME, read_cosigned_note),
    "seal": read_seal,
    "snapshot": in_file("snapshot-1.jsonl.gz", lambda f: peek_seal(f / "snapshot-1.jsonl.gz")),
    "snapshot's rows": snapshot_rows,
    "tail": in_file(TAIL_NAME, read_tail),
    "latch": in_file(SAFE_MODE_NAME, read_latch),
    "own envelope": in_file(ENVELOPE_NAME, read_envelope_file),
    "pinned keys": in_file(f"{WITNESS_KEYS_FOLDER}/k.json", PinnedKeys),
    "memory: state": memory_file(STATE_FILE, WitnessMemory.state),
    "memory: keys": memory_file(KEYS_FILE, WitnessMemory.served_key),
    "memory: receipts": memory_file(RECEIPTS_FILE, WitnessMemory.receipts),
    "backup": in_file("a.backup", restored),
    "request": read_request,
    "add-checkpoint": read_add_checkpoint,
    "receipt": read_receipt,
    "receipt file": in_file("a.receipt.json", lambda f: verify_receipt(f / "a.receipt.json")),
    "proof file": in_file("a.tlog-proof", lambda f: verify_receipt(f / "a.tlog-proof")),
    "laws": _laws_of,
    "payload of a policy": lambda data: is_policy_entry(EPOCH_TYPE, data),
    "transition": lambda data: verify_transition_line(
        data, role="identity", old=KEYS["identity"].public
    ),
    **{f"answer: {name}": answering(ask) for name, ask in ASKED.items()},
    "witness.toml": in_file(CONFIG_FILE, read_witness_config),
    "witness keys": keys_with_another_vkey,
    "root": root_with_another_secret,
    "note of a person": in_file("note", lambda folder: read_note(str(folder / "note"))),
}


def _backup() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        manifest = json.dumps({"format": "agentic-os-backup/v1", "files": []}).encode()
        header = tarfile.TarInfo("manifest.json")
        header.size = len(manifest)
        tar.addfile(header, io.BytesIO(manifest))
    return packed.getvalue()


SEEDS = (
    REQUEST,
    NOTE,
    b"c2sp.org/tlog-proof@v1\nindex 3\n\n" + NOTE,
    state_head(NOTE, KEYS["identity"]),
    story(6).data,
    story(1).data,
    gold_line(KEYS["identity"]) + b"\n",
    SIGNER.key.vkey.encode(),
    f"log {SIGNER.key.vkey}\nquorum none\n".encode(),
    OWNER.ledger().envelope.document,
    encode_key(KEYS["identity"]),
    b'{"ledger_ordinal":3,"ledger_hash":"00","witnessed_at":"2026-01-01T00:00:00Z"}',
    b'{"code":"X","message":"m","hint":"h","entered_at":"t","witness":"w"}',
    b'{"checkpoint":"x"}',
    b"port = 1\nlogs = []\n",
    b'{"error":"e","code":"ROLLBACK","witnessed_size":3}',
    b'{"witness_public_key_hash":"sha256:00","key_id":"k"}',
    b'{"kind":"k","laws":"l","ordinal":1,"purpose":"p","ring0_version":"1","timestamp":1}',
    _backup(),
)
NESTED = st.builds(
    lambda before, bracket, depth: before + bracket * depth,
    st.sampled_from([b"", b'{"x":', b'{"data":', b'{"entry":', b'{"checkpoint":"x","y":']),
    st.sampled_from([b"[", b'{"a":', b'{"data":', b"[[{}],"]),
    st.integers(min_value=1, max_value=20_000),
)


@dataclass(frozen=True)
class Splice:
    """Where a document is cut, how much of it goes, and what comes instead."""

    at: float
    cut: int
    put: bytes

    def of(self, seed: bytes) -> bytes:
        start = int(self.at * len(seed))
        return seed[:start] + self.put + seed[start + self.cut :]


SPLICES = st.builds(
    Splice,
    at=st.floats(min_value=0, max_value=1),
    cut=st.integers(min_value=0, max_value=60),
    put=st.binary(max_size=30) | st.sampled_from([b"\n", b"\r", b"\x00", b"\xff", b"9" * 40]),
)
DATA = st.builds(lambda seed, splice: splice.of(seed), st.sampled_from(SEEDS), SPLICES)


@pytest.fixture(scope="module", autouse=True)
def scratch() -> Iterator[None]:
    yield
    import shutil

    shutil.rmtree(SCRATCH)


@pytest.mark.parametrize("name", READERS)
@example(data=b'{"x":' + b"[" * 20_000)
@example(data=b"x = " + b"[" * 20_000)
@example(data=b'["x",' + b"[" * 20_000)
@example(data=b"\x80")
@given(data=DATA | st.binary(max_size=300) | NESTED)
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_read_or_refused_with_a_code(name: str, data: bytes) -> None:
    with suppress(AgenticOSError):
        READERS[name](data)
