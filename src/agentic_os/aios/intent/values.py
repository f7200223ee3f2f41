"""The envelope of a resolved intent, its closed codes and its exact JSON."""

from dataclasses import dataclass, replace
from typing import Final, Literal

from agentic_os.aios.folder.json_text import Json, JsonObject, pretty
from agentic_os.aios.intent.skill_ranking import SkillMatch
from agentic_os.aios.intent.tools import ToolResolution
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.projects.routing import ProjectRoute
from agentic_os.text.budget import utf16_length

ResolutionStatus = Literal["matched", "partial", "refused"]
SkillStatus = Literal["matched", "ambiguous", "no_match", "not_evaluated"]
ActionState = Literal["approval_required", "clarification_required", "memory_off"]
Approval = Literal["direct_user_required", "not_applicable"]
OmissionCode = Literal[
    "governing_skill_no_match",
    "governing_skill_ambiguous",
    "configured_tool_no_match",
    "configured_tool_refused",
    "supplemental_project_sources_not_requested",
    "project_native_execution_not_started",
    "project_context_truncated",
]
RefusalReason = Literal[
    "unknown_project",
    "ambiguous_project",
    "detached_directory",
    "ambiguous_directory",
    "project_identity_unverified",
    "local_authority_unreadable",
    "project_catalog_changed",
    "project_context_unreadable",
    "fixed_envelope_exceeds_budget",
]

SCHEMA: Final = "dotaios.intent-resolution/v1"
USED_ROUNDS: Final = 8
"""Rounds in which ``used`` must settle."""

_RECOVERY: Final[dict[RefusalReason, str]] = {
    "unknown_project": "Name a project of the catalog by its slug or stable id.",
    "ambiguous_project": "Use the project's stable id.",
    "detached_directory": "Run inside one registered checkout, or name the project.",
    "ambiguous_directory": "Name the project: several checkouts contain this directory.",
    "project_identity_unverified": "Register the project's folder again, then retry.",
    "local_authority_unreadable": "Check the AIOS folder and the map of checkouts, then retry.",
    "project_catalog_changed": "The catalog changed meanwhile; try again.",
    "project_context_unreadable": "Check the AIOS folder for unsafe or oversized files.",
    "fixed_envelope_exceeds_budget": "Retry with a larger budget.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedProject:
    """The verified project."""

    id: str
    slug: str
    name: str
    purpose: str | None

    def as_json(self) -> JsonObject:
        """Return the JSON form."""
        return {
            "id": self.id,
            "slug": self.slug,
            "name": self.name,
            "purpose": self.purpose,
            "identity": "verified",
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryView:
    """The working context inside the answer; ``notice`` only when memory is off."""

    receipt: str
    scope: str | None = None
    notice: str | None = None
    generated_at: str | None = None
    context: str = ""
    truncated: bool = False

    def as_json(self) -> JsonObject:
        """Return the JSON form."""
        value: JsonObject = {"receipt": self.receipt}
        if self.notice is not None:
            value["notice"] = self.notice
        value["scope"] = self.scope
        value["generated_at"] = self.generated_at
        value["context"] = self.context
        value["truncated"] = self.truncated
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillView:
    """The governing skill, or why there is none; candidates only when it is ambiguous."""

    status: SkillStatus
    reason: str
    name: str | None = None
    resource: str | None = None
    confidence: float = 0.0
    candidates: tuple[SkillMatch, ...] = ()

    def as_json(self) -> JsonObject:
        """Return the JSON form."""
        value: JsonObject = {
            "status": self.status,
            "name": self.name,
            "resource": self.resource,
            "confidence": round(self.confidence, 3),
            "reason": self.reason,
        }
        if self.candidates:
            candidates: list[Json] = [
                {
                    "name": match.skill.name,
                    "resource": match.skill.resource,
                    "score": round(match.score, 3),
                }
                for match in self.candidates
            ]
            value["candidates"] = candidates
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class NextAction:
    """What comes next and whose approval it needs."""

    state: ActionState
    approval: Approval
    summary: str

    @classmethod
    def clarify(cls, summary: str) -> "NextAction":
        """Ask the person first."""
        return cls(state="clarification_required", approval="not_applicable", summary=summary)

    @classmethod
    def approve(cls, summary: str) -> "NextAction":
        """Wait for direct approval."""
        return cls(state="approval_required", approval="direct_user_required", summary=summary)

    def as_json(self) -> JsonObject:
        """Return the JSON form."""
        return {"state": self.state, "approval": self.approval, "summary": self.summary}


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentResolution:
    """The whole answer. ``location`` is absolute: command line only, never through MCP."""

    status: ResolutionStatus
    project: ResolvedProject | None
    route: ProjectRoute | None
    memory: MemoryView
    skill: SkillView
    tool: ToolResolution | None
    tool_asked: bool
    omissions: tuple[OmissionCode, ...]
    recovery: str | None
    next_action: NextAction
    limit: int
    used: int
    truncated: bool
    location: str | None

    def as_json(self) -> JsonObject:
        """Return the JSON form, keys in the convention's order."""
        value: JsonObject = {
            "schema": SCHEMA,
            "status": self.status,
            "project": None if self.project is None else self.project.as_json(),
        }
        if not self.tool_asked:
            value["project_route"] = None if self.route is None else self.route.as_json()
        value["memory"] = self.memory.as_json()
        value["skill"] = self.skill.as_json()
        if self.tool_asked:
            value["tool"] = _NO_TOOL if self.tool is None else self.tool.as_json()
        value["omissions"] = list(self.omissions)
        value["recovery"] = {"required": self.recovery is not None, "action": self.recovery}
        value["next_action"] = self.next_action.as_json()
        value["budget"] = {
            "limit": self.limit,
            "used": self.used,
            "truncated": self.truncated,
        }
        value["location"] = self.location
        return value

    def text(self) -> str:
        """Return the JSON document, pretty; refusals fit into the smallest budget."""
        return pretty(self.as_json())

    def measured(self) -> "IntentResolution":
        """Return the answer with ``used`` set to the length of its own document."""
        answer = self
        for _ in range(USED_ROUNDS):
            used = utf16_length(answer.text())
            if used == answer.used:
                break
            answer = replace(answer, used=used)
        return answer


_NO_TOOL: Final[JsonObject] = {
    "status": "not_evaluated",
    "capability": None,
    "connection": None,
    "configured": False,
    "authenticated": "unknown",
}


def fitted(answer: IntentResolution) -> IntentResolution | None:
    """Measure an answer; ``None`` when it is larger than its budget."""
    measured = answer.measured()
    return measured if measured.used <= measured.limit else None


def refusal(
    policy: MemoryPolicy, reason: RefusalReason, *, budget: int, tool: bool
) -> IntentResolution:
    """Make a refusal: its reason is the summary of the next action."""
    answer = IntentResolution(
        status="refused",
        project=None,
        route=None,
        memory=MemoryView(receipt=policy.receipt),
        skill=SkillView(status="not_evaluated", reason="project_not_verified"),
        tool=None,
        tool_asked=tool,
        omissions=(),
        recovery=_RECOVERY[reason],
        next_action=NextAction.clarify(reason),
        limit=budget,
        used=0,
        truncated=False,
        location=None,
    )
    return answer.measured()
