"""``aios import memories``: what other agents remember becomes promoted evidence, once.

Read are the memory folders of Claude Code, those of Codex and Serena, and the person's CLAUDE.md
(without blocks that tools manage). Every file is one block of ``context/imported/<origin>.md``; one
that is there already, or that another file repeats, is left out, and one that holds a secret is
left out and counted.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.front_matter import without_front_matter
from agentic_os.aios.folder.tree import CONTEXT, EVENTS
from agentic_os.aios.knowledge.blocks import (
    block_text,
    blocks_of,
    changed,
    checked_summary,
    content_hash,
)
from agentic_os.aios.knowledge.promotion import EVENT_TYPE
from agentic_os.aios.notes.records import line_of, record_of
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.sessions.store import portable
from agentic_os.aios.writing.locks import EVENTS_LOCK, holding
from agentic_os.aios.writing.opening import journal_of, open_for_writing, require_memory
from agentic_os.aios.writing.plan import ChangeData, Plan, Proof, Target, carry_out
from agentic_os.errors import AiosError, FilesError
from agentic_os.files.harness_folders import harness_folder
from agentic_os.files.reading import Folder

FACT_BYTES: Final = 256 * 1024
FACT_CHARS: Final = 64 * 1024
FACTS: Final = 5_000
SOURCE: Final = "dotaios import memories"

_MANAGED = re.compile(r"<!-- ([a-z-]+)-managed:start -->.*?<!-- \1-managed:end -->\n?", re.DOTALL)
_HEADING = re.compile(r"^#{1,2} ", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A file of another agent's memory."""

    origin: str
    source: str
    text: str


def import_memories(
    access: AiosAccess,
    policy: MemoryPolicy,
    proof: Proof | None,
    *,
    environ: Mapping[str, str],
    home: Path,
    folder: Path | None = None,
) -> ChangeData:
    """Preview or apply the import of what other agents remember.

    Args:
        access: the folder.
        policy: the memory choice.
        proof: the approval of a preview.
        environ: the environment, for the agents' places.
        home: the person's home folder.
        folder: read the Markdown files of this folder instead.

    Raises:
        AiosError: DOTAIOS_MEMORY_OFF, DOTAIOS_PLAN_STALE, or a write fault.
    """
    require_memory(policy)
    now = access.clock()
    day = now.date().isoformat()
    withheld = left_out = 0
    with open_for_writing(access, policy) as writer:
        texts: dict[str, str] = {}
        seen = {}
        known: set[str] = set()
        taken = 0
        for fact in _facts(environ, home, folder):
            path = f"{CONTEXT}/imported/{fact.origin}.md"
            if path not in texts:
                seen[path] = writer.see(path)
                texts[path] = seen[path].data.decode("utf-8", "surrogateescape")
                known |= {block.content_hash for block in blocks_of(texts[path])}
            try:
                summary = checked_summary(_plain(fact.text), most=FACT_CHARS)
            except AiosError:
                left_out += 1
                continue
            if access.guard.holds_secret(summary):
                withheld += 1
            elif content_hash(summary) not in known:
                known.add(content_hash(summary))
                taken += 1
                block = block_text(summary, fact.source, day)
                texts[path] = changed(texts[path], "add", block, None)
        targets = tuple(
            Target(path=path, before=seen[path], after=text.encode("utf-8", "surrogateescape"))
            for path, text in sorted(texts.items())
        )
        plan = Plan(operation="import-memories", targets=targets, subject={"day": day})
        notes = [f"facts: {taken}"]
        notes += [f"left out because they look like secrets: {withheld}"] if withheld else []
        notes += [f"left out because they cannot be one block: {left_out}"] if left_out else []
        journal = journal_of(writer, access)
        if proof is None:
            return carry_out(writer, plan, None, journal, notes=tuple(notes))
        with holding(writer, EVENTS_LOCK):
            data = carry_out(writer, plan, proof, journal, notes=tuple(notes))
            if data.status == "applied":
                said = {
                    "summary": f"Facts of other agents imported: {taken}",
                    "source": SOURCE,
                    "destination_type": "context",
                    "operation": "add",
                    "promotion_id": proof.operation_id,
                }
                writer.append(EVENTS, line_of(record_of(now, EVENT_TYPE, said)))
        return data


def _facts(environ: Mapping[str, str], home: Path, folder: Path | None) -> Iterator[Fact]:
    if folder is not None:
        yield from _read("folder", folder, "**/*.md", home)
        return
    claude = harness_folder("claude-code", environ, home)
    codex = harness_folder("codex", environ, home)
    yield from _read("claude-md", claude, "CLAUDE.md", home)
    yield from _read("claude-code", claude, "projects/*/memory/*.md", home)
    yield from _read("codex", codex, "memories/*.md", home)
    yield from _read("serena", home / ".serena", "memories/*.md", home)


def _read(origin: str, top: Path, pattern: str, home: Path) -> Iterator[Fact]:
    """Read the files below a folder that a pattern names; links and what is not text are none."""
    if not top.is_dir():
        return
    with Folder.open(top) as folder:
        for at, path in enumerate(sorted(top.glob(pattern))):
            if at >= FACTS:
                return
            if path.name == "MEMORY.md":
                continue
            try:
                relative = path.relative_to(top).as_posix()
                text = folder.read(relative, limit_bytes=FACT_BYTES).data.decode("utf-8")
            except (FilesError, UnicodeDecodeError):
                continue
            source = portable(os.path.abspath(path), str(home))  # noqa: PTH100 - no link resolved
            yield Fact(origin=origin, source=source.replace("`", "'"), text=text)


def _plain(text: str) -> str:
    """Return a fact's text: no front matter, no managed blocks, headings below the block's own."""
    bare = _MANAGED.sub("", without_front_matter(text.replace("\r\n", "\n")))
    return _HEADING.sub("### ", bare).strip()
