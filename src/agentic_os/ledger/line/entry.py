"""An entry and the line that carries it: encoding, hash, signed text (ledger format, File).

::

    line   {"entry":E,"hash":"sha256:…","prev_hash":"sha256:…","sig":{…}}            + LF
    E      {"layer","payload","ring","salt","seq","ts","type"}
    hash   SHA-256 of {"entry":E,"prev_hash":"sha256:…"}
    sig    {"alg":"ML-DSA-87","key_id":"sha256:…","role":…,"sig_b64":…}

Everything is canonical JSON, so members stand in alphabetical order and the bytes of a line
are a function of its values.
"""

import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Final

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.texts import ZERO_SHA256_TEXT, encode_base64, sha256_text
from agentic_os.crypto.canonical.values import JsonInput
from agentic_os.crypto.keys.pairs import ML_DSA_87, SigningKey
from agentic_os.crypto.keys.transition import line_text
from agentic_os.errors import LedgerError
from agentic_os.ledger.line.payloads import Payload
from agentic_os.ledger.line.vocabulary import EntryType, entry_type

LINE_BYTES: Final = 1024 * 1024
"""Longest line, its LF included; the writer and every reader hold to the same number."""
ENTRY_SALT_BYTES: Final = 16
GENESIS_PREV_HASH: Final = ZERO_SHA256_TEXT

_NANOSECONDS: Final = 1_000_000_000


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What somebody wants written: a type and its payload in canonical bytes.

    The payload's value is decoded once and carried with it: to the gate, to the trial, to the
    projection. Only the chain, which trusts nobody, decodes the bytes again.
    """

    type: str
    payload: bytes

    @cached_property
    def kind(self) -> EntryType:
        """The row of the type; raises what ``entry_type`` raises."""
        return entry_type(self.type)

    @cached_property
    def value(self) -> Payload:
        """The payload's value; raises what ``EntryType.read`` raises."""
        return self.kind.read(self.payload)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a ledger with all its values. ``raw`` is its bytes without LF."""

    seq: int
    type: str
    layer: str
    ring: int
    ts: str
    salt: str
    payload: bytes
    hash: str
    prev_hash: str
    role: str
    key_id: str
    sig_b64: str
    raw: bytes


def draft(type_name: str, payload: JsonInput) -> Draft:
    """Make a draft from a Python value.

    Raises:
        CryptoError: ``CANONICAL_INVALID`` for a value without a canonical form.
    """
    return Draft(type=type_name, payload=encode(payload))


def timestamp(nanoseconds: int | None = None) -> str:
    """UTC with nine fractional digits and ``Z``; now, where no time is given."""
    now = time.time_ns() if nanoseconds is None else nanoseconds
    seconds, fraction = divmod(now, _NANOSECONDS)
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{fraction:09d}Z"


def new_salt() -> str:
    """16 random bytes as hex: makes leaf hashes unguessable."""
    return secrets.token_hex(ENTRY_SALT_BYTES)


def encode_entry(drafted: Draft, *, seq: int, ts: str, salt: str) -> bytes:
    """Return the canonical bytes of an entry. The payload must be canonical already."""
    kind = drafted.kind
    return b'{"layer":"%b","payload":%b,"ring":%d,"salt":"%b","seq":%d,"ts":"%b","type":"%b"}' % (
        kind.layer.encode(),
        drafted.payload,
        kind.ring,
        salt.encode(),
        seq,
        ts.encode(),
        kind.name.encode(),
    )


def entry_hash(entry: bytes, prev_hash: str) -> str:
    """Return the ``sha256:`` name of an entry at its place in the chain."""
    return sha256_text(b'{"entry":%b,"prev_hash":"%b"}' % (entry, prev_hash.encode()))


def sign_line(entry: bytes, *, prev_hash: str, role: str, key: SigningKey) -> bytes:
    """Sign an entry and return its line, without LF.

    Raises:
        LedgerError: ``LEDGER_LINE_TOO_LONG``.
    """
    name = entry_hash(entry, prev_hash)
    signature = key.sign(line_text(role=role, key_id=key.key_id, entry_hash=name))
    line = assemble_line(
        entry,
        name=name,
        prev_hash=prev_hash,
        role=role,
        key_id=key.key_id,
        sig_b64=encode_base64(signature),
    )
    if len(line) + 1 > LINE_BYTES:
        raise LedgerError(
            f"a line may have {LINE_BYTES} bytes, this one has {len(line) + 1}",
            code="LEDGER_LINE_TOO_LONG",
            hint="Record a shorter text.",
        )
    return line


def assemble_line(
    entry: bytes, *, name: str, prev_hash: str, role: str, key_id: str, sig_b64: str
) -> bytes:
    """Put a line together around an entry, without LF; nothing is checked."""
    return (
        b'{"entry":%b,"hash":"%b","prev_hash":"%b",'
        b'"sig":{"alg":"%b","key_id":"%b","role":"%b","sig_b64":"%b"}}'
    ) % (
        entry,
        name.encode(),
        prev_hash.encode(),
        ML_DSA_87.encode(),
        key_id.encode(),
        role.encode(),
        sig_b64.encode(),
    )
