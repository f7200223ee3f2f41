"""What one file of a project contributes to the store.

A file is parsed into documents that together cover all of its lines, so that whatever a
line search over the file finds, a search over the documents finds too. Texts are decoded
and redacted before they get here; nothing below this point has seen a secret.
"""

from dataclasses import dataclass
from enum import StrEnum

from agentic_os.results import CapabilitySection, Diagnostic, Kind


class Role(StrEnum):
    """What a file is to its project: decides which parser reads it."""

    FACT = "fact"
    INDEX = "index"
    NOTE = "note"
    CAPABILITIES = "capabilities"
    INVOCATIONS = "invocations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexLink:
    """A line of MEMORY.md that lists a fact file."""

    title: str
    target: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """One row of an inventory: its section, its name, and how the file words it."""

    section: CapabilitySection
    name: str
    detail: str
    line: int
    declared: bool
    """True for a row of CAPABILITIES.md, false for an invocation of ``.mcp.json``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """A secret that was replaced before anything was stored."""

    rule: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedFile:
    """Everything one file contributes."""

    documents: tuple[Document, ...] = ()
    index_links: tuple[IndexLink, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    redactions: tuple[Redaction, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
