"""Resolving an intent: one verified project, its bounded context, the governing skill.

It recommends and never runs or approves anything (DotAIOS convention, resolve). The fixed
part of the answer comes first; what remains of the budget goes to the working context.
Everything that cannot be verified is a refusal with a closed reason.
"""

from dataclasses import replace
from pathlib import Path
from typing import Final

from agentic_os.aios.context.selection import read_working_context
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.faults import argument_fault
from agentic_os.aios.intent.authority import (
    Authority,
    ResolutionRefusedError,
    read_route,
    verify_project,
)
from agentic_os.aios.intent.skill_ranking import SkillMatch, rank_skills
from agentic_os.aios.intent.tools import ToolRequest, ToolResolution, resolve_tool
from agentic_os.aios.intent.values import (
    IntentResolution,
    MemoryView,
    NextAction,
    OmissionCode,
    ResolvedProject,
    SkillView,
    fitted,
    refusal,
)
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.projects.routing import ConventionKind, ProjectRoute
from agentic_os.aios.projects.values import ProjectIdentity
from agentic_os.errors import AiosError
from agentic_os.text.unicode_form import CONTROL_OR_SURROGATE

INTENT_CHARS: Final = 1000
"""Code points of an intent."""
DEFAULT_BUDGET_CHARS: Final = 8000
MIN_BUDGET_CHARS: Final = 1024
MAX_BUDGET_CHARS: Final = 32_000
SHRINK_ATTEMPTS: Final = 4

_SLACK_CHARS: Final = 8


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
    if (
        intent.strip() != intent
        or not 0 < len(intent) <= INTENT_CHARS
        or CONTROL_OR_SURROGATE.search(intent)
    ):
        raise argument_fault(
            f"the intent must have 1 to {INTENT_CHARS} characters, no control characters and "
            "no white space around it"
        )
    if not MIN_BUDGET_CHARS <= budget <= MAX_BUDGET_CHARS:
        raise argument_fault(f"the budget must be {MIN_BUDGET_CHARS} to {MAX_BUDGET_CHARS}")
    if policy.mode == "off":
        return _off(policy, budget, tool)
    try:
        authority = verify_project(access, project, cwd)
        route = None if tool is not None else read_route(access, authority.location, conventions)
        fixed = _fixed(access, policy, authority, route, intent, tool, budget)
        return _with_context(access, policy, authority, fixed, budget)
    except ResolutionRefusedError as refused:
        return refusal(policy, refused.reason, budget=budget, tool=tool is not None)


def _fixed(
    access: AiosAccess,
    policy: MemoryPolicy,
    authority: Authority,
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
        raise ResolutionRefusedError("fixed_envelope_exceeds_budget")
    return answer


def _with_context(
    access: AiosAccess,
    policy: MemoryPolicy,
    authority: Authority,
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
            raise ResolutionRefusedError("project_context_unreadable") from error
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
    raise ResolutionRefusedError("fixed_envelope_exceeds_budget")


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
