"""Which project a person means, by id, alias, name or path; and which one holds a path.

Names are compared without case. What a person gave (id, alias) comes before what a
project says of itself (name). An ambiguous word is refused with the candidates, never
guessed. An id may be shortened, as long as it means one project: to its first part, or to a
beginning of its digits.
"""

import difflib
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from agentic_os.errors import UnknownProjectError
from agentic_os.registry.identity.ids import ID_DIGITS, LONG_ID_DIGITS
from agentic_os.registry.project import Project
from agentic_os.text.fencing import one_line
from agentic_os.text.unicode_form import composed, folded

MAX_NEAR_NAMES = 5
SHORT_DIGITS = 4
"""Fewer digits of an id are not shown: the next project could share them."""
MAX_SHOWN_CHARS = 80


_DIGITS = re.compile(
    rf"(?<=.)-[0-9a-f]{{{ID_DIGITS}}}(?:[0-9a-f]{{{LONG_ID_DIGITS - ID_DIGITS}}})?\Z"
)


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
        lambda project: _first_part(project.id) == word,
        lambda project: _begins(project.id, word),
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


def short_ids(projects: Sequence[Project]) -> dict[str, str]:
    """Return for each id the shortest form of it that means this project alone.

    That is its first part, else so many of its digits as tell it apart, at least ``SHORT_DIGITS``.
    """
    claimed = Counter(
        word
        for project in projects
        for word in {
            project.id,
            _first_part(project.id),
            folded(project.name),
            folded(composed(project.relative)),
            *map(folded, project.aliases),
        }
    )
    alike: dict[str, list[str]] = {}
    for project in projects:
        alike.setdefault(_first_part(project.id), []).append(project.id)
    return {
        project.id: first
        if claimed[first] == 1
        else _told_apart(project.id, [*alike[first], *claimed])
        for project in projects
        for first in (_first_part(project.id),)
    }


def _told_apart(own: str, alike: Sequence[str]) -> str:
    first = len(_first_part(own)) + 1
    others = [other for other in alike if other != own]
    for end in range(first + SHORT_DIGITS, len(own)):
        if not any(other.startswith(own[:end]) for other in others):
            return own[:end]
    return own


def _first_part(project: str) -> str:
    """Return an id without its digits; an id that a person chose has none."""
    found = _DIGITS.search(project)
    return project if found is None else project[: found.start()]


def _begins(project: str, word: str) -> bool:
    """Return whether a word is an id's first part and some of its digits."""
    return len(word) > len(_first_part(project)) + 1 and project.startswith(word)


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
