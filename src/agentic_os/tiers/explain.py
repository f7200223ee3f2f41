"""What each surface of each project did for a question, and why one had nothing to say."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agentic_os.registry.project import Project
from agentic_os.results import Kind, SurfaceTrace
from agentic_os.tiers.interface import ENGINE, SEMANTIC, Found
from agentic_os.tiers.meaning import SemanticAnswer

if TYPE_CHECKING:
    from agentic_os.tiers.engines.surface import Engines

SURFACE_KINDS: dict[str, tuple[Kind, ...]] = {
    "memory": ("memory", "index"),
    "instruction": ("instruction",),
    "vault": ("vault",),
    "graph": ("graph",),
    "capability": ("capability",),
    "corpus": ("code", "document"),
}
_SURFACE_TIERS: dict[str, int | None] = {
    "memory": 0,
    "instruction": 0,
    "vault": 1,
    "graph": 2,
    "capability": None,
    "corpus": 3,
}
MEANING_TIER = 3


def surface_traces(
    scope: Sequence[Project],
    documents: Mapping[str, Mapping[str, int]],
    answers: Sequence[Found],
    semantic: SemanticAnswer,
    engines: "Engines | None",
) -> tuple[SurfaceTrace, ...]:
    """Report what every surface of every project did.

    Args:
        scope: the projects that were asked.
        documents: how many passages of each kind each of them has.
        answers: what surfaces of words found.
        semantic: what the semantic index found.
        engines: what engines of projects' own found, if any was looked at.
    """
    traces = []
    for project in scope:
        for surface, kinds in SURFACE_KINDS.items():
            own = any(kind in documents[project.id] for kind in kinds)
            source = "graph" if surface == "graph" else "lexical"
            asked = [answer for answer in answers if answer.surface == source]
            scores = [
                answer.by_project[project.id] for answer in asked if project.id in answer.by_project
            ]
            traces.append(
                SurfaceTrace(
                    project=project.id,
                    surface=surface,
                    tier=_SURFACE_TIERS[surface],
                    hits=sum(score.kinds(kinds) for score in scores),
                    milliseconds=round(sum(answer.milliseconds for answer in asked), 3),
                    missing=None if own else _missing(project, surface),
                )
            )
        traces.append(_semantic_trace(project, semantic))
        if engines is not None and project.id in engines.answers:
            traces.append(_engine_trace(project, engines))
    return tuple(traces)


def _semantic_trace(project: Project, semantic: SemanticAnswer) -> SurfaceTrace:
    found = semantic.found
    missing = semantic.missing
    if not project.retrieval:
        missing = "opted out of retrieval"
    elif missing is None and project.id not in semantic.indexed:
        missing = "not in the index"
    score = None if found is None else found.by_project.get(project.id)
    return SurfaceTrace(
        project=project.id,
        surface=SEMANTIC,
        tier=MEANING_TIER,
        hits=0 if score is None else score.hits,
        milliseconds=0.0 if found is None else round(found.milliseconds, 3),
        missing=missing,
    )


def _engine_trace(project: Project, engines: "Engines") -> SurfaceTrace:
    answer = engines.answers[project.id]
    fault = answer.fault
    return SurfaceTrace(
        project=project.id,
        surface=ENGINE,
        tier=MEANING_TIER,
        hits=len(answer.placed.candidates),
        milliseconds=round(answer.milliseconds, 3),
        missing=None if fault is None else f"{fault.reason} ({fault.code})",
    )


_SINGLE = {"capability": "no inventory", "instruction": "has none"}


def _missing(project: Project, surface: str) -> str:
    closed = (
        "its descriptor cannot be read"
        if project.descriptor.degraded
        else "opted out of retrieval"
        if not project.retrieval
        else None
    )
    if surface in _SINGLE:
        return _SINGLE[surface] if surface == "capability" or closed is None else closed
    if closed is not None:
        return closed
    if surface == "corpus" and project.has_corpus:
        return "not taken yet: agentic-os index build"
    surfaces = project.surfaces
    declared = {
        "memory": surfaces.memory,
        "vault": surfaces.vault,
        "graph": surfaces.graph,
        "corpus": surfaces.rag,
    }[surface]
    if declared is None:
        return "its stack has none" if project.described else "has none"
    return "empty" if declared.state == "present" else declared.state
