"""Vault notes: the tier-1 surface, parsed.

A note is cut at its headings; the first piece carries the front matter. Wikilinks and tags are
read when a view asks for them (``note_links``), so that the store need not be rewritten when a
neighbour is renamed. Which files of a vault are notes is decided here by name alone.
"""

import posixpath
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath

from agentic_os.aggregate.surfaces.documents import Document, ParsedFile, short
from agentic_os.aggregate.surfaces.memory import front_matter_diagnostics, group_hash, pieces_of
from agentic_os.results import NoteLink
from agentic_os.text.front_matter import split_front_matter
from agentic_os.text.markdown.structure import tags, wikilinks
from agentic_os.text.tokens import index_extra
from agentic_os.text.unicode_form import folded

Others = Callable[[], Mapping[str, str]]

SKIPPED_FOLDERS = frozenset({"templates", "_templates", "node_modules"})
"""Folders of a vault that hold no notes; dotted folders (.obsidian, .trash) are skipped too."""


def is_note_folder(name: str) -> bool:
    """Whether a folder of a vault is walked."""
    return not name.startswith(".") and name.lower() not in SKIPPED_FOLDERS


def is_note_name(name: str) -> bool:
    """Whether a file of a vault is a note: Markdown, not hidden, not a folder's README."""
    lowered = name.lower()
    return lowered.endswith(".md") and not lowered.startswith(".") and lowered != "readme.md"


def parse_note(text: str, *, path: str, stem: str) -> ParsedFile:
    """Read a note: one document a heading, named by its heading path within the note."""
    front = split_front_matter(text)
    title = front.fields.get("title") or front.fields.get("name") or ""
    lines = text.split("\n")
    documents = []
    pieces = pieces_of(front)
    first_heading = next((heading for heading, _, _ in pieces if heading), "")
    for heading, start, end in pieces:
        body = "\n".join(lines[start - 1 : end])
        if not body.strip():
            continue
        name = short(heading or title or first_heading or stem)
        documents.append(
            Document(
                kind="vault",
                name=name,
                label=short(title or first_heading or stem),
                type=short(front.fields.get("type") or "note"),
                start=start,
                end=end,
                body=body,
                extra=f"{stem} {index_extra(stem)} {index_extra(body)}",
                template=False,
                group=group_hash(body),
            )
        )
    return ParsedFile(documents=tuple(documents), diagnostics=front_matter_diagnostics(front, path))


def note_tags(text: str) -> tuple[str, ...]:
    """Tags of a note, from its front matter and its text, sorted and without ``#``."""
    front = split_front_matter(text)
    listed = front.fields.get("tags") or front.fields.get("tag") or ""
    named = {part.strip(" '\"#[]") for part in listed.split(",")}
    found = {tag for tag, _ in tags(front.body)}
    return tuple(sorted((named | found) - {""}))


def note_links(
    text: str, *, path: str, notes: Mapping[str, str], others: Others = dict
) -> tuple[NoteLink, ...]:
    """Return the wikilinks of a note, each resolved inside its own project.

    Args:
        text: the whole note.
        path: the note's own path, for ``[[#heading]]`` links.
        notes: what ``link_targets`` made of the project's notes.
        others: gives what ``link_targets`` made of the vault's other files; asked only for a link
            that means none of the notes.
    """
    resolved = []
    for link in wikilinks(text):
        target = link.target.strip()
        found: str | None = path
        if target:
            found = _resolve(target, path, notes)
            if found is None and "." in target:
                found = _resolve(target, path, others())
        resolved.append(
            NoteLink(target=link.target or f"#{link.heading}", path=found, line=link.line)
        )
    return tuple(resolved)


def link_targets(paths: Iterable[str]) -> dict[str, str]:
    """Return the names by which the files of a vault can be linked, each with the file it means.

    A name that two files share goes to the one nearest the top, then first by path, as vault
    editors do; the full path always wins.
    """
    targets: dict[str, str] = {}
    for path in sorted(paths, key=lambda item: (item.count("/"), item)):
        parts = PurePosixPath(_bare(path)).parts
        for start in range(len(parts)):
            targets.setdefault(folded("/".join(parts[start:])), path)
    return targets


def _bare(name: str) -> str:
    return name[:-3] if name.lower().endswith(".md") else name


def _resolve(target: str, path: str, targets: Mapping[str, str]) -> str | None:
    """Return the file that a link means: beside the note first, then anywhere."""
    name = folded(_bare(target))
    above = folded(posixpath.dirname(path))
    beside = posixpath.normpath(posixpath.join(above, name.lstrip("/")))
    if name.startswith("../"):
        # A path that leads out of the project means none of its files.
        return targets.get(beside)
    return targets.get(beside) or targets.get(name.removeprefix("./").lstrip("/"))
