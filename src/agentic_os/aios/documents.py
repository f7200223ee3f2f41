"""The documents of the convention's three tools, each within its budget.

Pure over the values of this room, so that any adapter prints the same text: pretty JSON,
compact where only that fits. ``used`` is the length of the final text in UTF-16 units.
What does not fit is dropped from the end, then the question itself is shortened; an
envelope that is still too large is the caller's error (DotAIOS convention, MCP adapter).
"""

import re
from collections.abc import Callable
from typing import Final

from agentic_os.aios.context.brief import Brief, trust_json
from agentic_os.aios.folder.faults import WORKING_CONTEXT_FAILED, argument_fault, fault
from agentic_os.aios.folder.json_text import Json, JsonObject, compact, pretty
from agentic_os.aios.intent.skills import SkillAnswer
from agentic_os.aios.intent.values import USED_ROUNDS
from agentic_os.aios.search.values import MarkdownHit, SearchAnswer, SearchHit
from agentic_os.text.budget import cut_utf16, utf16_length

METADATA_CHARS: Final = 1024
"""UTF-16 units of everything beside the projection and its coverage, as pretty JSON."""
ARRAY_ITEMS: Final = 5
TEXT_CHARS: Final = 300
LONG_TEXT_CHARS: Final = 800

_LONG_KEYS: Final = frozenset({"content", "summary"})
_PATHS = re.compile(r"path|source_path|projectPath|readmePath|rootPath", re.IGNORECASE)
_CUT_MARK: Final = "\n[truncated]"
_QUERY_MARK: Final = "[query truncated]"
_INTENT_MARK: Final = "[intent truncated]"

_Envelope = Callable[[list[Json], str, bool], JsonObject]


def working_context_document(brief: Brief) -> JsonObject:
    """Make the document of ``read_working_context``.

    Raises:
        AiosError: DOTAIOS_WORKING_CONTEXT_READ_FAILED when the metadata exceeds its bound.
    """
    context = brief.context
    said: JsonObject = {
        "memory": context.mode,
        "receipt": context.receipt,
        "notice": context.notice,
        "complete": True,
        "scope": {"project": context.project},
    }
    if context.mode == "off":
        return {"markdown": context.markdown, **said}
    said["generated_at"] = context.generated_at
    said["budget"] = context.budget.as_json()
    said["operational"] = {"migration": brief.migration.as_json()}
    trust = trust_json(context)
    if trust is not None:
        said["trust"] = trust
    if utf16_length(pretty(said)) > METADATA_CHARS:
        raise fault(WORKING_CONTEXT_FAILED)
    document: JsonObject = {"markdown": context.markdown, **said}
    if context.coverage is not None:
        document["coverage"] = context.coverage.as_json()
    return document


def search_text(answer: SearchAnswer, budget: int) -> str:
    """Make the text of ``search_aios`` for a query.

    Raises:
        AiosError: DOTAIOS_ARGUMENT_INVALID when not even the empty envelope fits.
    """
    results: list[Json] = [
        {"scope": group.scope, **_sanitised_hit(hit)}
        for group in answer.groups
        for hit in group.hits
    ]
    selection = answer.selection_json()

    def envelope(kept: list[Json], query: str, truncated: bool) -> JsonObject:
        document: JsonObject = {
            "query": query,
            "scope": answer.scope,
            "memory": answer.memory,
            "receipt": answer.receipt,
            "notice": answer.notice,
        }
        if selection is not None:
            document["scope_selection"] = selection
        document["results"] = kept
        document["complete"] = answer.complete
        document["omissions"] = [omission.as_json() for omission in answer.omissions]
        if answer.withheld or answer.hidden_characters:
            document["trust"] = {
                "withheld": answer.withheld,
                "hiddenCharacters": answer.hidden_characters,
            }
        document["budget"] = {"limit": budget, "used": 0, "truncated": truncated}
        return document

    return _bounded(envelope, results, answer.query, _QUERY_MARK, budget)


def skill_text(answer: SkillAnswer, budget: int) -> str:
    """Make the text of ``resolve_skill``.

    Raises:
        AiosError: DOTAIOS_ARGUMENT_INVALID when not even the empty envelope fits.
    """

    def envelope(kept: list[Json], intent: str, truncated: bool) -> JsonObject:
        document: JsonObject = {
            "intent": intent,
            "matches": kept,
            "memory": answer.memory,
            "receipt": answer.receipt,
            "notice": answer.notice,
            "complete": True,
        }
        if answer.withheld or answer.hidden_characters:
            document["trust"] = {
                "withheld": answer.withheld,
                "hiddenCharacters": answer.hidden_characters,
            }
        document["budget"] = {"limit": budget, "used": 0, "truncated": truncated}
        return document

    matches = [
        _sanitised(match.as_json(), "", len(match.skill.triggers)) for match in answer.matches
    ]
    return _bounded(envelope, matches, answer.intent, _INTENT_MARK, budget)


def _bounded(envelope: _Envelope, items: list[Json], question: str, mark: str, budget: int) -> str:
    kept: list[Json] = []
    for item in items:
        if _fitting(envelope([*kept, item], question, False), budget) is None:
            break
        kept.append(item)
    text = _fitting(envelope(kept, question, len(kept) < len(items)), budget)
    return text or _with_shorter_question(envelope, question, mark, budget)


def _with_shorter_question(envelope: _Envelope, question: str, mark: str, budget: int) -> str:
    low, high = 0, len(question)
    best: str | None = None
    while low <= high:
        count = (low + high) // 2
        text = _fitting(envelope([], question[:count] + mark, True), budget)
        if text is None:
            high = count - 1
        else:
            best, low = text, count + 1
    if best is None:
        raise argument_fault(f"the budget of {budget} is too small for the answer's envelope")
    return best


def _fitting(document: JsonObject, budget: int) -> str | None:
    """Serialise a document with its own length in it, pretty or compact, if it fits."""
    for write in (pretty, compact):
        text = _measured(document, write)
        if utf16_length(text) <= budget:
            return text
    return None


def _measured(document: JsonObject, write: Callable[[Json], str]) -> str:
    account = document["budget"]
    text = write(document)
    for _ in range(USED_ROUNDS):
        used = utf16_length(text)
        if isinstance(account, dict) and account["used"] != used:
            account["used"] = used
            text = write(document)
    return text


def _sanitised_hit(hit: SearchHit) -> JsonObject:
    document = hit.as_json()
    evidence = document.pop("evidence", None) if isinstance(hit, MarkdownHit) else None
    clean = {
        key: _sanitised(value, key, ARRAY_ITEMS)
        for key, value in document.items()
        if _PATHS.fullmatch(key) is None
    }
    return clean if evidence is None else {**clean, "evidence": evidence}


def _sanitised(value: Json, key: str, entries: int) -> Json:
    """Drop paths, cut arrays and texts, at any depth."""
    if isinstance(value, list):
        return [_sanitised(item, "", entries) for item in value[:entries]]
    if isinstance(value, dict):
        return {
            name: _sanitised(item, name, entries)
            for name, item in value.items()
            if _PATHS.fullmatch(name) is None
        }
    if isinstance(value, str):
        limit = LONG_TEXT_CHARS if key in _LONG_KEYS else TEXT_CHARS
        if utf16_length(value) > limit:
            return cut_utf16(value, limit - len(_CUT_MARK)) + _CUT_MARK
    return value
