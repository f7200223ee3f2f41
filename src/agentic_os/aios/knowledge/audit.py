"""``aios memory audit``: how large the hot memory is, what could move, what skills could learn.

Bounded to the hot selection (the files that agents load, today's and yesterday's rows) unless all
history is asked for. It only reads; the queue of skill patches and the patches themselves are
written on request, a patch by preview and exact apply.
"""

import hashlib
import math
import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Final, Literal

import msgspec

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.json_text import JsonObject, object_lines, text_of
from agentic_os.aios.folder.tree import EVENTS, SIGNALS, SKILLS
from agentic_os.aios.intent.skill_ranking import SKILL_FILE
from agentic_os.aios.notes.daily import with_section
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.writing.opening import journal_of, open_for_writing, require_memory
from agentic_os.aios.writing.plan import (
    ChangeData,
    Plan,
    Proof,
    Target,
    carry_out,
    carry_out_now,
)
from agentic_os.aios.writing.writer import FolderWriter

Severity = Literal["info", "warn", "fail"]

LINE_BUDGET: Final = 200
CANDIDATES: Final = 25
ARCHIVE_CANDIDATES: Final = 50
STALE_DAYS: Final = 30
QUEUE: Final = "memory/skill-patches/queue.md"
HOT_FILES: Final = (
    "AGENTS.md",
    "CLAUDE.md",
    ".cursorrules",
    "context/identity.md",
    "context/work.md",
    "context/priorities.md",
    "context/north-star.md",
    "memory/profile.md",
    "skills/INDEX.md",
    "skills/RESOLVER.md",
)

_LESSON = re.compile(r"\b(?:lesson|learned|always|never|next time|remember to)\b", re.IGNORECASE)
_FAIL_FACTOR: Final = 1.5
_TOKENS_A_WORD: Final = 1.3


class HotFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A file that agents load, and what it costs."""

    path: str
    lines: int
    words: int
    bytes: int
    approx_tokens: int


class AuditFinding(msgspec.Struct, frozen=True, kw_only=True):
    """Something to look at."""

    severity: Severity
    code: str
    path: str
    message: str
    recommendation: str


class PatchCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """A record that a skill could learn from; ``skill`` is named by the record itself."""

    id: str
    source: str
    date: str
    text: str
    skill: str | None


class AuditData(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Answer of ``memory audit``."""

    hot_files: tuple[HotFile, ...]
    findings: tuple[AuditFinding, ...]
    candidates: tuple[PatchCandidate, ...]
    archive_candidates: int
    queued: int = 0


def audit(
    access: AiosAccess,
    policy: MemoryPolicy,
    *,
    all_memory: bool = False,
    line_budget: int = LINE_BUDGET,
    most: int = CANDIDATES,
    write_queue: bool = False,
) -> AuditData:
    """Measure the hot memory, and queue what skills could learn when asked to.

    Raises:
        AiosError: DOTAIOS_MEMORY_OFF, or a read or write fault.
    """
    require_memory(policy)
    with open_for_writing(access, policy) as writer:
        hot = tuple(filter(None, (_hot(writer, path) for path in HOT_FILES)))
        findings = [finding for file in hot for finding in _over_budget(file, line_budget)]
        rows = list(_rows(access, writer, all_memory=all_memory))
        candidates = _candidates(rows)
        events = sum(1 for source, _ in _rows(access, writer, all_memory=True) if source == EVENTS)
        if events > ARCHIVE_CANDIDATES:
            findings.append(
                AuditFinding(
                    severity="info",
                    code="many-archive-candidates",
                    path=EVENTS,
                    message=f"{events} events live in the log",
                    recommendation="agentic-os aios cleanup",
                )
            )
        if len(candidates) > most:
            findings.append(
                AuditFinding(
                    severity="info",
                    code="skill-patch-candidates-truncated",
                    path=EVENTS,
                    message=f"{len(candidates)} records could be lessons; {most} are shown",
                    recommendation="raise --max-candidates",
                )
            )
        findings += _stale(access, writer)
        data = AuditData(
            hot_files=hot,
            findings=tuple(findings),
            candidates=tuple(candidates[:most]),
            archive_candidates=max(0, events - ARCHIVE_CANDIDATES),
        )
        if write_queue:
            return msgspec.structs.replace(data, queued=_queue(access, writer, data.candidates))
        return data


def apply_skills(
    access: AiosAccess, policy: MemoryPolicy, proof: Proof | None, *, all_memory: bool = False
) -> ChangeData:
    """Preview or apply the lessons that name a skill, once each, below its Field Notes.

    Raises:
        AiosError: DOTAIOS_MEMORY_OFF, DOTAIOS_PLAN_STALE, or a write fault.
    """
    require_memory(policy)
    with open_for_writing(access, policy) as writer:
        texts: dict[str, str] = {}
        seen = {}
        for one in _candidates(list(_rows(access, writer, all_memory=all_memory))):
            if one.skill is None or re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", one.skill) is None:
                continue
            path = f"{SKILLS}/{one.skill}/{SKILL_FILE}"
            if path not in texts:
                seen[path] = writer.see(path)
                if not seen[path].exists:
                    continue
                texts[path] = seen[path].data.decode("utf-8", "surrogateescape")
            texts[path] = _patched(texts[path], one)
        targets = tuple(
            Target(path=path, before=seen[path], after=text.encode("utf-8", "surrogateescape"))
            for path, text in sorted(texts.items())
        )
        plan = Plan(operation="skill-patches", targets=targets)
        return carry_out(writer, plan, proof, journal_of(writer, access))


def candidate_id(*parts: str | None) -> str:
    """Hash what makes a candidate: its own id, time, skill and text."""
    return hashlib.sha256("\n".join(part or "" for part in parts).encode()).hexdigest()[:16]


def _hot(writer: FolderWriter, path: str) -> HotFile | None:
    seen = writer.see(path)
    if not seen.exists:
        return None
    text = seen.data.decode("utf-8", "replace")
    words = len(text.split())
    return HotFile(
        path=path,
        lines=len(text.splitlines()),
        words=words,
        bytes=len(seen.data),
        approx_tokens=math.ceil(words * _TOKENS_A_WORD),
    )


def _over_budget(file: HotFile, budget: int) -> list[AuditFinding]:
    if file.lines <= budget:
        return []
    return [
        AuditFinding(
            severity="fail" if file.lines > budget * _FAIL_FACTOR else "warn",
            code="hot-file-over-budget",
            path=file.path,
            message=f"{file.lines} lines, the budget is {budget}",
            recommendation="move what is rarely needed to vault/ or a skill",
        )
    ]


def _rows(
    access: AiosAccess, writer: FolderWriter, *, all_memory: bool
) -> Iterable[tuple[str, JsonObject]]:
    today = access.clock().date()
    days = {today.isoformat(), (today - timedelta(days=1)).isoformat()}
    paths = [EVENTS, *(f"{SIGNALS}/{name}" for name in writer.names(SIGNALS))]
    for path in paths:
        if not path.endswith(".jsonl") or (
            path != EVENTS and not all_memory and not any(day in path for day in days)
        ):
            continue
        text = writer.see(path, limit_bytes=64 * 1024 * 1024).data.decode("utf-8", "replace")
        for row in object_lines(text):
            if row is not None and (all_memory or str(row.get("ts", ""))[:10] in days):
                yield path, row


def _candidates(rows: Iterable[tuple[str, JsonObject]]) -> list[PatchCandidate]:
    found: dict[str, PatchCandidate] = {}
    for source, row in rows:
        summary = row.get("summary") or row.get("note")
        text = summary if isinstance(summary, str) else ""
        skill = row.get("skill")
        named = skill if isinstance(skill, str) and skill else None
        if not text or (named is None and not _LESSON.search(text)):
            continue
        stamp = row.get("ts")
        explicit = row.get("id")
        identity = candidate_id(
            explicit if isinstance(explicit, str) else None,
            stamp if isinstance(stamp, str) else None,
            named,
            text,
        )
        found.setdefault(
            identity,
            PatchCandidate(
                id=identity,
                source=source,
                date=text_of(stamp)[:10] if isinstance(stamp, str) else "",
                text=" ".join(text.split()),
                skill=named,
            ),
        )
    return list(found.values())


def _stale(access: AiosAccess, writer: FolderWriter) -> list[AuditFinding]:
    oldest = (access.clock().date() - timedelta(days=STALE_DAYS)).isoformat()
    dated = (re.search(r"\d{4}-\d{2}-\d{2}", name) for name in writer.names(SIGNALS))
    old = sum(1 for day in dated if day is not None and day.group() < oldest)
    if not old:
        return []
    return [
        AuditFinding(
            severity="info",
            code="stale-signals",
            path=SIGNALS,
            message=f"{old} signal files are older than {STALE_DAYS} days",
            recommendation="agentic-os aios cleanup",
        )
    ]


def _queue(access: AiosAccess, writer: FolderWriter, candidates: tuple[PatchCandidate, ...]) -> int:
    seen = writer.see(QUEUE)
    text = seen.data.decode("utf-8", "surrogateescape") if seen.exists else "# Skill patches\n"
    number = len(re.findall(r"^## \d+\. ", text, re.MULTILINE))
    added = 0
    for one in candidates:
        if f"- ID: {one.id}" in text:
            continue
        added += 1
        reason = "names the skill" if one.skill else "reads like a lesson"
        text = text.rstrip("\n") + (
            f"\n\n## {number + added}. {one.skill or 'Any skill'}\n\n- ID: {one.id}\n"
            f"- Source: {one.source}\n- Date: {one.date}\n- Reason: {reason}\n\n{one.text}\n"
        )
    if added:
        target = Target(path=QUEUE, before=seen, after=text.encode("utf-8", "surrogateescape"))
        plan = Plan(operation="skill-queue", targets=(target,))
        carry_out_now(writer, plan, journal_of(writer, access))
    return added


def _patched(text: str, one: PatchCandidate) -> str:
    mark = f"<!-- dotaios-memory-audit:id={one.id} -->"
    if mark in text:
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    start = next((at for at, line in enumerate(lines) if line.strip() == "## Field Notes"), None)
    have = ""
    if start is not None:
        rest = lines[start + 1 :]
        end = next((at for at, line in enumerate(rest) if line.startswith("## ")), len(rest))
        have = "\n".join(rest[:end]).strip()
    body = "\n".join(part for part in (have, f"{mark}\n- {one.text}") if part)
    if start is None:
        return text.rstrip("\n") + f"\n\n## Field Notes\n\n{body}\n"
    return with_section(text, "Field Notes", body)
