"""Projects' own engines: asked where the person granted it, nowhere else.

A project's ``rag_endpoint`` names one; the string is opaque and never run or reached until the
person has granted exactly it for that project (design section 6). Granted engines in scope are
asked side by side, within a bound each and a bound for all. What they say is looked up in the
files (``engine_hits``), merged like every other surface and confirmed. An engine that is not
granted or fails costs nothing but itself: the other surfaces answer, and the answer says so.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from agentic_os.registry.project import Project
from agentic_os.results import Kind, Omission
from agentic_os.settings.values import Settings
from agentic_os.text.secrets.redaction import Redactor
from agentic_os.tiers.engines.asking import EngineAnswer, ask_all
from agentic_os.tiers.engines.codes import ENGINE_CODES
from agentic_os.tiers.engines.endpoint import Address, Command, Unaskable, read_endpoint
from agentic_os.tiers.engines.grants import endpoint_of, is_ambiguous
from agentic_os.tiers.engines.values import EngineFault
from agentic_os.tiers.interface import ENGINE, Candidate, Found, ProjectScore, Query

ENGINE_KINDS: frozenset[Kind] = frozenset({"code", "document"})

_COUNTED = frozenset({"ENGINE_NOT_GRANTED", "ENGINE_IS_A_PATH", "ENGINE_ENDPOINT_INVALID"})
"""States of a fleet rather than of one answer: told as one line, with a count."""
_LACKED = _COUNTED | {"ENGINE_GRANT_VOID", "ENGINE_CLONES_DIFFER"}
"""What a project simply lacks: no reason to call an answer incomplete."""
_REASONS = {
    "HIT_CHANGED": "the text its engine found is no longer in the file",
    "HIT_UNREADABLE": "a file its engine found cannot be read",
    "ENGINE_HIT_REFUSED": "its engine named files that are not to be read",
    "ENGINE_HIT_COVERED": "its engine named passages of memory or vault, which answer themselves",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    """What the engines in scope said together.

    ``answers`` has every project in scope that names an endpoint.
    """

    found: Found
    answers: Mapping[str, EngineAnswer]

    @property
    def omissions(self) -> tuple[Omission, ...]:
        """What was left out, by code and project; states of the whole fleet once, with a count."""
        counted: Counter[str] = Counter()
        listed = []
        for answer in self.answers.values():
            if answer.fault is not None and answer.fault.code in _COUNTED:
                counted[answer.fault.code] += 1
            elif answer.fault is not None:
                listed.append(
                    Omission(
                        code=answer.fault.code,
                        scope=answer.project,
                        reason=f"its engine did not answer: {answer.fault.reason}",
                    )
                )
            listed += [
                Omission(code=code, scope=answer.project, reason=_REASONS[code], count=count)
                for code, count in sorted(answer.placed.dropped.items())
            ]
        fleet = [
            Omission(
                code=code, scope=ENGINE, reason=ENGINE_CODES[code].meaning, count=counted[code]
            )
            for code in sorted(counted)
        ]
        return (*fleet, *listed)

    @property
    def failed(self) -> bool:
        """Return whether a granted engine did not answer (design decision 13: incomplete)."""
        return any(
            answer.fault is not None and answer.fault.code not in _LACKED
            for answer in self.answers.values()
        )

    @property
    def answered(self) -> frozenset[str]:
        """The projects whose engine answered."""
        return frozenset(name for name, answer in self.answers.items() if answer.fault is None)


NOBODY = Engines(
    found=Found(surface=ENGINE, candidates=(), total=0, by_project={}, milliseconds=0.0),
    answers={},
)


def ask_engines(
    projects: Sequence[Project], settings: Settings, query: Query, environ: Mapping[str, str]
) -> Engines:
    """Ask the granted engines of the projects in scope.

    Args:
        projects: those in scope.
        settings: the person's grants and limits.
        query: what is asked; not at all with mode ``lexical`` or without a kind of theirs.
        environ: the person's surroundings, of which engines get little.
    """
    if query.mode == "lexical" or (query.kinds and not query.kinds & ENGINE_KINDS):
        return NOBODY
    named = [(project, endpoint_of(project)) for project in projects if project.retrieval]
    answers: dict[str, EngineAnswer] = {}
    asked: list[tuple[Project, Command | Address]] = []
    for project, endpoint in named:
        if endpoint is None:
            continue
        state = _state(project, endpoint, settings)
        if isinstance(state, EngineFault):
            answers[project.id] = EngineAnswer(project=project.id, fault=state)
        else:
            asked.append((project, state))
    started = time.perf_counter()
    if asked:
        answers |= ask_all(asked, query, settings.limits.engine_seconds, environ)
    milliseconds = (time.perf_counter() - started) * 1_000
    found = _found(list(answers.values()), milliseconds, Redactor(allow=settings.redaction_allow))
    return Engines(found=found, answers=answers)


def align(
    candidates: Sequence[Candidate], others: Sequence[Sequence[Candidate]]
) -> list[Candidate]:
    """Let an engine's passage count as the one of ours that it overlaps, where there is one.

    Two engines cut a file differently; a passage that both found is one hit, not two.
    """
    known: dict[tuple[str, str, str], list[Candidate]] = {}
    for candidate in (one for ranked in others for one in ranked if one.kind in ENGINE_KINDS):
        known.setdefault((candidate.project, candidate.kind, candidate.path), []).append(candidate)
    aligned = []
    for candidate in candidates:
        same = known.get((candidate.project, candidate.kind, candidate.path), [])
        over = next((one for one in same if _overlap(one, candidate)), None)
        aligned.append(candidate if over is None else over)
    return aligned


def _overlap(one: Candidate, other: Candidate) -> bool:
    first, last = one.lines or (one.start, one.end)
    return first <= other.end and other.start <= last


def _state(project: Project, endpoint: str, settings: Settings) -> Command | Address | EngineFault:
    """Return what may be asked, or why nothing is."""
    endpoint_read = read_endpoint(endpoint)
    if isinstance(endpoint_read, Unaskable):
        return EngineFault(endpoint_read.code, endpoint_read.reason)
    if settings.granted(project.id, endpoint):
        if is_ambiguous(project):
            return EngineFault("ENGINE_CLONES_DIFFER", "its clones differ, and none is listed")
        return endpoint_read
    if any(grant.project == project.id for grant in settings.grants):
        return EngineFault("ENGINE_GRANT_VOID", "it names another endpoint than you granted")
    return EngineFault("ENGINE_NOT_GRANTED", "it is not granted")


def _found(answers: Sequence[EngineAnswer], milliseconds: float, redactor: Redactor) -> Found:
    """One ranked list: every engine's best first; of one rank, the better score."""
    ranked = [
        (rank, candidate)
        for answer in answers
        for rank, candidate in enumerate(answer.placed.candidates)
    ]
    ranked.sort(key=lambda item: (item[0], -item[1].score, item[1].project))
    candidates = [
        # A file may be called by a secret.
        msgspec.structs.replace(candidate, name=redactor.redact(candidate.name).text)
        for _, candidate in ranked
    ]
    return Found(
        surface=ENGINE,
        candidates=candidates,
        total=len(candidates),
        by_project={
            answer.project: ProjectScore(
                counts=Counter(candidate.kind for candidate in answer.placed.candidates),
                best=max(candidate.score for candidate in answer.placed.candidates),
            )
            for answer in answers
            if answer.placed.candidates
        },
        milliseconds=milliseconds,
    )
