"""Repair a ledger, back an identity up, restore it."""

import os
from collections.abc import Sequence
from pathlib import Path

import typer

from agentic_os.cli.actions.trust.ledger.notes import read_note
from agentic_os.cli.actions.trust.ledger.opening import (
    PASSWORD_VARIABLE,
    boot_options,
    home,
    password,
    read_policy,
)
from agentic_os.cli.actions.trust.ledger.printing import (
    finding_words,
    print_document,
    print_rows,
)
from agentic_os.cli.exit_codes import FINDINGS
from agentic_os.cli.options import IdentityPlace
from agentic_os.cli.output import say
from agentic_os.errors import UsageError
from agentic_os.identity.services import (
    backup_identity,
    repair_conflict,
    repair_from_copy,
    repair_tail,
    restore_identity,
)
from agentic_os.ledger.answers import Finding
from agentic_os.ledger.backup.write import PASSWORD_CHARS

_BACKUP_VARIABLE = "AGENTIC_OS_BACKUP_PASSWORD"


def repair(
    where: IdentityPlace, *, source: str | None, checkpoint: str | None, conflict: bool, json: bool
) -> None:
    """Do the one repair that was asked for, and print what became of the file."""
    if (source is None) != (checkpoint is None) or (conflict and source is not None):
        raise typer.BadParameter("--from and --checkpoint belong together, --conflict stands alone")
    if conflict:
        answer = repair_conflict(home(where.folder), boot_options(where))
    elif source is not None and checkpoint is not None:
        policy = read_policy(where)
        answer = repair_from_copy(
            home(where.folder),
            Path(source),
            checkpoint=read_note(checkpoint),
            policy=policy,
            projection_url=where.projection_url or "",
        )
    else:
        answer = repair_tail(home(where.folder))
    if json:
        print_document("ledger-repair", answer)
        _tell(answer.findings)
        return
    print_rows(
        ("done", answer.action), ("lines", str(answer.lines)), ("set aside", answer.set_aside)
    )
    _tell(answer.findings)


def backup(folder: str | None, archive: str, *, json: bool) -> None:
    """Write an archive, and print what it holds."""
    secret = os.environ.get(_BACKUP_VARIABLE, "")
    if len(secret) < PASSWORD_CHARS:
        raise UsageError(
            f"a backup needs a password of at least {PASSWORD_CHARS} characters",
            hint=f"Set {_BACKUP_VARIABLE} for this command.",
        )
    answer = backup_identity(home(folder), Path(archive), password=secret, key_password=password())
    if json:
        print_document("ledger-backup", answer)
        return
    print_rows(
        ("lines", str(answer.lines)), ("head", answer.head_hash), ("bytes", str(answer.bytes))
    )


def restore(folder: str | None, archive: str, *, json: bool) -> None:
    """Restore an archive, and print what it held."""
    answer = restore_identity(Path(archive), home(folder))
    if json:
        print_document("ledger-restore", answer)
        return
    print_rows(("lines", str(answer.lines)), ("head", answer.head_hash), ("origin", answer.origin))
    say(f"The keys have the password of the backup: set {PASSWORD_VARIABLE} to it.")


def _tell(findings: Sequence[Finding]) -> None:
    """Say what no repair of the file mends; it has the exit code of a verification."""
    for finding in findings:
        say(finding_words(finding))
    if findings:
        raise typer.Exit(FINDINGS)
