"""Ranking workflows against an intent: deterministic, local, explained.

Token overlap with the best trigger, a bonus for a trigger inside the intent or the intent
inside a trigger, and overlap with the description (DotAIOS convention, skill resolution).
``confidence`` says how clear a match stands of the best other one, not how strong it is;
below ``AMBIGUOUS_BELOW`` it is ambiguous.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agentic_os.aios.folder.json_text import JsonObject
from agentic_os.aios.folder.tree import SKILLS

SKILL_FILE: Final = "SKILL.md"
MIN_SCORE: Final = 0.05
EXACT_SCORE: Final = 100.0
EXACT_BONUS: Final = 0.5
INSIDE_BONUS: Final = 0.4
INSIDE_CHARS: Final = 4
DESCRIPTION_SCORE: Final = 0.5
AMBIGUOUS_BELOW: Final = 0.55

_STOP_WORDS: Final = (
    "a an the my me i to for of and or on in is this that with it do how what should "
    "want wants please can you help get into out"
)
_STOPWORDS: Final = frozenset(_STOP_WORDS.split())
_SPLIT = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One installed workflow: its folder and its routing fields."""

    folder: str
    name: str
    description: str
    triggers: tuple[str, ...]

    @property
    def resource(self) -> str:
        """The file to open, relative to the AIOS folder."""
        return f"{SKILLS}/{self.folder}/{SKILL_FILE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillMatch:
    """A workflow that fits an intent."""

    skill: Skill
    score: float
    confidence: float
    ambiguous: bool
    reason: str

    def as_json(self) -> JsonObject:
        """Return the JSON form, scores to three decimals."""
        return {
            "name": self.skill.name,
            "description": self.skill.description,
            "triggers": list(self.skill.triggers),
            "score": round(self.score, 3),
            "confidence": round(self.confidence, 3),
            "ambiguous": self.ambiguous,
            "reason": self.reason,
            "resource": self.skill.resource,
        }


def rank_skills(intent: str, skills: Sequence[Skill]) -> tuple[SkillMatch, ...]:
    """Rank workflows against an intent, best first; weak ones are dropped."""
    scored = [(skill, *_score(skill, intent)) for skill in skills]
    kept = [item for item in scored if item[1] >= MIN_SCORE]
    kept.sort(key=lambda item: item[0].name)
    kept.sort(key=lambda item: item[1], reverse=True)
    return tuple(
        _match(skill, score, reason, [other[1] for other in kept if other[0] is not skill])
        for skill, score, reason in kept
    )


def _match(skill: Skill, score: float, reason: str, others: list[float]) -> SkillMatch:
    """Say how far a match stands clear of the best other one."""
    rival = max(others, default=0.0)
    if score >= EXACT_SCORE:
        confidence = 0.5 if rival >= EXACT_SCORE else 1.0
        lead = confidence
    else:
        confidence = score / (score + rival) if rival else 1.0
        lead = max(score, rival) / (score + rival) if rival else 1.0
    return SkillMatch(
        skill=skill,
        score=score,
        confidence=confidence,
        ambiguous=lead < AMBIGUOUS_BELOW,
        reason=reason,
    )


def _score(skill: Skill, intent: str) -> tuple[float, str]:
    said = intent.strip().lower()
    if said in (skill.name.lower(), skill.folder.lower()):
        return EXACT_SCORE, "exact name match"
    words = _tokens(intent)
    best, best_overlap, best_trigger = 0.0, 0.0, ""
    for trigger in skill.triggers:
        overlap = _overlap(words, _tokens(trigger))
        best = max(best, overlap + _bonus(said, trigger.lower()))
        if overlap > best_overlap:
            best_overlap, best_trigger = overlap, trigger
    described = min(_overlap(words, _tokens(skill.description)), DESCRIPTION_SCORE)
    if best_trigger:
        reason = f'matched trigger "{best_trigger}"'
    else:
        reason = "matched description" if described > 0 else "weak overlap"
    return best + described, reason


def _tokens(text: str) -> frozenset[str]:
    return frozenset(_SPLIT.split(text.lower())) - _STOPWORDS - {""}


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    if not left or not right:
        return 0.0
    return 2 * len(left & right) / (len(left) + len(right))


def _bonus(said: str, trigger: str) -> float:
    if said == trigger:
        return EXACT_BONUS
    inside = len(trigger) >= INSIDE_CHARS and trigger in said
    around = len(said) >= INSIDE_CHARS and said in trigger
    return INSIDE_BONUS if inside or around else 0.0
