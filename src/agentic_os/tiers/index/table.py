"""The semantic index on disk: the rows of a table of vectors, read.

The table is a LanceDB table, ``vectors/NAME.lance`` in the space's folder, one for all projects
(design section 4). It is opened with the engine under LanceDB, the package ``lance``: it loads in
a third of the time, which a command that answers one question pays each time. Only this module
and ``writer`` open it.

Invariants:

- A table is named by the embedder's fingerprint: vectors of two fingerprints never mix, and one
  that was made by another embedder is not asked.
- Every search asks the newest version, also in a process that lives long; a version that is
  being written is not seen.
- A similarity is the cosine of the stored vector and the question's, computed here: no figure
  depends on whether an index, a filter or a full scan found the row.
- Nothing heavy is imported before there is a table to read.
"""

import os
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentic_os.aggregate.store.space import Space
from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.index.codes import index_error

if TYPE_CHECKING:
    from agentic_os.tiers.embed.interface import Vectors

VECTORS_FOLDER = "vectors"
LAYOUT = "v1"
"""Raised when columns change; tables of another layout are not read, and go with a build."""
EXACT_BELOW_ROWS = 10_000
"""Among fewer rows every one is looked at, in a few milliseconds: no recall is lost."""
EXACT_FILTERED_ROWS = 100_000
EXACT_FILTERED_SHARE = 4
"""So are those that a filter leaves, up to a number and to one part in so many of the table: an
index loses recall where few of its rows pass."""
PROBES = 50
SPARE_CANDIDATES = 2
"""Rows asked of the index for each that is wanted: it ranks them by estimates."""
METRIC = "cosine"
PROJECT_INDEX = "project_idx"
KIND_INDEX = "kind_idx"
VECTOR_INDEX = "vector_idx"

_FINGERPRINT_CHARS = 16
_KEPT_TABLES = 4
_SUFFIX = ".lance"
_COLUMNS = (
    "project",
    "kind",
    "path",
    "name",
    "symbol",
    "document_start",
    "line_start",
    "line_end",
    "sha256",
    "text_hash",
    "indexed_at",
)


PassageKey = tuple[str, str, str, int]
"""A passage of the store: project, kind, path and first line."""

_PASSAGE_COLUMNS = ("project", "kind", "path", "document_start")


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A row that is near to a question; ``similarity`` is the cosine."""

    project: str
    kind: str
    path: str
    name: str
    symbol: str
    document: int
    start: int
    end: int
    sha256: str
    text_hash: str
    indexed_at: int
    similarity: float


def vectors_folder(space: Space) -> Path:
    """Where the vectors of a space lie."""
    return space.folder / VECTORS_FOLDER


def table_name(fingerprint: str) -> str:
    """Return the name of an embedder's table."""
    return f"chunks-{LAYOUT}-{fingerprint[:_FINGERPRINT_CHARS]}"


def table_path(folder: Path, fingerprint: str) -> Path:
    """Where the table of an embedder lies."""
    return folder / f"{table_name(fingerprint)}{_SUFFIX}"


def tables(folder: Path) -> tuple[Path, ...]:
    """Every committed table, of any embedder and layout; none where there is no folder."""
    found: list[Path] = []
    with suppress(OSError), os.scandir(folder) as entries:
        found = [
            Path(entry.path)
            for entry in entries
            if entry.name.startswith("chunks-") and entry.name.endswith(_SUFFIX)
        ]
    return tuple(sorted(filter(is_table, found)))


def is_table(path: Path) -> bool:
    """Return whether anything was ever committed there; a killed first build leaves only data."""
    return (path / "_versions").is_dir()


def lance_module() -> Any:
    """Import the package that reads tables, its logs kept off stderr.

    Raises:
        SemanticIndexError: EXTRA_MISSING.
    """
    # Read once, when the library is loaded.
    os.environ.setdefault("LANCE_LOG", "error")
    try:
        import lance
    except ImportError as fault:
        raise index_error(
            "EXTRA_MISSING", "the semantic index needs the package pylance"
        ) from fault
    return lance


class VectorTable:
    """A table, opened at its newest version."""

    __slots__ = ("_dataset",)

    def __init__(self, dataset: Any) -> None:
        """Take an open dataset; ``open_table`` makes one."""
        self._dataset = dataset

    @property
    def rows(self) -> int:
        """How many chunks the table holds."""
        with index_faults():
            return int(self._dataset.count_rows())

    @property
    def version(self) -> int:
        """The table's version; each change makes a new one."""
        return int(self._dataset.version)

    def unindexed_rows(self) -> int | None:
        """Rows that the vector index does not cover yet; ``None`` where there is none."""
        with index_faults():
            names = {item.name for item in self._dataset.describe_indices()}
            if VECTOR_INDEX not in names:
                return None
            stats = self._dataset.stats.index_stats(VECTOR_INDEX)
            return int(stats["num_unindexed_rows"])

    def nearest(
        self,
        vector: "Vectors",
        *,
        limit: int,
        projects: Collection[str] | None = None,
        kinds: Collection[str] = (),
        exact: bool = True,
    ) -> list[Near]:
        """Find the rows nearest to a vector, best first.

        Args:
            vector: the encoded question.
            limit: how many are wanted.
            projects: ids they are limited to; ``None`` for all.
            kinds: kinds they are limited to; empty for all.
            exact: look at every row; else an index may leave some out.

        Raises:
            SemanticIndexError: INDEX_DAMAGED.
        """
        condition = filter_of(projects, kinds)
        with index_faults():
            if exact:
                parts = [self._nearest(vector, limit, condition, use_index=False)]
            else:
                # Rows that came after the index are asked apart: the engine's distances of the
                # two kinds are not of one scale, so one list of both would cut the wrong ones.
                spare = limit * SPARE_CANDIDATES
                parts = [self._nearest(vector, spare, condition, use_index=True, fast_search=True)]
                if late := self._fragments_outside_index():
                    parts.append(
                        self._nearest(vector, limit, condition, use_index=False, fragments=late)
                    )
            found = [row for part in parts for row in _scored(part, vector)]
        found.sort(key=lambda row: (-row.similarity, row.project, row.path, row.start))
        return found[:limit]

    def similarities(
        self, vector: "Vectors", passages: Collection[PassageKey]
    ) -> dict[PassageKey, float]:
        """Return how near passages are to a vector, each by its nearest row.

        Args:
            vector: the encoded question.
            passages: which ones; those that the table does not hold are left out.

        Raises:
            SemanticIndexError: INDEX_DAMAGED.
        """
        if not passages:
            return {}
        starts = ", ".join(map(str, sorted({start for *_, start in passages})))
        paths = among("path", {path for _, _, path, _ in passages})
        condition = f"{paths} AND document_start IN ({starts})"
        with index_faults():
            found = self._dataset.scanner(
                columns=[*_PASSAGE_COLUMNS, "vector"], filter=condition
            ).to_table()
            keys = zip(*(found.column(name).to_pylist() for name in _PASSAGE_COLUMNS), strict=True)
            rows = list(zip(keys, _cosines(found, vector), strict=True))
        nearest: dict[PassageKey, float] = {}
        for key, similarity in rows:
            if key in passages:
                nearest[key] = max(similarity, nearest.get(key, -1.0))
        return nearest

    def _nearest(
        self,
        vector: "Vectors",
        limit: int,
        condition: str | None,
        *,
        use_index: bool,
        **options: Any,
    ) -> Any:
        nearest = {
            "column": "vector",
            "q": vector,
            "k": limit,
            "metric": METRIC,
            "use_index": use_index,
            "nprobes": PROBES,
        }
        return self._dataset.scanner(
            columns=[*_COLUMNS, "vector", "_distance"],
            filter=condition,
            prefilter=True,
            nearest=nearest,
            **options,
        ).to_table()

    def _fragments_outside_index(self) -> list[Any]:
        """Return the fragments whose rows the vector index does not cover."""
        covered: set[int] = set()
        for item in self._dataset.describe_indices():
            if item.name == VECTOR_INDEX:
                covered.update(*(segment.fragment_ids for segment in item.segments))
        return [
            fragment
            for fragment in self._dataset.get_fragments()
            if fragment.fragment_id not in covered
        ]


def _scored(found: Any, vector: "Vectors") -> Iterator[Near]:
    """Yield the rows of an answer with their true cosine, whatever the engine calls distance.

    An index of quantised vectors answers with estimates, and with another scale than a search
    that looks at every row: nothing of that may be shown, fused or compared with a bound.
    """
    columns = [found.column(name).to_pylist() for name in _COLUMNS]
    rows = zip(*columns, strict=True)
    for row, cosine in zip(rows, _cosines(found, vector), strict=True):
        yield Near(
            project=row[0],
            kind=row[1],
            path=row[2],
            name=row[3],
            symbol=row[4],
            document=row[5],
            start=row[6],
            end=row[7],
            sha256=row[8],
            text_hash=row[9],
            indexed_at=row[10],
            similarity=cosine,
        )


def _cosines(found: Any, vector: "Vectors") -> list[float]:
    import numpy as np

    matrix = np.asarray(found.column("vector").combine_chunks().flatten(), np.float32)
    matrix = matrix.reshape(found.num_rows, len(vector))
    lengths = np.linalg.norm(matrix, axis=1) * np.linalg.norm(vector)
    cosines: list[float] = (
        (matrix @ vector) / np.maximum(lengths, np.finfo(np.float32).tiny)
    ).tolist()
    return cosines


def open_table(folder: Path, fingerprint: str) -> VectorTable | None:
    """Open the table of an embedder; ``None`` where there is none.

    Raises:
        SemanticIndexError: EXTRA_MISSING, or INDEX_DAMAGED where its bytes are unusable.
    """
    path = table_path(folder, fingerprint)
    if not is_table(path):
        return None
    lance = lance_module()
    with index_faults():
        # A table that was deleted and made anew is another folder.
        seen = path.stat()
        key = (str(path), seen.st_ino, seen.st_ctime_ns)
        with _opening:
            kept = _opened.get(key)
        if kept is None:
            dataset = lance.dataset(str(path))
        elif kept.latest_version == kept.version:
            return VectorTable(kept)
        else:
            dataset = kept.checkout_version(kept.latest_version)
    with _opening:
        _opened[key] = dataset
        while len(_opened) > _KEPT_TABLES:
            del _opened[next(iter(_opened))]
    return VectorTable(dataset)


_opening = threading.Lock()
_opened: dict[tuple[str, int, int], Any] = {}


def forget_tables() -> None:
    """Open tables anew at the next question: the files of a kept one may be deleted by now."""
    with _opening:
        _opened.clear()


def looks_at_all(rows: int, of: int) -> bool:
    """Return whether a search among ``rows`` of a table's ``of`` rows looks at each of them."""
    if rows < EXACT_BELOW_ROWS:
        return True
    return rows < EXACT_FILTERED_ROWS and rows * EXACT_FILTERED_SHARE < of


@contextmanager
def index_faults() -> Iterator[None]:
    """Turn what lance raises into INDEX_DAMAGED; its own words carry paths."""
    try:
        yield
    except (SemanticIndexError, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as fault:
        # A panic of its native part is no ``Exception``, and its class cannot be imported.
        if isinstance(fault, Exception) or type(fault).__name__ == "PanicException":
            raise index_error("INDEX_DAMAGED", "the semantic index cannot be read") from fault
        raise


def filter_of(projects: Collection[str] | None, kinds: Collection[str] = ()) -> str | None:
    """Build the condition that rows of these projects and kinds meet; ``None`` for all rows."""
    parts = []
    if projects is not None:
        parts.append(among("project", projects))
    if kinds:
        parts.append(among("kind", kinds))
    return " AND ".join(parts) or None


def among(column: str, values: Collection[str]) -> str:
    """Build the condition that a column holds one of some values."""
    listed = ", ".join("'" + value.replace("'", "''") + "'" for value in sorted(values))
    return f"{column} IN ({listed})" if listed else "false"
