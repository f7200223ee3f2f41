"""SHA-256 names, base64 in one spelling, signed texts that cannot be spliced."""

import pytest

from agentic_os.crypto.canonical.texts import (
    bare_hash,
    decode_base64,
    encode_base64,
    is_sha256_text,
    sha256_hex,
    sha256_text,
    signed_text,
)
from agentic_os.errors import CryptoError

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_hash_names() -> None:
    assert sha256_hex(b"") == EMPTY
    assert sha256_text(b"") == f"sha256:{EMPTY}"
    assert bare_hash(f"sha256:{EMPTY}") == EMPTY
    assert is_sha256_text(f"sha256:{EMPTY}")


@pytest.mark.parametrize("text", ["", EMPTY, f"sha256:{EMPTY.upper()}", f"sha256:{EMPTY}\n"])
def test_other_spellings_are_not_hash_names(text: str) -> None:
    assert not is_sha256_text(text)
    with pytest.raises(CryptoError) as caught:
        bare_hash(text)
    assert caught.value.code == "HASH_INVALID"


def test_base64_round_trips() -> None:
    for data in (b"", b"a", b"ab", b"abc", bytes(range(256))):
        assert decode_base64(encode_base64(data)) == data


@pytest.mark.parametrize("text", ["YQ", "YQ=", "YR==", "Y Q==", "YQ==\n", "-_==", "YQ==YQ==", "é"])
def test_base64_in_another_spelling_is_refused(text: str) -> None:
    with pytest.raises(CryptoError) as caught:
        decode_base64(text)
    assert caught.value.code == "BASE64_INVALID"


def test_signed_text_is_lines() -> None:
    assert signed_text("HEAD", ("a", "1"), ("b", "")) == b"HEAD\na:1\nb:\n"


@pytest.mark.parametrize("value", ["x\ny:2", "x\r"])
def test_a_field_cannot_speak_for_the_next(value: str) -> None:
    with pytest.raises(CryptoError) as caught:
        signed_text("HEAD", ("x", value))
    assert caught.value.code == "SIGNED_TEXT_INVALID"
