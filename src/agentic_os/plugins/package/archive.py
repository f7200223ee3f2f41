"""Canonical USTAR: one archive has one spelling, and any other is refused (section 12).

The reader parses what it needs of a header, writes the header that those values have, and
compares all 512 bytes, so that owners, times, links, devices and other spellings of a number
need no rule of their own. It holds no file: contents are passed on in pieces.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.package.paths import PATH_BYTES, check_path, split_path

BLOCK_BYTES: Final = 512
MAX_MEMBERS: Final = 1_024
MAX_HEADERS: Final = 2_048
MAX_PAYLOAD_BYTES: Final = 2 * 1024**3
PIECE_BYTES: Final = 64 * 1024

_FILE, _FOLDER, _EXTENDED = b"0", b"5", b"x"
_EXTENDED_NAME = "PaxHeaders/aiiospkg"
_EXTENDED_PAYLOAD = "PaxPayload/aiiospkg"
_ZERO_BLOCK = bytes(BLOCK_BYTES)
_PLAIN_MODE, _EXECUTABLE_MODE, _FOLDER_MODE = 0o644, 0o755, 0o755
_MODE_FIELD, _SIZE_FIELD, _TYPE_AT = slice(100, 108), slice(124, 136), 156
_PREFIX_FIELD = slice(345, 500)


class Source(Protocol):
    """Where an archive's bytes come from, in order."""

    def take(self, size: int) -> bytes:
        """Return exactly ``size`` bytes.

        Raises:
            PackageRefusedError: it ends before, or is no longer what it says.
        """

    def end(self) -> None:
        """Check that nothing follows.

        Raises:
            PackageRefusedError: something does.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One file or folder of an archive; ``path`` has no trailing slash."""

    path: str
    is_folder: bool = False
    executable: bool = False
    size: int = 0


Contents = Iterator[bytes]


def read_archive(source: Source) -> Iterator[tuple[Member, Contents]]:
    """Yield each member with its contents in pieces, checking order and grammar on the way.

    What a caller leaves of a member's contents is passed over. The checks of the whole are done
    when the iterator ends, not before.

    Raises:
        PackageRefusedError: ``PLUGIN_ENVELOPE_MALFORMED``, ``PLUGIN_MEMBER_ORDER_VIOLATION`` or
            ``PLUGIN_CEILING_EXCEEDED``.
    """
    order = _Order()
    headers = payload = 0
    while (block := source.take(BLOCK_BYTES)) != _ZERO_BLOCK:
        headers += 1
        extended = None
        if block[_TYPE_AT : _TYPE_AT + 1] == _EXTENDED:
            extended = _extended_path(block, source)
            block = source.take(BLOCK_BYTES)
            headers += 1
        member = _member(block, extended)
        payload += member.size
        if headers > MAX_HEADERS or payload > MAX_PAYLOAD_BYTES:
            raise ERRORS.error("PLUGIN_CEILING_EXCEEDED")
        order.admit(member)
        contents = _contents(source, member.size)
        yield member, contents
        for _ in contents:
            pass
    if source.take(BLOCK_BYTES) != _ZERO_BLOCK:
        raise _malformed("one block of zeros where two end an archive")
    source.end()


def write_archive(
    members: Iterator[tuple[Member, Contents]], write: Callable[[bytes], object]
) -> None:
    """Write members, already in order, as the one archive that they have.

    Raises:
        PackageRefusedError: as ``read_archive`` would refuse them.
    """
    order = _Order()
    for member, contents in members:
        order.admit(member)
        write(_headers(member))
        written = 0
        for piece in contents:
            written += len(piece)
            write(piece)
        if written != member.size:
            raise _malformed(f"{member.path} changed while it was packed")
        write(bytes(-written % BLOCK_BYTES))
    write(_ZERO_BLOCK * 2)


class _Order:
    """Members come in strict byte order, each after its folder, and none like a sibling."""

    def __init__(self) -> None:
        self._folders = {""}
        self._folded: set[str] = set()
        self._last = ""
        self._count = 0

    def admit(self, member: Member) -> None:
        path = member.path
        check_path(path)
        self._count += 1
        if self._count > MAX_MEMBERS:
            raise ERRORS.error("PLUGIN_CEILING_EXCEEDED", f"more than {MAX_MEMBERS} members")
        folder = path.rpartition("/")[0]
        # Folders fold as well, so one set of whole paths finds siblings that differ in capitals.
        folded = path.lower()
        if path <= self._last or folder not in self._folders or folded in self._folded:
            raise ERRORS.error(
                "PLUGIN_MEMBER_ORDER_VIOLATION", f"{path} is out of order, or there already"
            )
        self._last = path
        self._folded.add(folded)
        if member.is_folder:
            self._folders.add(path)


def _contents(source: Source, size: int) -> Contents:
    left = size
    while left:
        piece = source.take(min(left, PIECE_BYTES))
        left -= len(piece)
        yield piece
    if any(source.take(-size % BLOCK_BYTES)):
        raise _malformed("padding that is not zero")


def _member(block: bytes, extended: str | None) -> Member:
    kind = block[_TYPE_AT : _TYPE_AT + 1]
    if kind not in {_FILE, _FOLDER}:
        raise _malformed("a member that is neither a file nor a folder")
    stored = _stored_path(block) if extended is None else extended
    member = Member(
        path=stored.removesuffix("/") if kind == _FOLDER else stored,
        is_folder=kind == _FOLDER,
        executable=kind == _FILE and _number(block[_MODE_FIELD]) == _EXECUTABLE_MODE,
        size=_number(block[_SIZE_FIELD]),
    )
    if member.is_folder and member.size:
        raise _malformed("a folder with contents")
    expected = _headers(member)
    if expected[-BLOCK_BYTES:] != block or (len(expected) > BLOCK_BYTES) != (extended is not None):
        raise _malformed(f"the header of {member.path} is not canonical")
    return member


def _stored_path(block: bytes) -> str:
    name = block[:100].rstrip(b"\0")
    prefix = block[_PREFIX_FIELD].rstrip(b"\0")
    try:
        return (prefix + b"/" + name if prefix else name).decode("ascii")
    except UnicodeDecodeError:
        raise _malformed("a name that is not ASCII") from None


def _extended_path(block: bytes, source: Source) -> str:
    size = _number(block[_SIZE_FIELD])
    if size > PATH_BYTES + BLOCK_BYTES:
        raise ERRORS.error("PLUGIN_CEILING_EXCEEDED", "an extended header is too long")
    record = source.take(size)
    if any(source.take(-size % BLOCK_BYTES)):
        raise _malformed("padding that is not zero")
    try:
        path = record.decode("ascii").partition(" path=")[2].removesuffix("\n")
    except UnicodeDecodeError:
        raise _malformed("a name that is not ASCII") from None
    expected = _extended_record(path)
    if record != expected or block != _header(_EXTENDED_NAME, "", _PLAIN_MODE, size, _EXTENDED):
        raise _malformed("an extended header that is not canonical")
    return path


def _headers(member: Member) -> bytes:
    """Return the header of a member, after an extended one where its path needs that."""
    stored = f"{member.path}/" if member.is_folder else member.path
    mode = _EXECUTABLE_MODE if member.executable else _PLAIN_MODE
    kind, mode = (_FOLDER, _FOLDER_MODE) if member.is_folder else (_FILE, mode)
    split = split_path(stored)
    if split is not None:
        prefix, name = split
        return _header(name, prefix, mode, member.size, kind)
    record = _extended_record(stored)
    return (
        _header(_EXTENDED_NAME, "", _PLAIN_MODE, len(record), _EXTENDED)
        + record
        + bytes(-len(record) % BLOCK_BYTES)
        + _header(_EXTENDED_PAYLOAD, "", mode, member.size, kind)
    )


def _extended_record(path: str) -> bytes:
    body = f" path={path}\n"
    size = len(body) + 1
    while len(f"{size}{body}") != size:
        size += 1
    return f"{size}{body}".encode("ascii")


def _header(name: str, prefix: str, mode: int, size: int, kind: bytes) -> bytes:
    fields = (
        _text(name, 100),
        _octal(mode, 8),
        _octal(0, 8),
        _octal(0, 8),
        _octal(size, 12),
        _octal(0, 12),
        b" " * 8,
        kind,
        bytes(100),
        b"ustar\x0000",
        bytes(32 + 32 + 8 + 8),
        _text(prefix, 155),
        bytes(12),
    )
    block = b"".join(fields)
    checksum = f"{sum(block):06o}".encode("ascii") + b"\0 "
    return block[:148] + checksum + block[156:]


def _text(value: str, width: int) -> bytes:
    return value.encode("ascii").ljust(width, b"\0")


def _octal(value: int, width: int) -> bytes:
    return f"{value:0{width - 1}o}".encode("ascii") + b"\0"


def _number(field: bytes) -> int:
    """Read an octal field; what has another spelling fails when the header is compared."""
    digits = field.rstrip(b"\0 ")
    if not digits.isdigit() or b"8" in digits or b"9" in digits:
        raise _malformed("a header with a number that is none")
    return int(digits, 8)


def _malformed(why: str) -> Exception:
    return ERRORS.error("PLUGIN_ENVELOPE_MALFORMED", f"not a canonical archive: {why}")
