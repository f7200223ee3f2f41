"""Write the reference pages that are made from the code: ``make docs``.

A test compares what stands in docs/reference with what this makes, so the pages are never behind.
"""

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from itertools import groupby
from pathlib import Path

import msgspec
import typer

from agentic_os.aggregate.codes import CODES as AGGREGATE_CODES
from agentic_os.aggregate.graph.codes import GRAPH_CODES, NEAR_MISS_CODES
from agentic_os.aios.archives.faults import MESSAGES as ARCHIVE_MESSAGES
from agentic_os.aios.archives.maintenance import CleanupData
from agentic_os.aios.birth.migration import MESSAGES as MIGRATION_MESSAGES
from agentic_os.aios.birth.migration import PREFIX as MIGRATION_PREFIX
from agentic_os.aios.birth.migration import MigrationData
from agentic_os.aios.folder import faults as folder_faults
from agentic_os.aios.knowledge.audit import AuditData
from agentic_os.aios.sessions.documents import SESSION_DOCUMENTS
from agentic_os.aios.sessions.faults import MESSAGES as SESSION_MESSAGES
from agentic_os.aios.sessions.faults import PREFIX as SESSIONS_PREFIX
from agentic_os.aios.writing import faults as writing_faults
from agentic_os.aios.writing.documents import CHANGE_DOCUMENTS
from agentic_os.cli.app import application
from agentic_os.doctor.identifiers import CHECKS, FOLDER_CHECKS, IDENTITY_CHECKS, PLUGIN_CHECKS
from agentic_os.identity.codes import WAYS_OUT
from agentic_os.identity.documents import IDENTITY_DOCUMENTS
from agentic_os.ledger.line.vocabulary import ENTRY_TYPES
from agentic_os.plugins.answers import PLUGIN_DOCUMENTS
from agentic_os.registry.codes import CODES as REGISTRY_CODES
from agentic_os.results import DOCUMENTS, Envelope
from agentic_os.tiers.engines.codes import ENGINE_CODES
from agentic_os.tiers.graph.answers import GRAPH_DOCUMENTS
from agentic_os.tiers.index.codes import INDEX_CODES

sys.path.insert(0, str(Path(__file__).parent))

from error_codes import error_codes, refusals

UPKEEP_DOCUMENTS = {
    "aios-cleanup": CleanupData,
    "aios-memory": AuditData,
    "aios-migrate": MigrationData,
}
REFERENCE = Path(__file__).parent / "reference"
WIDTH = "100"
NOTE = "<!-- Made by docs/generate.py; do not edit. -->\n"


def pages() -> dict[str, str]:
    """Every generated page by its path below docs/reference."""
    return {
        "cli.1": manual_page(),
        "cli.md": cli_page(),
        "codes.md": codes_page(),
        "ledger-entries.md": ledger_page(),
        **schemas(),
    }


def cli_page() -> str:
    """Write the help of every command."""
    parts = ["# Command line", "", NOTE]
    for words in commands(application(), ()):
        shown = " ".join(("agentic-os", *words))
        parts += [f"## {shown}", "", "```text", help_of(words), "```", ""]
    return "\n".join(parts)


def manual_page() -> str:
    """Write the same help as a manual page, in roff."""
    parts = [
        '.\\" Made by docs/generate.py; do not edit.',
        '.TH AGENTIC-OS 1 "" "agentic-os" "User commands"',
        ".SH NAME",
        "agentic\\-os \\- ask all of your repositories at once",
        ".SH COMMANDS",
    ]
    for words in commands(application(), ()):
        parts += [f".SS {roff(' '.join(('agentic-os', *words)))}", ".nf"]
        parts += [roff(line) for line in help_of(words).split("\n")]
        parts.append(".fi")
    parts += [".SH SEE ALSO", "The reference, in docs/reference of the source distribution."]
    return "\n".join([*parts, ""])


def roff(line: str) -> str:
    """Escape a line of text for roff: no escape, no request."""
    safe = line.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe


def commands(group: typer.Typer, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Name all commands, groups before their members."""
    yield above
    for command in group.registered_commands:
        name = command.name or (command.callback.__name__ if command.callback else "")
        yield (*above, name.replace("_", "-"))
    for below in group.registered_groups:
        if below.typer_instance is not None and below.name:
            yield from commands(below.typer_instance, (*above, below.name))


def help_of(words: tuple[str, ...]) -> str:
    """Return what ``--help`` prints."""
    os.environ["COLUMNS"] = WIDTH
    page = io.StringIO()
    with redirect_stdout(page):
        typer.main.get_command(application()).main(
            args=[*words, "--help"], prog_name="agentic-os", standalone_mode=False
        )
    return "\n".join(line.rstrip() for line in page.getvalue().strip("\n").split("\n"))


def codes_page() -> str:
    """Every diagnostic and every check."""
    parts = ["# Codes", "", NOTE, "Codes are stable: they are never renamed and never reused.", ""]
    for title, table in (
        ("Descriptors, roots and projects", REGISTRY_CODES),
        ("Memory, vault and inventory", AGGREGATE_CODES),
        ("Code graphs", GRAPH_CODES),
        ("Why two projects were not linked", NEAR_MISS_CODES),
        ("The semantic index", INDEX_CODES),
        ("Projects' own engines", ENGINE_CODES),
    ):
        parts += [
            f"## {title}",
            "",
            "| code | severity | meaning | what to do |",
            "|---|---|---|---|",
        ]
        parts += [
            f"| `{row.code}` | {row.severity} | {cell(row.meaning)} | {cell(row.hint)} |"
            for row in table.values()
        ]
        parts.append("")
    parts += ["## Checks of doctor", "", "| id | what it checks |", "|---|---|"]
    parts += [
        f"| `{name}` | {cell(text)} |"
        for name, text in {**CHECKS, **FOLDER_CHECKS, **IDENTITY_CHECKS, **PLUGIN_CHECKS}.items()
    ]
    parts += ["", *error_tables()]
    return "\n".join([*parts, ""])


def error_tables() -> Iterator[str]:
    """Write the codes of errors, room by room, and what the witness service refuses."""
    yield "## Errors"
    yield ""
    yield (
        "An error is printed with its code in brackets, and stands in `error.code` of a JSON"
        " document. The exit code is that of the command which it ends; inside a report (`ledger"
        " verify`, `ledger boot`, `doctor`) the same code is a finding, and the command exits"
        " with 3. … stands for what is filled in."
    )
    yield from ("", "### the AIOS folder", "", "| code | exit | what is said | what to do |")
    yield "|---|---|---|---|"
    for code, (message, hint) in sorted(aios_codes().items()):
        yield f"| `{code}` | 1 | {cell(message)} | {cell(hint)} |"
    for room, rows in groupby(error_codes(), key=lambda row: row.room):
        yield from ("", f"### {room}", "", "| code | exit | what is said | what to do |")
        yield "|---|---|---|---|"
        for row in rows:
            hint = row.hint if row.hint.strip("…:. ") else WAYS_OUT.get(row.code, "")
            yield f"| `{row.code}` | {row.exit_code} | {cell(row.message)} | {cell(hint)} |"
    yield from ("", "## Refusals of the witness service", "")
    yield from ("| code | HTTP status | what is said |", "|---|---|---|")
    for code, status, message in refusals():
        yield f"| `{code}` | {status} | {cell(message)} |"


def aios_codes() -> dict[str, tuple[str, str]]:
    """Message and hint of every code of the AIOS folder's tables."""
    return {
        **folder_faults.MESSAGES,
        **writing_faults.MESSAGES,
        **{f"{SESSIONS_PREFIX}{word}": said for word, said in SESSION_MESSAGES.items()},
        **ARCHIVE_MESSAGES,
        **{f"{MIGRATION_PREFIX}{word}": said for word, said in MIGRATION_MESSAGES.items()},
    }


def ledger_page() -> str:
    """Every type of ledger entry and the fields of its payload."""
    parts = ["# Ledger entries", "", NOTE]
    parts += ["A field without ? is needed. Unknown fields are refused.", ""]
    parts += ["| type | ring | level | payload |", "|---|---|---|---|"]
    for row in ENTRY_TYPES.values():
        fields = ", ".join(
            f"`{field.encode_name}`{'' if field.required else '?'}"
            for field in msgspec.structs.fields(row.payload)
        )
        parts.append(f"| `{row.name}` | {row.ring} | {row.level} | {fields} |")
    return "\n".join([*parts, ""])


def cell(text: str) -> str:
    """Escape a table cell."""
    return text.replace("|", "\\|")


def schemas() -> dict[str, str]:
    """Make the JSON Schema of every document."""
    return {
        f"schemas/{name}.json": json.dumps(
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$id": f"agentic-os/{name}/v1",
                **msgspec.json.schema(Envelope[data]),  # type: ignore[valid-type]  # a run-time table
            },
            indent=1,
            sort_keys=True,
        )
        + "\n"
        for name, data in (
            DOCUMENTS
            | GRAPH_DOCUMENTS
            | IDENTITY_DOCUMENTS
            | PLUGIN_DOCUMENTS
            | CHANGE_DOCUMENTS
            | SESSION_DOCUMENTS
            | UPKEEP_DOCUMENTS
        ).items()
    }


def main() -> None:
    """Write all pages."""
    for name, text in pages().items():
        path = REFERENCE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
