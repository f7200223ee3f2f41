"""Vault notes: the tier-1 surface, parsed.

A note is cut at its headings; the first piece carries the front matter. Wikilinks and tags are
read when a view asks for them (``note_links``), so that the store need not be rewritten when a
neighbour is renamed. Which files of a vault are notes is decided here by name alone.
"""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from agentic_os.aggregate.surfaces.documents import Document, ParsedFile, short
from agentic_os.aggregate.surfaces.memory import front_matter_diagnostics, group_hash
from agentic_os.results import NoteLink
from agentic_os.text.front_matter import split_front_matter
from agentic_os.text.markdown.structure import sections, tags, wikilinks
from agentic_os.text.tokens import index_extra

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
    offset = front.body_line - 1
    pieces = [
        (section.title, section.start + offset, section.end + offset)
        for section in sections(front.body)
    ]
    heading, _, end = pieces[0]
    pieces[0] = (heading, 1, end)  # the front matter belongs to it
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


def note_links(text: str, *, path: str, notes: Mapping[str, str]) -> tuple[NoteLink, ...]:
    """Wikilinks of a note, each resolved inside its own project.

    Args:
        text: the whole note.
        path: the note's own path, for ``[[#heading]]`` links.
        notes: what ``note_targets`` made of the project's notes.
    """
    resolved = []
    for link in wikilinks(text):
        target = link.target.strip()
        found = path if not target else _resolve(target, path, notes)
        resolved.append(
            NoteLink(target=link.target or f"#{link.heading}", path=found, line=link.line)
        )
    return tuple(resolved)


def note_targets(paths: Iterable[str]) -> dict[str, str]:
    """Names by which the notes of one project can be linked, each with the note it means.

    A name that two notes share goes to the one nearest the top, then first by path, as
    vault editors do; the full path always wins.
    """
    targets: dict[str, str] = {}
    for path in sorted(paths, key=lambda item: (item.count("/"), item)):
        bare = path[:-3] if path.lower().endswith(".md") else path
        parts = PurePosixPath(bare).parts
        for start in range(len(parts)):
            targets.setdefault("/".join(parts[start:]).casefold(), path)
    return targets


def _resolve(target: str, path: str, notes: Mapping[str, str]) -> str | None:
    name = target[:-3] if target.lower().endswith(".md") else target
    name = name.removeprefix("./").lstrip("/").casefold()
    beside = str(PurePosixPath(path).parent / name).casefold()
    return notes.get(beside) or notes.get(name)
