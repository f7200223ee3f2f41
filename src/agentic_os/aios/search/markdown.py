"""The Markdown corpora of a search: walked, measured, then read and ranked whole."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agentic_os.aios.folder.allowance import FILE_BYTES, FOLDER_ENTRIES, Amount, Charges
from agentic_os.aios.folder.eligibility import is_markdown, is_skipped
from agentic_os.aios.folder.faults import (
    EVIDENCE_FOLDER_TOO_LARGE,
    EVIDENCE_NOT_REGULAR,
    EVIDENCE_PATH_UNSAFE,
    SOURCE_CHANGED,
    SOURCE_TOO_LARGE,
    fault,
)
from agentic_os.aios.folder.reader import FolderReader, SourceRead
from agentic_os.aios.follow.references import evidence_of
from agentic_os.aios.search.context import PhaseCharges, SearchContext
from agentic_os.aios.search.matching import Corpus, MatchKind, rank
from agentic_os.aios.search.snippets import (
    SNIPPETS,
    Place,
    Snippet,
    boost,
    cut,
    places,
    title_of,
)
from agentic_os.aios.search.values import MarkdownHit
from agentic_os.files.reading import Entry

if TYPE_CHECKING:
    from agentic_os.aios.folder.layer import Stamp

_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownFolder:
    """A folder to search: where it is, and how its files are named in an answer."""

    reader: FolderReader
    folder: str
    prefix: str
    accepts: Callable[[str], bool] = is_markdown
    project_id: str | None = None
    evidence: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    relative: str
    read: SourceRead
    text: str
    title: str
    kind: MatchKind
    terms: tuple[str, ...]
    found: list[Place]
    structural: float


class MarkdownCorpus:
    """One folder of Markdown in one search.

    Args:
        context: the search.
        place: the folder.
    """

    def __init__(self, context: SearchContext, place: MarkdownFolder) -> None:
        """Prepare the corpus; reads nothing yet."""
        self.withheld = 0
        self._context = context
        self._place = place
        self._files: list[tuple[str, Stamp]] = []

    def inspect(self, charges: PhaseCharges) -> None:
        """Walk the folder and measure its files; reads no content.

        Raises:
            AiosError: a limit's code (the scope is left out) or an evidence fault.
        """
        waiting = [""]
        while waiting:
            below = waiting.pop()
            folders = []
            for entry in self._listed(below, charges):
                relative = f"{below}/{entry.name}" if below else entry.name
                if self._visit(entry, relative, charges):
                    folders.append(relative)
            waiting.extend(reversed(folders))

    def execute(self, charges: Charges) -> tuple[MarkdownHit, ...]:
        """Read every measured file and rank the matching ones.

        Raises:
            AiosError: an evidence fault.
        """
        corpus = Corpus()
        candidates: list[_Candidate] = []
        for relative, stamp in sorted(self._files):
            read = self._place.reader.read_seen(
                self._path(relative), stamp, limit_bytes=FILE_BYTES, charges=charges
            )
            text = read.text
            lowered = text.lower()
            corpus.add(self._context.query, lowered)
            candidate = self._candidate(relative, read, text, lowered)
            if candidate is not None:
                candidates.append(candidate)
        candidates.sort(key=lambda candidate: self._rank(candidate, corpus), reverse=True)
        hits: list[MarkdownHit] = []
        for candidate in candidates:
            if len(hits) == self._context.limit:
                break
            hit = self._hit(candidate)
            if hit is not None:
                hits.append(hit)
        return tuple(hits)

    def _listed(self, below: str, charges: PhaseCharges) -> list[Entry]:
        entries = self._place.reader.entries(
            self._path(below),
            limit_entries=FOLDER_ENTRIES,
            too_many=EVIDENCE_FOLDER_TOO_LARGE,
            charges=charges.both,
            hold=True,
        )
        return entries or []

    def _visit(self, entry: Entry, relative: str, charges: PhaseCharges) -> bool:
        """Measure an eligible file; say whether the entry is a folder to walk."""
        if is_skipped(entry.name):
            return False
        if entry.kind == "folder":
            return True
        if not self._place.accepts(entry.name):
            return False
        if entry.kind == "link" or not _is_text(entry.name):
            raise fault(EVIDENCE_PATH_UNSAFE)
        stamp = self._place.reader.inspect(self._path(relative), hold=True)
        if stamp is None:
            raise fault(SOURCE_CHANGED)
        if not stamp.is_file:
            raise fault(EVIDENCE_NOT_REGULAR)
        if stamp.size > FILE_BYTES:
            raise fault(SOURCE_TOO_LARGE)
        charges.demand.charge(Amount(bytes=stamp.size, files=1))
        self._files.append((relative, stamp))
        return False

    def _candidate(
        self, relative: str, read: SourceRead, text: str, lowered: str
    ) -> _Candidate | None:
        query = self._context.query
        whole = query.match(lowered)
        found = [] if whole is None else places(text, query)
        if whole is None or not found:
            return None
        title = title_of(text) or relative
        return _Candidate(
            relative=relative,
            read=read,
            text=text,
            title=title,
            kind=whole.kind,
            terms=query.present(lowered),
            found=found,
            structural=boost(found, query, title=title, path=relative),
        )

    def _rank(self, candidate: _Candidate, corpus: Corpus) -> float:
        return rank(
            candidate.kind,
            candidate.terms,
            corpus,
            age_ms=self._context.now_ms - candidate.read.stamp.mtime_ns / _MILLION,
            structural=candidate.structural,
        )

    def _hit(self, candidate: _Candidate) -> MarkdownHit | None:
        """Make the hit, without passages that hold a secret; none left, no hit."""
        guard = self._context.guard
        secret = guard.secret_lines(candidate.text)
        snippets: list[Snippet] = []
        for snippet in cut(candidate.text, candidate.found):
            if len(snippets) == SNIPPETS:
                break
            lines = range(snippet.line, snippet.line_end + 1)
            if secret.intersection(lines) or guard.holds_secret(snippet.content):
                self.withheld += 1
            else:
                snippets.append(snippet)
        if not snippets:
            return None
        if guard.holds_secret(candidate.title, candidate.relative):
            self.withheld += 1
            return None
        source = f"{self._place.prefix}/{candidate.relative}"
        evidence = None
        if self._place.evidence:
            evidence = evidence_of(
                source=source,
                read=candidate.read,
                root=self._context.root,
                project_id=self._place.project_id,
            )
        return MarkdownHit(
            source=source,
            file=candidate.relative,
            title=candidate.title,
            matches=tuple(snippets),
            evidence=evidence,
        )

    def _path(self, relative: str) -> str:
        return "/".join(part for part in (self._place.folder, relative) if part)


def _is_text(name: str) -> bool:
    """Whether a name is valid UTF-8 (others arrive surrogate-escaped)."""
    return not any("\ud800" <= char <= "\udfff" for char in name)
