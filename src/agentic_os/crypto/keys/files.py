"""Private keys on disk: PKCS8 PEM, mode 0600, optionally encrypted with a password.

A key file is published whole or not at all and never replaced: two births cannot overwrite
each other's key. Reading follows no link and refuses a file that others may read.
"""

import os
import secrets
import stat
from pathlib import Path
from typing import Final

from agentic_os.crypto.keys.pairs import ED25519, ML_DSA_87, SigningKey, open_private
from agentic_os.crypto.keys.password import KEPT, Cost, encrypt_pkcs8
from agentic_os.errors import CryptoError
from agentic_os.files.publishing import PRIVATE_FILE_MODE, sync_folder

KEY_FILE_BYTES = 64 * 1024
_OTHERS: Final = 0o077


def write_key(path: Path, key: SigningKey, *, password: str | None = None) -> None:
    """Publish a private key; the folder must exist.

    Raises:
        CryptoError: ``KEY_EXISTS`` when something stands at ``path``; ``KEY_UNWRITABLE``.
    """
    data = encode_key(key, password=password)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(draft, flags, PRIVATE_FILE_MODE), "wb") as file:  # noqa: PTH123 - a handle, not a path
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)  # unlike rename, refuses to replace
    except FileExistsError:
        raise CryptoError(
            f"a key exists already: {path.name}",
            code="KEY_EXISTS",
            hint="Keys are never replaced; move the old one away yourself.",
        ) from None
    except OSError as error:
        raise CryptoError(
            f"cannot write the key {path.name}: {error.strerror}", code="KEY_UNWRITABLE"
        ) from None
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)


def read_key(path: Path, *, password: str | None = None) -> SigningKey:
    """Read a private key.

    Raises:
        CryptoError: ``KEY_MISSING``, ``KEY_UNREADABLE`` (a link, a special file, too large),
            ``KEY_EXPOSED`` (others have rights on the file), ``KEY_PASSWORD_REQUIRED``,
            ``KEY_PASSWORD_WRONG``, ``KEY_INVALID``.
    """
    return decode_key(_read(path), password=password, name=path.name)


def encode_key(key: SigningKey, *, password: str | None = None, cost: Cost = KEPT) -> bytes:
    """Encode a private key as PKCS8 PEM (seed form), encrypted when a password is given."""
    from cryptography.hazmat.primitives import serialization

    opened = open_private(key.algorithm, key.seed)
    form = serialization.Encoding.DER if password else serialization.Encoding.PEM
    data = opened.private_bytes(
        form, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return encrypt_pkcs8(data, password, cost) if password else data


def decode_key(data: bytes, *, password: str | None = None, name: str = "key") -> SigningKey:
    """Read what ``encode_key`` wrote; errors as ``read_key``."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519, mldsa

    encrypted = b"ENCRYPTED PRIVATE KEY" in data
    if encrypted and not password:
        raise CryptoError(f"the key {name} has a password", code="KEY_PASSWORD_REQUIRED")
    secret = password.encode("utf-8") if encrypted and password else None
    try:
        loaded = serialization.load_pem_private_key(data, password=secret)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        if encrypted:
            raise CryptoError(
                f"the password does not open the key {name}", code="KEY_PASSWORD_WRONG"
            ) from None
        raise CryptoError(f"not a PKCS8 private key: {name}", code="KEY_INVALID") from None
    if isinstance(loaded, mldsa.MLDSA87PrivateKey):
        return SigningKey(ML_DSA_87, loaded.private_bytes_raw())
    if isinstance(loaded, ed25519.Ed25519PrivateKey):
        return SigningKey(ED25519, loaded.private_bytes_raw())
    raise CryptoError(f"the key {name} is neither ML-DSA-87 nor Ed25519", code="KEY_INVALID")


def _read(path: Path) -> bytes:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(path, flags)
    except FileNotFoundError:
        raise CryptoError(f"no key at {path.name}", code="KEY_MISSING") from None
    except OSError as error:
        raise CryptoError(
            f"cannot read the key {path.name}: {error.strerror}", code="KEY_UNREADABLE"
        ) from None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > KEY_FILE_BYTES:
            raise CryptoError(f"not a key file: {path.name}", code="KEY_UNREADABLE")
        if found.st_mode & _OTHERS:
            raise CryptoError(
                f"the key {path.name} is open to other users",
                code="KEY_EXPOSED",
                hint=f"chmod 600 {path.name}",
            )
        return os.read(handle, KEY_FILE_BYTES)
    finally:
        os.close(handle)
