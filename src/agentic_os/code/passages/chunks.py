"""From a path and its text to passages: sources by their definitions, documents by headings.

Pure, for any text: the functions never raise, end on every input, and their passages
together hold every line that is not blank, in the order of the file, none of them twice.

A definition is one passage. One that does not fit is cut: at the definitions inside it, which
are passages of their own, then at its lines; every part keeps the name. What a class holds is
always cut at its methods. Lines between definitions have the name of what encloses them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentic_os.code.passages.headings import document_sections
from agentic_os.code.passages.windows import Chunk, room, windows
from agentic_os.code.reading import language_of

if TYPE_CHECKING:
    from agentic_os.code.passages.outline import Definition

_SMALL_CHARS = 160
"""A rest of at most so many characters may join the passage before it."""


def chunk_source(path: str, text: str) -> tuple[Chunk, ...]:
    """Cut a source file; see the module."""
    lines = text.split("\n")
    if language_of(path) is None:
        return tuple(_cut(lines, 1, len(lines), path, ""))
    # The grammars are not loaded for other languages.
    from agentic_os.code.passages.outline import outline

    definitions = outline(path, text)
    below: dict[int, list[int]] = {}
    for index, item in enumerate(definitions):
        below.setdefault(item.parent, []).append(index)
    source = _Source(path, lines, definitions, below)
    return _joined(source.chunks(-1), source)


@dataclass(frozen=True, slots=True)
class _Source:
    path: str
    lines: Sequence[str]
    definitions: Sequence["Definition"]
    below: Mapping[int, Sequence[int]]

    def chunks(self, index: int) -> Iterator[Chunk]:
        """Yield the passages of a definition, or of the whole file for -1, in order."""
        item = self.definitions[index] if index >= 0 else None
        start, end, symbol = (item.start, item.end, item.name) if item else (1, len(self.lines), "")
        inner = self.below.get(index, ())
        if item is not None and not (item.container and inner) and self.fits(start, end, symbol):
            inner = ()
        for below in inner:
            found = self.definitions[below]
            yield from _cut(self.lines, start, found.start - 1, self.path, symbol)
            yield from self.chunks(below)
            start = found.end + 1
        yield from _cut(self.lines, start, end, self.path, symbol)

    def fits(self, start: int, end: int, symbol: str) -> bool:
        """Whether lines can be one passage."""
        left = room(self.path, symbol) + 1
        for number in range(start - 1, end):
            left -= len(self.lines[number]) + 1
            if left < 0:
                return False
        return True


def _joined(chunks: Iterable[Chunk], source: _Source) -> tuple[Chunk, ...]:
    """Join what says little to the passage before it, where it fits.

    That is a closing brace, or the last few lines of a definition behind one that it holds:
    the name of neither is lost.
    """
    found: list[Chunk] = []
    named: set[str] = set()
    for chunk in chunks:
        last = found[-1] if found else None
        small = len(chunk.text) <= _SMALL_CHARS and (
            (chunk.symbol in named and last is not None and _holds(chunk.symbol, last.symbol))
            or not any(map(str.isalnum, chunk.text))
        )
        if last is not None and small and source.fits(last.start, chunk.end, last.symbol):
            text = "\n".join(source.lines[last.start - 1 : chunk.end])
            found[-1] = Chunk(start=last.start, end=chunk.end, symbol=last.symbol, text=text)
        else:
            found.append(chunk)
            named.add(chunk.symbol)
    return tuple(found)


def _holds(outer: str, inner: str) -> bool:
    return bool(outer) and inner.startswith(f"{outer}.")


def chunk_document(path: str, text: str) -> tuple[Chunk, ...]:
    """Cut a document at its headings; see the module."""
    lines = text.split("\n")
    return tuple(
        chunk
        for title, start, end in document_sections(path, text, lines)
        for chunk in _cut(lines, start, end, path, title)
    )


def _cut(lines: Sequence[str], start: int, end: int, path: str, symbol: str) -> Iterator[Chunk]:
    for first, last in windows(lines, start, end, room(path, symbol)):
        text = "\n".join(lines[first - 1 : last])
        yield Chunk(start=first, end=last, symbol=symbol, text=text)
