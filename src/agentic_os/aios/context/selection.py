"""The working-context projection: one bounded, deterministic selection of the folder.

What is read (DotAIOS convention, projection): in shared mode the context headers, the
decisions log, the daily notes of today and yesterday, the session index, both days'
signals, the event log and the project catalog; in project mode only the index, the
signals, the events and the selected project. Over a limit, unsafe or changed: one
path-free error and nothing else. Off touches nothing.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from agentic_os.aios.context.coverage import Coverage
from agentic_os.aios.context.sources import ProjectionSources
from agentic_os.aios.context.text import ContextItems, Filled, fill
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.configuration import require_folder
from agentic_os.aios.folder.faults import (
    AMBIGUOUS_PROJECT,
    ARGUMENT_INVALID,
    FOLDER_MISSING,
    SELECTOR_UNKNOWN,
    WORKING_CONTEXT_FAILED,
    argument_fault,
    fault,
)
from agentic_os.aios.folder.json_text import JsonObject, iso_utc
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.folder.withheld import hidden_characters
from agentic_os.aios.follow.references import SourceEvidence
from agentic_os.aios.policy import MemoryMode, MemoryPolicy
from agentic_os.aios.projects.catalog import read_selected
from agentic_os.aios.projects.values import ProjectScope, clean_selector
from agentic_os.errors import AiosError
from agentic_os.text.budget import utf16_length

DEFAULT_BUDGET_CHARS: Final = 6000
DEFAULT_SESSIONS: Final = 3

_PASSED_ON: Final = frozenset(
    {AMBIGUOUS_PROJECT, SELECTOR_UNKNOWN, FOLDER_MISSING, ARGUMENT_INVALID}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The visible budget of an answer, in UTF-16 units."""

    limit: int
    used: int
    truncated: bool

    def as_json(self) -> JsonObject:
        """Return the JSON form."""
        return {
            "limit": self.limit,
            "used": self.used,
            "remaining": max(0, self.limit - self.used),
            "truncated": self.truncated,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSource:
    """The evidence of one section that survived the budget."""

    section: str
    evidence: SourceEvidence

    def as_json(self) -> JsonObject:
        """Return the JSON form: section, source, version, and follow or reason."""
        value: JsonObject = {"section": self.section}
        value.update(self.evidence.as_json())
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingContext:
    """A projection, ready to be shown.

    ``project`` is the slug that was selected; ``coverage`` is there only with one.
    ``withheld`` counts what was left out because it holds a secret,
    ``hidden_characters`` the control, bidi and invisible ones of the text.
    """

    mode: MemoryMode
    receipt: str
    notice: str | None
    project: str | None
    generated_at: str | None
    markdown: str
    budget: Budget
    coverage: Coverage | None
    sources: tuple[ContextSource, ...]
    withheld: int
    hidden_characters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    """What was read of the folder, before the budget."""

    items: ContextItems
    scope: ProjectScope | None
    withheld: int


def read_working_context(
    access: AiosAccess,
    policy: MemoryPolicy,
    *,
    sessions: int = DEFAULT_SESSIONS,
    budget: int = DEFAULT_BUDGET_CHARS,
) -> WorkingContext:
    """Read the projection of the folder under a memory choice.

    Args:
        access: the folder and what is handed in with it.
        policy: the memory choice; project mode needs a selector.
        sessions: how many sessions are shown at most.
        budget: the visible budget in UTF-16 units, 0 or more.

    Raises:
        AiosError: DOTAIOS_WORKING_CONTEXT_READ_FAILED for everything that fails closed;
            DOTAIOS_AMBIGUOUS_PROJECT, DOTAIOS_PROJECT_SELECTOR_UNKNOWN,
            DOTAIOS_FOLDER_MISSING and DOTAIOS_ARGUMENT_INVALID as they are.
    """
    if policy.mode == "off":
        return _off(policy)
    if sessions < 0 or budget < 0:
        raise argument_fault("limit and budget must not be negative")
    now = access.clock()
    try:
        with FolderReader(access.root, files=access.files) as reader:
            evidence = _read(reader, access, policy, now, sessions)
    except AiosError as error:
        if error.code in _PASSED_ON:
            raise
        raise fault(WORKING_CONTEXT_FAILED, cause=error) from error
    filled = fill(evidence.items, budget, selected=evidence.scope is not None)
    return _context(policy, now, evidence, filled, budget)


def _off(policy: MemoryPolicy) -> WorkingContext:
    text = f"{policy.receipt}\n\n{policy.notice}"
    used = utf16_length(text)
    return WorkingContext(
        mode="off",
        receipt=policy.receipt,
        notice=policy.notice,
        project=None,
        generated_at=None,
        markdown=text,
        budget=Budget(limit=used, used=used, truncated=False),
        coverage=None,
        sources=(),
        withheld=0,
        hidden_characters=0,
    )


def _context(
    policy: MemoryPolicy, now: datetime, evidence: _Evidence, filled: Filled, budget: int
) -> WorkingContext:
    items = filled.items
    scope = evidence.scope
    coverage = None
    if scope is not None:
        candidate = evidence.items.project
        clipped = candidate is not None and candidate.record.excerpt_clipped
        coverage = Coverage(excerpt_clipped=clipped, budget_omitted=not filled.project_whole)
    named = (
        ("identity", items.identity),
        ("priorities", items.priorities),
        ("currentWork", items.current_work),
        ("activeProject", items.project),
    )
    return WorkingContext(
        mode=policy.mode,
        receipt=policy.receipt,
        notice=None,
        project=None if scope is None else scope.identity.slug,
        generated_at=iso_utc(now),
        markdown=filled.text,
        budget=Budget(limit=budget, used=utf16_length(filled.text), truncated=filled.truncated),
        coverage=coverage,
        sources=tuple(
            ContextSource(section=section, evidence=item.evidence)
            for section, item in named
            if item is not None and item.evidence is not None
        ),
        withheld=evidence.withheld,
        hidden_characters=hidden_characters(filled.text),
    )


def _read(
    reader: FolderReader, access: AiosAccess, policy: MemoryPolicy, now: datetime, sessions: int
) -> _Evidence:
    require_folder(reader, hold=True)
    folder = ProjectionSources(reader, access.guard, now.tzinfo)
    days = (now.date().isoformat(), (now.date() - timedelta(days=1)).isoformat())
    items = ContextItems(receipt=policy.receipt, today=days[0])
    if policy.selector is None:
        items, scope = folder.shared(items, days), None
    else:
        scope, record = read_selected(reader, folder.charges, clean_selector(policy.selector))
        items = replace(items, project=folder.block(record, selected=scope))
    items = folder.timeline(items, days, scope, sessions)
    reader.recheck()
    return _Evidence(items=items, scope=scope, withheld=folder.withheld)
