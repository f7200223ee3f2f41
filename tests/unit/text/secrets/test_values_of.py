"""Every text of a value is looked at, whatever holds it; a clean value stays the same object."""

from dataclasses import dataclass, field

import msgspec
import pytest

from agentic_os.text.secrets.redaction import Redactor
from agentic_os.text.secrets.values_of import redacted_value

SECRET = "ghp_q7Zx3Lm9Pw4KaB5cD8eF1gH2iJ6kL0mN9o11"
GONE = "[redacted:github-token]"
REDACTOR = Redactor()


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    text: str
    number: int = 0
    absent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    leaves: tuple[Leaf, ...] = ()
    table: dict[str, object] = field(default_factory=dict)
    share: float = 0.5


class Row(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    below: tuple[Leaf, ...] = ()


def test_a_clean_value_is_the_same_object() -> None:
    clean = Tree(leaves=(Leaf(text="said in a few words"),), table={"a": ["b", 1, None]})
    assert redacted_value(clean, REDACTOR) is clean


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (f"a {SECRET}", f"a {GONE}"),
        ((1, SECRET), (1, GONE)),
        ([SECRET], [GONE]),
        ({SECRET: [SECRET]}, {GONE: [GONE]}),
        (Leaf(text=SECRET, number=3), Leaf(text=GONE, number=3)),
        (
            Tree(leaves=(Leaf(text="x"), Leaf(text=SECRET))),
            Tree(leaves=(Leaf(text="x"), Leaf(text=GONE))),
        ),
        (Tree(table={"k": Leaf(text=SECRET)}), Tree(table={"k": Leaf(text=GONE)})),
        ("AKIAIOSFODNN7ABCDEFG", "[redacted:aws-access-key]"),
        ("pwd=a1b2c3d4", "pwd=[redacted:assigned-secret]"),
        ("0123456789abcdef" * 4, "0123456789abcdef" * 4),
        (None, None),
        (Leaf, Leaf),
        (Row(name="x", below=(Leaf(text=SECRET),)), Row(name="x", below=(Leaf(text=GONE),))),
        ((Row(name=SECRET),), (Row(name=GONE),)),
        (b"bytes", b"bytes"),
    ],
)
def test_secrets_go_wherever_they_stand(value: object, expected: object) -> None:
    assert redacted_value(value, REDACTOR) == expected


def test_what_is_allowed_stays() -> None:
    assert redacted_value((SECRET,), Redactor(frozenset({SECRET}))) == (SECRET,)


def test_a_field_that_was_redacted_before_is_passed_over() -> None:
    value = (Leaf(text=SECRET), Row(name=SECRET))
    assert redacted_value(value, REDACTOR, but="text") == (Leaf(text=SECRET), Row(name=GONE))
    assert redacted_value(value, REDACTOR) == (Leaf(text=GONE), Row(name=GONE))
