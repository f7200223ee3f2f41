r"""The two spellings of bytes that every signed text uses: SHA-256 names and base64.

Hashes are lowercase hex, with the prefix ``sha256:`` where a format asks for it; base64 is
the standard alphabet with padding and zero trailing bits, so one value has one spelling
(AII OS formats, section 3).

>>> signed_text("HEADER-V1", ("size", "2"), ("root", "AA=="))
b'HEADER-V1\nsize:2\nroot:AA==\n'
>>> decode_base64("AB==")
Traceback (most recent call last):
agentic_os.errors.CryptoError: base64 in another spelling than its own
"""

import base64
import binascii
import hashlib
import re

from agentic_os.errors import CryptoError

SHA256_PREFIX = "sha256:"
SHA256_HEX_CHARS = 64
ZERO_SHA256_TEXT = SHA256_PREFIX + "0" * SHA256_HEX_CHARS

_SHA256_TEXT = re.compile(r"sha256:[0-9a-f]{64}")


def sha256_hex(data: bytes) -> str:
    """SHA-256 of ``data`` as 64 lowercase hex digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_text(data: bytes) -> str:
    """SHA-256 of ``data`` as ``sha256:`` and 64 lowercase hex digits."""
    return SHA256_PREFIX + hashlib.sha256(data).hexdigest()


def is_sha256_text(text: str) -> bool:
    """Whether ``text`` is exactly ``sha256:`` and 64 lowercase hex digits."""
    return _SHA256_TEXT.fullmatch(text) is not None


def bare_hash(text: str) -> str:
    """Return the hex digits of a ``sha256:`` name.

    Raises:
        CryptoError: ``HASH_INVALID`` when ``text`` is not such a name.
    """
    if not is_sha256_text(text):
        raise CryptoError("not a sha256 name", code="HASH_INVALID")
    return text[len(SHA256_PREFIX) :]


def encode_base64(data: bytes) -> str:
    """Encode as standard base64 with padding."""
    return base64.b64encode(data).decode("ascii")


def decode_base64(text: str) -> bytes:
    """Return the bytes behind standard, padded base64 in its only spelling.

    Raises:
        CryptoError: ``BASE64_INVALID`` for another alphabet, missing padding, white space
            or non-zero trailing bits.
    """
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise CryptoError("not standard base64", code="BASE64_INVALID") from None
    if encode_base64(data) != text:
        raise CryptoError("base64 in another spelling than its own", code="BASE64_INVALID")
    return data


def signed_text(header: str, *fields: tuple[str, str]) -> bytes:
    """Return the bytes of a signed text: the header, then ``name:value`` lines, each ended by LF.

    The header keeps one kind of signature from passing for another (AII OS formats,
    section 3), so it must be a constant of the caller.

    Raises:
        CryptoError: ``SIGNED_TEXT_INVALID`` when a value holds a line end, which would let
            one field speak for the next.
    """
    for name, value in fields:
        if "\n" in value or "\r" in value:
            raise CryptoError(f"a line end in {name}", code="SIGNED_TEXT_INVALID")
    lines = [header, *(f"{name}:{value}" for name, value in fields)]
    return ("\n".join(lines) + "\n").encode("utf-8")
