"""From a path and its text to passages: sources by their definitions, documents by headings.

Pure, for any text: the functions never raise, end on every input, and their passages
together hold every line that is not blank, in the order of the file, none of them twice.
"""

from agentic_os.code.passages import Chunk, room, windows
from agentic_os.text.markdown import sections

_MARKDOWN = (".md", ".markdown", ".mdx")


def chunk_source(path: str, text: str) -> tuple[Chunk, ...]:
    """Cut a source file; see the module."""
    lines = text.split("\n")
    return tuple(_cut(lines, 1, len(lines), path, ""))


def chunk_document(path: str, text: str) -> tuple[Chunk, ...]:
    """Cut a document at its headings; see the module."""
    lines = text.split("\n")
    if not path.lower().endswith(_MARKDOWN):
        return tuple(_cut(lines, 1, len(lines), path, ""))
    found: list[Chunk] = []
    for section in sections(text):
        found.extend(_cut(lines, section.start, section.end, path, section.title))
    return tuple(found)


def _cut(lines: list[str], start: int, end: int, path: str, symbol: str) -> list[Chunk]:
    return [
        Chunk(start=first, end=last, symbol=symbol, text="\n".join(lines[first - 1 : last]))
        for first, last in windows(lines, start, end, room(path, symbol))
    ]
