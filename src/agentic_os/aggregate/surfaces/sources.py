"""Sources and documents of a project, parsed: the passages of the tier-3 corpus.

Pure functions over redacted text. A passage's ``name`` is its symbol or heading, else the
file's name; ``label`` are the words of its path; ``group`` is the hash of what is embedded
for it, so that equal passages of clones are embedded once.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agentic_os.aggregate.surfaces.documents import Document, ParsedFile
from agentic_os.code.passages.chunks import chunk_document, chunk_source
from agentic_os.code.passages.windows import Chunk, embedded_text
from agentic_os.results import Kind
from agentic_os.text.tokens import index_extra

SYMBOL_TYPE = "symbol"
"""``Document.type`` of a passage whose name is that of a definition."""
LINES_TYPE = "lines"
"""``Document.type`` of a passage that belongs to no definition; its name is the file's."""
SECTION_TYPE = "section"
"""``Document.type`` of a passage whose name is a heading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What the identity of a passage is made of: its file, its name, what is embedded of it."""

    path: str
    name: str
    text_hash: str


def parse_source(text: str, *, path: str) -> ParsedFile:
    """Read a source file: a passage for each definition, and for what lies between them."""
    chunks = chunk_source(path, text)
    return ParsedFile(documents=tuple(passage_document("code", path, chunk) for chunk in chunks))


def parse_document(text: str, *, path: str) -> ParsedFile:
    """Read a document: a passage for each heading."""
    chunks = chunk_document(path, text)
    return ParsedFile(
        documents=tuple(passage_document("document", path, chunk) for chunk in chunks)
    )


def text_hash(path: str, name: str, text: str) -> str:
    """Hash of what is embedded for a passage; equal for equal passages of any project."""
    embedded = embedded_text(path, name, text).encode("utf-8", "replace")
    return hashlib.blake2b(embedded, digest_size=12).hexdigest()


def chunk_ids(project: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Stable ids of passages of one project, given in the order of their files.

    An id depends on the project's id, the path, the name, the text and, for a passage that
    stands several times in one file, on which of them it is: never on line numbers, so an
    edit above a passage leaves its id alone.
    """
    seen: Counter[Passage] = Counter()
    found = []
    for passage in passages:
        ordinal = seen[passage]
        seen[passage] += 1
        parts = (project, passage.path, passage.name, passage.text_hash, str(ordinal))
        joined = "\0".join(parts).encode("utf-8", "replace")
        found.append(hashlib.blake2b(joined, digest_size=16).hexdigest())
    return tuple(found)


def passage_document(kind: Kind, path: str, chunk: Chunk) -> Document:
    """Return what the store holds of a passage.

    Args:
        kind: ``code`` or ``document``.
        path: of the file, relative to the project.
        chunk: the passage, redacted.
    """
    name = chunk.symbol or path.rpartition("/")[2]
    symbol_type = SYMBOL_TYPE if kind == "code" else SECTION_TYPE
    return Document(
        kind=kind,
        name=name,
        label=f"{path} {index_extra(path)}".rstrip(),
        type=symbol_type if chunk.symbol else LINES_TYPE,
        start=chunk.start,
        end=chunk.end,
        body=chunk.text,
        extra=f"{index_extra(name)} {index_extra(chunk.text)}".strip(),
        template=False,
        group=text_hash(path, name, chunk.text),
    )
