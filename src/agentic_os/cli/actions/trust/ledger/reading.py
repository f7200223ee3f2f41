"""Show, verify and prove lines of a ledger."""

from collections.abc import Iterable
from pathlib import Path

import typer

from agentic_os.cli.actions.trust.ledger.opening import booted, home, read_file, verifying
from agentic_os.cli.actions.trust.ledger.printing import (
    finding_words,
    print_document,
    print_entry,
    print_rows,
)
from agentic_os.cli.exit_codes import FINDINGS
from agentic_os.cli.options import IdentityPlace
from agentic_os.cli.output import say
from agentic_os.identity.answers import ExportData
from agentic_os.identity.services import show_ledger, verify_ledger
from agentic_os.ledger.answers import ProveData
from agentic_os.ledger.file.show import LineFilter
from agentic_os.ledger.gold import read_public_key
from agentic_os.ledger.line.vocabulary import ROLES


def show(
    folder: str | None,
    *,
    kind: str,
    rings: Iterable[int],
    role: str,
    between: tuple[int, int | None],
    contains: str,
    limit: int,
    json: bool,
) -> None:
    """Print the lines that match."""
    if role and role not in ROLES:
        raise typer.BadParameter(f"roles are {', '.join(ROLES)}")
    wanted = LineFilter(
        type=kind,
        rings=frozenset(rings),
        role=role,
        first_seq=between[0],
        last_seq=between[1],
        contains=contains,
    )
    answer = show_ledger(home(folder), wanted, limit=limit)
    if json:
        print_document("ledger-show", answer)
        return
    for entry in answer.entries:
        print_entry(entry)
    say(f"{len(answer.entries)} of {answer.matched} lines that match, {answer.lines} in all")


def verify(
    folder: str | None, place: str | None, *, form: str, key: str | None, json: bool
) -> None:
    """Verify a ledger, and print what was found."""
    if key is not None and form != "aii-gold":
        raise typer.BadParameter("--key belongs to --format aii-gold")
    path = home(folder) if place is None else Path(place)
    with verifying(path) as tick:
        if form == "agentic-os":
            answer = verify_ledger(path, progress=tick)
        elif form == "aii-gold":
            known = None if key is None else read_public_key(read_file(key))
            answer = verify_ledger(path, ledger_format="aii-gold", key=known, progress=tick)
        else:
            raise typer.BadParameter("formats are agentic-os and aii-gold")
    if json:
        print_document("ledger-verify", answer)
    else:
        print_rows(
            ("lines", str(answer.lines)),
            ("head", answer.head_hash),
            ("root", answer.root_hash),
            ("signatures checked", str(answer.signatures_checked)),
        )
    for finding in answer.findings:
        say(finding_words(finding))
    if answer.findings:
        raise typer.Exit(FINDINGS)


def prove(where: IdentityPlace, seq: int, *, output: str | None, json: bool) -> None:
    """Prove where a line stands: print the proof, or write it to a file."""
    with booted(where) as identity:
        if output is None:
            _print_proof(identity.prove(seq), json=json)
        else:
            _print_export(identity.export_proof(seq, Path(output).absolute()), json=json)


def _print_proof(answer: ProveData, *, json: bool) -> None:
    if json:
        print_document("ledger-prove", answer)
        return
    print_rows(
        ("leaf", answer.leaf_hash),
        ("tree", f"{answer.tree_size} lines, root {answer.root_hash}"),
        *(("proof", one) for one in answer.proof),
    )


def _print_export(written: ExportData, *, json: bool) -> None:
    if json:
        print_document("ledger-prove-output", written)
        return
    print_rows(
        ("leaf", written.leaf_hash),
        ("tree", f"{written.tree_size} lines, root {written.root_hash}"),
        ("file", written.file),
    )
