"""C2SP signed notes: a text and signature lines, read strictly and verified as a whole.

Rules (c2sp.org/signed-note):

- UTF-8 without control characters below U+0020 save LF; the text ends with LF, an empty
  line parts it from at least one signature line, the LAST empty line of the note counts;
- a signature line is an em dash, a space, the key's name, a space, base64 of the four bytes
  of the key id and the signature, LF;
- a signature by an unknown (name, id) is ignored; one by a known (name, id) that does not
  verify spoils the whole note; a note no known key has signed is refused;
- base64 with non-zero trailing bits is read, so that the key id is known, and never
  verifies.
"""

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from agentic_os.crypto.canonical.texts import encode_base64
from agentic_os.crypto.tlog.note_keys import (
    KEY_ID_BYTES,
    NoteKey,
    NoteSigner,
    cosignature_time,
    is_key_name,
)
from agentic_os.errors import CryptoError

NOTE_BYTES: Final = 128 * 1024
"""Room for 16 post-quantum signatures of about 7 kB (witness reference, section 1)."""
NOTE_SIGNATURES: Final = 64
"""The format asks readers to take at least 16."""

_DASH: Final = "— "
_CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteSignature:
    """One signature line. ``encoded`` is the base64 as it stood there."""

    name: str
    encoded: str

    @property
    def blob(self) -> bytes:
        """Key id and signature."""
        return base64.b64decode(self.encoded)

    @property
    def key_id(self) -> bytes:
        """The key id that the line states."""
        return self.blob[:KEY_ID_BYTES]

    @property
    def line(self) -> str:
        """The line, with its LF."""
        return f"{_DASH}{self.name} {self.encoded}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedNote:
    """A note as it was read: nothing in it is trusted before ``open_note``."""

    text: str
    signatures: tuple[NoteSignature, ...]

    @property
    def data(self) -> bytes:
        """The note's bytes."""
        return f"{self.text}\n{''.join(item.line for item in self.signatures)}".encode()

    def signed_by(self, *signatures: NoteSignature) -> "SignedNote":
        """Return the same text with more signature lines; lines already there are not doubled."""
        added = tuple(item for item in signatures if item not in self.signatures)
        return SignedNote(text=self.text, signatures=self.signatures + added)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedSignature:
    """A signature that verified; ``time`` is what a cosignature states (POSIX seconds)."""

    key: NoteKey
    signature: NoteSignature
    time: int | None


def parse_note(data: bytes) -> SignedNote:
    """Read a note without verifying anything.

    Raises:
        CryptoError: ``NOTE_INVALID``; the message names the rule.
    """
    if len(data) > NOTE_BYTES:
        raise _invalid(f"larger than {NOTE_BYTES} bytes")
    try:
        whole = data.decode()
    except UnicodeDecodeError:
        raise _invalid("not UTF-8") from None
    if _CONTROL.search(whole):
        raise _invalid("a control character")
    at = whole.rfind("\n\n")
    if at < 0:
        raise _invalid("no empty line before the signatures")
    return SignedNote(text=whole[: at + 1], signatures=parse_signatures(whole[at + 2 :]))


def parse_signatures(block: str) -> tuple[NoteSignature, ...]:
    """Read signature lines alone, as a witness answers with them.

    Raises:
        CryptoError: ``NOTE_INVALID``.
    """
    lines = block.split("\n", NOTE_SIGNATURES + 1)
    if len(lines) > NOTE_SIGNATURES + 1:
        raise _invalid(f"more than {NOTE_SIGNATURES} signatures")
    if lines.pop() != "" or not lines:
        raise _invalid("signature lines end with a line feed")
    return tuple(_parse_line(line) for line in lines)


def open_note(note: SignedNote, keys: Iterable[NoteKey]) -> tuple[VerifiedSignature, ...]:
    """Verify a note against the keys that the caller trusts; at least one verifies.

    Raises:
        CryptoError: ``NOTE_SIGNATURE_INVALID`` when a known key's signature fails,
            ``NOTE_UNSIGNED`` when no known key has signed.
    """
    known = {(key.name, key.key_id): key for key in keys}
    verified: list[VerifiedSignature] = []
    for item in note.signatures:
        key = known.get((item.name, item.key_id))
        if key is None:
            continue
        if not verifies(note.text, item, key):
            raise CryptoError(
                f"the signature of {item.name} does not verify", code="NOTE_SIGNATURE_INVALID"
            )
        time = cosignature_time(item.blob[KEY_ID_BYTES:]) if key.kind == "cosignature" else None
        verified.append(VerifiedSignature(key=key, signature=item, time=time))
    if not verified:
        raise CryptoError("no trusted key has signed the note", code="NOTE_UNSIGNED")
    return tuple(verified)


def verifies(text: str, signature: NoteSignature, key: NoteKey) -> bool:
    """Whether one signature line is ``key``'s over ``text``, in the only base64 spelling."""
    blob = signature.blob
    if signature.name != key.name or blob[:KEY_ID_BYTES] != key.key_id:
        return False
    return encode_base64(blob) == signature.encoded and key.verify(text, blob[KEY_ID_BYTES:])


def sign_text(text: str, signer: NoteSigner, *, time: int | None = None) -> NoteSignature:
    """Sign a note text; ``time`` (POSIX seconds) for cosignatures only.

    Raises:
        CryptoError: ``NOTE_INVALID`` for a text that no note may hold; ``NOTE_TIME``.
    """
    if not text.endswith("\n") or _CONTROL.search(text):
        raise _invalid("a text ends with a line feed and holds no control characters")
    encoded = encode_base64(signer.sign(text, time=time))
    return NoteSignature(name=signer.key.name, encoded=encoded)


def _parse_line(line: str) -> NoteSignature:
    name, space, encoded = line.removeprefix(_DASH).partition(" ")
    if not line.startswith(_DASH) or not space or not is_key_name(name):
        raise _invalid("not a signature line")
    try:
        blob = base64.b64decode(encoded.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise _invalid("a signature is not base64") from None
    if len(blob) <= KEY_ID_BYTES:
        raise _invalid("a signature without bytes")
    return NoteSignature(name=name, encoded=encoded)


def _invalid(rule: str) -> CryptoError:
    return CryptoError(f"not a signed note: {rule}", code="NOTE_INVALID")
