"""The two texts by which a ledger changes a key, and the proof in one line of a ledger.

A role's old key signs the line that names the new key; the new key signs, inside the
payload, that it takes over (ledger format, section Types). Whoever knows the old key can
check a transition from the line alone: a witness does so, and needs no ledger for it.

A transition's payload has ``role``, ``new_public_key_b64`` and ``new_sig_b64``, and may
have ``reason``.
"""

from typing import Final

import msgspec

from agentic_os.crypto.canonical.json import is_canonical
from agentic_os.crypto.canonical.texts import decode_base64, sha256_text, signed_text
from agentic_os.crypto.keys.pairs import ML_DSA_87, VerifyingKey
from agentic_os.errors import CryptoError

LINE_HEADER: Final = "AGENTIC-OS-LEDGER-LINE-V1"
TRANSITION_HEADER: Final = "AGENTIC-OS-KEY-TRANSITION-V1"
TRANSITION_TYPE: Final = "key.transition"


def line_text(*, role: str, key_id: str, entry_hash: str, alg: str = ML_DSA_87) -> bytes:
    """Return the bytes that the signature of a ledger line signs (ledger format, section File)."""
    return signed_text(
        LINE_HEADER, ("alg", alg), ("role", role), ("key_id", key_id), ("hash", entry_hash)
    )


def transition_text(*, role: str, old_key_id: str, new_key_id: str) -> bytes:
    """Return the bytes that the new key signs to take over a role."""
    return signed_text(
        TRANSITION_HEADER,
        ("role", role),
        ("old_key_id", old_key_id),
        ("new_key_id", new_key_id),
    )


class _Payload(msgspec.Struct, forbid_unknown_fields=True):
    role: str
    new_public_key_b64: str
    new_sig_b64: str
    reason: str | None = None


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    layer: str
    payload: _Payload
    ring: int
    salt: str
    seq: int
    ts: str
    type: str


class _Signature(msgspec.Struct, forbid_unknown_fields=True):
    alg: str
    key_id: str
    role: str
    sig_b64: str


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    entry: _Entry
    hash: str
    prev_hash: str
    sig: _Signature


class _RawLine(msgspec.Struct):
    entry: msgspec.Raw


_LINE = msgspec.json.Decoder(_Line)
_RAW_LINE = msgspec.json.Decoder(_RawLine)


def verify_transition_line(line: bytes, *, role: str, old: VerifyingKey) -> VerifyingKey:
    """Return the new key that a ``key.transition`` line (without LF) puts in place of ``old``.

    Checks the canonical form, the entry hash, the old key's signature over the line and the
    new key's over the transition. Where the line stands in a ledger is not checked here: an
    inclusion proof says that.

    Raises:
        CryptoError: ``TRANSITION_INVALID``; the message names the check.
    """
    if not is_canonical(line):
        raise _invalid("not a canonical line")
    try:
        read = _LINE.decode(line)
    except msgspec.MsgspecError as error:
        raise _invalid(str(error)) from None
    entry, signature = read.entry, read.sig
    if (entry.type, entry.layer, entry.ring) != (TRANSITION_TYPE, "anchor", 0):
        raise _invalid("another type of line")
    if entry.payload.role != role or signature.role != role:
        raise _invalid("another role")
    preimage = b'{"entry":%b,"prev_hash":"%b"}' % (
        bytes(_RAW_LINE.decode(line).entry),
        read.prev_hash.encode(),
    )
    if sha256_text(preimage) != read.hash:
        raise _invalid("the hash does not match")
    if signature.alg != ML_DSA_87 or signature.key_id != old.key_id:
        raise _invalid("not signed by the old key")
    text = line_text(role=role, key_id=old.key_id, entry_hash=read.hash)
    if not old.verify(decode_base64(signature.sig_b64), text):
        raise _invalid("the old key's signature does not verify")
    new = VerifyingKey(ML_DSA_87, decode_base64(entry.payload.new_public_key_b64))
    taking_over = transition_text(role=role, old_key_id=old.key_id, new_key_id=new.key_id)
    if not new.verify(decode_base64(entry.payload.new_sig_b64), taking_over):
        raise _invalid("the new key's signature does not verify")
    return new


def _invalid(why: str) -> CryptoError:
    return CryptoError(f"not a key transition: {why}", code="TRANSITION_INVALID")
