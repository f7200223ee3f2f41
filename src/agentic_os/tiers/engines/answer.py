"""An engine's answer as passages: read leniently, believed not at all. Pure.

Engines word their answers differently. Read are the structured content, else a text that is JSON:
a list of objects, or an object that holds one under a usual name. Of each object the path, the
lines, the content and the score are taken, under their usual names; an object without a path is
no passage.
"""

import json
import math
from collections.abc import Mapping, Sequence

from agentic_os.tiers.engines.client import RawAnswer
from agentic_os.tiers.engines.values import (
    MAX_CONTENT_CHARS,
    MAX_HITS_ENTRIES,
    EngineFault,
    EngineHit,
)

_LISTS = ("results", "hits", "matches", "items", "chunks", "result", "data")
_PATHS = ("file_path", "path", "file", "filename", "relative_path")
_STARTS = ("start_line", "line_start", "start", "line")
_ENDS = ("end_line", "line_end", "end")
_CONTENTS = ("content", "text", "snippet", "code")
_SCORES = ("score", "similarity", "relevance")
_MAX_PATH_CHARS = 4_096
_MAX_LINE = 100_000_000


def read_answer(answer: RawAnswer) -> tuple[EngineHit, ...]:
    """Return the passages of an answer, in the order of the engine's ranking.

    Raises:
        EngineFault: ENGINE_FAILED (it says that it failed) or ENGINE_ANSWER_INVALID (it holds no
            list of passages).
    """
    values = [answer.structured, *map(_json, answer.texts)]
    for value in values:
        if isinstance(value, Mapping) and value.get("success") is False:
            raise EngineFault("ENGINE_FAILED", "it says that its search failed")
        rows = _rows(value)
        if rows is not None:
            hits = (_hit(row) for row in rows[:MAX_HITS_ENTRIES])
            return tuple(hit for hit in hits if hit is not None)
    raise EngineFault("ENGINE_ANSWER_INVALID", "its answer holds no list of passages")


def _json(text: str) -> object:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _rows(value: object, *, inside: bool = False) -> Sequence[object] | None:
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping):
        for name in _LISTS:
            held = value.get(name)
            if isinstance(held, list):
                return held
            if isinstance(held, Mapping) and not inside:
                found = _rows(held, inside=True)
                if found is not None:
                    return found
    return None


def _hit(row: object) -> EngineHit | None:
    if not isinstance(row, Mapping):
        return None
    path = _text(row, _PATHS)
    if not path or len(path) > _MAX_PATH_CHARS:
        return None
    start = _line(row, _STARTS)
    content = _text(row, _CONTENTS)
    return EngineHit(
        path=path,
        start=start,
        end=max(start, _line(row, _ENDS)),
        content=content if len(content) <= MAX_CONTENT_CHARS else "",
        score=_score(row),
    )


def _text(row: Mapping[object, object], names: Sequence[str]) -> str:
    return next((value for name in names if isinstance(value := row.get(name), str)), "")


def _line(row: Mapping[object, object], names: Sequence[str]) -> int:
    for name in names:
        value = row.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value if 0 < value <= _MAX_LINE else 0
    return 0


def _score(row: Mapping[object, object]) -> float:
    for name in _SCORES:
        value = row.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            try:
                score = float(value)
            except OverflowError:
                return 0.0
            return min(1.0, max(0.0, score)) if math.isfinite(score) else 0.0
    return 0.0
