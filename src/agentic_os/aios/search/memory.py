"""The memory scope of a search: JSONL streams and archives, daily and inbox notes.

Rules (DotAIOS convention, memory search):

- Streams in order: the event log, event shards by number, the active event archive,
  signal shards, the active signal archive, signal files by descending name.
- An interrupted archive leaves the same lines in two generations of a family. The
  generation (active archive, newest shard, live) with the most copies of a line keeps
  them, a later one winning ties; the others' copies are dropped before statistics. Records
  with one ``record_id`` are shown once.
- The streams together and each folder of notes are ranked apart and merged round-robin.
- In project memory only attributed records are seen, and no notes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from agentic_os.aios.folder.allowance import FILE_BYTES, FOLDER_ENTRIES, Amount, Charges
from agentic_os.aios.folder.eligibility import is_skipped
from agentic_os.aios.folder.faults import (
    EVIDENCE_FOLDER_TOO_LARGE,
    EVIDENCE_NOT_REGULAR,
    EVIDENCE_PATH_UNSAFE,
    SOURCE_TOO_LARGE,
    fault,
)
from agentic_os.aios.folder.json_text import JsonObject, compact, instant_ms, object_lines
from agentic_os.aios.folder.tree import EVENTS, MEMORY, SIGNALS
from agentic_os.aios.projects.attribution import in_search
from agentic_os.aios.search.context import PhaseCharges, ScopeOutcome, SearchContext, interleave
from agentic_os.aios.search.markdown import MarkdownCorpus, MarkdownFolder
from agentic_os.aios.search.matching import Corpus, Match, rank
from agentic_os.aios.search.streams import (
    FAMILIES,
    Stream,
    best_field,
    distinct_records,
    record_fields,
    whole_record,
)
from agentic_os.aios.search.values import MarkdownHit, MemoryHit
from agentic_os.text.budget import shortened_utf16

NOTE_FOLDERS: Final = ("daily", "inbox")
VALUE_CHARS: Final = 160
"""UTF-16 units of a matched value, the dots included."""

_SHARD = re.compile(r"(events|signals)-archive\.(\d{6})\.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    source: str
    record: JsonObject
    lowered: str
    matched_field: str
    value: str
    match: Match


class MemoryScope:
    """The memory scope of one search."""

    def __init__(self, context: SearchContext) -> None:
        """Prepare the scope; reads nothing yet."""
        self._context = context
        self._streams: list[Stream] = []
        self._withheld = 0
        folders = () if context.identity is not None else NOTE_FOLDERS
        self._notes = [
            MarkdownCorpus(
                context,
                MarkdownFolder(
                    reader=context.reader, folder=f"{MEMORY}/{name}", prefix=f"{MEMORY}/{name}"
                ),
            )
            for name in folders
        ]

    def inspect(self, charges: PhaseCharges) -> None:
        """Find and measure the streams and notes; reads no content."""
        self._streams = self._found(charges)
        for stream in self._streams:
            stamp = self._context.reader.inspect(stream.source, hold=True)
            if stamp is None:
                continue
            if not stamp.is_file:
                raise fault(EVIDENCE_PATH_UNSAFE if stamp.is_link else EVIDENCE_NOT_REGULAR)
            if stamp.size > FILE_BYTES:
                raise fault(SOURCE_TOO_LARGE)
            charges.demand.charge(Amount(bytes=stamp.size, files=1))
            stream.stamp = stamp
        for corpus in self._notes:
            corpus.inspect(charges)

    def discover(self, charges: PhaseCharges) -> None:
        """Read the streams: only their lines tell how many entries there are."""
        for stream in self._streams:
            if stream.stamp is None:
                continue
            read = self._context.reader.read_seen(
                stream.source, stream.stamp, limit_bytes=FILE_BYTES, charges=charges.work
            )
            for record in object_lines(read.text):
                charges.both.charge_entries(1)
                if record is not None:
                    stream.lines.append(record)

    def execute(self, charges: Charges) -> ScopeOutcome:
        """Rank the streams, read and rank the notes, merge."""
        corpora: list[tuple[MemoryHit | MarkdownHit, ...]] = [self._ranked()]
        corpora.extend(corpus.execute(charges) for corpus in self._notes)
        withheld = self._withheld + sum(corpus.withheld for corpus in self._notes)
        return ScopeOutcome(hits=interleave(corpora, self._context.limit), withheld=withheld)

    def _found(self, charges: PhaseCharges) -> list[Stream]:
        names = self._names(MEMORY, charges)
        streams = [Stream(source=EVENTS, family="events", generation="live")]
        for family in FAMILIES:
            shards = sorted(
                name for name in names if (m := _SHARD.fullmatch(name)) and m.group(1) == family
            )
            streams.extend(
                Stream(source=f"{MEMORY}/{name}", family=family, generation="shard")
                for name in shards
            )
            active = f"{family}-archive.jsonl"
            streams.append(Stream(source=f"{MEMORY}/{active}", family=family, generation="active"))
            if f"{active}.pending" in names:
                streams.append(
                    Stream(source=f"{MEMORY}/{active}.pending", family=family, generation="pending")
                )
        signals = [
            name
            for name in self._names(SIGNALS, charges)
            if name.lower().endswith(".jsonl") and not is_skipped(name)
        ]
        streams.extend(
            Stream(source=f"{SIGNALS}/{name}", family="signals", generation="live")
            for name in sorted(signals, reverse=True)
        )
        return streams

    def _names(self, folder: str, charges: PhaseCharges) -> list[str]:
        """List the names of a folder that are not folders themselves."""
        entries = self._context.reader.entries(
            folder,
            limit_entries=FOLDER_ENTRIES,
            too_many=EVIDENCE_FOLDER_TOO_LARGE,
            charges=charges.both,
            hold=True,
        )
        return [entry.name for entry in entries or () if entry.kind != "folder"]

    def _ranked(self) -> tuple[MemoryHit, ...]:
        context = self._context
        corpus = Corpus()
        candidates: list[_Candidate] = []
        for source, record in distinct_records(self._seen_streams()):
            serialized = compact(record)
            lowered = serialized.lower()
            corpus.add(context.query, lowered)
            found = best_field(record, context.query) or whole_record(
                serialized, lowered, context.query
            )
            if found is not None:
                name, value, match = found
                candidates.append(
                    _Candidate(
                        source=source,
                        record=record,
                        lowered=lowered,
                        matched_field=name,
                        value=value,
                        match=match,
                    )
                )
        # Newest first among equals; a record without a time comes last.
        candidates.sort(key=lambda candidate: _time(candidate.record), reverse=True)
        candidates.sort(key=lambda candidate: self._rank(candidate, corpus), reverse=True)
        hits: list[MemoryHit] = []
        for candidate in candidates:
            if len(hits) == context.limit:
                break
            if context.guard.holds_secret(*_texts(candidate.record)):
                self._withheld += 1
                continue
            hits.append(
                MemoryHit(
                    source=candidate.source,
                    matched_field=candidate.matched_field,
                    value=shortened_utf16(candidate.value, VALUE_CHARS),
                    kind=candidate.match.kind,
                    score=candidate.match.score,
                    record=candidate.record,
                )
            )
        return tuple(hits)

    def _seen_streams(self) -> list[Stream]:
        """Return the streams with the records that this memory may see."""
        identity = self._context.identity
        if identity is None:
            return self._streams
        return [
            Stream(
                source=stream.source,
                family=stream.family,
                generation=stream.generation,
                lines=[
                    record
                    for record in stream.lines
                    if in_search(record, slug=identity.slug, project_id=identity.id)
                ],
            )
            for stream in self._streams
        ]

    def _rank(self, candidate: _Candidate, corpus: Corpus) -> float:
        time = instant_ms(_time(candidate.record))
        return rank(
            candidate.match.kind,
            self._context.query.present(candidate.lowered),
            corpus,
            age_ms=None if time is None else self._context.now_ms - time,
        )


def _texts(record: JsonObject) -> Iterator[str]:
    """Yield what a hit of the record shows: its values and its ``key: value`` pairs."""
    for name, value in record_fields(record):
        yield f"{name}: {value}"


def _time(record: JsonObject) -> str:
    value = record.get("ts")
    return value if isinstance(value, str) else ""
