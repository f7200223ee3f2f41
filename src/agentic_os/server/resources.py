"""The resources: projects, memory, capabilities, sources of answers, the working context.

A source is served only if an answer may cite it: a fact, MEMORY.md, a vault note, an inventory, or
a file of the index, which the store holds; or a source or Markdown file that the project's code
graph names. It is read now, bounded, contained and redacted, and hidden characters are spelt out.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from agentic_os.aggregate import questions as answers
from agentic_os.errors import AgenticOSError, FilesError, RegistryError
from agentic_os.server.arguments import FleetOverview
from agentic_os.server.codes import ERRORS
from agentic_os.server.privacy import last_redaction
from agentic_os.server.scope.aios import person_access
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.aios import read_working_context
from agentic_os.server.tools.fleet import fleet_overview
from agentic_os.server.tools.links import SOURCE, read_source_uri
from agentic_os.server.tools.paging import page
from agentic_os.tiers.place import read_redacted, read_text

SOURCE_CHARS = 32_000
MEMORY_CHARS = 32_000
AROUND_LINES = 40
SKILL_BYTES = 262_144
SKILL: Final = "fleet://skill/"
SKILL_FOLDERS: Final = (".agents/skills", ".claude/skills", ".codex/skills", "skills")
_SKILL_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")
FACT_CHARS = 8_000
"""Of one fact in ``fleet://memory``; all of it is in its source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceText:
    """What a resource holds."""

    uri: str
    mime: str
    text: str


STATIC: tuple[tuple[str, str, str, str], ...] = (
    ("fleet://projects", "projects", "All projects of the fleet", "application/json"),
    ("fleet://capabilities", "capabilities", "Skills, MCP servers, hooks", "application/json"),
    ("aios://context", "working-context", "The bounded working context", "text/markdown"),
)
TEMPLATES: tuple[tuple[str, str, str, str], ...] = (
    (
        "fleet://memory/{project}",
        "memory",
        "What one project remembers",
        "application/json",
    ),
    (
        "fleet://source/{project}/{+path}{?lines}",
        "source",
        "A file that an answer cites, or what stands around lines=8-12 of it, redacted",
        "text/markdown",
    ),
    (
        "fleet://skill/{project}/{skill}",
        "skill",
        "The SKILL.md of a project's skill, redacted",
        "text/markdown",
    ),
)


def read_resource(served: ServedPerson, uri: str, *, fleet: bool) -> ResourceText:
    """Read a resource; blocks.

    Raises:
        ServerError: ``RESOURCE_UNKNOWN``; the message names no path of this machine.
    """
    if uri == "aios://context":
        access = person_access(served.person.environ, served.person.home)
        document = msgspec.json.decode(read_working_context(access, {}))
        return ResourceText(uri=uri, mime="text/markdown", text=document["markdown"])
    if fleet and uri == "fleet://projects":
        return _json(served, uri, fleet_overview(served, FleetOverview(budget=32_000)))
    if fleet and uri == "fleet://capabilities":
        asked = FleetOverview(sections=("capabilities",), budget=32_000)
        return _json(served, uri, fleet_overview(served, asked))
    if fleet and uri.startswith("fleet://memory/"):
        return _memory(served, uri, unquote(uri.removeprefix("fleet://memory/")))
    if fleet and uri.startswith(SOURCE):
        return _source(served, uri)
    if fleet and uri.startswith(SKILL):
        project, _, skill = uri.removeprefix(SKILL).partition("/")
        return _skill(served, uri, unquote(project), unquote(skill))
    raise _unknown()


def _memory(served: ServedPerson, uri: str, project: str) -> ResourceText:
    try:
        with served.workspace() as workspace:
            answer = answers.memory(workspace, (project,))
    except AgenticOSError:
        raise _unknown() from None
    facts = [
        {
            "title": fact.title,
            "type": fact.type,
            "description": fact.description,
            "text": _cut(fact.text, FACT_CHARS),
            "path": fact.provenance.path,
            "lines": fact.provenance.lines,
        }
        for fact in answer.data.facts
        if not fact.template
    ]
    fits = page(facts, budget=MEMORY_CHARS)
    return _json(
        served,
        uri,
        {
            "project": project,
            "facts": list(fits.items),
            "total": len(facts),
            "truncated": fits.truncated,
        },
    )


def _source(served: ServedPerson, uri: str) -> ResourceText:
    asked = read_source_uri(uri)
    if asked is None:
        raise _unknown()
    try:
        with served.workspace() as workspace:
            found = read_text(workspace, asked.project, asked.path)
    except (FilesError, RegistryError):
        raise _unknown() from None
    text = last_redaction(served.person).text(found.text)
    if asked.lines is not None:
        text = around(text, asked.lines)
    return ResourceText(uri=uri, mime="text/markdown", text=_cut(text, SOURCE_CHARS))


def around(text: str, lines: tuple[int, int], more: int = AROUND_LINES) -> str:
    """Return some lines of a text with those around them, and say which they are."""
    all_lines = text.split("\n")
    last = min(len(all_lines), lines[1] + more)
    first = max(1, min(lines[0], last) - more)
    shown = "\n".join(all_lines[first - 1 : last])
    return f"[lines {first}-{last} of {len(all_lines)}]\n{shown}"


def _skill(served: ServedPerson, uri: str, project: str, skill: str) -> ResourceText:
    if not _SKILL_NAME.fullmatch(skill):
        raise _unknown()
    with served.workspace() as workspace:
        try:
            own = workspace.fleet.find(project, current=workspace.current, paths=False)
        except AgenticOSError:
            raise _unknown() from None
        for folder in SKILL_FOLDERS:
            path = f"{folder}/{skill}/SKILL.md"
            with suppress(AgenticOSError):
                found = read_redacted(workspace, own, path, limit_bytes=SKILL_BYTES)
                text = last_redaction(served.person).text(found.text)
                return ResourceText(uri=uri, mime="text/markdown", text=_cut(text, SOURCE_CHARS))
    raise _unknown()


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}\n[cut after {most} characters]"


def _json(served: ServedPerson, uri: str, value: Any) -> ResourceText:
    plain = last_redaction(served.person).value(msgspec.json.decode(msgspec.json.encode(value)))
    return ResourceText(
        uri=uri, mime="application/json", text=msgspec.json.encode(plain).decode("utf-8")
    )


def _unknown() -> AgenticOSError:
    return ERRORS.error("RESOURCE_UNKNOWN")
