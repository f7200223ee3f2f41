"""Seals and snapshots: the projection at one verified line, stated by the identity.

::

    seal       {origin, seq, hash, schema, digest, rows} signed by the identity's ML-DSA-87 key
               (header AGENTIC-OS-SNAPSHOT-V1): "these rows are what the lines up to seq say"
    snapshot   gzip: the seal on line 1, then every row in key order

A seal counts only when its key signs, or signed, for the identity in the chain at hand, its
(seq, hash) stands in that chain, its schema is ours, and the rows give its digest. Then, and
only then, the rows are used instead of replaying the lines. Anything else is no error: the
ledger is replayed.
"""

import gzip
import hashlib
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from agentic_os.crypto.canonical.json import encode, is_canonical
from agentic_os.crypto.canonical.texts import decode_base64, encode_base64, signed_text
from agentic_os.crypto.keys.pairs import SigningKey, VerifyingKey
from agentic_os.errors import CryptoError, LedgerError
from agentic_os.files.handles import open_regular
from agentic_os.ledger.projection.database import Row
from agentic_os.ledger.projection.schema import SCHEMA_SHA256, TABLES, Table
from agentic_os.ledger.projection.tables import Cursor, Projection, row_line
from agentic_os.text.shapes import read_shape

SEAL_HEADER: Final = "AGENTIC-OS-SNAPSHOT-V1"
SNAPSHOT_PREFIX: Final = "snapshot-"
SNAPSHOT_SUFFIX: Final = ".jsonl.gz"
KEPT_SNAPSHOTS: Final = 2
ROW_BYTES: Final = 4 * 1024 * 1024

_TABLES: Final = {table.name: table for table in TABLES}
_FOLDER_ENTRIES: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """The statement; unverified until ``is_by``."""

    origin: str
    cursor: Cursor
    schema: str
    digest: str
    rows: int
    key_id: str
    sig_b64: str

    @property
    def text(self) -> bytes:
        """What is signed."""
        return signed_text(
            SEAL_HEADER,
            ("origin", self.origin),
            ("seq", str(self.cursor.seq)),
            ("hash", self.cursor.hash),
            ("schema", self.schema),
            ("digest", self.digest),
            ("rows", str(self.rows)),
        )

    @property
    def document(self) -> bytes:
        """The seal in canonical JSON."""
        return encode(
            {
                "origin": self.origin,
                "seq": self.cursor.seq,
                "hash": self.cursor.hash,
                "schema": self.schema,
                "digest": self.digest,
                "rows": self.rows,
                "key_id": self.key_id,
                "sig_b64": self.sig_b64,
            }
        )

    def is_by(self, *keys: VerifyingKey) -> bool:
        """Whether one of the identity's keys made the statement, under our schema."""
        if self.schema != SCHEMA_SHA256:
            return False
        try:
            signature = decode_base64(self.sig_b64)
        except CryptoError:
            return False
        return any(key.key_id == self.key_id and key.verify(signature, self.text) for key in keys)


class _Shape(msgspec.Struct, forbid_unknown_fields=True):
    origin: str
    seq: int
    hash: str
    schema: str
    digest: str
    rows: int
    key_id: str
    sig_b64: str


def make_seal(projection: Projection, *, origin: str, key: SigningKey) -> Seal:
    """State the projection as it is now; the caller knows that it is what the ledger says."""
    digest, rows = projection.digest()
    unsigned = Seal(
        origin=origin,
        cursor=projection.cursor,
        schema=SCHEMA_SHA256,
        digest=digest,
        rows=rows,
        key_id=key.key_id,
        sig_b64="",
    )
    return Seal(
        origin=origin,
        cursor=unsigned.cursor,
        schema=SCHEMA_SHA256,
        digest=digest,
        rows=rows,
        key_id=key.key_id,
        sig_b64=encode_base64(key.sign(unsigned.text)),
    )


def read_seal(document: bytes) -> Seal | None:
    """Read a seal from its canonical JSON; None if it is not one."""
    if not is_canonical(document):
        return None
    try:
        shape = read_shape(document, _Shape)
    except ValueError:
        return None
    return Seal(
        origin=shape.origin,
        cursor=Cursor(shape.seq, shape.hash),
        schema=shape.schema,
        digest=shape.digest,
        rows=shape.rows,
        key_id=shape.key_id,
        sig_b64=shape.sig_b64,
    )


def write_snapshot(projection: Projection, folder: Path, seal: Seal) -> Path:
    """Publish a snapshot of the rows that ``seal`` states; older ones beyond two go.

    Raises:
        LedgerError: ``SNAPSHOT_FAILED``; nothing is left behind.
    """
    path = folder / f"{SNAPSHOT_PREFIX}{seal.cursor.seq}{SNAPSHOT_SUFFIX}"
    partial = folder / f".{path.name}.partial"
    try:
        with os.fdopen(_create_private(partial), "wb") as file:
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                packed.write(seal.document + b"\n")
                with projection.transaction():
                    for table, row in projection.rows():
                        packed.write(row_line(table, row))
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        for old in list_snapshots(folder)[KEPT_SNAPSHOTS:]:
            old.unlink(missing_ok=True)
    except OSError as error:
        raise LedgerError(
            f"the snapshot could not be written: {error.strerror}", code="SNAPSHOT_FAILED"
        ) from None
    finally:
        partial.unlink(missing_ok=True)
    return path


def list_snapshots(folder: Path) -> list[Path]:
    """Snapshots in a folder, the newest line first."""
    found: list[tuple[int, Path]] = []
    with suppress(OSError):
        for path in sorted(folder.iterdir())[:_FOLDER_ENTRIES]:
            name = path.name
            if name.startswith(SNAPSHOT_PREFIX) and name.endswith(SNAPSHOT_SUFFIX):
                digits = name.removeprefix(SNAPSHOT_PREFIX).removesuffix(SNAPSHOT_SUFFIX)
                if digits.isascii() and digits.isdigit():
                    found.append((int(digits), path))
    return [path for _, path in sorted(found, reverse=True)]


def peek_seal(path: Path) -> Seal | None:
    """Read the seal of a snapshot file; None if it cannot be read."""
    try:
        with _unpacked(path) as file:
            return read_seal(file.readline(ROW_BYTES).removesuffix(b"\n"))
    except (OSError, EOFError, zlib.error):
        return None


def restore_snapshot(projection: Projection, path: Path, seal: Seal) -> bool:
    """Put a snapshot's rows in place of the projection's; False leaves it as it was.

    The caller has verified ``seal`` against the chain. The digest over the rows read must be
    the seal's, or the transaction is rolled back.
    """
    try:
        with projection.transaction():
            projection.load(_rows_of(path, seal), seal.cursor)
    except (_UnusableError, OSError, EOFError, zlib.error, ValueError, LedgerError):
        return False
    return True


class _UnusableError(Exception):
    """The file is not what its seal states; never leaves this module."""


def _rows_of(path: Path, seal: Seal) -> Iterator[tuple[Table, Row]]:
    """Yield the rows of a snapshot; raise after the last one if they are not the sealed ones."""
    running = hashlib.sha256()
    with _unpacked(path) as file:
        if file.readline(ROW_BYTES).removesuffix(b"\n") != seal.document:
            raise _UnusableError
        for _ in range(seal.rows):
            line = file.readline(ROW_BYTES)
            name, values = read_shape(line, tuple[str, list[str | int | float | None]])
            table = _TABLES.get(name)
            if table is None or len(values) != len(table.columns):
                raise _UnusableError
            running.update(line)
            yield table, tuple(values)
    if f"sha256:{running.hexdigest()}" != seal.digest:
        raise _UnusableError


@contextmanager
def _unpacked(path: Path) -> Iterator[gzip.GzipFile]:
    with open(path, "rb", opener=open_regular) as packed, gzip.GzipFile(fileobj=packed) as file:
        yield file


def _create_private(path: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    return os.open(path, flags, 0o600)
