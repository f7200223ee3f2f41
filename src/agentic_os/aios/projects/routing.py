"""The conventions that a checkout offers to a host, observed and never executed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.allowance import Allowance, Amount, Charges
from agentic_os.aios.folder.faults import EVIDENCE_FOLDER_TOO_LARGE, argument_fault
from agentic_os.aios.folder.json_text import JsonObject
from agentic_os.aios.folder.reader import FolderReader

ConventionKind = Literal["agents-md", "claude-md", "repository-skill"]
RouteStatus = Literal["ready", "unsupported_by_host", "no_convention"]

CONVENTIONS: Final[tuple[ConventionKind, ...]] = get_args(ConventionKind)
SKILL_FOLDERS: Final = (".agents/skills", "skills")
"""Where a checkout keeps its own skills."""
SKILL_ENTRIES: Final = 64
"""Entries that a skills folder of a checkout may hold."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}")
_FILES: Final[tuple[tuple[ConventionKind, str], ...]] = (
    ("agents-md", "AGENTS.md"),
    ("claude-md", "CLAUDE.md"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """One convention: its kind and the file, relative to the checkout."""

    kind: ConventionKind
    resource: str

    def as_json(self) -> JsonObject:
        """Return the JSON form."""
        return {"kind": self.kind, "resource": self.resource}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRoute:
    """How a host can enter a checkout: advice that must be checked again on entry."""

    conventions: tuple[Convention, ...]
    supported: tuple[Convention, ...]

    @property
    def status(self) -> RouteStatus:
        """Whether the host supports a convention that the checkout has."""
        if self.supported:
            return "ready"
        return "unsupported_by_host" if self.conventions else "no_convention"

    def as_json(self) -> JsonObject:
        """Return the JSON form."""
        return {
            "status": self.status,
            "advisory": True,
            "fresh_context_required": True,
            "conventions": [convention.as_json() for convention in self.conventions],
            "supported": [convention.as_json() for convention in self.supported],
        }


def parse_conventions(text: str | None) -> tuple[ConventionKind, ...]:
    """Read a comma list of convention kinds.

    Raises:
        AiosError: DOTAIOS_ARGUMENT_INVALID for an unknown or repeated kind.
    """
    if text is None:
        return ()
    words = text.split(",")
    kinds = [next((kind for kind in CONVENTIONS if kind == word), None) for word in words]
    found = tuple(kind for kind in kinds if kind is not None)
    if len(found) != len(words) or len(set(found)) != len(found):
        raise argument_fault(f"conventions must be different ones of {', '.join(CONVENTIONS)}")
    return found


def observe_route(
    access: AiosAccess, checkout: Path, supported: Sequence[ConventionKind]
) -> ProjectRoute:
    """Look which conventions a checkout has; links and special files do not count.

    Raises:
        AiosError: a read fault, or a crowded skills folder.
    """
    found: list[Convention] = []
    charges = Charges(Allowance(Amount(entries=2 * SKILL_ENTRIES + 2)))
    with FolderReader(checkout, files=access.files) as reader:
        for kind, resource in _FILES:
            if _is_file(reader, resource):
                found.append(Convention(kind=kind, resource=resource))
        for folder in SKILL_FOLDERS:
            entries = reader.entries(
                folder,
                limit_entries=SKILL_ENTRIES,
                too_many=EVIDENCE_FOLDER_TOO_LARGE,
                charges=charges,
                hold=True,
            )
            for entry in entries or ():
                resource = f"{folder}/{entry.name}/SKILL.md"
                named = entry.kind == "folder" and _NAME.fullmatch(entry.name)
                if named and _is_file(reader, resource):
                    found.append(Convention(kind="repository-skill", resource=resource))
        reader.recheck()
    return ProjectRoute(
        conventions=tuple(found),
        supported=tuple(convention for convention in found if convention.kind in supported),
    )


def _is_file(reader: FolderReader, resource: str) -> bool:
    stamp = reader.inspect(resource, hold=True)
    return stamp is not None and stamp.is_file and stamp.links == 1
