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
from agentic_os.aggregate.surfaces.documents import Role
from agentic_os.aggregate.surfaces.sweep import LIMIT_BYTES
from agentic_os.aggregate.workspace import Workspace
from agentic_os.code.reading import language_of
from agentic_os.errors import AgenticOSError, FilesError
from agentic_os.files.reading import Folder
from agentic_os.registry.project import Project
from agentic_os.server.arguments import FleetOverview
from agentic_os.server.codes import ERRORS
from agentic_os.server.privacy import last_redaction
from agentic_os.server.scope.aios import person_access
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.aios import read_working_context
from agentic_os.server.tools.fleet import fleet_overview
from agentic_os.server.tools.links import SOURCE, read_source_uri
from agentic_os.server.tools.paging import page
from agentic_os.text.decoding import decode

SOURCE_CHARS = 32_000
MEMORY_CHARS = 32_000
AROUND_LINES = 40
SKILL_BYTES = 262_144
SKILL: Final = "fleet://skill/"
SKILL_FOLDERS: Final = (".agents/skills", ".claude/skills", ".codex/skills", "skills")
_SKILL_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")
FACT_CHARS = 8_000
"""Of one fact in ``fleet://memory``; all of it is in its source."""
_CITABLE = """
SELECT file.role FROM file JOIN project ON project.pk = file.project
WHERE project.id = ? AND file.path = ?
"""
_NAMED_BY_GRAPH = """
SELECT 1 FROM graph_file JOIN graph_repo USING (rid)
WHERE graph_repo.project = ? AND graph_file.path = ? AND graph_file.size >= 0
"""


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
    with served.workspace() as workspace:
        own = next((one for one in workspace.fleet.projects if one.id == asked.project), None)
        role = _citable(workspace, asked.project, asked.path)
        if own is None or role is None:
            raise _unknown()
        text = _text(served, workspace, own, asked.path, LIMIT_BYTES[role])
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
                text = _text(served, workspace, own, path, SKILL_BYTES)
                return ResourceText(uri=uri, mime="text/markdown", text=_cut(text, SOURCE_CHARS))
    raise _unknown()


def _text(
    served: ServedPerson, workspace: Workspace, own: Project, path: str, limit_bytes: int
) -> str:
    """Read a file of a project now: bounded, contained, redacted, hidden characters spelt out."""
    try:
        with Folder.open(own.folder) as folder:
            read = folder.read(path, limit_bytes=limit_bytes)
    except FilesError:
        raise _unknown() from None
    # Redacted before it is made visible: rules look for the characters that were written.
    redacted = workspace.redactor.redact(decode(read.data).text).text
    return last_redaction(served.person).text(redacted)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}\n[cut after {most} characters]"


def _citable(workspace: Workspace, project: str, path: str) -> Role | None:
    """Return the role of a file that answers may cite; ``None`` if none may.

    Of what a graph names, only sources and Markdown: a graph that was made to name a file of
    settings or keys opens nothing.
    """
    connection = workspace.store.connection
    row = connection.execute(_CITABLE, (project, path)).fetchone()
    if row is not None:
        role = Role(row[0])
        return None if role is Role.INVOCATIONS else role
    if not path.endswith(".md") and language_of(path) is None:
        return None
    named = connection.execute(_NAMED_BY_GRAPH, (project, path)).fetchone()
    return None if named is None else Role.SOURCE


def _json(served: ServedPerson, uri: str, value: Any) -> ResourceText:
    plain = last_redaction(served.person).value(msgspec.json.decode(msgspec.json.encode(value)))
    return ResourceText(
        uri=uri, mime="application/json", text=msgspec.json.encode(plain).decode("utf-8")
    )


def _unknown() -> AgenticOSError:
    return ERRORS.error("RESOURCE_UNKNOWN")
