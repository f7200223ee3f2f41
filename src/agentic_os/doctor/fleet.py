"""Examine a workspace check by check.

The checks are yielded as they are made, projects in order, so that a long run can be read while
it goes on. Nothing is changed. A check that had nothing to say of anything is yielded once for
the fleet: as ok, or as having had nothing to look at.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from agentic_os.aggregate.graph.codes import GRAPH_CODES, REFUSED_PATH_CODE
from agentic_os.aggregate.graph.tables import STATUS_STALE
from agentic_os.aggregate.refresh.intake import UNREAD
from agentic_os.aggregate.store.database import SQLITE_MINIMUM
from agentic_os.aggregate.union import missing_facts
from agentic_os.aggregate.workspace import Workspace
from agentic_os.doctor.grants import examine_grants
from agentic_os.doctor.identifiers import CHECKS, nothing_to_check
from agentic_os.doctor.index import examine_index
from agentic_os.doctor.instructions import drift
from agentic_os.doctor.told import examine_instructions
from agentic_os.errors import FilesError
from agentic_os.files.reading import Folder
from agentic_os.registry.descriptor.reading import MAX_DESCRIPTOR_BYTES
from agentic_os.registry.descriptor.record import compare_record, read_record
from agentic_os.registry.fleet import passed_over
from agentic_os.registry.project import Project
from agentic_os.results import Check, CheckStatus, Diagnostic, Severity
from agentic_os.text.decoding import decode
from agentic_os.text.fencing import one_line
from agentic_os.text.secrets.values_of import redacted_value

MEMORY_NOTICE_LINES = 150
MEMORY_WARN_LINES = 180
MEMORY_LIMIT_LINES = 200
MEMORY_LIMIT_BYTES = 25_000
"""Harnesses load so much of MEMORY.md and drop the rest without a word."""
INSTRUCTIONS_LIMIT_BYTES = 1_048_576
MAX_ALIKE_ENTRIES = 50
"""Findings of one check in one project that are said one by one."""

INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md")
_OF_FLEET = ("fleet.names", "fleet.clones")
"""Checks that compare projects."""
_OF_PROJECTS = (
    "fleet.names",
    "fleet.clones",
    "contract",
    "surface.missing",
    "graph",
    "evidence.unread",
    "text.form",
    "memory.index",
    "memory.length",
    "instructions.drift",
    "instructions.imports",
    "instructions.length",
    "instructions.rules",
    "capabilities.agree",
    "secrets",
)
"""Checks that look at projects."""

_STATUS: dict[Severity, CheckStatus] = {"info": "ok", "warning": "warn", "error": "fail"}
_CHECK_OF_CODE = {
    "CLONES_DIFFER": "fleet.clones",
    "CLONES_EQUAL": "fleet.clones",
    "WORKTREES_DIFFER": "fleet.clones",
    "NAME_HOLDS_SECRET": "secrets",
    "NAME_SHARED": "fleet.names",
    "ID_COLLIDES": "fleet.names",
    "ID_PIN_COLLIDES": "fleet.names",
    "MEMORY_MISSING": "surface.missing",
    "VAULT_MISSING": "surface.missing",
    "SURFACE_REFUSED": "surface.missing",
    "SURFACE_UNREADABLE": "surface.missing",
    "MEMORY_INDEX_MISSING": "memory.index",
}
"""Diagnostics of the registry that belong to another check than that of the contract."""


def examine(workspace: Workspace, scope: frozenset[str] | None = None) -> Iterator[Check]:
    """Make every check; with a scope, those of its projects and of the tool itself."""
    made: set[str] = set() if scope is None else {"roots.walk"}
    for check in _checks(workspace, scope):
        made.add(check.id)
        yield redacted_value(check, workspace.redactor)
    absent = _absent(workspace, scope)
    for name, text in CHECKS.items():
        if name in made:
            continue
        why = absent.get(name)
        yield (
            Check(id=name, status="ok", message=text)
            if why is None
            else nothing_to_check(name, why)
        )


def _absent(workspace: Workspace, scope: frozenset[str] | None) -> dict[str, str]:
    """Say why checks had nothing to look at."""
    projects = [one for one in workspace.fleet.projects if scope is None or one.id in scope]
    absent = {"index": "there is no semantic index"}
    if scope is not None:
        whole = "only the whole fleet is"
        absent |= dict.fromkeys(("roots.walk", *_OF_FLEET, "instructions.rules"), whole)
    if not workspace.settings.grants:
        absent["engine.grants"] = "no engine was granted"
    if not projects:
        return {**absent, **dict.fromkeys(_OF_PROJECTS, "there is no project")}
    if len(projects) == 1 and scope is None:
        absent |= dict.fromkeys((*_OF_FLEET, "instructions.rules"), "there is one project")
    if not any(one.described for one in projects):
        absent["contract"] = "no project has a descriptor"
        absent["surface.missing"] = "no descriptor declares a surface"
    if not any(_has_both(one) for one in projects):
        absent["instructions.drift"] = "no project has both AGENTS.md and CLAUDE.md"
    ids = json.dumps([one.id for one in projects])
    for names, why, rows, counted in _LOOKED_AT:
        query = _ANY.format(rows=rows, counted=counted)
        if workspace.store.connection.execute(query, (ids,)).fetchone() is None:
            absent |= {name: why for name in names if name not in absent}
    return absent


def _has_both(project: Project) -> bool:
    return all((project.folder / name).is_file() for name in INSTRUCTIONS)


def _checks(workspace: Workspace, scope: frozenset[str] | None) -> Iterator[Check]:
    yield _sqlite()
    yield _store(workspace)
    yield from examine_index(workspace)
    yield from examine_grants(workspace, scope)
    if scope is None:
        yield from _roots(workspace)
    yield from examine_instructions(workspace, scope)
    missing = missing_facts(workspace.store)
    for project in workspace.fleet.projects:
        if scope is not None and project.id not in scope:
            continue
        yield from _bounded(
            project,
            chain(
                _descriptor(project),
                _record(project),
                _graph(workspace, project),
                _stored(workspace, project),
                _missing(project, missing.get(project.id, ())),
                _instructions(project),
            ),
        )


def _bounded(project: Project, checks: Iterable[Check]) -> Iterator[Check]:
    """Pass on the first findings of each check, then say how many more there are.

    One project with thousands of them would bury what is said of the others.
    """
    seen: Counter[tuple[str, CheckStatus]] = Counter()
    for check in checks:
        kind = check.id, check.status
        seen[kind] += 1
        if seen[kind] <= MAX_ALIKE_ENTRIES:
            yield check
    for (name, status), count in seen.items():
        if count > MAX_ALIKE_ENTRIES:
            message = f"{count - MAX_ALIKE_ENTRIES} more like these were found"
            yield _about(project, name, status, message)


def _missing(project: Project, items: Iterable[Diagnostic]) -> Iterator[Check]:
    for item in items:
        yield _about(
            project,
            "memory.index",
            "warn",
            f"{item.code}: {item.message}",
            item.hint,
            item.path,
            item.line,
        )


def _sqlite() -> Check:
    return Check(
        id="sqlite.version",
        status="ok",
        message=f"SQLite {sqlite3.sqlite_version}, at least "
        f"{'.'.join(map(str, SQLITE_MINIMUM))} is needed",
    )


def _store(workspace: Workspace) -> Check:
    try:
        row = workspace.store.connection.execute("PRAGMA quick_check(1)").fetchone()
        healthy = row is not None and row[0] == "ok"
    except sqlite3.DatabaseError:
        healthy = False
    return Check(
        id="store.health",
        status="ok" if healthy else "fail",
        message="the store is whole" if healthy else "the store is damaged",
        hint="" if healthy else "Run `agentic-os purge`, then `agentic-os aggregate`.",
    )


def _roots(workspace: Workspace) -> Iterator[Check]:
    for root in workspace.fleet.roots:
        for item in root.diagnostics:
            yield Check(
                id="roots.walk",
                status=_STATUS[item.severity],
                message=f"{item.code}: {item.message}",
                hint=item.hint,
                path=item.path,
                line=item.line,
            )
    passed = passed_over(workspace.fleet)
    if passed:
        yield Check(id="roots.walk", status="ok", message=passed)
    for item in workspace.fleet.diagnostics:
        yield Check(
            id=_CHECK_OF_CODE.get(item.code, "roots.walk"),
            status=_STATUS[item.severity],
            message=f"{item.code}: {item.message}",
            hint=item.hint,
        )


def _descriptor(project: Project) -> Iterator[Check]:
    for item in project.diagnostics:
        yield _noted(project, item)


def _record(project: Project) -> Iterator[Check]:
    """Where the record of the scaffolder is stale; the visible block counts all the same."""
    if not project.described:
        return
    path = project.descriptor.path
    try:
        with Folder.open(project.folder) as folder:
            data = folder.read(path, limit_bytes=MAX_DESCRIPTOR_BYTES).data
    except FilesError:
        return  # what made it unreadable since the scan is named by the next one
    record = read_record(data, path=path)
    if record is not None and not project.descriptor.degraded:
        for item in (*record.diagnostics, *compare_record(record, project.descriptor)):
            yield _noted(project, item)


def _graph(workspace: Workspace, project: Project) -> Iterator[Check]:
    graph = project.surfaces.graph
    if graph is None or graph.state == "refused":
        return  # what is refused is named with the surfaces
    if graph.state == "missing":
        # A fresh clone has no graph: it is built locally and not committed.
        yield _about(
            project,
            "graph",
            "none",
            f"the code graph at {one_line(graph.path)} is not built yet",
            "Build it with the project's own graph tool.",
            graph.path,
        )
    for path, status, code, message in workspace.store.connection.execute(_GRAPH, (project.id,)):
        kept = "; its last good state is used" if status == STATUS_STALE else ""
        yield _about(
            project,
            "graph",
            "fail",
            f"{code}: {message}{kept}",
            "Build it anew with the project's own graph tool.",
            path,
        )

    for path, count in workspace.store.connection.execute(_PATHS_REFUSED, (project.id,)):
        row = GRAPH_CODES[REFUSED_PATH_CODE]
        yield _about(
            project,
            "graph",
            "warn",
            f"{row.code}: {count} source paths of the code graph are no paths of this project",
            row.hint,
            path,
        )


def _stored(workspace: Workspace, project: Project) -> Iterator[Check]:
    run = workspace.store.connection.execute
    for path, code, severity, message, hint, line, unread in run(_PROBLEMS, (project.id,)):
        yield _about(
            project,
            "evidence.unread" if unread == UNREAD else "text.form",
            _STATUS[severity],
            f"{code}: {message}",
            hint,
            path,
            line,
        )
    for path, name in run(_UNLISTED, (project.id,)):
        yield _about(
            project,
            "memory.index",
            "warn",
            f"FACT_UNLISTED: the fact {one_line(name)!r} is not listed in MEMORY.md",
            "Add a line for it.",
            path,
        )
    (skipped,) = run(_SKIPPED_SOURCES, (project.id,)).fetchone()
    if skipped:
        yield _about(
            project,
            "evidence.unread",
            "warn",
            f"{skipped} sources behind the code graph were not read: too large, or too many",
            "Leave generated and bundled files out of the graph.",
        )
    for path, lines, size in run(_INDEX_LENGTH, (project.id,)):
        yield from _length(project, path, lines, size)
    for path, rule, line in run(_SECRETS, (project.id,)):
        yield _about(
            project,
            "secrets",
            "fail",
            f"a secret ({rule}) stands in "
            + ("the file" if line else "its name")
            + "; it was replaced before it was stored",
            "Remove and rotate it, or allow it under [redaction] in projects.toml.",
            path,
            line or None,
        )


def _length(project: Project, path: str, lines: int, size: int) -> Iterator[Check]:
    hint = "Move prose into facts; keep one line for each fact."
    if lines > MEMORY_LIMIT_LINES or size > MEMORY_LIMIT_BYTES:
        message = (
            f"MEMORY.md has {lines} lines and {size} bytes; harnesses load"
            f" {MEMORY_LIMIT_LINES} lines or {MEMORY_LIMIT_BYTES} bytes and drop the rest"
        )
        yield _about(project, "memory.length", "fail", message, hint, path)
    elif lines > MEMORY_NOTICE_LINES:
        near = "very near" if lines > MEMORY_WARN_LINES else "near"
        message = f"MEMORY.md has {lines} lines, {near} the {MEMORY_LIMIT_LINES} that are loaded"
        yield _about(project, "memory.length", "warn", message, hint, path)


def _instructions(project: Project) -> Iterator[Check]:
    texts = []
    try:
        with Folder.open(project.folder) as folder:
            for name in INSTRUCTIONS:
                read = folder.read(name, limit_bytes=INSTRUCTIONS_LIMIT_BYTES)
                texts.append(decode(read.data).text)
    except FilesError:
        return
    alone = drift(*texts)
    if alone is not None:
        yield _about(
            project,
            "instructions.drift",
            "warn",
            f"AGENTS.md and CLAUDE.md differ in {alone} lines; each harness loads one of them",
            "Let one of them only point to the other.",
            "AGENTS.md",
        )


_FILES = "file JOIN project ON project.pk = file.project"
_LOOKED_AT: Final = (
    (("secrets", "text.form", "evidence.unread"), "nothing was found in the projects", _FILES, "1"),
    (("memory.length",), "no project has a MEMORY.md", _FILES, "role='index'"),
    (
        ("memory.index",),
        "no project keeps facts or a MEMORY.md",
        _FILES,
        "role IN ('index', 'fact')",
    ),
    (
        ("instructions.imports", "instructions.length", "instructions.rules"),
        "no project has instructions for agents",
        _FILES,
        "role='instruction'",
    ),
    (
        ("capabilities.agree",),
        "no project has a CAPABILITIES.md",
        "capability JOIN project ON project.pk = capability.project",
        "declared",
    ),
    (
        ("graph",),
        "no project has a code graph",
        "graph_repo JOIN project ON project.id = graph_repo.project",
        "nodes > 0",
    ),
)
"""Checks, why they may have nothing to look at, and which rows are what they look at."""
_ANY = """
SELECT 1 FROM {rows} WHERE {counted} AND project.id IN (SELECT value FROM json_each(?)) LIMIT 1
"""
_GRAPH = """
SELECT graph_path, status, code, message FROM graph_repo WHERE project = ? AND code <> ''
"""
_PATHS_REFUSED = f"""
SELECT graph_path, json_extract(counts, '$.{REFUSED_PATH_CODE}') FROM graph_repo
WHERE project = ? AND json_extract(counts, '$.{REFUSED_PATH_CODE}') > 0
"""  # noqa: S608 - a fixed code
_PROBLEMS = """
SELECT path, code, severity, message, hint, line, unread FROM problem
WHERE project = (SELECT pk FROM project WHERE id = ?) ORDER BY path, line
"""
_UNLISTED = """
SELECT file.path, document.name FROM document JOIN file ON file.pk = document.file
WHERE document.project = (SELECT pk FROM project WHERE id = ?) AND kind = 'memory'
AND NOT (type = 'convention' AND template)
AND document.file NOT IN listed AND file.role = 'fact'
AND file.path NOT LIKE '.serena/memories/%' AND file.path NOT LIKE '.claude/agent-memory/%'
ORDER BY file.path
"""
_SKIPPED_SOURCES = """
SELECT count(*) FROM graph_file JOIN graph_repo USING(rid)
WHERE graph_repo.project = ? AND (graph_file.size > 0 AND graph_file.sha256 = ''
    OR graph_file.size = -3 OR length(graph_file.facts) = 0)
"""
_INDEX_LENGTH = """
SELECT file.path, max(document.line_end), file.size
FROM document JOIN file ON file.pk = document.file
WHERE document.project = (SELECT pk FROM project WHERE id = ?) AND kind = 'index'
GROUP BY file.pk
"""
_SECRETS = """
SELECT file.path, redaction.rule, redaction.line FROM redaction
JOIN file ON file.pk = redaction.file
WHERE file.project = (SELECT pk FROM project WHERE id = ?) ORDER BY file.path, redaction.line
"""


def _noted(project: Project, item: Diagnostic) -> Check:
    return _about(
        project,
        _CHECK_OF_CODE.get(item.code, "contract"),
        _STATUS[item.severity],
        f"{item.code}: {item.message}",
        item.hint,
        item.path,
        item.line,
    )


def _about(
    project: Project,
    check: str,
    status: CheckStatus,
    message: str,
    hint: str = "",
    path: str | None = None,
    line: int | None = None,
) -> Check:
    return Check(
        id=check,
        status=status,
        message=one_line(message),
        hint=hint,
        project=project.id,
        path=None if not path else one_line(path),
        line=line,
    )
