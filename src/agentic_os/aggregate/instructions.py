"""What agents are told in each project, and what a harness loads for a path."""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from agentic_os.aggregate.differences import differences, statements
from agentic_os.aggregate.imports import followed
from agentic_os.aggregate.surfaces.documents import Instruction
from agentic_os.aggregate.workspace import Workspace
from agentic_os.errors import FilesError
from agentic_os.files.reading import Folder
from agentic_os.registry.conventions.instructions import (
    CODEX_CHAIN_BYTES,
    HARNESSES,
    WINDSURF_RULE_CHARS,
)
from agentic_os.registry.conventions.loading import Told, loaded
from agentic_os.registry.project import PERSON_ID, Project
from agentic_os.results import (
    Answer,
    DifferencesData,
    HarnessFiles,
    ImportView,
    InstructionFile,
    InstructionsData,
    Provenance,
)
from agentic_os.text.fencing import one_line, visible
from agentic_os.text.secrets.values_of import redacted_value

_INSTRUCTIONS = """
SELECT project.id, file.path, file.size, instruction.value
FROM instruction JOIN file ON file.pk = instruction.file
JOIN project ON project.pk = instruction.project ORDER BY project.id, file.path
"""
_RULES = """
SELECT project.id, file.path, document.line_start, document.line_end, file.sha256, document.body
FROM document JOIN file ON file.pk = document.file JOIN project ON project.pk = document.project
WHERE document.kind = 'instruction' AND NOT document.template
ORDER BY project.id, file.path, document.line_start
"""


def instruction_files(
    workspace: Workspace, scope: frozenset[str] | None = None, *, private: bool = False
) -> tuple[InstructionFile, ...]:
    """Return the instruction files of the projects, each with what it applies to.

    Args:
        workspace: the fleet and its open store.
        scope: ids of projects; ``None`` for all.
        private: also those that are one person's own (``CLAUDE.local.md``).
    """
    rows = [
        (project, path, size, msgspec.json.decode(value, type=Instruction))
        for project, path, size, value in workspace.store.connection.execute(_INSTRUCTIONS)
        if scope is None or project in scope
    ]
    same: dict[tuple[str, str], list[str]] = {}
    for project, path, _, about in rows:
        same.setdefault((project, about.digest), []).append(path)
    return tuple(
        InstructionFile(
            project=project,
            path=one_line(path),
            harness=about.harness,
            form=about.form,
            folder=one_line(about.folder),
            activation=about.activation,
            patterns=tuple(one_line(item) for item in about.patterns),
            description=one_line(about.description),
            lines=about.lines,
            chars=about.chars,
            bytes=size,
            pointer=about.pointer,
            same_as=tuple(
                one_line(other) for other in same[project, about.digest] if other != path
            ),
        )
        for project, path, size, about in rows
        if private or not about.private
    )


def imports(
    workspace: Workspace, scope: frozenset[str] | None = None
) -> Iterator[tuple[Project, ImportView]]:
    """Yield where every import of an instruction leads, project by project."""
    projects = {project.id: project for project in workspace.fleet.projects}
    for project, path, _, value in workspace.store.connection.execute(_INSTRUCTIONS).fetchall():
        about = msgspec.json.decode(value, type=Instruction)
        own = projects.get(project)
        if own is None or not about.imports or (scope is not None and project not in scope):
            continue
        try:
            with Folder.open(own.folder) as folder:
                for view in followed(folder, path, about.imports):
                    yield own, redacted_value(view, workspace.redactor)
        except FilesError:
            continue  # what made it unreadable since is named by the next sweep


def instructions(
    workspace: Workspace,
    projects: Sequence[str] = (),
    *,
    target: str | None = None,
    private: bool = False,
) -> Answer[InstructionsData]:
    """List what agents are told, and what each harness loads for a path, in its order.

    Args:
        workspace: the fleet and its open store.
        projects: names of projects; empty for all.
        target: a path of each project; ``None`` for the projects' own folders.
        private: also files that are one person's own.

    Raises:
        UnknownProjectError: a name means no project, or several.
    """
    scope = workspace.project_ids(projects)
    files = instruction_files(workspace, scope, private=private)
    unread = workspace.unread(None if scope is None else set(scope))
    personal = instruction_files(workspace, frozenset({PERSON_ID}))
    data = InstructionsData(
        files=files,
        target=None if target is None else one_line(target),
        harnesses=tuple(loaded_files(files, target or "", personal)),
        imports=tuple(view for _, view in imports(workspace, scope)),
    )
    vain = workspace.unanswerable(scope)
    return Answer(
        data=data,
        omissions=(*unread.omissions, *vain),
        warnings=workspace.warnings_for(scope),
        incomplete=bool(unread.omissions or vain),
    )


def rule_differences(workspace: Workspace) -> Answer[DifferencesData]:
    """Return the rules that the instructions of several repositories state with other values."""
    found = (
        statement
        for project, path, start, end, sha256, body in workspace.store.connection.execute(_RULES)
        for statement in statements(
            visible(body),
            Provenance(project=project, path=one_line(path), lines=(start, end), sha256=sha256),
        )
    )
    return Answer(
        data=DifferencesData(differences=differences(found)), warnings=workspace.warnings_for(None)
    )


def loaded_files(
    files: Sequence[InstructionFile], target: str, personal: Sequence[InstructionFile] = ()
) -> Iterator[HarnessFiles]:
    """Yield what each harness loads for a path of each project, in its order.

    Args:
        files: the instruction files of the projects.
        target: a path of each project; empty for its own folder.
        personal: the person's own files, which are loaded for every project.
    """
    by_project: dict[str, list[InstructionFile]] = {}
    for file in files:
        by_project.setdefault(file.project, []).append(file)
    everywhere = [replace(file, path=f"{PERSON_ID}:{file.path}") for file in personal]
    for project, held in by_project.items():
        own = held if project == PERSON_ID else [*everywhere, *held]
        told = [Told(one.path, one.form, one.folder, one.activation, one.patterns) for one in own]
        for harness in HARNESSES:
            found = loaded(harness, told, target)
            if found:
                yield HarnessFiles(
                    project=project,
                    harness=harness.name,
                    files=tuple(one.path for one in found),
                    cut=_cut(harness.name, [one.path for one in found], own),
                )


def _cut(harness: str, paths: Sequence[str], files: Sequence[InstructionFile]) -> tuple[str, ...]:
    """Return the files that a harness would not read to their end."""
    sizes = {file.path: file for file in files}
    if harness == "windsurf":
        return tuple(path for path in paths if sizes[path].chars > WINDSURF_RULE_CHARS)
    if harness != "codex":
        return ()
    cut: list[str] = []
    total = 0
    for path in paths:
        if sizes[path].project == PERSON_ID:
            continue  # Codex does not count the person's own
        total += sizes[path].bytes
        if total > CODEX_CHAIN_BYTES:
            cut.append(path)
    return tuple(cut)
