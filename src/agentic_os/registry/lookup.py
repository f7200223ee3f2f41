"""Which project a person means, by id, alias, name or path; and which one holds a path.

Names are compared without case. What a person gave (id, alias) comes before what a
project says of itself (name). An ambiguous word is refused with the candidates, never
guessed.
"""

import difflib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from agentic_os.errors import UnknownProjectError
from agentic_os.registry.project import Project
from agentic_os.text.fencing import one_line
from agentic_os.text.unicode_form import composed, folded

MAX_NEAR_NAMES = 5
MAX_SHOWN_CHARS = 80


def find_project(
    projects: Sequence[Project], text: str, *, current: Path, paths: bool = True
) -> Project:
    """Return the one project that ``text`` means.

    Args:
        projects: where to look.
        text: an id, an alias, a name, a path below a root, or a path on this machine.
        current: the folder that relative paths are taken from.
        paths: whether the text may be a path on this machine.

    Raises:
        UnknownProjectError: PROJECT_UNKNOWN, with near names in the hint, or
            PROJECT_AMBIGUOUS, with the candidates and their ids.
    """
    word = folded(text.strip())
    below = composed(text.strip()).removeprefix("./").strip("/")
    stages: tuple[Callable[[Project], bool], ...] = (
        lambda project: project.id == word,
        lambda project: any(folded(alias) == word for alias in project.aliases),
        lambda project: folded(project.name) == word,
        lambda project: bool(below) and composed(project.relative) == below,
    )
    for matches in stages:
        found = [project for project in projects if matches(project)]
        if len(found) == 1:
            return found[0]
        if found:
            raise _ambiguous(text, found)
    real = _real(current / text) if word and paths else ""
    for project in projects:
        if real in _folders(project):
            return project
    raise _unknown(projects, text)


def containing_project(projects: Sequence[Project], path: Path) -> Project | None:
    """Return the project whose folder, or any checkout of it, holds ``path``.

    The innermost one if projects are nested; ``None`` if none holds it.
    """
    real = _real(path)
    deepest: tuple[int, Project] | None = None
    for project in projects:
        for folder in _folders(project):
            inside = real == folder or real.startswith(folder.rstrip("/") + "/")
            if inside and (deepest is None or len(folder) > deepest[0]):
                deepest = (len(folder), project)
    return deepest[1] if deepest else None


def _folders(project: Project) -> tuple[str, ...]:
    """Return the real paths of a project's checkouts."""
    return (str(project.folder), *(checkout.path for checkout in project.checkouts))


def _real(path: Path) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # a NUL character is no path
        return ""


def _ambiguous(text: str, found: Sequence[Project]) -> UnknownProjectError:
    listed = ", ".join(
        f"{project.id} ({one_line(project.relative) or project.root.name})" for project in found
    )
    return UnknownProjectError(
        f"{_shown(text)} means {len(found)} projects",
        code="PROJECT_AMBIGUOUS",
        hint=f"use an id: {listed}",
    )


def _unknown(projects: Sequence[Project], text: str) -> UnknownProjectError:
    message = f"no project answers to {_shown(text)}"
    if not projects:
        return UnknownProjectError(message, hint="no project was found below the roots")
    owners: dict[str, Project] = {}
    for project in projects:
        for word in (project.id, project.name, *project.aliases):
            owners.setdefault(folded(word), project)
    close = difflib.get_close_matches(
        folded(text.strip())[:MAX_SHOWN_CHARS], owners, n=MAX_NEAR_NAMES, cutoff=0.5
    )
    near = {owners[word].id: owners[word] for word in close} or {
        project.id: project for project in projects[:MAX_NEAR_NAMES]
    }
    names = ", ".join(f"{project.name} ({project.id})" for project in near.values())
    start = "near names" if close else "projects"
    more = "" if close or len(projects) <= MAX_NEAR_NAMES else ", …"
    return UnknownProjectError(message, hint=f"{start}: {names}{more}")


def _shown(text: str) -> str:
    cut = text if len(text) <= MAX_SHOWN_CHARS else text[:MAX_SHOWN_CHARS] + "…"
    return repr(one_line(cut))
