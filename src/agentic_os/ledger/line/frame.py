"""The strict reader of one line, made for reading millions of them.

All members but the payload have a fixed order and a fixed grammar, so one expression anchored
at the last ``,"ring":`` takes a line apart; what lies before it is the payload, which must be
exactly one canonical object. Together they accept precisely the lines that a generic
canonical reader and a schema of exactly those members accept; a property test says so.

The alphabets of salt and signature are compared outside the expression, which would go digit by
digit. ``split_line`` only measures the two hashes and the key id: a chain compares them with values
that it computed or knows, which is stricter than any grammar. ``read_line`` also checks their
alphabet, for readers without a chain.
"""

import re
from datetime import date
from typing import Final, NamedTuple

from agentic_os.crypto.canonical.json import canonicalize_strict, is_canonical
from agentic_os.crypto.canonical.texts import is_sha256_text
from agentic_os.errors import CryptoError, VerificationError
from agentic_os.ledger.line.entry import LINE_BYTES, Line

IDENTITY_START: Final = b'{"entry":{"layer":"identity","payload":'
ANCHOR_START: Final = b'{"entry":{"layer":"anchor","payload":'
RING_START: Final = b',"ring":'
_HASH_NAME: Final = b',"hash":"'
TAIL: Final = re.compile(
    rb',"ring":([0-5]),"salt":"(.{32})","seq":([1-9][0-9]{0,17}),"ts":"'
    rb"([0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{9}Z)"
    rb'","type":"([a-z0-9_]+\.[a-z0-9_]+)"\}'
    rb',"hash":"(sha256:.{64})","prev_hash":"(sha256:.{64})"'
    rb',"sig":\{"alg":"ML-DSA-87","key_id":"(sha256:.{64})","role":"([a-z]+)","sig_b64":"(.*)"\}\}',
    re.DOTALL,
)
_HASH_GROUP: Final = 6
BASE64_CHARS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
SALT_CHARS: Final = b"0123456789abcdef"
BASE64_PADDING: Final = frozenset({b"", b"=", b"=="})
DATE_CHARS: Final = 10
_DATES_KEPT: Final = 4_096

_known_dates: set[bytes] = set()


class Frame(NamedTuple):
    """A line taken apart: every member as the bytes that stand there.

    ``head`` is the line up to and with the entry: with ``prev_hash``, what the hash covers.
    """

    layer: bytes
    payload: bytes
    ring: bytes
    salt: bytes
    seq: bytes
    ts: bytes
    type: bytes
    hash: bytes
    prev_hash: bytes
    key_id: bytes
    role: bytes
    sig_b64: bytes
    head: bytes


def split_line(line: bytes) -> Frame:
    """Take a line (without LF) apart.

    Raises:
        VerificationError: ``LEDGER_LINE_INVALID``; the message names the rule.
    """
    at = line.rfind(RING_START)
    match = TAIL.fullmatch(line, at) if at > 0 else None
    if match is None or len(line) >= LINE_BYTES:
        raise _invalid(_reason(line))
    if line.startswith(IDENTITY_START):
        layer, payload = b"identity", line[len(IDENTITY_START) : at]
    else:
        layer, payload = b"anchor", line[len(ANCHOR_START) : at]
        if not line.startswith(ANCHOR_START):
            raise _invalid(_reason(line))
    if payload[:1] != b"{" or not is_canonical(payload):
        raise _invalid("the payload is not a canonical object")
    ring, salt, seq, ts, type_name, own, previous, key_id, role, signature = match.groups()
    if signature.translate(None, BASE64_CHARS) not in BASE64_PADDING:
        raise _invalid("the signature is not base64")
    if salt.translate(None, SALT_CHARS):
        raise _invalid("the salt is not 32 hex digits")
    require_date(ts[:DATE_CHARS])
    head = line[: match.start(_HASH_GROUP) - len(_HASH_NAME)]
    return Frame(
        layer, payload, ring, salt, seq, ts, type_name, own, previous, key_id, role, signature, head
    )


def read_line(line: bytes) -> Line:
    """Read one line (without LF) by itself: form and alphabet, not its place in a chain.

    Raises:
        VerificationError: ``LEDGER_LINE_INVALID``.
    """
    frame = split_line(line)
    names = (frame.hash, frame.prev_hash, frame.key_id)
    if not all(is_sha256_text(name.decode("latin-1")) for name in names):
        raise _invalid("a hash or key id is not a sha256 name")
    return line_of(frame, line)


def line_of(frame: Frame, raw: bytes) -> Line:
    """Return the value of a frame that a chain has admitted, or ``read_line`` has checked."""
    return Line(
        seq=int(frame.seq),
        type=frame.type.decode(),
        layer=frame.layer.decode(),
        ring=int(frame.ring),
        ts=frame.ts.decode(),
        salt=frame.salt.decode(),
        payload=frame.payload,
        hash=frame.hash.decode(),
        prev_hash=frame.prev_hash.decode(),
        role=frame.role.decode(),
        key_id=frame.key_id.decode(),
        sig_b64=frame.sig_b64.decode(),
        raw=raw,
    )


def require_date(text: bytes) -> None:
    """Refuse a date that no calendar has; dates seen before are remembered.

    Raises:
        VerificationError: ``LEDGER_LINE_INVALID``.
    """
    if text in _known_dates:
        return
    try:
        date.fromisoformat(text.decode())
    except ValueError:
        raise _invalid("a date that no calendar has") from None
    if len(_known_dates) >= _DATES_KEPT:
        _known_dates.clear()
    _known_dates.add(text)


def _reason(line: bytes) -> str:
    if len(line) >= LINE_BYTES:
        return f"longer than {LINE_BYTES} bytes"
    try:
        if canonicalize_strict(line) != line:
            return "not in its canonical form"
    except CryptoError as error:
        return error.message
    return "members missing, unknown, or with values outside the format"


def _invalid(rule: str) -> VerificationError:
    return VerificationError(f"not a ledger line: {rule}", code="LEDGER_LINE_INVALID")
