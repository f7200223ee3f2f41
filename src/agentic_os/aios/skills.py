"""The workflows of ``skills/``: collected, and ranked against an intent.

Deterministic and local (DotAIOS convention, skill resolution): token overlap with the
best trigger, a bonus for a trigger inside the intent or the intent inside a trigger, and
overlap with the description. ``confidence`` says how clear the winner stands of the
runner-up, not how strong it is; below ``AMBIGUOUS_BELOW`` the match is ambiguous.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agentic_os.aios.access import AiosAccess
from agentic_os.aios.configuration import require_folder
from agentic_os.aios.faults import (
    EVIDENCE_FOLDER_TOO_LARGE,
    argument_fault,
    as_evidence,
)
from agentic_os.aios.front_matter import front_matter_block
from agentic_os.aios.identity import resolve_identity
from agentic_os.aios.json_text import JsonObject
from agentic_os.aios.ledger import Charges, Ledger
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.reader import FolderReader
from agentic_os.aios.search_context import FILE_BYTES, FOLDER_ENTRIES, SEARCH_LIMIT
from agentic_os.errors import AiosError

SKILLS: Final = "skills"
SKILL_FILE: Final = "SKILL.md"
ROUTING_BYTES: Final = 64 * 1024
"""A skill's front matter must close within this many bytes."""
INTENT_CHARS: Final = 500
"""Code points of an intent."""
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
_FIELD = re.compile(r"(name|description|triggers):(?:[ \t]+(.*))?")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_SEPARATOR = re.compile("[,·]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One installed workflow: its folder and what its front matter says."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillAnswer:
    """The workflows that fit an intent, best first.

    ``withheld`` counts skills left out because their routing text holds a secret.
    """

    intent: str
    memory: str
    receipt: str
    notice: str | None
    matches: tuple[SkillMatch, ...]
    withheld: int


def resolve_skill(
    access: AiosAccess, policy: MemoryPolicy, *, intent: str, limit: int = 1
) -> SkillAnswer:
    """Rank the folder's workflows against an intent; project memory only checks its selector.

    Raises:
        AiosError: DOTAIOS_ARGUMENT_INVALID, DOTAIOS_FOLDER_MISSING,
            DOTAIOS_PROJECT_SELECTOR_* or an evidence fault.
    """
    if not intent.strip() or len(intent) > INTENT_CHARS:
        raise argument_fault(f"the intent must have 1 to {INTENT_CHARS} characters")
    if limit < 1:
        raise argument_fault("the limit must be a positive whole number")
    matches: tuple[SkillMatch, ...] = ()
    withheld = 0
    if policy.mode != "off":
        try:
            with FolderReader(access.root, files=access.files) as reader:
                charges = Charges(Ledger(SEARCH_LIMIT))
                require_folder(reader, hold=True)
                if policy.mode == "project":
                    resolve_identity(reader, charges, policy.selector)
                found = collect_skills(reader, charges)
                reader.recheck()
        except AiosError as error:
            raise as_evidence(error) from error
        kept = [
            skill
            for skill in found
            if not access.guard.holds_secret(skill.name, skill.description, *skill.triggers)
        ]
        withheld = len(found) - len(kept)
        matches = rank_skills(intent, kept)[:limit]
    return SkillAnswer(
        intent=intent,
        memory=policy.mode,
        receipt=policy.receipt,
        notice=policy.notice,
        matches=matches,
        withheld=withheld,
    )


def collect_skills(reader: FolderReader, charges: Charges) -> tuple[Skill, ...]:
    """Collect the workflows of ``skills/``, by name; links and hidden names are ignored.

    Raises:
        AiosError: a read fault; DOTAIOS_FRONTMATTER_INVALID for one that does not close.
    """
    entries = reader.entries(
        SKILLS,
        limit_entries=FOLDER_ENTRIES,
        too_many=EVIDENCE_FOLDER_TOO_LARGE,
        charges=charges,
        hold=True,
    )
    skills: list[Skill] = []
    for entry in entries or ():
        if entry.kind != "folder" or entry.name.startswith((".", "_")):
            continue
        read = reader.read(
            f"{SKILLS}/{entry.name}/{SKILL_FILE}",
            limit_bytes=FILE_BYTES,
            prefix_bytes=ROUTING_BYTES,
            charges=charges,
            hold=True,
        )
        if read is not None:
            skills.append(read_skill(entry.name, read.data))
    return tuple(sorted(skills, key=lambda skill: (skill.name, skill.folder)))


def read_skill(folder: str, data: bytes) -> Skill:
    """Read a skill's routing fields from the beginning of its file.

    The three fields are read line by line: ``name``, ``description`` on one line,
    ``triggers`` as a comma list or as indented items. Other YAML is passed over.

    Raises:
        AiosError: DOTAIOS_FRONTMATTER_INVALID when an opened front matter does not close;
            DOTAIOS_INVALID_UTF8.
    """
    block = front_matter_block(data, limit_bytes=ROUTING_BYTES)
    if block is None:
        return Skill(folder=folder, name=folder, description="", triggers=())
    fields: dict[str, list[str]] = {}
    current = ""
    for line in block.text.replace("\r\n", "\n").split("\n"):
        field = _FIELD.fullmatch(line)
        item = _ITEM.fullmatch(line)
        if field is not None:
            current = field.group(1)
            fields[current] = [_unquoted(field.group(2) or "")]
        elif item is not None and current == "triggers":
            fields[current].append(_unquoted(item.group(1)))
        elif line.strip() and not line.startswith((" ", "\t", "#")):
            current = ""
    name, described = (fields.get(key, [""])[0] for key in ("name", "description"))
    return Skill(
        folder=folder,
        name=name or folder,
        description=described,
        triggers=_triggers(fields.get("triggers", [])),
    )


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


def _triggers(values: list[str]) -> tuple[str, ...]:
    if not values:
        return ()
    inline = values[0].strip()
    if inline.startswith("[") and inline.endswith("]"):
        inline = inline[1:-1]
    found = [_unquoted(part) for part in _SEPARATOR.split(inline)] + values[1:]
    return tuple(trigger for trigger in found if trigger)


def _unquoted(value: str) -> str:
    stripped = value.strip()
    quoted = len(stripped) > 1 and stripped[0] == stripped[-1] and stripped[0] in "\"'"
    return stripped[1:-1].strip() if quoted else stripped
