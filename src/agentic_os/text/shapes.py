"""JSON that anybody may have written, read into a shape: a value or one kind of error.

The decoder itself ends otherwise where members that nobody asked for are nested deeply.
"""

from typing import TypeVar

import msgspec

ShapeT = TypeVar("ShapeT")


def read_shape(data: bytes, shape: type[ShapeT]) -> ShapeT:
    """Return a JSON text as a value of ``shape``.

    Raises:
        ValueError: it is none; the message names the member.

    >>> read_shape(b"[1, 2]", tuple[int, int])
    (1, 2)
    >>> read_shape(b"[" * 100_000, list[object])
    Traceback (most recent call last):
    ValueError: nested too deeply
    """
    try:
        return msgspec.json.decode(data, type=shape)
    except RecursionError:
        raise ValueError("nested too deeply") from None
