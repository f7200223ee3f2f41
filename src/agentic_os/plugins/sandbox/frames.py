"""Frames on the pipe between host and worker: four bytes of length, then one text (section 15).

The first byte of a text says what it is. A frame that is longer than a message can be ends the
connection. Head and body stay apart, so that a message of a mebibyte is not copied to be sent.

>>> (head(b"{", b"}") + b"}").hex()
'000000027b7d'
"""

from collections.abc import Callable
from typing import Final

from agentic_os.plugins.sandbox.limits import MESSAGE_BYTES

LENGTH_BYTES: Final = 4
FRAME_BYTES: Final = MESSAGE_BYTES + 1
ORDER, MODULE = b"O", b"M"
CALL, ANSWER, HOST_CALL, FAULT, READY = b"C", b"A", b"H", b"F", b"R"


class FrameError(Exception):
    """The other side sent a frame that is too long, or ended within one."""


def head(kind: bytes, body: bytes) -> bytes:
    """Return what goes before a body: the length of both, and the byte that says what it is."""
    return (len(kind) + len(body)).to_bytes(LENGTH_BYTES, "big") + kind


def read_frame(
    take: Callable[[int], bytes], *, limit_bytes: int = FRAME_BYTES
) -> tuple[bytes, bytes]:
    """Read one frame; return its kind and its body.

    Args:
        take: returns exactly so many bytes, or fewer where the pipe ends.
        limit_bytes: the longest text.

    Raises:
        FrameError: the pipe ends, or the frame is empty or too long.
    """
    begin = take(LENGTH_BYTES + 1)
    size = int.from_bytes(begin[:LENGTH_BYTES], "big") - 1
    if len(begin) <= LENGTH_BYTES or size < 0:
        raise FrameError("the pipe ends")
    if size >= limit_bytes:
        raise FrameError("a frame is too large")
    body = take(size) if size else b""
    if len(body) < size:
        raise FrameError("the pipe ends within a frame")
    return begin[LENGTH_BYTES:], body
