import pytest

from agentic_os.registry.descriptor.numbers import whole_number
from agentic_os.registry.descriptor.yaml_nodes import Scalar


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3", 3),
        ("03", 3),
        ("+2", 2),
        ("-1", -1),
        ("2.0", 2),
        ("2.", 2),
        (" 2 ", 2),
        ("999999999999999999", 999_999_999_999_999_999),
        ("3.9", None),
        (".inf", None),
        (".nan", None),
        ("3e0", None),
        ("0x2", None),
        ("1_0", None),
        ("three", None),
        ("", None),
        ("2.0.0", None),
        ("٣", None),
        ("9" * 24, 10**24 - 1),
        ("9" * 25, None),
    ],
)
def test_only_whole_decimal_numbers_count(text: str, number: int | None) -> None:
    assert whole_number(Scalar(text=text, kind="text", line=1)) == number


def test_a_truth_value_and_nothing_are_no_numbers() -> None:
    assert whole_number(Scalar(text="1", kind="boolean", line=1)) is None
    assert whole_number(None) is None
