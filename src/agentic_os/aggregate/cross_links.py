"""Which projects of the fleet a text names: by name, by alias, or by path.

A name counts as a whole word, in any case. A name that is also an everyday word of software
(``app``, ``docs`` …) counts only where it is marked as a name: in backticks, in a wikilink, or
next to the word "project", "repo" or "repository". Names of fewer than three characters count
only so, too.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from agentic_os.registry.project import Project
from agentic_os.results import CrossLink
from agentic_os.text.unicode_form import composed, folded

MIN_FREE_CHARS = 3
MAX_LINKS_ENTRIES = 50
"""Links kept of one text."""
EVERYDAY_WORDS = frozenset(
    [
        "api",
        "app",
        "apps",
        "auth",
        "backend",
        "bot",
        "build",
        "ci",
        "cli",
        "client",
        "code",
        "common",
        "config",
        "core",
        "data",
        "demo",
        "dev",
        "docs",
        "example",
        "examples",
        "frontend",
        "infra",
        "lib",
        "library",
        "main",
        "memory",
        "notes",
        "project",
        "repo",
        "script",
        "scripts",
        "server",
        "service",
        "services",
        "shared",
        "site",
        "test",
        "tests",
        "tool",
        "tools",
        "ui",
        "utils",
        "vault",
        "web",
        "website",
    ]
)

_WORD = re.compile(r"[^\W_](?:[\w.+-]*[\w+])?")
_PATH = re.compile(r"(?:~|\.{1,2})?(?:/[\w.@+~-]+)+/?|(?<![\w.@+-])(?:[\w.@+-]+/)+[\w.@+-]+")
_MARKED_BEFORE = re.compile(r"(?:`|\[\[|\b(?:project|repo|repository)\s+[\"']?)$", re.IGNORECASE)
_MARKED_AFTER = re.compile(r"(?:`|\]\]|\||[\"']?\s+(?:project|repo|repository)\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Name:
    words: tuple[str, ...]
    project: str
    free: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What the projects of a fleet can be called."""

    by_first_word: Mapping[str, tuple[_Name, ...]]
    by_path: Mapping[str, str]


def names_of(projects: Iterable[Project]) -> Names:
    """Index the names, aliases and paths of the projects of a fleet."""
    words: dict[str, list[_Name]] = {}
    paths: dict[str, str] = {}
    for project in projects:
        spoken = {project.name, project.folder.name, project.id, *project.aliases}
        for name in sorted(spoken):
            parts = tuple(folded(word) for word in _WORD.findall(composed(name)))
            if not parts:
                continue
            plain = len(parts) == 1 and parts[0] in EVERYDAY_WORDS
            free = not plain and len("".join(parts)) >= MIN_FREE_CHARS
            words.setdefault(parts[0], []).append(_Name(words=parts, project=project.id, free=free))
        for checkout in project.checkouts:
            paths[checkout.path] = project.id
    return Names(
        by_first_word={
            # The longest name first: "billing api" before "billing".
            first: tuple(sorted(found, key=lambda name: (-len(name.words), name.words)))
            for first, found in words.items()
        },
        by_path=paths,
    )


def cross_links(
    text: str, *, own: Project, names: Names, first_line: int = 1
) -> tuple[CrossLink, ...]:
    """Return the other projects that a text names, each once, at its first mention.

    Args:
        text: the (redacted) text.
        own: the project it belongs to, never linked to itself.
        names: what ``names_of`` made of the fleet.
        first_line: line number of the text's first line.
    """
    found: dict[str, CrossLink] = {}
    for number, line in enumerate(composed(text).split("\n"), first_line):
        for target, spoken in _line_targets(line, own, names):
            if target != own.id and target not in found:
                found[target] = CrossLink(target=target, text=spoken, line=number)
        if len(found) >= MAX_LINKS_ENTRIES:
            break
    return tuple(found.values())


class Named(NamedTuple):
    """The projects that a question names, and the question without their names."""

    projects: frozenset[str]
    rest: str


def named_in(question: str, projects: Iterable[Project]) -> Named:
    """Return which projects a question names, by the rules of the module, and what else it asks."""
    line = composed(question)
    # Few names of a fleet begin as a question's words do: only those are cut into words.
    near = _called_like({folded(word) for word in _WORD.findall(line)}, tuple(projects))
    found = list(_names_in(line, names_of(near))) if near else []
    rest, at = "", 0
    for _, start, end in found:
        rest, at = f"{rest} {line[at:start]}", end
    rest = " ".join(f"{rest} {line[at:]}".split())
    return Named(frozenset(project for project, _, _ in found), rest)


def _called_like(words: Collection[str], projects: Sequence[Project]) -> list[Project]:
    """Return the projects of which a name begins with one of the words; a few others, too."""
    if not words or not projects:
        return []
    begins = re.compile(rf"^[\W_]*(?:{'|'.join(map(re.escape, words))})(?!\w)", re.MULTILINE).search
    called = ["\n".join((one.name, one.folder.name, one.id, *one.aliases)) for one in projects]
    names = folded("\0".join(called)).split("\0")
    return [project for project, name in zip(projects, names, strict=True) if begins(name)]


def _line_targets(line: str, own: Project, names: Names) -> Iterable[tuple[str, str]]:
    for project, start, end in _names_in(line, names):
        yield project, line[start:end]
    if "/" in line:
        for path in _PATH.finditer(line):
            target = names.by_path.get(_absolute(path.group().rstrip("/."), own))
            if target:
                yield target, path.group()


def _names_in(line: str, names: Names) -> Iterator[tuple[str, int, int]]:
    """Yield each name of a project in a line: whose, and where it begins and ends."""
    words = list(_WORD.finditer(line))
    spoken = [folded(word.group()) for word in words]
    for position, first in enumerate(spoken):
        for name in names.by_first_word.get(first, ()):
            size = len(name.words)
            if tuple(spoken[position : position + size]) != name.words:
                continue
            start, end = words[position].start(), words[position + size - 1].end()
            if name.free or _is_marked(line, start, end):
                yield name.project, start, end
                break


def _is_marked(line: str, start: int, end: int) -> bool:
    before = _MARKED_BEFORE.search(line[max(0, start - 16) : start])
    return before is not None or _MARKED_AFTER.match(line, end) is not None


def _absolute(path: str, own: Project) -> str:
    """Return the absolute form of a written path, by its text alone: nothing on disk is asked."""
    if path.startswith("~/"):
        return str(Path.home()) + path[1:]
    if path.startswith("/"):
        return path
    parts = [*own.folder.parts]
    if not path.startswith("."):
        parts = [*own.root.parts]
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return str(Path(*parts)) if parts else ""
