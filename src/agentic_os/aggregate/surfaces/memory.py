"""Facts and the memory index: the tier-0 surface, parsed.

Pure functions over redacted text. What counts as what follows the producer's convention:

- every Markdown file in the memory folder and its sub-folders is a fact, except the index;
  README.md and SCHEMA.md describe the convention itself, unless their front matter says that they
  are facts or MEMORY.md lists them;
- names are compared without case: ``memory.md`` is the index, too;
- a fact is one document (the convention keeps facts under 100 lines);
- MEMORY.md is both an index and prose: it is cut at its headings, and its list items that link
  a file of the same folder are the index;
- an agent's own memory (``.claude/agent-memory/<agent>``) names the agent; Serena's memories have
  no front matter and are called by their path; a memory bank is cut at its headings;
- a fact that nobody filled in (only comments, bare bold labels or headings below the front
  matter) is a template: every scaffold ships the same three.
"""

import hashlib
import re
from urllib.parse import unquote

from agentic_os.aggregate.codes import CODES
from agentic_os.aggregate.differences import MAX_STATEMENTS_ENTRIES, states_too_much
from agentic_os.aggregate.surfaces.documents import (
    LABEL_CHARS,
    Document,
    IndexLink,
    ParsedFile,
    short,
)
from agentic_os.results import Diagnostic
from agentic_os.text.front_matter import FrontMatter, split_front_matter
from agentic_os.text.markdown.structure import links, sections, without_comments
from agentic_os.text.tokens import index_extra
from agentic_os.text.unicode_form import folded

INDEX_NAME = "MEMORY.md"
MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd", ".mdx")
CONVENTION_STEMS = frozenset({"schema", "readme"})
CONVENTION_TYPE = "convention"
"""The type of a file that describes the convention; a template until MEMORY.md lists it."""
PLACE_HOLDERS = frozenset(
    {".ds_store", ".gitignore", ".gitkeep", ".keep", "desktop.ini", "thumbs.db"}
)
"""Files of a memory folder that nobody wrote a memory into."""
FACT_TYPES = frozenset({"user", "feedback", "project", "reference"})

_FACT_KEYS = frozenset({"name", "description", "type"})
_BARE_LABEL = re.compile(r"\s*(?:[-*]\s*)?(?:\*\*[^*]+\*\*:?|#{1,6}\s.*|[-*_]{3,}|[-*])\s*")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")


def is_index_name(name: str) -> bool:
    """Whether a file at the top of the memory folder is its index."""
    return name.lower() == INDEX_NAME.lower()


def is_fact_name(name: str) -> bool:
    """Whether a file of the memory folder is read as a fact, by its name alone."""
    return name.lower().endswith(MARKDOWN_SUFFIXES) and not name.startswith(".")


def is_memory_folder(name: str) -> bool:
    """Whether a sub-folder of the memory folder is walked."""
    return not name.startswith(".") and name.lower() not in {"node_modules", "templates"}


_AGENT = re.compile(r"\.claude/agent-memory/([^/]+)/")
_SERENA = re.compile(r"[.@]serena/memories/")
_VERSION = re.compile(r"v?\d+(?:\.\d+)*")


def fact_name(path: str) -> str:
    """Return what a fact is called that has no name of its own: its file, or its topic's path."""
    bare = path.rpartition(".")[0]
    topic = _SERENA.match(path)
    return bare[topic.end() :] if topic else bare.rpartition("/")[2]


def group_hash(text: str) -> str:
    """Hash a text without case, spacing and Unicode form: equal where two state the same."""
    normal = folded(" ".join(text.split()))
    return hashlib.blake2b(normal.encode("utf-8", "replace"), digest_size=12).hexdigest()


def is_template(body: str) -> bool:
    """Whether nothing is left of a body once comments and bare labels are taken away."""
    if len(body) > _TEMPLATE_CHARS:
        return False
    text = without_comments(body) if "<!--" in body else body
    return all(
        _BARE_LABEL.fullmatch(line) is not None for line in text.splitlines() if line.strip()
    )


_TEMPLATE_CHARS = 4_000
"""A body longer than this is never an unfilled template; keeps the check cheap."""


def parse_fact(text: str, *, path: str, stem: str) -> ParsedFile:
    """Read a fact file.

    Args:
        text: the decoded, redacted file.
        path: its path relative to the project, for diagnostics.
        stem: the file name without its ending, the fallback name.
    """
    front = split_front_matter(text)
    body = front.body
    describes = stem.lower() in CONVENTION_STEMS and front.fields.keys().isdisjoint(_FACT_KEYS)
    name = short(front.fields.get("name") or stem)
    agent = _AGENT.match(path)
    said = front.fields.get("description") or (f"memory of the agent {agent[1]}" if agent else "")
    label = short(said, LABEL_CHARS)
    document = Document(
        kind="memory",
        name=name,
        label=label,
        type=CONVENTION_TYPE if describes else short(front.fields.get("type") or "unknown"),
        start=1,
        end=line_count(text),
        body=text,
        extra=_extra(text, stem),
        template=describes or is_template(body),
        group=group_hash(body if body.strip() else f"{name} {label}"),
    )
    diagnostics = front_matter_diagnostics(front, path)
    if states_too_much(text):
        diagnostics = (*diagnostics, _too_many_statements(path))
    return ParsedFile(documents=(document,), diagnostics=diagnostics)


def pieces_of(front: FrontMatter, *, joined: bool = False) -> list[tuple[str, int, int]]:
    """Cut a text at its headings: title, first line and last line of each piece.

    Args:
        front: the split text; the first piece carries the front matter.
        joined: let the front matter stand with the first heading where nothing is between them.
    """
    offset = front.body_line - 1
    found = sections(front.body)
    pieces = [(piece.title, piece.start + offset, piece.end + offset) for piece in found]
    first = found[0]
    head = front.body.split("\n")[: first.end]
    if joined and len(pieces) > 1 and not first.title and not "".join(head).strip():
        del pieces[0]
    heading, _, end = pieces[0]
    pieces[0] = (heading, 1, end)
    return pieces


def parse_bank(text: str, *, path: str, stem: str) -> ParsedFile:
    """Read a file of a memory bank: a fact for each heading, of the type that its file says."""
    front = split_front_matter(text)
    lines = text.split("\n")
    documents = []
    for heading, start, end in pieces_of(front, joined=True):
        body = "\n".join(lines[start - 1 : end])
        if body.strip():
            documents.append(
                Document(
                    kind="memory",
                    name=short(heading or stem),
                    label=stem,
                    type=short(stem),
                    start=start,
                    end=end,
                    body=body,
                    extra=_extra(body, stem),
                    # The summary that Codex keeps begins with its format's version.
                    template=is_template(body) or _VERSION.fullmatch(body.strip()) is not None,
                    group=group_hash(body),
                )
            )
    return ParsedFile(documents=tuple(documents), diagnostics=front_matter_diagnostics(front, path))


def parse_index(text: str) -> ParsedFile:
    """Read MEMORY.md: its sections as prose, its list items as the index."""
    documents = []
    lines = text.split("\n")
    for section in sections(text):
        body = "\n".join(lines[section.start - 1 : section.end])
        if not body.strip():
            continue
        documents.append(
            Document(
                kind="index",
                name=short(section.title or INDEX_NAME),
                label="",
                type="listing" if _is_bare_listing(body) else "index",
                start=section.start,
                end=section.end,
                body=body,
                extra=_extra(body, INDEX_NAME),
                template=False,
                group=group_hash(body),
            )
        )
    return ParsedFile(documents=tuple(documents), index_links=_index_links(text, lines))


def _is_bare_listing(body: str) -> bool:
    """Whether a section of MEMORY.md holds nothing but headings, comments and index lines."""
    text = without_comments(body) if "<!--" in body else body
    return all(
        line.lstrip().startswith("#") or (_LIST_ITEM.match(line) is not None and "](" in line)
        for line in text.splitlines()
        if line.strip()
    )


def _index_links(text: str, lines: list[str]) -> tuple[IndexLink, ...]:
    found: dict[str, IndexLink] = {}
    for link in links(text):
        target = unquote(link.target.partition("#")[0].removeprefix("./"))
        listed = _LIST_ITEM.match(lines[link.line - 1]) is not None
        if not listed or not target.lower().endswith(MARKDOWN_SUFFIXES) or "://" in target:
            continue
        found.setdefault(target, IndexLink(title=short(link.title), target=target, line=link.line))
    return tuple(found.values())


def front_matter_diagnostics(front: FrontMatter, path: str) -> tuple[Diagnostic, ...]:
    """Say what the tolerant front-matter reader forgave."""
    return tuple(
        CODES.diagnostic(problem, CODES[problem].meaning, path=path) for problem in front.problems
    )


def _too_many_statements(path: str) -> Diagnostic:
    return CODES.diagnostic(
        "STATEMENTS_TOO_MANY",
        f"only the first {MAX_STATEMENTS_ENTRIES} `key: value` lines are compared",
        path=path,
    )


def line_count(text: str) -> int:
    """Return the number of lines, an unfinished last one counted, an empty file one."""
    return max(1, text.count("\n") + (0 if text.endswith("\n") else 1))


def _extra(text: str, stem: str) -> str:
    parts = index_extra(text)
    return f"{stem} {index_extra(stem)} {parts}" if parts else f"{stem} {index_extra(stem)}"
