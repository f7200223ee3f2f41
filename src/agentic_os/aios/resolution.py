"""Resolving an intent: one verified project, its bounded context, the governing skill.

It recommends and never runs or approves anything (DotAIOS convention, resolve). The fixed
part of the answer comes first; what remains of the budget goes to the working context.
Everything that cannot be verified is a refusal with a closed reason.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentic_os.aios.access import AiosAccess
from agentic_os.aios.catalog import read_identities, read_selected
from agentic_os.aios.configuration import require_folder
from agentic_os.aios.faults import FOLDER_MISSING, argument_fault
from agentic_os.aios.ledger import Charges, Ledger
from agentic_os.aios.placement import (
    Checkout,
    checkout_of,
    checkouts_at,
    read_mappings,
)
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.projection import read_working_context
from agentic_os.aios.projects import ProjectIdentity, ProjectRecord
from agentic_os.aios.reader import FolderReader
from agentic_os.aios.resolution_values import (
    IntentResolution,
    MemoryView,
    NextAction,
    OmissionCode,
    RefusalReason,
    ResolvedProject,
    SkillView,
    fitted,
    refusal,
)
from agentic_os.aios.routing import ConventionKind, ProjectRoute, observe_route
from agentic_os.aios.search_context import SEARCH_LIMIT
from agentic_os.aios.skills import SkillMatch, collect_skills, rank_skills
from agentic_os.aios.tools import (
    Marker,
    ToolRequest,
    ToolResolution,
    read_marker,
    resolve_tool,
)
from agentic_os.errors import AiosError

if TYPE_CHECKING:
    from agentic_os.aios.skills import Skill

INTENT_CHARS: Final = 1000
"""Code points of an intent."""
DEFAULT_BUDGET_CHARS: Final = 8000
MIN_BUDGET_CHARS: Final = 1024
MAX_BUDGET_CHARS: Final = 32_000
SHRINK_ATTEMPTS: Final = 4

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_SLACK_CHARS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Authority:
    """What was verified of the selected project and read beside it."""

    checkout: Checkout
    location: Path
    record: ProjectRecord
    skills: "tuple[Skill, ...]"
    marker: Marker


class _RefusedError(Exception):
    """A refusal on its way out of the checks."""

    def __init__(self, reason: RefusalReason) -> None:
        super().__init__(reason)
        self.reason: RefusalReason = reason


def resolve_intent(
    access: AiosAccess,
    policy: MemoryPolicy,
    *,
    intent: str,
    project: str | None = None,
    cwd: Path | None = None,
    tool: ToolRequest | None = None,
    conventions: tuple[ConventionKind, ...] = (),
    budget: int = DEFAULT_BUDGET_CHARS,
) -> IntentResolution:
    """Resolve an intent; a refusal is an answer, not an error.

    Args:
        access: the folder, the map of checkouts, and what else is handed in.
        policy: the memory choice; project memory may leave its selector to ``cwd``.
        intent: 1 to 1,000 code points, trimmed, without control characters.
        project: a slug, alias or stable id; without it the one verified checkout that
            contains ``cwd`` is meant.
        cwd: the working directory, absolute.
        tool: a capability that was asked for.
        conventions: the convention kinds that the host supports.
        budget: UTF-16 units of the whole JSON answer, 1,024 to 32,000.

    Raises:
        AiosError: DOTAIOS_ARGUMENT_INVALID; DOTAIOS_FOLDER_MISSING.
    """
    if intent.strip() != intent or not 0 < len(intent) <= INTENT_CHARS or _CONTROL.search(intent):
        raise argument_fault(
            f"the intent must have 1 to {INTENT_CHARS} characters, no control characters and "
            "no white space around it"
        )
    if not MIN_BUDGET_CHARS <= budget <= MAX_BUDGET_CHARS:
        raise argument_fault(f"the budget must be {MIN_BUDGET_CHARS} to {MAX_BUDGET_CHARS}")
    if policy.mode == "off":
        return _off(policy, budget, tool)
    try:
        authority = _authority(access, project, cwd)
        route = None if tool is not None else _route(access, authority.location, conventions)
        fixed = _fixed(access, policy, authority, route, intent, tool, budget)
        return _with_context(access, policy, authority, fixed, budget)
    except _RefusedError as refused:
        return refusal(policy, refused.reason, budget=budget, tool=tool is not None)


def _authority(access: AiosAccess, project: str | None, cwd: Path | None) -> _Authority:
    charges = Charges(Ledger(SEARCH_LIMIT))
    try:
        mappings = read_mappings(access)
        with FolderReader(access.root, files=access.files) as reader:
            require_folder(reader, hold=True)
            identities = read_identities(reader, charges)
            checkouts = [checkout_of(access, known, mappings) for known in identities]
            chosen = _chosen(access, checkouts, project, cwd)
            if chosen.path is None:
                raise _RefusedError("project_identity_unverified")
            record = _record(reader, charges, chosen.identity)
            skills = collect_skills(reader, charges)
            marker = read_marker(reader)
            reader.recheck()
    except AiosError as error:
        if error.code == FOLDER_MISSING:
            raise
        raise _RefusedError("local_authority_unreadable") from error
    if not _same_remote(chosen.path, record.repo_url):
        raise _RefusedError("project_identity_unverified")
    return _Authority(
        checkout=chosen, location=chosen.path, record=record, skills=skills, marker=marker
    )


def _chosen(
    access: AiosAccess, checkouts: list[Checkout], project: str | None, cwd: Path | None
) -> Checkout:
    if project is not None:
        named = [checkout for checkout in checkouts if project in checkout.identity.names]
        if not named:
            raise _RefusedError("unknown_project")
        if len(named) > 1:
            raise _RefusedError("ambiguous_project")
        return named[0]
    around = [] if cwd is None else checkouts_at(access, checkouts, cwd)
    if not around:
        raise _RefusedError("detached_directory")
    if len(around) > 1:
        raise _RefusedError("ambiguous_directory")
    return around[0]


def _record(reader: FolderReader, charges: Charges, identity: ProjectIdentity) -> ProjectRecord:
    scope, record = read_selected(reader, charges, identity.id or identity.slug)
    if scope.identity != identity:
        raise _RefusedError("project_catalog_changed")
    return record


def _route(
    access: AiosAccess, location: Path, conventions: tuple[ConventionKind, ...]
) -> ProjectRoute:
    try:
        return observe_route(access, location, conventions)
    except AiosError as error:
        raise _RefusedError("project_identity_unverified") from error


def _fixed(
    access: AiosAccess,
    policy: MemoryPolicy,
    authority: _Authority,
    route: ProjectRoute | None,
    intent: str,
    request: ToolRequest | None,
    budget: int,
) -> IntentResolution:
    """Make the part of the answer that never shrinks."""
    guard = access.guard
    usable = [
        skill
        for skill in authority.skills
        if not guard.holds_secret(skill.name, skill.description, *skill.triggers)
    ]
    skill = _skill(rank_skills(intent, usable))
    tool = None if request is None else resolve_tool(request, authority.marker)
    record, identity = authority.record, authority.checkout.identity
    purpose = record.description or None
    answer = IntentResolution(
        status="matched"
        if skill.status == "matched" and (tool is None or tool.status == "matched")
        else "partial",
        project=ResolvedProject(
            id=identity.id or "",
            slug=identity.slug,
            name=identity.slug if guard.holds_secret(record.name) else record.name,
            purpose=None if purpose is None or guard.holds_secret(purpose) else purpose,
        ),
        route=route,
        memory=MemoryView(receipt=policy.receipt, scope=_scope(policy, identity)),
        skill=skill,
        tool=tool,
        tool_asked=request is not None,
        omissions=_omissions(skill, tool),
        recovery=None,
        next_action=_next(skill, tool),
        limit=budget,
        used=0,
        truncated=False,
        location=str(authority.location),
    )
    if fitted(answer) is None:
        raise _RefusedError("fixed_envelope_exceeds_budget")
    return answer


def _with_context(
    access: AiosAccess,
    policy: MemoryPolicy,
    authority: _Authority,
    fixed: IntentResolution,
    budget: int,
) -> IntentResolution:
    """Give what remains of the budget to the working context, shrinking it to fit."""
    identity = authority.checkout.identity
    if policy.mode == "project":
        policy = replace(policy, selector=identity.id or identity.slug)
    room = budget - fixed.measured().used
    for _ in range(SHRINK_ATTEMPTS):
        try:
            context = read_working_context(access, policy, budget=max(0, room))
        except AiosError as error:
            raise _RefusedError("project_context_unreadable") from error
        truncated = context.budget.truncated
        more: tuple[OmissionCode, ...] = ("project_context_truncated",) if truncated else ()
        answer = replace(
            fixed,
            memory=replace(
                fixed.memory,
                generated_at=context.generated_at,
                context=context.markdown,
                truncated=truncated,
            ),
            omissions=fixed.omissions + more,
            truncated=truncated,
        )
        fitting = fitted(answer)
        if fitting is not None:
            return fitting
        room -= answer.measured().used - budget + _SLACK_CHARS
    raise _RefusedError("fixed_envelope_exceeds_budget")


def _scope(policy: MemoryPolicy, identity: ProjectIdentity) -> str | None:
    return identity.slug if policy.mode == "project" else None


def _skill(matches: tuple[SkillMatch, ...]) -> SkillView:
    if not matches:
        return SkillView(status="no_match", reason="no_governing_skill")
    best = matches[0]
    if best.ambiguous:
        return SkillView(
            status="ambiguous",
            confidence=best.confidence,
            reason="low_separation",
            candidates=matches[:2],
        )
    return SkillView(
        status="matched",
        name=best.skill.name,
        resource=best.skill.resource,
        confidence=best.confidence,
        reason=best.reason,
    )


def _omissions(skill: SkillView, tool: ToolResolution | None) -> tuple[OmissionCode, ...]:
    found: list[OmissionCode] = []
    if skill.status == "no_match":
        found.append("governing_skill_no_match")
    if skill.status == "ambiguous":
        found.append("governing_skill_ambiguous")
    if tool is not None and tool.status == "no_match":
        found.append("configured_tool_no_match")
    if tool is not None and tool.status == "refused":
        found.append("configured_tool_refused")
    found.append("supplemental_project_sources_not_requested")
    if tool is None:
        found.append("project_native_execution_not_started")
    return tuple(found)


def _next(skill: SkillView, tool: ToolResolution | None) -> NextAction:
    if skill.status == "ambiguous":
        return NextAction.clarify("Several skills fit; narrow the intent before anything is done.")
    if tool is not None and tool.status == "refused":
        return NextAction.clarify("The tool request was refused; revise it first.")
    if skill.status == "no_match" and tool is not None and tool.status == "no_match":
        return NextAction.clarify("Neither a skill nor a tool fits; clarify the intent.")
    return NextAction.approve(
        "Show this recommendation to the person and ask for direct approval before acting; "
        "then start a fresh context in the project's folder."
    )


def _off(policy: MemoryPolicy, budget: int, tool: ToolRequest | None) -> IntentResolution:
    answer = IntentResolution(
        status="partial",
        project=None,
        route=None,
        memory=MemoryView(receipt=policy.receipt, notice=policy.notice),
        skill=SkillView(status="not_evaluated", reason="memory_off"),
        tool=None,
        tool_asked=tool is not None,
        omissions=(),
        recovery=None,
        next_action=NextAction(
            state="memory_off",
            approval="not_applicable",
            summary="Memory is off; no project, skill or context was looked at.",
        ),
        limit=budget,
        used=0,
        truncated=False,
        location=None,
    )
    return answer.measured()


def _same_remote(location: Path, stated: str | None) -> bool:
    """Whether the checkout's own remote, where both are known, is the registered one."""
    from agentic_os.files.git import normalise_remote, read_checkout

    if stated is None:
        return True
    checkout = read_checkout(location)
    if checkout is None or checkout.remote is None:
        return True
    return normalise_remote(checkout.remote) == normalise_remote(stated)
