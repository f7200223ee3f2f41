"""AGENTS.md and its kin: what agents are told about a repository, parsed.

Pure functions over redacted text. A file is cut at its headings. Its scope is what its front matter
and its folder say; ``@path`` imports are listed and resolved where they are asked for. A file
that only points to another one is an unfilled template: it answers nothing by itself.
"""

import re
from collections.abc import Iterator

from agentic_os.aggregate.surfaces.documents import (
    LABEL_CHARS,
    Document,
    Import,
    Instruction,
    ParsedFile,
    short,
)
from agentic_os.aggregate.surfaces.memory import (
    front_matter_diagnostics,
    group_hash,
    line_count,
    pieces_of,
)
from agentic_os.registry.conventions.instructions import PRIVATE_FORMS
from agentic_os.registry.conventions.scopes import activation_of, patterns_of
from agentic_os.registry.conventions.tables import convention_of
from agentic_os.text.front_matter import FrontMatter, split_front_matter
from agentic_os.text.markdown.code import masked
from agentic_os.text.tokens import index_extra

MAX_IMPORTS = 200
POINTER_LINES = 12
"""A file of at most so many lines of text that names another one is a pointer to it."""

_IMPORTING = frozenset({"claude", "claude-folder", "claude-local", "claude-rules", "gemini"})
_IMPORT = re.compile(r"(?:(?<=\s)|^)@(?P<path>(?:~/|\.{1,2}/|/)?[^\s@`]+)", re.MULTILINE)
_FILE_LIKE = re.compile(
    r"(?:~/|\.{1,2}/|/).|[^/]+\.[A-Za-z0-9]{1,8}\Z|.*/[^/]+\.[A-Za-z0-9]{1,8}\Z"
)
_MODE = re.compile(r"\.roo/rules-([^/]+)/")
_OTHER_FILE = re.compile(r"\b(?:AGENTS|CLAUDE|GEMINI)\.md\b")


def parse_instructions(text: str, *, path: str) -> ParsedFile:
    """Read an instruction file.

    Args:
        text: the decoded, redacted file.
        path: its path relative to the project.
    """
    row = convention_of(path)
    form, harness = (row.form, row.harness) if row else ("other", "other")
    front = split_front_matter(text)
    folder, _, name = path.rpartition("/")
    patterns = patterns_of(front.fields)
    mode = _MODE.match(path)
    description = front.fields.get("description", "")
    if mode:
        description = description or f"for the mode {mode[1]}"
    pointer = is_pointer(front.body)
    instruction = Instruction(
        form=form,
        harness=harness,
        folder=folder if row is not None and row.pattern == name else "",
        activation="asked" if mode else activation_of(front.fields, patterns),
        patterns=patterns,
        description=short(description, LABEL_CHARS),
        imports=imports_of(text) if form in _IMPORTING else (),
        chars=len(text),
        lines=line_count(text),
        pointer=pointer,
        private=form in PRIVATE_FORMS,
        digest=group_hash(front.body),
    )
    return ParsedFile(
        documents=tuple(_documents(text, front, instruction, path)),
        instructions=(instruction,),
        diagnostics=front_matter_diagnostics(front, path),
    )


def _documents(text: str, front: FrontMatter, about: Instruction, path: str) -> Iterator[Document]:
    """Yield a passage for each heading; the first one carries the front matter."""
    lines = text.split("\n")
    name = path.rpartition("/")[2]
    scope = scope_words(about)
    for heading, start, end in pieces_of(front, joined=True):
        passage = "\n".join(lines[start - 1 : end])
        if not passage.strip():
            continue
        yield Document(
            kind="instruction",
            name=short(heading or name),
            label=short(f"{name} {scope} {about.description}".strip(), LABEL_CHARS),
            type=about.harness,
            start=start,
            end=end,
            body=passage,
            extra=f"{index_extra(path)} {index_extra(passage)}".strip(),
            template=about.pointer or about.private,
            group=group_hash(passage),
        )


def scope_words(about: Instruction) -> str:
    """Say in a few words what an instruction applies to."""
    if about.patterns:
        return f"for {', '.join(about.patterns)}"
    return f"for {about.folder}/" if about.folder else ""


def is_pointer(body: str) -> bool:
    """Whether a file says no more than that another one should be read."""
    lines = [line for line in body.splitlines() if line.strip() and not line.startswith("#")]
    if not lines or len(lines) > POINTER_LINES:
        return False
    said = "\n".join(lines)
    if all(line.strip().startswith("@") for line in lines):
        return True
    words = len(_OTHER_FILE.sub("", said).split())
    return _OTHER_FILE.search(said) is not None and words <= POINTER_LINES * 2


def imports_of(text: str) -> tuple[Import, ...]:
    """Return the imports of a file; none of them was opened."""
    return tuple(_imports(text))


def _imports(text: str) -> Iterator[Import]:
    """Yield the ``@path`` imports that stand in no code and no comment."""
    hidden = masked(text)
    for count, found in enumerate(_IMPORT.finditer(hidden)):
        if count >= MAX_IMPORTS:
            return
        target = found["path"].rstrip(".,;:)!?\"'")
        if target and _FILE_LIKE.match(target):
            yield Import(target=target, line=hidden.count("\n", 0, found.start()) + 1)
