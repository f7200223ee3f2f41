"""Answers of the ledger as rows and words."""

import typer

from agentic_os.cli.exit_codes import FINDINGS, INCOMPLETE
from agentic_os.cli.output import say, table, write, write_document
from agentic_os.identity.answers import BookmarkData
from agentic_os.ledger.answers import EntryView, Finding
from agentic_os.results import Answer
from agentic_os.text.fencing import one_line
from agentic_os.witness.codes import ERRORS

PAYLOAD_CHARS = 160
"""How much of a payload a line of text shows; the JSON document has all of it."""


_ANSWERED = frozenset({"ACKNOWLEDGED", "NOT_DUE"})


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


def tell_farewell(bookmark: BookmarkData | None) -> None:
    """Say which witnesses did not acknowledge the end of the ledger, and exit accordingly.

    Raises:
        typer.Exit: 3 for a conflict, 2 for a witness that failed or a quorum that is missing.
    """
    if bookmark is None or bookmark.due == "not_due":
        return
    for one in bookmark.witnesses:
        if one.code not in _ANSWERED:
            say(f"witness {one.witness}: {one.code}{f' {one.message}' if one.message else ''}")
    if not bookmark.quorum:
        say("QUORUM_MISSING: too few witnesses have acknowledged the end of the ledger")
    code = bookmark_exit(bookmark)
    if code:
        raise typer.Exit(code)


def bookmark_exit(bookmark: BookmarkData) -> int:
    """Return the exit code that a bookmark stands for."""
    failed = [one for one in bookmark.witnesses if one.code not in _ANSWERED]
    rows = [ERRORS.get(one.code) for one in failed]
    if any(one.conflict for one in failed) or any(
        row is not None and row.family.exit_code == FINDINGS for row in rows
    ):
        return FINDINGS
    return INCOMPLETE if failed or not bookmark.quorum else 0


def finding_words(finding: Finding) -> str:
    """Say what is wrong, where, and what to do."""
    line = "" if finding.seq is None else f"line {finding.seq}: "
    hint = f" ({finding.hint})" if finding.hint else ""
    return f"{line}{finding.code}: {finding.message}{hint}"
