"""Bytes of one file to what the store holds: decode, redact, parse. Pure."""

from typing import Literal, assert_never

from agentic_os.aggregate.codes import CODES
from agentic_os.aggregate.surfaces.capabilities import parse_capabilities
from agentic_os.aggregate.surfaces.documents import (
    CORPUS_ROLES,
    IN_THE_NAME,
    ParsedFile,
    Redaction,
    Role,
)
from agentic_os.aggregate.surfaces.memory import fact_name, parse_bank, parse_fact, parse_index
from agentic_os.aggregate.surfaces.vault import parse_note
from agentic_os.results import Diagnostic
from agentic_os.text.decoding import decode
from agentic_os.text.secrets.redaction import Redactor


def parse_file(role: Role, path: str, data: bytes, redactor: Redactor) -> ParsedFile:
    """Read one file of a project.

    The documents cover every line that is not blank, and none of them holds a secret that the
    redactor knows, not even one that is the file's name.
    """
    decoded = decode(data)
    redacted = redactor.redact(decoded.text)
    named = redactor.redact(path)
    parsed = _parse(role, named.text, redacted.text)
    if not redacted.findings and not named.findings and not decoded.replaced:
        return parsed
    diagnostics = parsed.diagnostics
    if decoded.replaced and role not in CORPUS_ROLES:
        diagnostics = (*diagnostics, _not_utf8(named.text))
    return ParsedFile(
        documents=parsed.documents,
        index_links=parsed.index_links,
        capabilities=parsed.capabilities,
        instructions=parsed.instructions,
        redactions=(
            *(Redaction(rule=finding.rule, line=IN_THE_NAME) for finding in named.findings),
            *(Redaction(rule=finding.rule, line=finding.line) for finding in redacted.findings),
        ),
        diagnostics=diagnostics,
    )


def _parse(role: Role, path: str, text: str) -> ParsedFile:
    match role:
        case Role.FACT:
            return parse_fact(text, path=path, stem=fact_name(path))
        case Role.INDEX:
            return parse_index(text)
        case Role.NOTE:
            return parse_note(text, path=path, stem=_stem(path))
        case Role.CAPABILITIES:
            return parse_capabilities(text, path=path)
        case _:
            return _parse_rarer(role, path, text)


def _parse_rarer(
    role: Literal[Role.BANK, Role.INSTRUCTION, Role.TOOLING, Role.SOURCE, Role.DOCUMENT],
    path: str,
    text: str,
) -> ParsedFile:
    """Parse what many fleets have none of; its parsers are not loaded before."""
    match role:
        case Role.BANK:
            return parse_bank(text, path=path, stem=_stem(path))
        case Role.INSTRUCTION:
            from agentic_os.aggregate.surfaces.instructions import parse_instructions

            return parse_instructions(text, path=path)
        case Role.TOOLING:
            from agentic_os.aggregate.surfaces.tooling import parse_tooling

            return parse_tooling(text, path=path)
        case Role.SOURCE | Role.DOCUMENT:
            from agentic_os.aggregate.surfaces.sources import parse_document, parse_source

            read = parse_source if role is Role.SOURCE else parse_document
            return read(text, path=path)
        case _:
            assert_never(role)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _not_utf8(path: str) -> Diagnostic:
    return CODES.diagnostic(
        "TEXT_NOT_UTF8", "some bytes are not UTF-8; they were replaced", path=path
    )
