"""Many plain lines at once: the chain's rule for the part that a cosigned head covers.

A plain line is the identity's, of rings 2 to 4, signed with the key that signs now, and
changes nothing about the chain itself. For a run of them every condition of ``chain.py`` but the
signature is checked as there, on columns instead of lines, which costs about half. The
answer is all or nothing: whatever is unusual or wrong sends the run to the chain, line by
line, which finds the line and says why. A property test holds the two equal.
"""

import hashlib
from collections.abc import Sequence
from typing import Final, NamedTuple

from agentic_os.crypto.canonical.json import are_canonical
from agentic_os.errors import VerificationError
from agentic_os.ledger.line.entry import LINE_BYTES
from agentic_os.ledger.line.frame import (
    BASE64_CHARS,
    BASE64_PADDING,
    DATE_CHARS,
    IDENTITY_START,
    RING_START,
    SALT_CHARS,
    TAIL,
    require_date,
)
from agentic_os.ledger.line.vocabulary import ENTRY_TYPES

PLAIN_RINGS: Final = range(2, 5)

_PLAIN: Final = {
    (kind.name.encode(), b"%d" % kind.ring): kind
    for kind in ENTRY_TYPES.values()
    if kind.ring in PLAIN_RINGS
}
_BEHIND_ENTRY: Final = len(
    b',"hash":"","prev_hash":"","sig":{"alg":"ML-DSA-87","key_id":"","role":"","sig_b64":""}}'
)
_SIGNATURE_START: Final = b'"sig_b64":"'
_NAME_CHARS: Final = len("sha256:") + 64
_IDENTITY: Final = b"identity"


class Swept(NamedTuple):
    """What a run of plain lines leaves behind: their hashes and their leaf hashes."""

    hashes: tuple[bytes, ...]
    leaves: list[bytes]


def sweep(
    lines: Sequence[bytes], *, first_seq: int, prev_hash: bytes, key_id: bytes
) -> Swept | None:
    """Check a run of lines (without LF); None if any of them is not plain and right.

    Args:
        lines: one after the other.
        first_seq: the place of the first.
        prev_hash: the hash of the line before it.
        key_id: the key that signs for the identity.
    """
    if not lines:
        return None
    # Signatures are as long in all of them, and need not be looked through. In a line that is not
    # so, the place is a wrong one or none, and the line no plain one.
    signature = lines[0].rfind(_SIGNATURE_START) - len(lines[0])
    places = [line.rfind(RING_START, 0, signature) for line in lines]
    matches = [match for match in map(TAIL.fullmatch, lines, places) if match is not None]
    if len(matches) != len(lines):
        return None
    # Columns: a set or a list compared once costs less than a branch a line, and this is the one
    # place where that counts. What is cheap and often wrong is asked first.
    rings, salts, seqs, stamps, types, owns, previous, keys, roles, signatures = zip(
        *[match.groups() for match in matches], strict=True
    )
    payloads = [
        line[len(IDENTITY_START) : place] for line, place in zip(lines, places, strict=True)
    ]
    holds = (
        set(roles) == {_IDENTITY}
        and set(keys) == {key_id}
        and list(map(int, seqs)) == list(range(first_seq, first_seq + len(lines)))
        and previous == (prev_hash, *owns[:-1])
        and all(line.startswith(IDENTITY_START) for line in lines)
        and max(map(len, lines)) < LINE_BYTES
        and not b"".join(salts).translate(None, SALT_CHARS)
        and _are_well_formed(stamps, signatures)
        and _are_payloads(types, rings, payloads)
        and are_canonical(payloads)
        and _are_hashes(lines, owns, previous, signatures)
    )
    if not holds:
        return None
    return Swept(owns, [hashlib.sha256(b"\0" + line).digest() for line in lines])


def _are_well_formed(stamps: Sequence[bytes], signatures: Sequence[bytes]) -> bool:
    try:
        for date in {stamp[:DATE_CHARS] for stamp in stamps}:
            require_date(date)
    except VerificationError:
        return False
    return BASE64_PADDING.issuperset(one.translate(None, BASE64_CHARS) for one in signatures)


def _are_payloads(
    types: Sequence[bytes], rings: Sequence[bytes], payloads: Sequence[bytes]
) -> bool:
    """Every payload obeys the schema of its type, and so is an object."""
    try:
        for kind, payload in zip(zip(types, rings, strict=True), payloads, strict=True):
            _PLAIN[kind].decoder.decode(payload)
    except (KeyError, ValueError, RecursionError):
        return False
    return True


def _are_hashes(
    lines: Sequence[bytes],
    owns: Sequence[bytes],
    previous: Sequence[bytes],
    signatures: Sequence[bytes],
) -> bool:
    # Everything behind the entry has a known length but the signature: a slice finds the entry's
    # end without a search.
    behind = _BEHIND_ENTRY + 3 * _NAME_CHARS + len(_IDENTITY)
    heads = [line[: -(behind + len(one))] for line, one in zip(lines, signatures, strict=True)]
    digests = [
        hashlib.sha256(b'%b,"prev_hash":"%b"}' % pair).hexdigest()
        for pair in zip(heads, previous, strict=True)
    ]
    return "sha256:" + ",sha256:".join(digests) == b",".join(owns).decode("latin-1")
