"""The text of a projection: rendering, and filling a visible budget.

Pure functions. A candidate is accepted only while the whole rendering still fits; each
list stops at its first refusal and later groups are still tried (DotAIOS convention,
projection). Lengths are UTF-16 code units.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeAlias

from agentic_os.aios.context.timeline import SessionRow, TimelineRow
from agentic_os.aios.follow.references import SourceEvidence
from agentic_os.aios.projects.values import ProjectRecord
from agentic_os.text.budget import cut_utf16, utf16_length

BUDGET_MARKER: Final = "\n\n[context budget reached]"
"""What ends a projection whose budget was reached; 26 units."""
MARKER_CHARS: Final = len(BUDGET_MARKER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A text of the folder and, where it can be followed, its evidence."""

    text: str
    evidence: SourceEvidence | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectBlock:
    """The active project: its record, and its evidence when it was selected."""

    record: ProjectRecord
    evidence: SourceEvidence | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItems:
    """What a projection says, in the order in which it says it."""

    receipt: str
    today: str
    identity: Excerpt | None = None
    priorities: Excerpt | None = None
    current_work: Excerpt | None = None
    decisions: tuple[str, ...] = ()
    focus: str = ""
    plan: tuple[str, ...] = ()
    carry_over: tuple[str, ...] = ()
    project: ProjectBlock | None = None
    sessions: tuple[SessionRow, ...] = ()
    signals: tuple[TimelineRow, ...] = ()
    events: tuple[TimelineRow, ...] = ()

    @property
    def has_provenance(self) -> bool:
        """Whether any excerpt names its source."""
        shown = (self.identity, self.priorities, self.current_work, self.project)
        return any(item is not None and item.evidence is not None for item in shown)


_Step: TypeAlias = Callable[[ContextItems], ContextItems]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """The items that fitted, the final text, and whether anything was refused.

    ``project_whole`` says that the text still holds the whole project block and all
    before it.
    """

    items: ContextItems
    text: str
    truncated: bool
    project_whole: bool


def render(items: ContextItems) -> str:
    """Render items without a budget."""
    sections = [
        _section("Identity", _excerpt(items.identity)),
        _section("Priorities", _excerpt(items.priorities)),
        _section("Current Work", _excerpt(items.current_work)),
        _section("Decisions", [f"- {title}" for title in items.decisions]),
        _section("Today", _today(items)),
        _section("Carry-overs", [f"- {item}" for item in items.carry_over]),
        _section("Active Project", _project(items.project)),
        _section("Recent Sessions", [_session(row) for row in items.sessions]),
        _section("Recent Signals", [_row(row, items.today) for row in items.signals]),
        _section("Recent Events", [_row(row, items.today) for row in items.events]),
    ]
    head = [items.receipt, f"## Active Context · {items.today}"]
    return "\n\n".join([*head, *(text for text in sections if text)]).rstrip()


def fill(candidates: ContextItems, limit: int, *, selected: bool) -> Filled:
    """Fill ``limit`` units with what fits of ``candidates``.

    Args:
        candidates: everything there is to say.
        limit: the visible budget.
        selected: whether the project was selected, which puts it before the lists.
    """
    c = candidates
    project = _one(c.project is not None, lambda kept: replace(kept, project=c.project))
    groups = [
        _one(c.identity is not None, lambda kept: replace(kept, identity=c.identity)),
        _one(c.priorities is not None, lambda kept: replace(kept, priorities=c.priorities)),
        _one(c.current_work is not None, lambda kept: replace(kept, current_work=c.current_work)),
        _one(bool(c.decisions), lambda kept: replace(kept, decisions=c.decisions)),
        project if selected else [],
        _one(bool(c.focus), lambda kept: replace(kept, focus=c.focus)),
        _each(len(c.plan), lambda kept, n: replace(kept, plan=c.plan[:n])),
        _each(len(c.carry_over), lambda kept, n: replace(kept, carry_over=c.carry_over[:n])),
        [] if selected else project,
        _each(len(c.sessions), lambda kept, n: replace(kept, sessions=c.sessions[:n])),
        _each(len(c.signals), lambda kept, n: replace(kept, signals=c.signals[:n])),
        _each(len(c.events), lambda kept, n: replace(kept, events=c.events[:n])),
    ]
    kept = ContextItems(receipt=c.receipt, today=c.today)
    refused = False
    for group in groups:
        for step in group:
            candidate = step(kept)
            if not _fits(candidate, limit):
                refused = True
                break
            kept = candidate
    whole = render(kept)
    truncated = refused or utf16_length(whole) > limit
    text = marked(whole, limit) if truncated else whole
    upto_project = render(replace(kept, sessions=(), signals=(), events=()))
    return Filled(
        items=kept,
        text=text,
        truncated=truncated,
        project_whole=kept.project is not None and text.startswith(upto_project),
    )


def marked(text: str, limit: int) -> str:
    """Cut ``text`` and end it with the budget marker, within ``limit`` units."""
    if limit <= MARKER_CHARS:
        return shortened(BUDGET_MARKER.lstrip(), limit)
    return cut_utf16(text, limit - MARKER_CHARS).rstrip() + BUDGET_MARKER


def shortened(text: str, limit: int) -> str:
    """Cut ``text`` to ``limit`` units with an ellipsis as the last."""
    if limit <= 0:
        return ""
    return cut_utf16(text, limit - 1).rstrip() + "…"


def _fits(items: ContextItems, limit: int) -> bool:
    # Room for the marker is kept once a source is named, so that a later cut cannot part
    # an excerpt from its provenance line.
    reserve = MARKER_CHARS if items.has_provenance else 0
    return utf16_length(render(items)) <= limit - reserve


def _one(present: bool, step: _Step) -> list[_Step]:
    return [step] if present else []


def _each(count: int, step: Callable[[ContextItems, int], ContextItems]) -> list[_Step]:
    """Make the steps that accept one item more, up to ``count``."""
    return [partial(_upto, step, number) for number in range(1, count + 1)]


def _upto(
    step: Callable[[ContextItems, int], ContextItems], number: int, kept: ContextItems
) -> ContextItems:
    return step(kept, number)


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([f"### {title}", *lines]) if lines else ""


def _excerpt(excerpt: Excerpt | None) -> list[str]:
    if excerpt is None:
        return []
    return [excerpt.text, *_provenance(excerpt.evidence)]


def _today(items: ContextItems) -> list[str]:
    lines = [f"- {item}" for item in items.plan]
    return [f"**Focus:** {items.focus}", *lines] if items.focus else lines


def _project(block: ProjectBlock | None) -> list[str]:
    if block is None:
        return []
    record = block.record
    details = [detail for detail in (record.status, *record.domains) if detail]
    lines = ["- " + " · ".join([record.name, *details])]
    if record.description:
        lines.append(f"  {record.description}")
    if record.excerpt and record.excerpt != record.description:
        lines.extend(f"> {line}" if line else ">" for line in record.excerpt.split("\n"))
    return [*lines, *_provenance(block.evidence)]


def _provenance(evidence: SourceEvidence | None) -> list[str]:
    return [] if evidence is None else [evidence.provenance]


def _session(row: SessionRow) -> str:
    place = " · ".join(part for part in (row.date, row.agent, row.project) if part)
    copy = ", conflict copy" if row.is_copy else ""
    return f'- {place} · "{row.title}" ({row.turns} turns{copy})'


def _row(row: TimelineRow, today: str) -> str:
    return f"- [{row.date or today}] {row.summary}"
