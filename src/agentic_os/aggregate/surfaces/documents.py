"""What one file of a project contributes to the store.

A file is parsed into documents that together cover all of its lines, so that whatever a
line search over the file finds, a search over the documents finds too. Texts are decoded
and redacted before they get here; nothing below this point has seen a secret.

The values are ``msgspec.Struct``: frozen as a dataclass is, and made in C. A first run makes a
hundred thousand of them.
"""

from enum import StrEnum

import msgspec

from agentic_os.registry.conventions.scopes import Activation
from agentic_os.results import CapabilitySection, Diagnostic, Kind


class Role(StrEnum):
    """What a file is to its project: decides which parser reads it."""

    FACT = "fact"
    INDEX = "index"
    NOTE = "note"
    CAPABILITIES = "capabilities"
    INSTRUCTION = "instruction"
    BANK = "bank"
    TOOLING = "tooling"
    SOURCE = "source"
    DOCUMENT = "document"


CORPUS_ROLES = (Role.SOURCE, Role.DOCUMENT)
"""Taken in by ``corpus.refresh_corpus`` alone: a sweep of the surfaces leaves them as they are."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """One searchable passage: whole lines ``start..end`` (from 1, inclusive) of a file.

    ``name`` is what the passage is called, ``label`` a line about it, ``type`` its own word for
    what it is. ``extra`` holds further search terms (identifier parts, the file's stem).
    ``group`` is the hash of the normalised text, equal for equal passages.
    """

    kind: Kind
    name: str
    label: str
    type: str
    start: int
    end: int
    body: str
    extra: str
    template: bool
    group: str


class Import(msgspec.Struct, frozen=True, kw_only=True):
    """A file that an instruction takes in by ``@path``, as it is written."""

    target: str
    line: int


class Instruction(msgspec.Struct, frozen=True, kw_only=True):
    """What one instruction file is: whose, for what, and what it takes in.

    ``folder`` is the folder that it governs, ``patterns`` the files that it is for. A ``pointer``
    only names another file; ``private`` words are one person's. ``digest`` is the hash of the text,
    equal for equal texts.
    """

    form: str
    harness: str
    folder: str
    activation: Activation
    patterns: tuple[str, ...]
    description: str
    imports: tuple[Import, ...]
    chars: int
    lines: int
    pointer: bool
    private: bool
    digest: str


class IndexLink(msgspec.Struct, frozen=True, kw_only=True):
    """A line of MEMORY.md that lists a fact file."""

    title: str
    target: str
    line: int


class Capability(msgspec.Struct, frozen=True, kw_only=True):
    """One row of an inventory: its section, its name, and how the file words it."""

    section: CapabilitySection
    name: str
    detail: str
    line: int
    declared: bool
    """True for a row of CAPABILITIES.md, false for what a harness's own file says."""


NAME_CHARS = 200
LABEL_CHARS = 1_000
"""What a passage is called and said to be fills lists and contexts; its text holds all of it."""


def short(text: str, limit: int = NAME_CHARS) -> str:
    """Return a name that is no longer than ``limit`` characters, its cut shown."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


IN_THE_NAME = 0
"""The line of a secret that stands in the name of a file, or of a folder above it."""


class Redaction(msgspec.Struct, frozen=True, kw_only=True):
    """A secret that was replaced before anything was stored."""

    rule: str
    line: int


class ParsedFile(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one file contributes."""

    documents: tuple[Document, ...] = ()
    index_links: tuple[IndexLink, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    instructions: tuple[Instruction, ...] = ()
    redactions: tuple[Redaction, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
