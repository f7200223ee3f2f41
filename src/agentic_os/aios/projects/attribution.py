"""To which project a row belongs: the rule of the projection and the rule of search.

Project mode is the strict one (design decision 12): a row that names no project is left
out, and every name that it has must fit. The two rules differ, as the convention has it:

- projection: an absent or null field is absent; an alias counts, a shared alias only
  beside the matching id;
- search: a null field is present and fails; the slug or the id counts, an alias does not.
"""

from agentic_os.aios.folder.json_text import Json, JsonObject
from agentic_os.aios.projects.values import ProjectScope


def in_projection(row: JsonObject, scope: ProjectScope) -> bool:
    """Whether the projection of ``scope`` shows ``row``."""
    project, project_id = row.get("project"), row.get("project_id")
    if project is None and project_id is None:
        return False
    if project is not None:
        if not _is_name(project) or project not in scope.identity.names:
            return False
        if project not in scope.unique_names and project_id is None:
            return False
    return project_id is None or (_is_name(project_id) and project_id == scope.id)


def in_search(row: JsonObject, *, slug: str, project_id: str) -> bool:
    """Whether a search of the project sees ``row``."""
    if "project" not in row and "project_id" not in row:
        return False
    if "project" in row and row["project"] not in (slug, project_id):
        return False
    return "project_id" not in row or row["project_id"] == project_id


def _is_name(value: Json) -> bool:
    return isinstance(value, str) and value != "" and value == value.strip()
