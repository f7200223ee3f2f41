"""The resources: projects, memory, capabilities, sources of answers, the working context.

A source is served only if an answer may cite it: a fact, MEMORY.md, a vault note, an inventory, or
a file of the index, which the store holds; or a source or Markdown file that the project's code
graph names. It is read now, bounded, contained and redacted, and hidden characters are spelt out.
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from agentic_os.aggregate import questions as answers
from agentic_os.aggregate.surfaces.documents import Role
from agentic_os.aggregate.surfaces.sweep import LIMIT_BYTES
from agentic_os.aggregate.workspace import Workspace
from agentic_os.code.reading import language_of
from agentic_os.errors import AgenticOSError, FilesError
from agentic_os.files.reading import Folder
from agentic_os.server.arguments import FleetOverview
from agentic_os.server.codes import ERRORS
from agentic_os.server.privacy import last_redaction
from agentic_os.server.scope.aios import person_access
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.aios import read_working_context
from agentic_os.server.tools.fleet import fleet_overview
from agentic_os.server.tools.paging import page
from agentic_os.text.decoding import decode

SOURCE_CHARS = 32_000
MEMORY_CHARS = 32_000
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
        "fleet://source/{project}/{path}",
        "source",
        "A file that an answer cites, redacted",
        "text/markdown",
    ),
)


def source_uri(project: str, path: str) -> str:
    """Return the URI under which a cited file can be read."""
    return f"fleet://source/{quote(project)}/{quote(path)}"


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
    if fleet and uri.startswith("fleet://source/"):
        project, _, path = uri.removeprefix("fleet://source/").partition("/")
        return _source(served, uri, unquote(project), unquote(path))
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


def _source(served: ServedPerson, uri: str, project: str, path: str) -> ResourceText:
    with served.workspace() as workspace:
        own = next((one for one in workspace.fleet.projects if one.id == project), None)
        role = _citable(workspace, project, path)
        if own is None or role is None:
            raise _unknown()
        try:
            with Folder.open(own.folder) as folder:
                read = folder.read(path, limit_bytes=LIMIT_BYTES[role])
        except FilesError:
            raise _unknown() from None
        # Redacted before it is made visible: rules look for the characters that were written.
        redacted = workspace.redactor.redact(decode(read.data).text).text
        text = last_redaction(served.person).text(redacted)
    return ResourceText(uri=uri, mime="text/markdown", text=_cut(text, SOURCE_CHARS))


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
