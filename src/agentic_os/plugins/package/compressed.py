"""The one gzip member around an archive, read strictly and in pieces (section 12).

>>> import io
>>> packed = io.BytesIO()
>>> writer = Compressor(packed.write)
>>> writer.write(b"words")
>>> writer.finish()
>>> source = Decompressor(io.BytesIO(packed.getvalue()), limit_bytes=1024)
>>> source.take(5)
b'words'
>>> source.end()
"""

import zlib
from collections.abc import Callable
from typing import BinaryIO, Final

from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.package.archive import PIECE_BYTES

HEADER: Final = bytes.fromhex("1f8b08000000000002ff")
"""Deflate, no flags, no time, best compression, unknown system."""
_TRAILER_BYTES = 8
_MASK = 0xFFFFFFFF


class Decompressor:
    """A source of an archive's bytes. Nothing is inflated before it is asked for."""

    def __init__(self, file: BinaryIO, *, limit_bytes: int) -> None:
        """Begin at the gzip header; ``limit_bytes`` bounds the packed file.

        Raises:
            PackageRefusedError: ``PLUGIN_ENVELOPE_MALFORMED``.
        """
        self._file = file
        self._left = limit_bytes
        self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        self._waiting = b""
        self._crc = self._size = 0
        if self._packed(len(HEADER)) != HEADER:
            raise _malformed("it does not begin as a package does")

    def take(self, size: int) -> bytes:
        """Return exactly ``size`` bytes.

        Raises:
            PackageRefusedError: it ends before, or is damaged.
        """
        parts = []
        left = size
        while left:
            piece = self._piece(left)
            parts.append(piece)
            left -= len(piece)
        return b"".join(parts)

    def end(self) -> None:
        """Check that the archive, its trailer and the file end here.

        Raises:
            PackageRefusedError: something follows, or the trailer's sums differ.
        """
        if not self._inflate.eof and self._more(1):
            raise _malformed("something follows the archive")
        trailer = self._inflate.unused_data
        while len(trailer) <= _TRAILER_BYTES and (piece := self._packed(PIECE_BYTES)):
            trailer += piece
        expected = self._crc.to_bytes(4, "little") + (self._size & _MASK).to_bytes(4, "little")
        if trailer != expected:
            raise _malformed("its trailer is wrong, or something follows it")

    def _piece(self, size: int) -> bytes:
        piece = self._more(size)
        if not piece:
            raise _malformed("it ends too early")
        return piece

    def _more(self, size: int) -> bytes:
        """Return at least one byte and at most ``size``; nothing where the stream has ended."""
        while not self._inflate.eof:
            if not self._waiting:
                self._waiting = self._packed(PIECE_BYTES)
            ended = not self._waiting
            try:
                piece = self._inflate.decompress(self._waiting, size)
            except zlib.error:
                raise _malformed("it is damaged") from None
            self._waiting = self._inflate.unconsumed_tail
            if piece:
                self._crc = zlib.crc32(piece, self._crc)
                self._size += len(piece)
                return piece
            if ended and not self._inflate.eof:
                raise _malformed("it ends too early")
        return b""

    def _packed(self, size: int) -> bytes:
        piece = self._file.read(size)
        self._left -= len(piece)
        if self._left < 0:
            raise ERRORS.error("PLUGIN_CEILING_EXCEEDED", "the package is too large")
        return piece


class Compressor:
    """Write the gzip member that ``Decompressor`` reads."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        """Write the header; ``write`` takes each piece."""
        self._write = write
        self._deflate = zlib.compressobj(zlib.Z_BEST_COMPRESSION, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._crc = self._size = 0
        write(HEADER)

    def write(self, piece: bytes) -> None:
        """Add bytes of the archive."""
        self._crc = zlib.crc32(piece, self._crc)
        self._size += len(piece)
        self._write(self._deflate.compress(piece))

    def finish(self) -> None:
        """Write what is left, and the trailer."""
        self._write(self._deflate.flush())
        self._write(self._crc.to_bytes(4, "little") + (self._size & _MASK).to_bytes(4, "little"))


def _malformed(why: str) -> Exception:
    return ERRORS.error("PLUGIN_ENVELOPE_MALFORMED", f"not a package: {why}")
