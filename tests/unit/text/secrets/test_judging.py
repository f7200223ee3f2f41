"""The judgement on single values: random, written, or only standing for something."""

import random
import string

import pytest

from agentic_os.text.secrets.judging import entropy_bits, is_placeholder, is_random


@pytest.mark.parametrize(
    ("value", "bits"), [("a", 0.0), ("aaaa", 0.0), ("ab", 1.0), ("aabb", 1.0), ("abcd", 2.0)]
)
def test_entropy_is_in_bits_a_character(value: str, bits: float) -> None:
    assert entropy_bits(value) == pytest.approx(bits)


@pytest.mark.parametrize(
    "value",
    [
        "a1b2c3d4",
        "qpRZFAUqvcbBcORk",
        "P@ssw0rd",
        "abcDEF123!x",
        "k3jh5g4k3j5h4g",
        "0123456789abcdef0123456789abcde0",
        "aB3+/xY9zQ==",
        "aB3$xY9z",
    ],
)
def test_random_values(value: str) -> None:
    assert is_random(value)


@pytest.mark.parametrize(
    "value",
    [
        "a1b2c3d",  # too short
        "a1a1a1a1",  # too few characters
        "a1b2a1b2a1b2c3",  # six of them, but little entropy
        "aaaaaaaaaaaaaaaaaaaaaaaab1c2d3e4",
        "ABCDXEFGHQIJKLMNOP",  # capitals only
        "abcdxefghqijklmnop",  # small letters only
        "qpRZFAUqvcbBcOR",  # letters, one too few
        "getUserAccountTokens",  # camel case
        "2024-01-02T10:11:12.345Z",
        "2024-01-02T10:11:12+01:30",
        "94817263504",  # digits only
        "!!!!####$$$$%%%%1",  # symbols and digits only
        "abcdefg12!",  # an exclamation mark at the end is punctuation
    ],
)
def test_values_that_are_not_random(value: str) -> None:
    assert not is_random(value)


@pytest.mark.parametrize(
    "value",
    ["", "xx", "0000", "----", "xXxX-xxxx", "<token>", "${A}", "$A", "A_B", "password1", "none"],
)
def test_placeholders(value: str) -> None:
    assert is_placeholder(value)


@pytest.mark.parametrize(
    "value", ["s3cr3t", "abc", "password1234", "nonesuch", "Abc_d", "aB3$xY9z", "pa$$word"]
)
def test_values_that_are_no_placeholders(value: str) -> None:
    assert not is_placeholder(value)


def test_random_values_are_hardly_ever_taken_for_names_of_programs() -> None:
    letters = string.ascii_letters + string.digits
    source = random.Random(7)
    values = ["".join(source.choices(letters, k=20)) for _ in range(5_000)]

    missed = [value for value in values if not is_random(value)]

    assert len(missed) < len(values) / 50
    assert not is_random("X509AuthorityKeyIDExtension")
    assert not is_random("ed25519.Ed25519PrivateKey")
