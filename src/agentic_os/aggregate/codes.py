"""Every diagnostic of this room: its code, how bad it is, what it means, what to do.

The reference page is generated from this table; a test finds every code that the room writes in
it.
"""

from collections.abc import Mapping
from types import MappingProxyType

from agentic_os.registry.codes import CodeRow

CODES: Mapping[str, CodeRow] = MappingProxyType(
    {
        row.code: row
        for row in (
            CodeRow(
                code="FACT_MISSING",
                severity="warning",
                meaning="MEMORY.md lists a fact that does not exist.",
                hint="Remove the line, or write the fact.",
            ),
            CodeRow(
                code="FACT_UNLISTED",
                severity="warning",
                meaning="A fact exists that no line of MEMORY.md lists.",
                hint="Add a line for it.",
            ),
            CodeRow(
                code="CAPABILITIES_FOREIGN",
                severity="info",
                meaning="The inventory was written by hand; no rows were taken from it.",
                hint="It stays searchable as text.",
            ),
            CodeRow(
                code="CAPABILITIES_TOO_MANY",
                severity="warning",
                meaning="The inventory has more rows than are read.",
            ),
            CodeRow(
                code="INVOCATIONS_INVALID",
                severity="warning",
                meaning=".mcp.json is not of its form; no invocation was taken from it.",
            ),
            CodeRow(
                code="STATEMENTS_TOO_MANY",
                severity="warning",
                meaning="A fact has more `key: value` lines than are compared between projects.",
                hint="Keep a fact under 100 lines; move tables and logs elsewhere.",
            ),
            CodeRow(
                code="TEXT_NOT_UTF8",
                severity="warning",
                meaning="Some bytes are not UTF-8; they were replaced.",
                hint="Save the file as UTF-8.",
            ),
            CodeRow(
                code="FRONT_MATTER_UNCLOSED",
                severity="warning",
                meaning="The front matter has no closing line; the whole text was taken as body.",
                hint="Close the block with --- on a line of its own.",
            ),
            CodeRow(
                code="FRONT_MATTER_NO_KEYS",
                severity="warning",
                meaning="The front matter holds no `key: value` line.",
                hint="Write name, description and type.",
            ),
            CodeRow(
                code="FRONT_MATTER_LINE",
                severity="warning",
                meaning="A line of the front matter is not `key: value`; it was read leniently.",
                hint="Quote the value.",
            ),
            CodeRow(
                code="FRONT_MATTER_DUPLICATE_KEY",
                severity="warning",
                meaning="A key stands twice in the front matter; the last one counts.",
                hint="Remove one of them.",
            ),
            CodeRow(
                code="NAME_NOT_UTF8",
                severity="error",
                meaning="A file's name is not UTF-8; the file was not read.",
                hint="Rename the file.",
            ),
            CodeRow(
                code="LINK_REFUSED",
                severity="error",
                meaning="A file, or a folder on the way to it, is a link; it was not read.",
                hint="Put the file itself there; links are never followed.",
            ),
            CodeRow(
                code="NOT_REGULAR",
                severity="error",
                meaning="A name that should be a file is a folder, a FIFO or a device.",
                hint="Only ordinary files are read.",
            ),
            CodeRow(
                code="NOT_A_FOLDER",
                severity="error",
                meaning="A name that should be a folder is not one.",
            ),
            CodeRow(
                code="FILE_TOO_LARGE",
                severity="error",
                meaning="A file is larger than its bound; it was not read.",
                hint="Split the file; long material belongs into the vault.",
            ),
            CodeRow(
                code="FILE_UNREADABLE",
                severity="error",
                meaning="A file or folder exists and cannot be read.",
            ),
            CodeRow(
                code="FILE_CHANGED",
                severity="error",
                meaning="A file changed twice while it was read.",
                hint="Ask again.",
            ),
            CodeRow(
                code="FILE_MISSING",
                severity="error",
                meaning="A file or folder vanished while it was read.",
                hint="Ask again.",
            ),
            CodeRow(
                code="TOO_MANY_ENTRIES",
                severity="error",
                meaning="A folder holds more names than are looked at.",
            ),
            CodeRow(
                code="VAULT_TOO_DEEP",
                severity="error",
                meaning="A vault is nested deeper than it is walked.",
            ),
            CodeRow(
                code="HIT_CHANGED",
                severity="info",
                meaning="A passage that matched is no longer in its file; it was dropped.",
            ),
            CodeRow(
                code="HIT_UNREADABLE",
                severity="info",
                meaning="The file of a passage that matched can no longer be read.",
            ),
            CodeRow(
                code="NO_PROJECTS",
                severity="info",
                meaning="No project was found below the roots.",
                hint="A project is a folder with .agents/config.yaml (or .claude/config.yaml).",
            ),
            CodeRow(
                code="STORE_STALE",
                severity="warning",
                meaning="The store could not be brought up to date; its last state was asked.",
                hint="Hits are current all the same: each is read again from its file.",
            ),
            CodeRow(
                code="GIT_INDEX_INVALID",
                severity="warning",
                meaning="A project's git index cannot be read; its ignore rules alone decided.",
                hint="`git status` in the project shows whether git can.",
            ),
            CodeRow(
                code="GIT_INDEX_SPLIT",
                severity="warning",
                meaning="A project's git index lies in two files; its ignore rules alone decided.",
                hint="`git update-index --no-split-index` joins it.",
            ),
            CodeRow(
                code="CORPUS_MISSING",
                severity="info",
                meaning="No code or documents were taken in yet, so none can be found.",
                hint="Take them in: agentic-os index build.",
            ),
            CodeRow(
                code="SEMANTIC_UNAVAILABLE",
                severity="info",
                meaning="There is no semantic index to ask; the words were searched.",
            ),
        )
    }
)
