"""Examine the identity and the witness that live on this machine, where any do.

What boot would find without asking a witness is told with what to do about it, for every case
of safe mode (``identity.health``); then whether anybody elsewhere could notice a rollback.
Nothing is changed, and no witness is asked: that is what ``ledger boot`` does.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from agentic_os.crypto.envelope.public_keys import parse_time
from agentic_os.doctor.identifiers import IDENTITY_CHECKS, nothing_to_check
from agentic_os.errors import AgenticOSError
from agentic_os.identity.health import HealthData, identity_health
from agentic_os.identity.witness_policy import POLICY_NAME, kept_policy
from agentic_os.ledger.answers import Finding
from agentic_os.ledger.layout import WITNESS_FOLDER
from agentic_os.results import Check
from agentic_os.witness.client.policy import parse_policy
from agentic_os.witness.service.health import witness_health

ACKNOWLEDGED_WITHIN: Final = timedelta(hours=24)
LINES_UNACKNOWLEDGED: Final = 200
"""Twice as many as make a bookmark due (ledger format, Bookmark)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPlaces:
    """Where the identity, its witness policy and an own witness would be."""

    identity: Path
    policy: Path
    witness: Path


def examine_identity(
    places: OwnPlaces, *, now: datetime | None = None, progress: Callable[[int], None] | None = None
) -> Iterator[Check]:
    """Make the checks of ``IDENTITY_CHECKS``.

    Args:
        places: where to look.
        now: with a time zone; the clock's by default.
        progress: called with the number of ledger bytes verified.
    """
    moment = now or datetime.now(UTC)
    health = identity_health(places.identity, progress=progress)
    yield from _ledger(health)
    yield from _witnessed(health, places, moment)
    yield from _own_witness(places.witness, moment)


def _ledger(health: HealthData) -> Iterator[Check]:
    if health.unfinished is not None:
        left = health.unfinished
        yield Check(
            id="identity.ledger",
            status="warn",
            message=f"{left.code}: {left.message}",
            hint=left.hint,
        )
    if health.state == "absent":
        if health.unfinished is None:
            yield nothing_to_check("identity.ledger", "no identity lives here")
        return
    for finding in health.findings:
        yield Check(
            id="identity.ledger",
            status="fail",
            message=f"{finding.code}: {_at(finding)}{finding.message}",
            hint=finding.hint,
        )
    if not health.findings:
        yield _fine("identity.ledger", f"{health.lines} lines verify, every signature")


def _witnessed(health: HealthData, places: OwnPlaces, now: datetime) -> Iterator[Check]:
    check = "identity.witnessed"
    if health.state == "absent":
        yield nothing_to_check(check, "no identity lives here")
        return
    newest = health.accepted.newest_entry if health.accepted else health.lines
    behind = newest - health.acknowledged
    refused = _policy_fault(health, places)
    if refused is not None:
        yield Check(
            id=check, status="fail", message=f"{refused.code}: {refused.message}", hint=refused.hint
        )
    elif not _has_policy(places):
        yield Check(
            id=check,
            status="warn",
            message="no witness policy: nobody elsewhere could notice a rollback",
            hint="Write witnesses.policy in the config folder, then `agentic-os ledger bookmark`.",
        )
    elif not health.acknowledged:
        yield _due("no witness has acknowledged anything yet")
    elif behind > LINES_UNACKNOWLEDGED:
        yield _due(f"{behind} lines are younger than the last acknowledged one")
    elif behind > 0 and now - parse_time(health.acknowledged_at) > ACKNOWLEDGED_WITHIN:
        yield _due(f"the last acknowledgement is of {health.acknowledged_at}")
    else:
        yield _fine(check, f"line {health.acknowledged} was acknowledged last")


def _has_policy(places: OwnPlaces) -> bool:
    """Return whether a witness policy is at hand: the person's, or the identity's own copy."""
    return places.policy.is_file() or (places.identity / WITNESS_FOLDER / POLICY_NAME).is_file()


def _policy_fault(health: HealthData, places: OwnPlaces) -> AgenticOSError | None:
    """Return what boot would say of the policy at hand."""
    if health.accepted is None:
        return None
    try:
        if places.policy.is_file():
            health.accepted.require(parse_policy(places.policy.read_bytes()))
        else:
            health.accepted.require(kept_policy(places.identity))
    except AgenticOSError as error:
        return error
    return None


def _own_witness(folder: Path, now: datetime) -> Iterator[Check]:
    found = witness_health(folder, now=now)
    if found is None:
        yield nothing_to_check("witness.health", "no witness is run here")
        return
    if not found:
        yield _fine("witness.health", IDENTITY_CHECKS["witness.health"])
        return
    for finding in found:
        yield Check(
            id="witness.health",
            status="fail" if finding.is_urgent else "warn",
            message=f"{finding.code}: {finding.message}",
            hint=finding.hint,
        )


def _due(message: str) -> Check:
    return Check(
        id="identity.witnessed",
        status="warn",
        message=message,
        hint="Run `agentic-os ledger bookmark`; it says which witness does not answer.",
    )


def _fine(check: str, message: str) -> Check:
    return Check(id=check, status="ok", message=message)


def _at(finding: Finding) -> str:
    named = finding.seq is not None and not finding.message.startswith(f"line {finding.seq}")
    return f"line {finding.seq}: " if named else ""
