"""Boot an identity and let it act: append, bookmark, rotate."""

import sys
from dataclasses import replace
from pathlib import Path

import typer

from agentic_os.cli.actions.trust.ledger.opening import (
    boot_options,
    booted,
    home,
    password,
    read_policy,
    rounds_of,
)
from agentic_os.cli.actions.trust.ledger.printing import (
    bookmark_exit,
    finding_words,
    print_document,
    print_entry,
    print_rows,
)
from agentic_os.cli.exit_codes import FINDINGS
from agentic_os.cli.options import IdentityPlace
from agentic_os.cli.output import say
from agentic_os.crypto.canonical.json import canonicalize
from agentic_os.errors import CryptoError, UsageError
from agentic_os.identity.answers import BootData
from agentic_os.identity.services import change_policy
from agentic_os.ledger.answers import AppendData
from agentic_os.ledger.line.vocabulary import LEVELS, ROLES
from agentic_os.ledger.writing import Request


def show_boot(where: IdentityPlace, *, json: bool) -> None:
    """Boot, and print how the identity stands."""
    with booted(where) as identity:
        report = identity.report
        if json:
            print_document("ledger-boot", report)
        else:
            _print_boot(report)
        if report.mode != "ready":
            raise typer.Exit(FINDINGS)


def append(where: IdentityPlace, kind: str, payload: str, *, level: str, json: bool) -> None:
    """Append one entry, and print what was written."""
    text = sys.stdin.buffer.read() if payload == "-" else payload.encode("utf-8", "surrogateescape")
    asked = Request(type=kind, payload=_canonical(text))
    session = next((one for one in LEVELS if one == level), None)
    if session is None:
        raise typer.BadParameter("levels are agent, operator and platform")
    with booted(where) as identity:
        if session != "agent":
            identity.unlock(session, password=password())
        answer = identity.append(session, [asked])
        if json:
            print_document("ledger-append", answer)
        else:
            _print_appended(answer)


def _print_appended(answer: AppendData) -> None:
    for one in answer.entries:
        print_entry(one.entry)
        if one.rewritten_from:
            say(f"written as {one.entry.type}, not {one.rewritten_from}: {one.reason}")


def bookmark(where: IdentityPlace, *, receipts: str | None, json: bool) -> None:
    """Bring the head before the witnesses, and print what they said."""
    with booted(where) as identity:
        answer = identity.bookmark()
    policy = None if receipts is None else read_policy(where)
    if receipts is not None and policy is not None:
        rounds = rounds_of(home(where.folder), policy)
        answer = replace(answer, receipts=rounds.export_receipts(Path(receipts).absolute()))
    if json:
        print_document("ledger-bookmark", answer)
    else:
        print_rows(
            ("head", f"{answer.ordinal} {answer.ledger_hash}"),
            *((one.witness, f"{one.code} {one.message}".strip()) for one in answer.witnesses),
            *(("receipt", name) for name in answer.receipts),
        )
    if not answer.quorum:
        say("QUORUM_MISSING: too few witnesses have acknowledged the end of the ledger")
    if code := bookmark_exit(answer):
        raise typer.Exit(code)


def replace_policy(where: IdentityPlace, file: str, *, reason: str, json: bool) -> None:
    """Let the operator decide for another witness policy, and print what is accepted now."""
    chosen = where._replace(witnesses=file)
    answer = change_policy(
        home(where.folder), boot_options(chosen), reason=reason, password=password()
    )
    if json:
        print_document("ledger-policy", answer)
        return
    print_rows(
        ("policy", answer.digest),
        ("witnesses", " ".join(answer.witnesses)),
        ("quorum", answer.quorum),
        ("line", str(answer.seq)),
        ("replaced", answer.replaced),
    )


def rotate(
    where: IdentityPlace, role: str | None, *, checkpoint: bool, reason: str, json: bool
) -> None:
    """Put a new key in the place of a role's or the checkpoint key, and print both names."""
    changed = next((one for one in ROLES if one == role), None)
    if checkpoint == (role is not None):
        raise typer.BadParameter("give a role, or --checkpoint")
    if changed is None and not checkpoint:
        raise typer.BadParameter(f"roles are {', '.join(ROLES)}")
    with booted(where) as identity:
        if changed is None:
            answer = identity.rotate_checkpoint()
        else:
            if changed != "identity":
                identity.unlock(changed, password=password())
            answer = identity.rotate(changed, reason=reason)
        if json:
            print_document("ledger-rotate", answer)
        else:
            print_rows(
                ("line", str(answer.seq)),
                ("old key", answer.old_key_id),
                ("new key", answer.new_key_id),
            )


def _canonical(text: bytes) -> bytes:
    try:
        return canonicalize(text)
    except CryptoError as fault:
        raise UsageError(
            f"the payload is {fault.message}", code=fault.code, hint="Give one JSON object."
        ) from None


def _print_boot(report: BootData) -> None:
    print_rows(
        ("mode", report.mode),
        ("identity", report.identity_id),
        ("lines", "" if report.verify is None else str(report.verify.lines)),
        (
            "signatures",
            ""
            if report.verify is None
            else f"{report.verify.signatures_checked} checked,"
            f" {report.verify.signatures_skipped} not",
        ),
        ("projection", f"{report.restored_from}, {report.replayed} lines replayed"),
        *((one.witness, f"{one.code} {one.message}".strip()) for one in report.witnesses),
    )
    if report.reason is not None:
        say(finding_words(report.reason))
