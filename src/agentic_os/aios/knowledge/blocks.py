"""Promoted evidence in a Markdown file: blocks found, added, replaced, removed, superseded.

Pure functions. A block begins with a marker that holds the hash of its summary and ends with the
line that names its source; what stands around it is the person's and stays, byte for byte. New
lines end as the file's do.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from agentic_os.aios.folder.faults import argument_fault
from agentic_os.aios.notes.records import SUMMARY_CHARS
from agentic_os.aios.writing.faults import NO_PROMOTED_BLOCK, write_fault
from agentic_os.aios.writing.plan import sha256

Operation = Literal["add", "replace", "remove", "supersede"]


_MARKER = re.compile(r"<!-- dotaios-promotion: content_hash=([0-9a-f]{64}) -->")
_SOURCE = re.compile(r"Source: `([^`]*)`")
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_RESERVED = re.compile(r"^(?:## |<!-- dotaios-)", re.MULTILINE)
_HASH_CHARS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block: its lines from ``start`` up to ``end``, its hash, source and text."""

    start: int
    end: int
    content_hash: str
    source: str
    text: str


def checked_summary(text: str, *, most: int = SUMMARY_CHARS) -> str:
    """Check a summary: plain lines that cannot pass for a heading of the file or for a mark.

    Raises:
        AiosError: DOTAIOS_ARGUMENT_INVALID.
    """
    summary = text.replace("\r\n", "\n").strip()
    if not 0 < len(summary) <= most or _UNFIT.search(summary) or _RESERVED.search(summary):
        raise argument_fault(
            f"the summary must have 1 to {most} characters, no control characters and no line "
            "that starts with `## ` or a mark"
        )
    return summary


def block_text(summary: str, source: str, day: str) -> str:
    """Write a block."""
    return (
        f"<!-- dotaios-promotion: content_hash={content_hash(summary)} -->\n"
        f"## Promoted evidence: {day}\n\n{summary}\n\nSource: `{source}`\n"
    )


def content_hash(summary: str) -> str:
    """Hash a summary."""
    return sha256(summary.encode("utf-8"))


def blocks_of(text: str) -> list[Block]:
    """Find the blocks of a file."""
    lines = text.replace("\r\n", "\n").split("\n")
    starts = [at for at, line in enumerate(lines) if _MARKER.fullmatch(line)]
    found = []
    for start, limit in zip(starts, [*starts[1:], len(lines)], strict=False):
        marker = _MARKER.fullmatch(lines[start])
        ends = [at for at in range(start, limit) if _SOURCE.fullmatch(lines[at])]
        if marker is None:
            continue
        end = ends[0] + 1 if ends else limit
        named = _SOURCE.fullmatch(lines[end - 1])
        found.append(
            Block(
                start=start,
                end=end,
                content_hash=marker[1],
                source="" if named is None else named[1],
                text="\n".join(lines[start:end]),
            )
        )
    return found


def matched(text: str, match: str | None, source: str) -> Block:
    """Find the block that is meant: by hash or words, else the only one of the same source.

    Raises:
        AiosError: DOTAIOS_PROMOTION_NO_MATCH.
    """
    blocks = blocks_of(text)
    if match is None:
        found = [block for block in blocks if block.source == source]
    else:
        by_hash = [
            block
            for block in blocks
            if len(match) >= _HASH_CHARS and block.content_hash.startswith(match)
        ]
        found = by_hash or [block for block in blocks if match in block.text]
    if len(found) != 1:
        raise write_fault(NO_PROMOTED_BLOCK, detail=f"{len(found)} fit")
    return found[0]


def changed(text: str, operation: Operation, block: str, old: Block | None) -> str:
    """Return the file after an operation; ``old`` is the block that it is about."""
    end = "\r\n" if "\r\n" in text else "\n"
    plain = text.replace("\r\n", "\n")
    lines = plain.split("\n")
    new = block.rstrip("\n").split("\n")
    if operation == "add" or old is None:
        plain = _appended(plain, block)
    elif operation == "replace":
        plain = "\n".join([*lines[: old.start], *new, *lines[old.end :]])
    elif operation == "remove":
        head = lines[: old.start]
        tail = lines[old.end :]
        while head and not head[-1] and tail and not tail[0]:
            tail = tail[1:]
        plain = "\n".join([*head, *tail])
        plain = plain.rstrip("\n") + "\n" if plain.strip() else ""
    else:
        status = f"<!-- dotaios-promotion-status: superseded-by={_MARKER.findall(block)[0]} -->"
        plain = _appended("\n".join([*lines[: old.end], status, *lines[old.end :]]), block)
    return plain if end == "\n" else plain.replace("\n", "\r\n")


def _appended(plain: str, block: str) -> str:
    if not plain.strip():
        return block
    return plain.rstrip("\n") + "\n\n" + block
