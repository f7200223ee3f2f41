"""The document that every fleet tool answers with.

``data``, ``omissions``, ``warnings``, how many were ``noted``, whether the answer is ``truncated``
and the ``cursor`` to go on with. A list that does not fit its budget is cut from the end.
"""

from typing import Any

import msgspec

from agentic_os.results import Answer

MAX_NOTED_ENTRIES = 20
"""Omissions and warnings in one answer; the rest is counted."""

Document = dict[str, Any]


def plain(value: object) -> Any:
    """Turn a value into JSON objects, lists, texts and numbers."""
    return msgspec.json.decode(msgspec.json.encode(value))


def size(value: object) -> int:
    """How many characters a value has as JSON."""
    return len(msgspec.json.encode(value).decode("utf-8", "replace"))


def within(data: Document, budget: int) -> tuple[Document, bool]:
    """Drop from the end of the longest list until the JSON fits; whether anything was dropped."""
    cut = False
    while size(data) > budget:
        lists = [value for value in data.values() if isinstance(value, list) and value]
        if not lists:
            break
        longest = max(lists, key=len)
        del longest[max(1, len(longest) * 3 // 4) if len(longest) > 1 else 0 :]
        cut = True
    return data, cut


def document(answer: Answer[Any], data: Document, *, truncated: bool, cursor: str) -> Document:
    """Put the envelope around the data."""
    return {
        "data": data,
        "omissions": plain(answer.omissions[:MAX_NOTED_ENTRIES]),
        "warnings": [
            {"code": item.code, "message": item.message, "path": item.path}
            for item in answer.warnings[:MAX_NOTED_ENTRIES]
        ],
        "noted": len(answer.omissions) + len(answer.warnings),
        "truncated": truncated,
        "cursor": cursor or None,
    }
