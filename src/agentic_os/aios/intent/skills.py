"""The workflows of ``skills/``: collected by their routing fields, and one call to rank them.

Only the beginning of each ``SKILL.md`` is read. Project skills (a checkout's own) are never
ranked; project memory only checks its selector (DotAIOS convention, skill resolution).
"""

import re
from dataclasses import dataclass
from typing import Final

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.allowance import (
    FILE_BYTES,
    FOLDER_ENTRIES,
    SEARCH_LIMIT,
    Allowance,
    Charges,
)
from agentic_os.aios.folder.configuration import require_folder
from agentic_os.aios.folder.faults import EVIDENCE_FOLDER_TOO_LARGE, argument_fault, as_evidence
from agentic_os.aios.folder.front_matter import front_matter_block
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.folder.tree import SKILLS
from agentic_os.aios.folder.withheld import hidden_characters
from agentic_os.aios.intent.skill_ranking import SKILL_FILE, Skill, SkillMatch, rank_skills
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.projects.selection import resolve_identity
from agentic_os.errors import AiosError

ROUTING_BYTES: Final = 64 * 1024
"""A skill's front matter must close within this many bytes."""
INTENT_CHARS: Final = 500
"""Code points of an intent."""

_FIELD = re.compile(r"(name|description|triggers):(?:[ \t]+(.*))?")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_SEPARATOR = re.compile("[,·]")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillAnswer:
    """The workflows that fit an intent, best first.

    ``withheld`` counts skills left out because their routing text holds a secret,
    ``hidden_characters`` the control, bidi and invisible characters of what is shown.
    """

    intent: str
    memory: str
    receipt: str
    notice: str | None
    matches: tuple[SkillMatch, ...]
    withheld: int
    hidden_characters: int


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
                charges = Charges(Allowance(SEARCH_LIMIT))
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
        hidden_characters=sum(
            hidden_characters(text)
            for match in matches
            for text in (match.skill.name, match.skill.description, *match.skill.triggers)
        ),
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
        if read is None:
            continue
        try:
            skills.append(read_skill(entry.name, read.data))
        except AiosError as error:
            error.locate(f"{SKILLS}/{entry.name}/{SKILL_FILE}")
            raise
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
