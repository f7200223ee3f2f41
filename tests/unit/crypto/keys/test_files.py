"""Key files: 0600, never replaced, never half written, refused when others may read them."""

import os
from base64 import b64decode
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from agentic_os.crypto.keys.files import KEY_FILE_BYTES, decode_key, encode_key, read_key, write_key
from agentic_os.crypto.keys.pairs import (
    ED25519,
    ML_DSA_87,
    Algorithm,
    SigningKey,
    generate_key,
    open_private,
)
from agentic_os.crypto.keys.password import CARRIED, KEPT
from agentic_os.errors import CryptoError


@pytest.mark.parametrize("algorithm", [ML_DSA_87, ED25519])
@pytest.mark.parametrize("password", [None, "pass wörd"])
def test_a_key_survives_its_file(
    tmp_path: Path, algorithm: Algorithm, password: str | None
) -> None:
    key = generate_key(algorithm)
    folder = tmp_path / "keys"
    folder.mkdir()
    path = folder / "identity.key"
    write_key(path, key, password=password)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in folder.iterdir()] == ["identity.key"]
    again = read_key(path, password=password)
    assert (again.algorithm, again.seed) == (key.algorithm, key.seed)


def test_a_password_really_encrypts(tmp_path: Path) -> None:
    key = SigningKey(ED25519, bytes(range(32)))
    data = encode_key(key, password="secret")
    assert b"ENCRYPTED" in data
    path = tmp_path / "k"
    write_key(path, key, password="secret")
    with pytest.raises(CryptoError) as caught:
        read_key(path)
    assert caught.value.code == "KEY_PASSWORD_REQUIRED"
    with pytest.raises(CryptoError) as caught:
        read_key(path, password="other")
    assert caught.value.code == "KEY_PASSWORD_WRONG"


def test_a_password_costs_what_scrypt_costs() -> None:
    key = SigningKey(ED25519, bytes(range(32)))
    for cost, rounds in ((KEPT, b"\x02\x03\x00\x80\x00"), (CARRIED, b"\x02\x03\x02\x00\x00")):
        document = b64decode(
            b"".join(encode_key(key, password="secret", cost=cost).split(b"\n")[1:-2])
        )
        assert bytes.fromhex("06092b06010401da47040b") in document
        assert rounds + b"\x02\x01\x08\x02\x01\x01" in document
        assert (
            decode_key(encode_key(key, password="secret", cost=cost), password="secret").seed
            == key.seed
        )


def test_a_key_of_an_older_program_is_read() -> None:
    """It was encrypted with what the library writes: PBKDF2."""
    key = SigningKey(ML_DSA_87, bytes(range(32)))
    data = open_private(ML_DSA_87, key.seed).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )
    assert decode_key(data, password="secret").seed == key.seed


def test_a_password_given_for_an_open_key_is_ignored(tmp_path: Path) -> None:
    key = generate_key(ED25519)
    write_key(tmp_path / "k", key)
    assert read_key(tmp_path / "k", password="unused").seed == key.seed


def test_a_key_is_never_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    folder.mkdir()
    first = generate_key(ED25519)
    write_key(folder / "k", first)
    with pytest.raises(CryptoError) as caught:
        write_key(folder / "k", generate_key(ED25519))
    assert caught.value.code == "KEY_EXISTS"
    assert read_key(folder / "k").seed == first.seed
    assert [entry.name for entry in folder.iterdir()] == ["k"]


def test_a_missing_folder_is_named_without_its_path(tmp_path: Path) -> None:
    with pytest.raises(CryptoError) as caught:
        write_key(tmp_path / "none" / "k", generate_key(ED25519))
    assert caught.value.code == "KEY_UNWRITABLE"
    assert str(tmp_path) not in caught.value.message


def _missing(path: Path) -> None:
    assert not path.exists()


def _exposed(path: Path) -> None:
    write_key(path, generate_key(ED25519))
    path.chmod(0o640)


def _link(path: Path) -> None:
    write_key(path.with_name("real"), generate_key(ED25519))
    path.symlink_to(path.with_name("real"))


def _fifo(path: Path) -> None:
    os.mkfifo(path, 0o600)


def _folder(path: Path) -> None:
    path.mkdir()


def _large(path: Path) -> None:
    path.write_bytes(b"x" * (KEY_FILE_BYTES + 1))
    path.chmod(0o600)


def _garbage(path: Path) -> None:
    path.write_bytes(b"no key")
    path.chmod(0o600)


@pytest.mark.parametrize(
    ("prepare", "code"),
    [
        (_missing, "KEY_MISSING"),
        (_exposed, "KEY_EXPOSED"),
        (_link, "KEY_UNREADABLE"),
        (_fifo, "KEY_UNREADABLE"),
        (_folder, "KEY_UNREADABLE"),
        (_large, "KEY_UNREADABLE"),
        (_garbage, "KEY_INVALID"),
    ],
)
def test_unsafe_key_files_are_refused(tmp_path: Path, prepare: object, code: str) -> None:
    assert callable(prepare)
    path = tmp_path / "k"
    prepare(path)
    with pytest.raises(CryptoError) as caught:
        read_key(path)
    assert caught.value.code == code
    assert str(tmp_path) not in caught.value.message


def test_a_key_of_another_kind_is_refused() -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import x25519

    data = x25519.X25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    with pytest.raises(CryptoError, match="neither"):
        decode_key(data)
