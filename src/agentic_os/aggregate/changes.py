"""What changed last in the files that the store took in, by the files' own times."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from agentic_os.aggregate.workspace import Workspace
from agentic_os.results import Answer

DEFAULT_FILES: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file that was taken in, and when it last changed (RFC 3339, UTC)."""

    project: str
    path: str
    role: str
    changed_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesData:
    """The files that changed last, newest first, and when each project last did."""

    files: tuple[ChangedFile, ...]
    newest: dict[str, str]


def recent_changes(
    workspace: Workspace, projects: Sequence[str] = (), *, limit: int = DEFAULT_FILES
) -> Answer[ChangesData]:
    """Return what changed last.

    Args:
        workspace: the fleet and its open store.
        projects: names of projects; empty for all.
        limit: how many files are wanted.
    """
    scope = workspace.project_ids(projects)
    connection = workspace.store.connection
    newest = {
        project: _moment(changed)
        for project, changed in connection.execute(_NEWEST)
        if scope is None or project in scope
    }
    files: list[ChangedFile] = []
    for project, path, role, changed in connection.execute(_FILES):
        if len(files) == limit:
            break
        if scope is None or project in scope:
            files.append(
                ChangedFile(project=project, path=path, role=role, changed_at=_moment(changed))
            )
    return Answer(
        data=ChangesData(files=tuple(files), newest=newest), warnings=workspace.warnings_for(scope)
    )


def _moment(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds // 10**9, UTC).isoformat()


_NEWEST = """
SELECT project.id, max(file.mtime_ns) FROM file JOIN project ON project.pk = file.project
GROUP BY project.id
"""
_FILES = """
SELECT project.id, file.path, file.role, file.mtime_ns FROM file
JOIN project ON project.pk = file.project ORDER BY file.mtime_ns DESC, project.id, file.path
"""
