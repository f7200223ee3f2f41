"""Private keys under a password: PKCS#8 with PBES2, scrypt and AES-256-CBC (RFC 8018, RFC 7914).

The library writes PBES2 with PBKDF2 alone, which a graphics card guesses quickly; it reads scrypt.
So the structures around the encrypted key are written here, and none is read here.
"""

import base64
import secrets
import textwrap
from dataclasses import dataclass
from typing import Final

PASSWORD_SALT_BYTES: Final = 16
BLOCK_BYTES: Final = 16
KEY_BYTES: Final = 32

_BLOCK_SIZE: Final = 8
_PARALLEL: Final = 1
_PBES2: Final = bytes.fromhex("06092a864886f70d01050d")
_SCRYPT: Final = bytes.fromhex("06092b06010401da47040b")
_AES_256_CBC: Final = bytes.fromhex("060960864801650304012a")
_SEQUENCE, _INTEGER, _OCTETS = 0x30, 0x02, 0x04
_SHORT_LENGTH: Final = 0x80
_LINE_CHARS: Final = 64


@dataclass(frozen=True, slots=True)
class Cost:
    """What one guess costs: ``rounds`` (a power of two) times 1 kB of memory, twice written."""

    rounds: int


KEPT: Final = Cost(2**15)
"""For keys on this machine, opened at every boot: 32 MB and about 0.1 s."""
CARRIED: Final = Cost(2**17)
"""For keys in an archive that lies elsewhere: 128 MB and about 0.4 s (OWASP's advice of 2025)."""


def encrypt_pkcs8(key: bytes, password: str, cost: Cost) -> bytes:
    """Encrypt a private key (PKCS#8, DER) and return the PEM text."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    salt, start = secrets.token_bytes(PASSWORD_SALT_BYTES), secrets.token_bytes(BLOCK_BYTES)
    kdf = Scrypt(salt=salt, length=KEY_BYTES, n=cost.rounds, r=_BLOCK_SIZE, p=_PARALLEL)
    cipher = Cipher(algorithms.AES256(kdf.derive(password.encode())), modes.CBC(start)).encryptor()
    padding = BLOCK_BYTES - len(key) % BLOCK_BYTES
    sealed = cipher.update(key + bytes([padding]) * padding) + cipher.finalize()
    scrypt = _der(
        _SEQUENCE,
        _der(_OCTETS, salt),
        *(_integer(number) for number in (cost.rounds, _BLOCK_SIZE, _PARALLEL, KEY_BYTES)),
    )
    scheme = _der(
        _SEQUENCE,
        _der(_SEQUENCE, _SCRYPT, scrypt),
        _der(_SEQUENCE, _AES_256_CBC, _der(_OCTETS, start)),
    )
    document = _der(_SEQUENCE, _der(_SEQUENCE, _PBES2, scheme), _der(_OCTETS, sealed))
    lines = textwrap.wrap(base64.b64encode(document).decode(), _LINE_CHARS)
    label = "ENCRYPTED PRIVATE KEY"
    return "\n".join((f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", "")).encode()


def _der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    size = len(content)
    if size < _SHORT_LENGTH:
        return bytes([tag, size]) + content
    width = (size.bit_length() + 7) // 8
    return bytes([tag, _SHORT_LENGTH | width]) + size.to_bytes(width, "big") + content


def _integer(number: int) -> bytes:
    # One bit more than the number has keeps it positive.
    return _der(_INTEGER, number.to_bytes(number.bit_length() // 8 + 1, "big"))
