"""Keys as values, cross-checked against a second implementation of ML-DSA-87."""

import pytest
from dilithium_py.ml_dsa import ML_DSA_87 as SECOND

from agentic_os.crypto.keys.pairs import (
    ED25519,
    ML_DSA_87,
    PUBLIC_KEY_BYTES,
    Algorithm,
    SigningKey,
    VerifyingKey,
    generate_key,
)
from agentic_os.errors import CryptoError

SEED = bytes(range(32))


def test_the_published_seed_gives_the_published_key_id() -> None:
    key = SigningKey(ML_DSA_87, SEED)
    assert key.key_id == ("sha256:91dc389cfaa01470b7f66eee45a4ae9026d154817c754dfe22298b3fa241ffcd")


def test_a_second_implementation_agrees_both_ways() -> None:
    ours = SigningKey(ML_DSA_87, SEED)
    public, private = SECOND.key_derive(SEED)
    assert public == ours.public.raw
    assert SECOND.verify(public, b"text", ours.sign(b"text"))
    assert ours.public.verify(SECOND.sign(private, b"text"), b"text")
    assert not ours.public.verify(SECOND.sign(private, b"text", ctx=b"x"), b"text")


@pytest.mark.parametrize("algorithm", [ML_DSA_87, ED25519])
def test_sign_and_verify(algorithm: Algorithm) -> None:
    key = generate_key(algorithm)
    signature = key.sign(b"text")
    assert len(signature) == {ML_DSA_87: 4627, ED25519: 64}[algorithm]
    assert len(key.public.raw) == PUBLIC_KEY_BYTES[algorithm]
    assert key.public.verify(signature, b"text")
    assert not key.public.verify(signature, b"texT")
    assert not key.public.verify(signature[:-1], b"text")
    assert not key.public.verify(b"", b"text")
    flipped = bytes([signature[0] ^ 1]) + signature[1:]
    assert not key.public.verify(flipped, b"text")
    assert not generate_key(algorithm).public.verify(signature, b"text")


def test_signatures_are_hedged() -> None:
    key = SigningKey(ML_DSA_87, SEED)
    assert key.sign(b"text") != key.sign(b"text")


@pytest.mark.parametrize("algorithm", [ML_DSA_87, ED25519])
def test_a_key_of_another_length_is_refused(algorithm: Algorithm) -> None:
    with pytest.raises(CryptoError) as caught:
        VerifyingKey(algorithm, b"\x00" * 31)
    assert caught.value.code == "KEY_INVALID"
    with pytest.raises(CryptoError, match="seed"):
        SigningKey(algorithm, b"\x00" * 31)


def test_keys_compare_by_algorithm_and_bytes_and_print_no_secret() -> None:
    key, same = SigningKey(ED25519, SEED), SigningKey(ED25519, SEED)
    assert key.public == same.public
    assert hash(key.public) == hash(same.public)
    assert key.public != generate_key(ED25519).public
    assert key.public != key.public.raw
    assert SEED.hex() not in repr(key)
    assert repr(key) == f"SigningKey(Ed25519, {key.key_id})"
    assert repr(key.public) == f"VerifyingKey(Ed25519, {key.key_id})"
