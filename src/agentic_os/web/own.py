"""The documents of what is the person's own: the AIOS folder's context, the identity, its ledger.

The memory choice binds as it binds a harness: off reads nothing. Nothing is booted and no witness
is asked: the identity's page shows what lies on this machine, and says so.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from agentic_os.aios.context.brief import read_brief
from agentic_os.aios.context.selection import WorkingContext
from agentic_os.aios.policy import MODES, resolve_policy
from agentic_os.identity.health import identity_health
from agentic_os.identity.services import show_ledger
from agentic_os.identity.witness_policy import RECEIPT_TYPE
from agentic_os.ledger.answers import Finding, ShowData
from agentic_os.ledger.file.show import LineFilter
from agentic_os.results import Answer
from agentic_os.text.budget import utf16_length
from agentic_os.text.shapes import read_shape
from agentic_os.web.question import Question
from agentic_os.web.served import Served

LEDGER_LIMIT_LINES: Final = 500
_RINGS: Final = 5
_HEADING = re.compile(r"^#{1,3} +(.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section of the working context: how much of the budget it takes, and where it is from."""

    name: str
    chars: int
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextCoverage:
    """What the projection left out of the selected project's README."""

    excerpt_clipped: bool
    budget_omitted: bool
    notice: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextData:
    """What a harness gets of the person's folder; ``chars`` are UTF-16 units, as budgets are."""

    memory: str
    receipt: str
    notice: str | None
    project: str | None
    markdown: str
    budget: dict[str, Any]
    sections: tuple[Section, ...]
    coverage: ContextCoverage | None
    withheld: int
    hidden_characters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessRow:
    """The newest receipt of one witness's key that the ledger holds."""

    key: str
    line: int
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityData:
    """How the identity looks without booting it."""

    state: str
    findings: tuple[Finding, ...]
    lines: int
    origin: str
    acknowledged: int
    acknowledged_at: str
    witnesses: tuple[WitnessRow, ...] = ()


def context(served: Served, asked: Question) -> Answer[ContextData]:
    """Answer with the working context under a memory choice."""
    project = asked.text("project").strip() or None
    mode = asked.choice("memory", MODES, "shared")
    policy = resolve_policy(mode=mode, project=project if mode == "project" else None)
    found = read_brief(served.aios(policy), policy).context
    left_out = found.coverage
    return Answer(
        data=ContextData(
            memory=found.mode,
            receipt=found.receipt,
            notice=found.notice,
            project=found.project,
            markdown=found.markdown,
            budget=dict(found.budget.as_json()),
            sections=() if found.mode == "off" else _sections(found),
            coverage=None
            if left_out is None
            else ContextCoverage(
                excerpt_clipped=left_out.excerpt_clipped,
                budget_omitted=left_out.budget_omitted,
                notice=left_out.notice,
            ),
            withheld=found.withheld,
            hidden_characters=found.hidden_characters,
        )
    )


def _sections(found: WorkingContext) -> tuple[Section, ...]:
    """Cut the projection at its headings; what stands before the first is its head."""
    sources = {source.section: source.as_json().get("source") for source in found.sources}
    marks = [(match.start(), match[1].strip()) for match in _HEADING.finditer(found.markdown)]
    starts = [(0, "Head"), *marks] if not marks or marks[0][0] > 0 else marks
    ends = [*(at for at, _ in starts[1:]), len(found.markdown)]
    return tuple(
        Section(
            name=name,
            chars=utf16_length(found.markdown[at:end]),
            source=str(sources.get(name) or ""),
        )
        for (at, name), end in zip(starts, ends, strict=True)
        if end > at
    )


def identity(served: Served, _asked: Question) -> Answer[IdentityData]:
    """Answer with the state of the identity on this machine."""
    health = identity_health(served.identity)
    return Answer(
        data=IdentityData(
            state=health.state,
            findings=health.findings,
            lines=health.lines,
            origin=health.origin,
            acknowledged=health.acknowledged,
            acknowledged_at=health.acknowledged_at,
            witnesses=_witnesses(served) if health.lines else (),
        )
    )


class _Receipt(msgspec.Struct):
    witness_key_id: str
    ledger_ordinal: int
    witnessed_at: str


class _Witnessed(msgspec.Struct):
    receipt: _Receipt


def _witnesses(served: Served) -> tuple[WitnessRow, ...]:
    """Return the newest receipt of each key, of the receipts that the ledger holds."""
    receipts = LineFilter(type=RECEIPT_TYPE)
    newest: dict[str, WitnessRow] = {}
    for entry in show_ledger(served.identity, receipts, limit=LEDGER_LIMIT_LINES).entries:
        try:
            receipt = read_shape(entry.payload.encode(), _Witnessed).receipt
        except ValueError:
            continue  # nothing is verified here: anybody may have written the line
        newest[receipt.witness_key_id] = WitnessRow(
            key=receipt.witness_key_id, line=receipt.ledger_ordinal, at=receipt.witnessed_at
        )
    return tuple(newest.values())


def ledger(served: Served, asked: Question) -> Answer[ShowData]:
    """Answer with the newest lines of the ledger, of one ring if it is named."""
    ring = asked.text("ring")
    rings = {asked.integer("ring", 0, least=0, most=_RINGS)} if ring else set()
    limit = asked.integer("limit", 100, least=1, most=LEDGER_LIMIT_LINES)
    return Answer(
        data=show_ledger(served.identity, LineFilter(rings=frozenset(rings)), limit=limit)
    )
