"""Answers of the ledger as rows and words."""

from agentic_os.cli.output import table, write, write_document
from agentic_os.ledger.answers import EntryView, Finding
from agentic_os.results import Answer
from agentic_os.text.fencing import one_line

FINDINGS = 3
"""Exit code of a verification with findings, of safe mode, of a refusal by a witness."""
PAYLOAD_CHARS = 160
"""How much of a payload a line of text shows; the JSON document has all of it."""


def print_document(command: str, value: object) -> None:
    """Print an answer as the JSON document of its command."""
    write_document(command, Answer(data=value))


def print_rows(*rows: tuple[str, str]) -> None:
    """Print names and values, leaving out the empty ones."""
    table(("what", "value"), [row for row in rows if row[1]])


def print_entry(entry: EntryView) -> None:
    """Print one line of a ledger."""
    write(
        f"{entry.seq}\t{entry.ts}\t{entry.type}\tring {entry.ring}\t{entry.role}\t"
        f"{one_line(entry.payload[:PAYLOAD_CHARS])}\n"
    )


def finding_words(finding: Finding) -> str:
    """Say what is wrong, where, and what to do."""
    line = "" if finding.seq is None else f"line {finding.seq}: "
    hint = f" ({finding.hint})" if finding.hint else ""
    return f"{line}{finding.code}: {finding.message}{hint}"
