"""The JSONL streams of memory as values: overlap of generations, fields of records.

Pure rules (DotAIOS convention, memory search). An interrupted archive leaves the same
lines in two generations of a family. The generation (active archive, newest shard, staged, live)
with the most copies of a line keeps them, a later one winning ties; the others' copies
are dropped before statistics. Records with one ``record_id`` are shown once.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from agentic_os.aios.folder.json_text import Json, JsonObject, compact, text_of
from agentic_os.aios.search.matching import Match, Query

if TYPE_CHECKING:
    from agentic_os.aios.folder.layer import Stamp

Family = Literal["events", "signals"]
Generation = Literal["live", "shard", "active", "pending"]

FAMILIES: Final[tuple[Family, ...]] = ("events", "signals")


@dataclass(slots=True, kw_only=True)
class Stream:
    """One JSONL file of the scope; ``lines`` are its parsed records, once it was read."""

    source: str
    family: Family
    generation: Generation
    stamp: "Stamp | None" = None
    lines: list[JsonObject] = field(default_factory=list)


def distinct_records(streams: list[Stream]) -> Iterator[tuple[str, JsonObject]]:
    """Yield each record once, with its source, in the order of the streams."""
    suppressed = _suppressed(streams)
    shown: set[str] = set()
    for stream in streams:
        losing = suppressed[stream.source]
        for record in stream.lines:
            line = compact(record)
            if losing[line] > 0:
                losing[line] -= 1
                continue
            record_id = record.get("record_id")
            if isinstance(record_id, str) and record_id:
                if record_id in shown:
                    continue
                shown.add(record_id)
            yield stream.source, record


def best_field(record: JsonObject, query: Query) -> tuple[str, str, Match] | None:
    """Find the field that matches best: by score, the summary preferred among equals."""
    best: tuple[str, str, Match] | None = None
    fields = sorted(record_fields(record), key=lambda item: item[0] != "summary")
    for name, value in fields:
        match = query.match(value.lower())
        if match is not None and (best is None or match.score > best[2].score):
            best = (name, value, match)
    return best


def whole_record(serialized: str, lowered: str, query: Query) -> tuple[str, str, Match] | None:
    """Match the record as one text, for words that stand in different fields."""
    match = query.match(lowered)
    return None if match is None else ("entry", serialized, match)


def record_fields(record: JsonObject) -> Iterator[tuple[str, str]]:
    """Flatten a record to its scalar fields, ``a.b[0]``, in order."""
    return _fields(record, "")


def _fields(value: Json, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _fields(item, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _fields(item, f"{name}[{at}]")
    elif value is not None:
        yield name or "value", text_of(value)


def _suppressed(streams: Iterable[Stream]) -> dict[str, Counter[str]]:
    """Count, by stream, the copies of each line that another generation keeps."""
    result: dict[str, Counter[str]] = {}
    for family in FAMILIES:
        members = [stream for stream in streams if stream.family == family]
        result.update((stream.source, Counter()) for stream in members)
        shards = [stream for stream in members if stream.generation == "shard"]
        groups = [
            [stream for stream in members if stream.generation == "active"],
            shards[-1:],
            [stream for stream in members if stream.generation == "pending"],
            [stream for stream in members if stream.generation == "live"],
        ]
        copies = {
            stream.source: Counter(compact(record) for record in stream.lines)
            for group in groups
            for stream in group
        }
        totals = [_total(copies[stream.source] for stream in group) for group in groups]
        for line in set().union(*totals):
            counts = [total[line] for total in totals]
            winner = max(range(len(groups)), key=lambda at: (counts[at], at))
            for at, group in enumerate(groups):
                if at != winner:
                    for stream in group:
                        result[stream.source][line] = copies[stream.source][line]
    return result


def _total(counters: Iterable[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for counter in counters:
        total.update(counter)
    return total
