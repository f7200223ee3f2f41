"""``index build``: brings the semantic index up to date with the fleet (design section 4).

Incremental by content: texts whose vector is known, of whatever project, are not embedded
again, and of a project only the files that changed are read from the store, compared and written.
What changed of a project is replaced in one commit, so an interruption leaves the finished ones in
place and the next run goes on; vectors of a project that is not finished are put by every few
seconds, and when a person interrupts.

The writer lock is held only while code is read into the store. Embedding takes minutes: it holds
a lock of its own, so that the store follows edits meanwhile. What changed while a build ran is
in the next one; a hit is confirmed anyway.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agentic_os.aggregate.refresh.corpus import CorpusRefreshed, refresh_corpus
from agentic_os.aggregate.refresh.own_graphs import build_own_graphs
from agentic_os.aggregate.store.database import Store, building, schema_hash, writing
from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.errors import SemanticIndexError
from agentic_os.files.git.personal import personal_excludes
from agentic_os.results import Answer, IndexBuildData
from agentic_os.text.secrets.redaction import Redactor
from agentic_os.tiers.embed.selection import open_embedder
from agentic_os.tiers.index.chunks import (
    Chunk,
    ProjectChunks,
    read_chunks,
    read_files,
    read_projects,
)
from agentic_os.tiers.index.pace import Pace, cost_of
from agentic_os.tiers.index.state import (
    IndexState,
    ProjectState,
    drop_state,
    read_state,
    write_state,
)
from agentic_os.tiers.index.table import lance_module, vectors_folder
from agentic_os.tiers.index.writer import VectorWriter, discard_table, private_files

if TYPE_CHECKING:
    from agentic_os.tiers.embed.interface import Embedder, Vectors

PORTION_TEXTS = 2_048
"""Texts of whole projects that are written in one commit."""
STEP_TEXTS = 64
"""Texts between two words of progress; a few seconds at most."""
COMMIT_SECONDS = 5.0
"""After so long what was embedded is kept, whether its project is finished or not.

Well below ten seconds, since a step is finished first.
"""

WHOLE_FROM_FILES = 500
"""A project of which more files changed is read whole."""

Progress = Callable[[str, int, int, float | None], None]
"""Told the stage, how much of it is done, how much there is, and the seconds left if known."""


def silent(_stage: str, _done: int, _total: int, _left: float | None) -> None:
    """Progress that nobody watches."""


def build_index(
    person: Person,
    command_line_roots: Sequence[str],
    *,
    everything: bool = False,
    progress: Progress = silent,
) -> Answer[IndexBuildData]:
    """Bring the semantic index up to date.

    Args:
        person: the surroundings.
        command_line_roots: ``--root`` values; empty for the person's own roots.
        everything: take the code of every project with retrieval, not of tier 3 alone.
        progress: told what is being done.

    Raises:
        SemanticIndexError: MODEL_MISSING, EXTRA_MISSING, INDEX_FULL, INDEX_UNWRITABLE or
            MODEL_FAILED.
        StoreLockedError: another process writes.
        SettingsError: projects.toml is wrong.
    """
    lance_module()
    with open_workspace(
        person,
        command_line_roots,
        freshness="wait",
        progress=lambda done, total: progress("reading projects", done, total, None),
    ) as workspace:
        embedder = open_embedder(workspace.places.data, workspace.settings.embedding_model)
        space = workspace.store.space
        with building(space), private_files():
            with writing(space) as store:
                corpus = refresh_corpus(
                    store,
                    workspace.fleet,
                    workspace.redactor,
                    everyone=everything,
                    home=person.home,
                    personal=personal_excludes(person.home, person.environ),
                    include=workspace.settings.corpus_include,
                    progress=lambda done, total: progress("reading code", done, total, None),
                )
                build_own_graphs(
                    store,
                    workspace.fleet,
                    workspace.redactor,
                    everyone=everything,
                    home=person.home,
                    corpus=frozenset(corpus.projects),
                )
            build = _Build(
                store=workspace.store,
                folder=vectors_folder(space),
                embedder=embedder,
                redactor=workspace.redactor,
                progress=progress,
                corpus=corpus,
            )
            data = build.run()
    return Answer(data=data, warnings=(*workspace.warnings, *corpus.diagnostics))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """A project of which something changed: its files now, and the paths of those that did.

    ``paths`` is ``None`` where all of it is read again.
    """

    pk: int
    project: str
    files: dict[str, str]
    paths: frozenset[str] | None


@dataclass(slots=True)
class _Build:
    """One run: what the index held, what it shall hold, and what was done."""

    store: Store
    folder: Path
    embedder: "Embedder"
    redactor: Redactor
    progress: Progress
    corpus: CorpusRefreshed
    state: IndexState = field(init=False)
    writer: VectorWriter = field(init=False)
    wanted: Counter[str] = field(default_factory=Counter)
    kept: "dict[str, Vectors]" = field(default_factory=dict)
    embedded: int = 0
    written: int = 0
    to_embed: int = 0
    resumed: int = 0
    pace: Pace = field(default_factory=lambda: Pace(total=0))
    committed: float = 0.0

    def run(self) -> IndexBuildData:
        """Do it all; what is damaged is made anew."""
        started = time.perf_counter()
        try:
            self.open()
            return self.brought_up_to_date(started)
        except SemanticIndexError as fault:
            if fault.code != "INDEX_DAMAGED":
                raise
            discard_table(self.folder, self.embedder.fingerprint)
            drop_state(self.folder)
        self.open()
        return self.brought_up_to_date(started)

    def open(self) -> None:
        """Open the table and what is known of it."""
        self.wanted.clear()
        self.kept.clear()
        self.to_embed = self.embedded = self.written = self.resumed = 0
        self.writer = VectorWriter(
            self.folder,
            fingerprint=self.embedder.fingerprint,
            dimension=self.embedder.dimension,
        )
        self.state = IndexState(
            fingerprint=self.embedder.fingerprint,
            model=self.embedder.name,
            made_by=schema_hash(self.store.space.rules),
        )
        state = read_state(self.folder)
        # Marks speak of the very table they were written beside.
        if (
            state is not None
            and (state.fingerprint, state.made_by) == (self.state.fingerprint, self.state.made_by)
            and state.rows == self.writer.rows
        ):
            self.state = state

    def brought_up_to_date(self, started: float) -> IndexBuildData:
        """Compare, embed, write, tidy."""
        projects = read_projects(self.store.connection)
        changed: list[_Change] = []
        chars: dict[str, int] = {}
        for at, (pk, project) in enumerate(projects, 1):
            change = self.change_of(pk, project)
            if change is not None:
                changed.append(change)
                costs = {
                    chunk.text_hash: cost_of(len(chunk.text)) for chunk in self.read(change).chunks
                }
                self.wanted.update(costs.keys())
                chars.update(costs)
            self.progress("comparing", at, len(projects), None)
        missing = self.writer.missing(self.wanted)
        self.to_embed = len(missing)
        self.resumed = self.writer.waiting(self.wanted)
        self.pace = Pace(total=sum(chars[item] for item in missing))
        self.committed = time.perf_counter()
        gone = self.state.projects.keys() - {project for _, project in projects}
        for portion in self.portions(changed):
            self.take_in(portion)
        present = [project for _, project in projects]
        for project in gone:
            del self.state.projects[project]
        chunks = self.state.rows
        if gone or self.writer.rows != chunks:
            self.writer.forget(present)
        if changed or gone:
            self.progress("tidying", 0, 0, None)
            self.writer.keep_tidy()
            write_state(self.folder, self.state)
        self.writer.finish()
        return IndexBuildData(
            model=self.embedder.name,
            fingerprint=self.embedder.fingerprint,
            projects=len(projects),
            projects_changed=len(changed),
            projects_removed=len(gone),
            chunks=chunks,
            embedded=self.embedded,
            resumed=self.resumed,
            embedding_seconds=round(self.pace.seconds, 3),
            seconds=round(time.perf_counter() - started, 3),
            corpus_files=self.corpus.files,
            corpus_files_read=self.corpus.files_read,
            left_out=dict(self.corpus.left_out),
        )

    def change_of(self, pk: int, project: str) -> _Change | None:
        """Compare the files of a project with those that its rows were made of."""
        files = read_files(self.store.connection, pk)
        known = self.state.projects.get(project)
        if known is None:
            return _Change(pk=pk, project=project, files=files, paths=None)
        paths = frozenset(path for path, _ in files.items() ^ known.files.items())
        if not paths:
            return None
        some = paths if len(paths) <= WHOLE_FROM_FILES else None
        return _Change(pk=pk, project=project, files=files, paths=some)

    def read(self, change: _Change) -> ProjectChunks:
        """Read the chunks of what changed."""
        return read_chunks(
            self.store.connection, change.pk, change.project, self.redactor, paths=change.paths
        )

    def portions(self, changed: list[_Change]) -> Iterator[list[tuple[_Change, ProjectChunks]]]:
        """Whole projects together, until there is enough to embed for a commit of their own."""
        portion: list[tuple[_Change, ProjectChunks]] = []
        texts: set[str] = set()
        rows = 0
        for change in changed:
            read = self.read(change)
            portion.append((change, read))
            rows += len(read.chunks)
            texts |= self.writer.missing({chunk.text_hash for chunk in read.chunks})
            if len(texts) >= PORTION_TEXTS or rows >= PORTION_TEXTS * 8:
                yield portion
                portion, texts, rows = [], set(), 0
        if portion:
            yield portion

    def take_in(self, portion: list[tuple[_Change, ProjectChunks]]) -> None:
        """Embed what is missing of some projects, and replace what changed in one commit."""
        import numpy as np

        rows = [(read.project, chunk) for _, read in portion for chunk in read.chunks]
        vectors = self.vectors({chunk.text_hash: chunk for _, chunk in rows})
        matrix = (
            np.stack([vectors[chunk.text_hash] for _, chunk in rows])
            if rows
            else np.empty((0, self.embedder.dimension), np.float32)
        )
        self.writer.replace(
            {change.project: self.shown(change.paths) for change, _ in portion}, rows, matrix
        )
        self.committed = time.perf_counter()
        self.written += len(rows)
        for change, read in portion:
            self.state.projects[read.project] = ProjectState(
                rows=len(read.chunks)
                if change.paths is None
                else self.writer.rows_of(change.project),
                files=change.files,
            )
            self.wanted.subtract({chunk.text_hash for chunk in read.chunks})
        write_state(self.folder, self.state)
        # A vector is kept only for as long as a project that comes later wants it.
        fresh = {item: vector for item, vector in vectors.items() if self.wanted[item] > 0}
        self.kept = {
            item: vector for item, vector in {**self.kept, **fresh}.items() if self.wanted[item] > 0
        }

    def shown(self, paths: frozenset[str] | None) -> set[str] | None:
        """Return paths as rows have them, without secrets."""
        return None if paths is None else {self.redactor.redact(path).text for path in paths}

    def vectors(self, texts: dict[str, Chunk]) -> "dict[str, Vectors]":
        """Return a vector for each text, embedding only those without one."""
        found = {item: self.kept[item] for item in texts if item in self.kept}
        found.update(self.writer.vectors([item for item in texts if item not in found]))
        missing = sorted(
            (chunk for item, chunk in texts.items() if item not in found),
            key=lambda chunk: len(chunk.text),
        )
        waiting: dict[str, Vectors] = {}
        try:
            for at in range(0, len(missing), STEP_TEXTS):
                made = self.embed(missing[at : at + STEP_TEXTS])
                found.update(made)
                waiting.update(made)
                if self.is_due() and at + STEP_TEXTS < len(missing):
                    self.keep(waiting)
                    waiting = {}
        except KeyboardInterrupt:
            if waiting:
                self.keep(waiting)
            raise
        return found

    def embed(self, step: list[Chunk]) -> "dict[str, Vectors]":
        """Embed a few texts, and tell how far it is."""
        started = time.perf_counter()
        rows = self.embedder.encode_documents([chunk.text for chunk in step])
        self.pace.went_on(
            sum(cost_of(len(chunk.text)) for chunk in step), time.perf_counter() - started
        )
        self.embedded += len(step)
        self.progress("embedding", self.embedded, self.to_embed, self.pace.left_seconds)
        return {chunk.text_hash: row for chunk, row in zip(step, rows, strict=True)}

    def is_due(self) -> bool:
        """Whether what was embedded since the last commit is worth one."""
        return time.perf_counter() - self.committed >= COMMIT_SECONDS

    def keep(self, vectors: "dict[str, Vectors]") -> None:
        """Put vectors by whose project is not finished."""
        self.writer.keep(vectors)
        self.committed = time.perf_counter()
