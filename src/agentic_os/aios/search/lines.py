"""A search answer as lines for a person: receipt, groups, passages, follow references."""

import re
from collections.abc import Iterator
from typing import Final

from agentic_os.aios.folder.json_text import ISO_DATE_CHARS, JsonObject, compact
from agentic_os.aios.search.matching import Query
from agentic_os.aios.search.snippets import Snippet
from agentic_os.aios.search.values import (
    MarkdownHit,
    MemoryHit,
    ScopeResults,
    SearchAnswer,
    SearchHit,
    SessionHit,
)
from agentic_os.text.budget import shortened_utf16
from agentic_os.text.fencing import one_line

PASSAGE_CHARS: Final = 140
"""UTF-16 units of a passage."""
SHOWN_TITLE_CHARS: Final = 80
"""UTF-16 units of a session's title."""
RECORD_CHARS: Final = 100
"""UTF-16 units of a memory record's summary."""

_LINE_END = re.compile(r"\s*\n\s*")


def answer_lines(answer: SearchAnswer) -> Iterator[str]:
    """Yield the lines of an answer, each safe for a terminal."""
    query = Query(answer.query)
    yield answer.receipt
    if answer.notice is not None:
        yield answer.notice
        return
    for group in answer.groups:
        if group.hits:
            yield ""
            yield from _group(group, query)
    yield ""
    left_out = ", ".join(omission.scope for omission in answer.omissions)
    if answer.total:
        yield f"{answer.total} result{'' if answer.total == 1 else 's'}."
    elif left_out:
        yield f"No results in what was searched. Not searched: {left_out}."
    else:
        yield "No results."


def warning_lines(answer: SearchAnswer) -> Iterator[str]:
    """Yield the words that go beside an answer: what was left out and what was counted."""
    for omission in answer.omissions:
        yield f"Search incomplete for {omission.scope}: {omission.recovery} [{omission.reason}]"
    if answer.withheld:
        yield f"Left out because they look like secrets: {answer.withheld}."
    if answer.hidden_characters:
        yield f"Hidden or controlling characters in what is shown: {answer.hidden_characters}."


def _group(group: ScopeResults, query: Query) -> Iterator[str]:
    count = len(group.hits)
    yield f"-- {group.scope}/ ({count} match{'' if count == 1 else 'es'})"
    for hit in group.hits:
        for line in _hit(hit, query):
            yield one_line(line)


def _hit(hit: SearchHit, query: Query) -> Iterator[str]:
    match hit:
        case MarkdownHit():
            yield f"  {hit.title} ({hit.file})"
            for snippet in hit.matches:
                yield f"    {_lines(snippet)}: {_shown(snippet.content, PASSAGE_CHARS, query)}"
            if hit.evidence is not None:
                yield f"    {hit.evidence.provenance}"
                yield f"    > Follow: {hit.evidence.follow or hit.evidence.reason}"
        case SessionHit():
            project = f"  [{hit.project}]" if hit.project else ""
            agent = hit.agent or "manual"
            copy = "" if hit.conflict_of is None else f"  (conflict copy of {hit.conflict_of})"
            yield f"  [{hit.date or '?'}] {agent}{project}  {hit.session_id or ''}{copy}".rstrip()
            yield f"    {_shown(hit.title, SHOWN_TITLE_CHARS, query)}"
            for snippet in hit.matches:
                yield f"    {_shown(snippet.content, PASSAGE_CHARS, query)}"
        case MemoryHit():
            yield from _record(hit, query)


def _record(hit: MemoryHit, query: Query) -> Iterator[str]:
    record = hit.record
    kind = _text(record, "type") or "?"
    places = " / ".join(text for name in ("project", "domain") if (text := _text(record, name)))
    summary = _text(record, "summary") or _text(record, "type") or compact(record)
    date = _text(record, "ts")[:ISO_DATE_CHARS] or "?"
    suffix = f" ({places})" if places else ""
    yield f"  [{date}] {kind}{suffix}: {_shown(summary, RECORD_CHARS, query)}"
    if hit.matched_field != "summary":
        yield f"    match: {hit.matched_field} = {_shown(hit.value, RECORD_CHARS, query)}"
    yield f"    source: {hit.source}"


def _shown(text: str, limit: int, query: Query) -> str:
    return query.mark(shortened_utf16(_LINE_END.sub(" / ", text), limit))


def _lines(snippet: Snippet) -> str:
    if snippet.line == snippet.line_end:
        return f"L{snippet.line}"
    return f"L{snippet.line}-{snippet.line_end}"


def _text(record: JsonObject, name: str) -> str:
    value = record.get(name)
    return value if isinstance(value, str) else ""
