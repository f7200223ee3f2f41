"""Frames on the pipe between host and worker: four bytes of length, then one text (section 15).

The first byte of a text says what it is. A frame that is longer than a message can be ends the
connection.

>>> frame(b"{}").hex()
'000000027b7d'
"""

from collections.abc import Callable
from typing import Final

from agentic_os.plugins.sandbox.limits import MESSAGE_BYTES

LENGTH_BYTES: Final = 4
FRAME_BYTES: Final = MESSAGE_BYTES + 1
CALL, ANSWER, HOST_CALL, FAULT, READY = b"C", b"A", b"H", b"F", b"R"


class FrameError(Exception):
    """The other side sent a frame that is too long, or ended within one."""


def frame(text: bytes) -> bytes:
    """Return a text with its length in front."""
    return len(text).to_bytes(LENGTH_BYTES, "big") + text


def read_frame(take: Callable[[int], bytes], *, limit_bytes: int = FRAME_BYTES) -> bytes:
    """Read one frame.

    Args:
        take: returns exactly so many bytes, or fewer where the pipe ends.
        limit_bytes: the longest text.

    Raises:
        FrameError: the pipe ends, or the frame is too long.
    """
    length = take(LENGTH_BYTES)
    if len(length) < LENGTH_BYTES:
        raise FrameError("the pipe ends")
    size = int.from_bytes(length, "big")
    if size > limit_bytes:
        raise FrameError("a frame is too large")
    text = take(size)
    if len(text) < size:
        raise FrameError("the pipe ends within a frame")
    return text
