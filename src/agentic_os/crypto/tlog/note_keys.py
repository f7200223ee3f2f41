"""The keys of signed notes: their names, ids and vkey texts, and what each one signs.

Two signature types of C2SP signed-note are spoken, both Ed25519; ``VKEY_UNSUPPORTED`` names every
other, and why it is not:

====  ============  ===================================================================
0x01  note          signs the note's text
0x04  cosignature   signs ``cosignature/v1``, ``time <t>`` and the text; its signature
                    starts with the eight bytes of <t>, POSIX seconds (tlog-cosignature)
====  ============  ===================================================================

- key id = SHA-256(name || LF || type || public key)[:4]; a vkey is
  ``name+<8 hex of the id>+base64(type || public key)``;
- a key name is not empty and holds no Unicode space and no ``+``;
- a public key that is not the one encoding of a curve point, or whose point has a small
  order, is refused: signatures of such keys can be forged or read two ways.
"""

import hashlib
import re
import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

from agentic_os.crypto.canonical.texts import decode_base64, encode_base64
from agentic_os.crypto.keys.pairs import ED25519, SigningKey, VerifyingKey
from agentic_os.errors import CryptoError

NoteKind: TypeAlias = Literal["note", "cosignature"]

KEY_ID_BYTES: Final = 4
KEY_NAME_CHARS: Final = 255
"""Longest key name and origin that fit every cosignature format (tlog-cosignature)."""
VKEY_CHARS: Final = 4096
"""Longest vkey that is read: one of ML-DSA-44 takes 2,020 characters, to be named as such."""
COSIGNATURE_SECONDS: Final = 2**63 - 1

_TYPE_BYTES: Final[dict[NoteKind, int]] = {"note": 0x01, "cosignature": 0x04}
_KINDS: Final[dict[int, NoteKind]] = {byte: kind for kind, byte in _TYPE_BYTES.items()}
_OTHER_TYPES: Final[dict[int, str]] = {
    0x02: "ECDSA (0x02)",
    0x05: "an RFC 6962 tree head (0x05)",
    0x06: "ML-DSA-44 (0x06, without a second implementation to test against)",
    0xFF: "one of somebody's own (0xff)",
}
"""The other types that signed-note assigns."""
_NO_NAME: Final = re.compile(r"[\s+\x00-\x1f\ud800-\udfff]")
_TIME: Final = struct.Struct(">Q")
_ED25519_BYTES: Final = 32
_FIELD: Final = 2**255 - 19
_CURVE_D: Final = -121665 * pow(121666, -1, _FIELD) % _FIELD
_ORDER_8: Final = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_SMALL_ORDER: Final = frozenset({0, 1, _FIELD - 1, _ORDER_8, _FIELD - _ORDER_8})


@dataclass(frozen=True, kw_only=True)
class NoteKey:
    """A public key of a log (kind ``note``) or of a witness (kind ``cosignature``)."""

    kind: NoteKind
    name: str
    public: VerifyingKey

    @cached_property
    def key_id(self) -> bytes:
        """The four bytes that a signature line names the key by."""
        return hashlib.sha256(self.name.encode() + b"\n" + self._encoded).digest()[:KEY_ID_BYTES]

    @property
    def vkey(self) -> str:
        """The key as the text that policies and configurations hold."""
        return f"{self.name}+{self.key_id.hex()}+{encode_base64(self._encoded)}"

    @property
    def _encoded(self) -> bytes:
        return bytes([_TYPE_BYTES[self.kind]]) + self.public.raw

    def verify(self, text: str, signature: bytes) -> bool:
        """Whether ``signature`` (without key id) is this key's over the note ``text``."""
        if self.kind == "note":
            return self.public.verify(signature, text.encode())
        time = cosignature_time(signature)
        if time is None:
            return False
        return self.public.verify(signature[_TIME.size :], cosignature_message(text, time))


class NoteSigner:
    """A private Ed25519 key under a name.

    One key must not serve two cosigners: the name is not signed (tlog-cosignature).

    Raises:
        CryptoError: ``KEY_NAME_INVALID``; ``KEY_INVALID`` for another algorithm.
    """

    __slots__ = ("_private", "key")

    def __init__(self, *, kind: NoteKind, name: str, private: SigningKey) -> None:
        """Keep the key; ``key`` is its public half."""
        self.key = note_key(kind=kind, name=name, public=private.public)
        self._private = private

    def sign(self, text: str, *, time: int | None = None) -> bytes:
        """Sign a note text; the result starts with the key id.

        Args:
            text: the note's text, ended by LF.
            time: POSIX seconds; needed by a cosignature and refused by a note signature.
        """
        if self.key.kind == "note":
            if time is not None:
                raise CryptoError("a note signature states no time", code="NOTE_TIME")
            return self.key.key_id + self._private.sign(text.encode())
        if time is None or not 0 < time <= COSIGNATURE_SECONDS:
            raise CryptoError("a cosignature states a time above 0", code="NOTE_TIME")
        signed = self._private.sign(cosignature_message(text, time))
        return self.key.key_id + _TIME.pack(time) + signed


def note_key(*, kind: NoteKind, name: str, public: VerifyingKey) -> NoteKey:
    """Return a checked public note key.

    Raises:
        CryptoError: ``KEY_NAME_INVALID``; ``KEY_INVALID`` when the key is not Ed25519, not
            canonical, not on the curve or of small order.
    """
    if not is_key_name(name):
        raise CryptoError(
            f"a key name has 1 to {KEY_NAME_CHARS} characters, no space and no plus sign",
            code="KEY_NAME_INVALID",
        )
    if public.algorithm != ED25519 or not is_strict_ed25519(public.raw):
        raise CryptoError("not a sound Ed25519 public key", code="KEY_INVALID")
    return NoteKey(kind=kind, name=name, public=public)


def parse_vkey(text: str) -> NoteKey:
    """Read a vkey.

    Raises:
        CryptoError: ``VKEY_INVALID`` (shape, id), ``VKEY_UNSUPPORTED`` (another signature
            type), and what ``note_key`` raises.
    """
    parts = text.split("+", 2) if len(text) <= VKEY_CHARS else []
    if len(parts) != 3:  # noqa: PLR2004 - name, id, key
        raise CryptoError("a vkey is name+id+key", code="VKEY_INVALID")
    name, key_id, encoded_text = parts
    try:
        encoded = decode_base64(encoded_text)
    except CryptoError:
        raise CryptoError("the key of the vkey is not base64", code="VKEY_INVALID") from None
    kind = _KINDS.get(encoded[0]) if encoded else None
    if kind is None:
        other = _OTHER_TYPES.get(encoded[0], f"unknown (0x{encoded[0]:02x})") if encoded else "none"
        raise CryptoError(
            f"the type of the key is {other}: Ed25519 keys of logs (0x01) and of witnesses (0x04)"
            " alone are read",
            code="VKEY_UNSUPPORTED",
        )
    if len(encoded) != 1 + _ED25519_BYTES:
        raise CryptoError("an Ed25519 vkey holds 33 bytes", code="VKEY_INVALID")
    key = note_key(kind=kind, name=name, public=VerifyingKey(ED25519, encoded[1:]))
    if key.key_id.hex() != key_id:
        raise CryptoError("the id of the vkey is not that of its key", code="VKEY_INVALID")
    return key


def is_key_name(text: str) -> bool:
    """Whether ``text`` may name a key."""
    return not _NO_NAME.search(text) and 0 < len(text.encode()) <= KEY_NAME_CHARS


def cosignature_message(text: str, time: int) -> bytes:
    """Return the bytes that an Ed25519 cosignature signs."""
    return f"cosignature/v1\ntime {time}\n{text}".encode()


def cosignature_time(signature: bytes) -> int | None:
    """Return the POSIX seconds at the front of a cosignature, if they are there and in range."""
    if len(signature) <= _TIME.size:
        return None
    time: int = _TIME.unpack_from(signature)[0]
    return time if 0 < time <= COSIGNATURE_SECONDS else None


def is_strict_ed25519(raw: bytes) -> bool:
    """Whether ``raw`` is the only encoding of a curve point of large order."""
    if len(raw) != _ED25519_BYTES:
        return False
    y = int.from_bytes(raw, "little") & (2**255 - 1)
    if y >= _FIELD or y in _SMALL_ORDER:
        return False
    square = (y * y - 1) * pow(_CURVE_D * y * y + 1, -1, _FIELD) % _FIELD
    return pow(square, (_FIELD - 1) // 2, _FIELD) == 1
