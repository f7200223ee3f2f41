"""One kind of error for whatever the bytes are."""

import msgspec
import pytest

from agentic_os.text.shapes import read_shape


class Shape(msgspec.Struct):
    size: int = 0


@pytest.mark.parametrize("opening", [b'{"x":' + b"[" * 200_000, b'{"x":' * 200_000])
def test_members_that_nobody_asked_for_may_be_nested_as_deeply_as_they_like(opening: bytes) -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        read_shape(opening, Shape)


@pytest.mark.parametrize("data", [b"", b"\x80", b'{"size":"\xff"}', b'{"size":1e999}', b'{"size"'])
def test_what_is_no_such_value_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        read_shape(data, Shape)


def test_the_message_names_the_member() -> None:
    with pytest.raises(ValueError, match=r"\$\.size"):
        read_shape(b'{"size":"x"}', Shape)


def test_a_value_is_read_and_other_members_are_left_alone() -> None:
    assert read_shape(b'{"size":3,"more":[{}]}', Shape) == Shape(size=3)
