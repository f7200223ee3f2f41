"""Verification of a long ledger beside one raw SHA-256 over the same bytes.

    python benchmarks/ledger_verify.py [--lines 1000000] [--signature none|full] [--json FILE]

Two figures. Below a cosigned head signatures are not checked (design decision 10): hashes,
chain, canonical form, schemas and the Merkle tree are, and the time is given as a ratio to
hashing the same file once, with the peak of memory before and after. ``none`` writes lines
without signature bytes, the hardest case for the ratio; ``full`` writes lines of their real
length, about 6.7 kB. Then a short ledger with real signatures is verified whole, and appended
to. CPU seconds of this process; the bytes are read once before the clock starts.
"""

import argparse
import hashlib
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from typing import TYPE_CHECKING

from agentic_os.crypto.keys.pairs import ED25519, SigningKey
from agentic_os.crypto.tlog.checkpoint import Checkpoint, sign_checkpoint
from agentic_os.crypto.tlog.note import sign_text
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.identity.services import verify_ledger
from agentic_os.ledger.file.head import CosignedHead, read_head, state_head
from agentic_os.ledger.file.storage import BLOCK_BYTES, FileStorage, LineReader
from agentic_os.ledger.file.verify import verify_storage
from agentic_os.ledger.line.entry import (
    assemble_line,
    draft,
    encode_entry,
    entry_hash,
    new_salt,
    sign_line,
)
from agentic_os.ledger.rule.chain import Chain
from support.ledger.actors import booted, born, notes
from support.ledger.builder import KEYS, Builder

if TYPE_CHECKING:
    from agentic_os.crypto.canonical.values import JsonInput

STAMP = "2026-01-01T00:00:00.000000000Z"
FULL_SIGNATURE = "A" * 6170 + "=="
SIGNED_LINES = 2_000
IDENTITY = KEYS["identity"]


@dataclass
class Row:
    """What was measured."""

    lines: int
    bytes_a_line: float
    raw_sha256_s: float
    verify_s: float
    ratio: float
    signatures_skipped: int
    peak_mib_before: float
    peak_mib_after: float
    signed_lines_per_s: float
    appended_lines_per_s: float


def _write(path: Path, lines: int, signature: str) -> None:
    """A chain of plain lines; only the last two bear a signature that anybody checks."""
    with path.open("wb") as file:
        builder = Builder().genesis()
        file.write(builder.data)
        previous = builder.prev_hash
        for seq in range(2, lines + 1):
            payload: dict[str, JsonInput] = {
                "id": f"belief_{seq}",
                "statement": "The operator prefers direct communication in the morning.",
                "confidence": 0.87,
            }
            entry = encode_entry(
                draft("belief.upsert", payload), seq=seq, ts=STAMP, salt=new_salt()
            )
            name = entry_hash(entry, previous)
            if seq >= lines - 1:
                line = sign_line(entry, prev_hash=previous, role="identity", key=IDENTITY)
            else:
                line = assemble_line(
                    entry,
                    name=name,
                    prev_hash=previous,
                    role="identity",
                    key_id=IDENTITY.key_id,
                    sig_b64=signature,
                )
            file.write(line + b"\n")
            previous = name


def _head(storage: FileStorage) -> CosignedHead:
    chain = Chain()
    for line in LineReader(storage):
        chain.advance(chain.weigh(line))
    log = NoteSigner(kind="note", name=chain.origin, private=SigningKey(ED25519, b"l" * 32))
    witness = NoteSigner(kind="cosignature", name="w", private=SigningKey(ED25519, b"w" * 32))
    head = sign_checkpoint(Checkpoint(origin=chain.origin, size=chain.size, root=chain.root), log)
    cosignature = sign_text(head.note.text, witness, time=1_800_000_000)
    note = replace(head, note=head.note.signed_by(cosignature)).note
    return read_head(state_head(note.data, IDENTITY), [witness.key])


def _raw(storage: FileStorage) -> None:
    running, at = hashlib.sha256(), 0
    while block := storage.read(at, BLOCK_BYTES):
        running.update(block)
        at += len(block)


def _cpu(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _peak_mib() -> float:
    scale = 1024 if sys.platform == "linux" else 1024 * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale


def _with_signatures(folder: Path) -> tuple[float, float]:
    """Lines a CPU second, verified whole and appended in batches of 32."""
    home = born(folder / "me")
    with booted(home) as identity:
        batches = range(0, SIGNED_LINES, 32)
        appended = _cpu(
            lambda: [
                identity.append("agent", notes(*range(first, first + 32))) for first in batches
            ]
        )
    verified = _cpu(lambda: verify_ledger(home))
    return SIGNED_LINES / verified, 32 * len(batches) / appended


def measure(lines: int, signature: str) -> Row:
    """Write, measure, throw away."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "ledger.jsonl"
        _write(path, lines, signature)
        storage = FileStorage.open(path)
        try:
            head = _head(storage)
            raw = min(_cpu(lambda: _raw(storage)) for _ in range(3))
            before = _peak_mib()
            found, _ = verify_storage(storage, head=head)
            if not found.verified:
                raise RuntimeError(found.findings[0].message)
            verify = min(_cpu(lambda: verify_storage(storage, head=head)) for _ in range(2))
            after = _peak_mib()
            size = storage.size()
        finally:
            storage.close()
        checked, appended = _with_signatures(folder)
    return Row(
        lines=lines,
        bytes_a_line=size / lines,
        raw_sha256_s=raw,
        verify_s=verify,
        ratio=verify / raw,
        signatures_skipped=found.signatures_skipped,
        peak_mib_before=before,
        peak_mib_after=after,
        signed_lines_per_s=checked,
        appended_lines_per_s=appended,
    )


def main() -> None:
    """Measure and print one row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--signature", choices=("none", "full"), default="none")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    row = measure(asked.lines, FULL_SIGNATURE if asked.signature == "full" else "")
    for name, value in asdict(row).items():
        print(f"{name:22} {value:,.2f}" if isinstance(value, float) else f"{name:22} {value:,}")
    if asked.json:
        asked.json.write_text(json.dumps(asdict(row), indent=2) + "\n")


if __name__ == "__main__":
    main()
