"""The lean brief: five whole texts, for a person or a host that wants no selection.

Shared memory only. The output has no budget; the reads are as safe as any other and each
file is bounded (DotAIOS convention, lean brief).
"""

from dataclasses import dataclass
from typing import Final

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.allowance import FILE_BYTES, SEARCH_LIMIT, Allowance, Charges
from agentic_os.aios.folder.configuration import require_folder
from agentic_os.aios.folder.faults import (
    FOLDER_MISSING,
    PROJECT_FOLDER_LIMIT,
    WORKING_CONTEXT_FAILED,
    fault,
)
from agentic_os.aios.folder.json_text import JsonObject
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.folder.tree import DAILY, PROJECTS, README
from agentic_os.aios.policy import RECEIPTS
from agentic_os.aios.projects.catalog import PROJECTS_FOLDER_ENTRIES
from agentic_os.errors import AiosError

PLACEHOLDER: Final = "_Nothing here yet._"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeanSection:
    """One section; ``text`` is ``None`` when there is nothing or a secret is withheld."""

    title: str
    text: str | None
    withheld: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LeanBrief:
    """The lean brief of a day."""

    receipt: str
    date: str
    sections: tuple[LeanSection, ...]

    @property
    def withheld(self) -> int:
        """How many sections were left out because they hold a secret."""
        return sum(section.withheld for section in self.sections)

    def text(self) -> str:
        """Return the Markdown."""
        lines = [self.receipt, "", "# Lean brief", "", f"Read on {self.date}.", ""]
        for section in self.sections:
            lines.extend([f"## {section.title}", "", section.text or PLACEHOLDER, ""])
        return "\n".join(lines)

    def as_json(self) -> JsonObject:
        """Return the JSON form."""
        return {
            "receipt": self.receipt,
            "date": self.date,
            "sections": [
                {"title": section.title, "text": section.text, "withheld": section.withheld}
                for section in self.sections
            ],
        }


def read_lean(access: AiosAccess) -> LeanBrief:
    """Read the lean brief.

    Raises:
        AiosError: DOTAIOS_FOLDER_MISSING, DOTAIOS_WORKING_CONTEXT_READ_FAILED.
    """
    date = access.clock().date().isoformat()
    charges = Charges(Allowance(SEARCH_LIMIT))
    try:
        with FolderReader(access.root, files=access.files) as reader:
            require_folder(reader, hold=True)
            texts = {
                "Identity": _text(reader, charges, "context/identity.md"),
                "Priorities": _text(reader, charges, "context/priorities.md"),
                "North star": _text(reader, charges, "context/north-star.md"),
                "Today's daily note": _text(reader, charges, f"{DAILY}/{date}.md"),
                "Active project README": _first_readme(reader, charges),
            }
            reader.recheck()
    except AiosError as error:
        if error.code == FOLDER_MISSING:
            raise
        raise fault(WORKING_CONTEXT_FAILED) from error
    return LeanBrief(
        receipt=RECEIPTS["shared"],
        date=date,
        sections=tuple(_section(access, title, text) for title, text in texts.items()),
    )


def _section(access: AiosAccess, title: str, text: str) -> LeanSection:
    if access.guard.holds_secret(text):
        return LeanSection(title=title, text=None, withheld=True)
    return LeanSection(title=title, text=text or None)


def _text(reader: FolderReader, charges: Charges, relative: str) -> str:
    read = reader.read(relative, limit_bytes=FILE_BYTES, charges=charges)
    return "" if read is None else read.text.strip()


def _first_readme(reader: FolderReader, charges: Charges) -> str:
    entries = reader.entries(
        PROJECTS,
        limit_entries=PROJECTS_FOLDER_ENTRIES,
        too_many=PROJECT_FOLDER_LIMIT,
        charges=charges,
        hold=True,
    )
    for entry in entries or ():
        if entry.kind == "folder":
            text = _text(reader, charges, f"{PROJECTS}/{entry.name}/{README}")
            if text:
                return text
    return ""
