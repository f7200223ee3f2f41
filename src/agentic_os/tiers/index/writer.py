"""The semantic index on disk: its table of vectors, written.

Invariants (design section 4):

- The caller holds the index lock of the space (``store.database.building``).
- The chunks of a project are replaced in one commit: a reader, or a machine that stops, sees the
  old ones or the new ones. Rows that stay as they are are not written again.
- Files are private (0600), folders too (0700).
- A fault of the disk leaves the last commit in place and readable.
"""

import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentic_os.errors import AgenticOSError
from agentic_os.files.publishing import private_folder
from agentic_os.tiers.index.chunks import Chunk
from agentic_os.tiers.index.codes import index_error
from agentic_os.tiers.index.table import (
    KIND_INDEX,
    METRIC,
    PROJECT_INDEX,
    VECTOR_INDEX,
    among,
    filter_of,
    index_faults,
    is_table,
    lance_module,
    table_path,
    tables,
)

if TYPE_CHECKING:
    from agentic_os.tiers.embed.interface import Vectors

INDEX_FROM_ROWS = 10_000
"""From here on a vector index is kept; below, looking at every row takes a few milliseconds."""
RETRAIN_SHARE = 2
"""The vector index is trained anew once one row in so many came after its training."""
SMALL_ROWS = 16_384
MOST_SMALL_PIECES = 8
"""So many pieces of the table may be smaller; with more they are put together."""
LATE_ROWS = 2_048
LATE_SHARE = 32
"""So many rows, or one in so many, may stand outside the indexes after a build."""
KEEP_VERSIONS = timedelta(0)
"""Older versions are deleted at once; a search that was reading one asks the new one."""

_PENDING = "pending"
_CHANGED = " OR ".join(
    f"target.{name} <> source.{name}"
    for name in ("kind", "symbol", "document_start", "line_start", "line_end", "sha256")
)
_NO_ROOM = ("no space left", "file too large", "quota exceeded", "read-only file system")
_NOT_ALLOWED = ("permission denied", "operation not permitted")


Scope = Mapping[str, Collection[str] | None]
"""Projects, each with the paths of some files as they are shown, or ``None`` for all."""


class VectorWriter:
    """Writes the table of one embedder; use inside ``private_files``."""

    def __init__(self, folder: Path, *, fingerprint: str, dimension: int) -> None:
        """Open the table, or see that there is none yet.

        Raises:
            SemanticIndexError: EXTRA_MISSING, or INDEX_DAMAGED where its bytes are unusable.
        """
        private_folder(folder)
        self._folder = folder
        self._fingerprint = fingerprint
        self._dimension = dimension
        self._path = table_path(folder, fingerprint)
        self._pending_path = folder / f"{_PENDING}-{self._path.name}"
        self._lance = lance_module()
        self._table = self._opened(self._path)
        # A handle of its own: a merge moves the other one on, and positions are of one version.
        self._base = self._opened(self._path)
        self._pending = self._opened(self._pending_path)
        self._pending_base = self._pending
        with index_faults():
            self._reusable = _positions(self._base)
            self._waiting = _positions(self._pending)

    @property
    def rows(self) -> int:
        """Rows of the table now."""
        with index_faults():
            return 0 if self._table is None else int(self._table.count_rows())

    def rows_of(self, project: str) -> int:
        """Count the rows of a project."""
        with index_faults():
            return 0 if self._table is None else int(self._table.count_rows(filter_of([project])))

    def missing(self, hashes: Collection[str]) -> set[str]:
        """Those of ``hashes`` for whose text no vector was there when the table was opened."""
        return {item for item in hashes if item not in self._reusable and item not in self._waiting}

    def waiting(self, hashes: Collection[str]) -> int:
        """Count those of ``hashes`` whose vectors an interrupted run left behind."""
        return sum(item in self._waiting and item not in self._reusable for item in hashes)

    def vectors(self, hashes: Sequence[str]) -> "dict[str, Vectors]":
        """Return the vectors of those texts that were embedded before.

        Raises:
            SemanticIndexError: INDEX_DAMAGED.
        """
        found = _taken(self._base, self._reusable, hashes)
        rest = [item for item in hashes if item not in found]
        return {**found, **_taken(self._pending_base, self._waiting, rest)}

    def keep(self, vectors: "Mapping[str, Vectors]") -> None:
        """Put vectors by whose project is not finished yet, for the run after an interruption.

        Raises:
            SemanticIndexError: INDEX_FULL or INDEX_UNWRITABLE.
        """
        import pyarrow as pa

        schema = pa.schema(
            [("text_hash", pa.string()), ("vector", pa.list_(pa.float32(), self._dimension))]
        )
        rows = pa.table(
            [pa.array(list(vectors)), self._array(list(vectors.values()))], schema=schema
        )
        with writing():
            self._pending = self._lance.write_dataset(
                rows, str(self._pending_path), mode="append" if self._pending else "overwrite"
            )

    def replace(self, scope: Scope, rows: Sequence[tuple[str, Chunk]], vectors: "Vectors") -> None:
        """Make the rows of a scope these rows, in one commit.

        Args:
            scope: whose other rows are deleted.
            rows: project id and chunk.
            vectors: one row for each of them.

        Raises:
            SemanticIndexError: INDEX_FULL or INDEX_UNWRITABLE; the table is as it was.
        """
        source = self._rows(rows, vectors)
        with writing():
            if self._table is None:
                self._table = self._lance.write_dataset(
                    source, str(self._path), mode="overwrite", schema=source.schema
                )
                return
            condition = _condition_of(scope)
            if not self._table.count_rows(condition):
                # Nothing to compare with: a merge would look at the whole table.
                self._table = self._lance.write_dataset(source, str(self._path), mode="append")
                return
            (
                self._table.merge_insert("id")
                .when_matched_update_all(_CHANGED)
                .when_not_matched_insert_all()
                .when_not_matched_by_source_delete(condition)
                .execute(source)
            )

    def forget(self, projects: Collection[str]) -> None:
        """Delete every row whose project is not one of ``projects``.

        Raises:
            SemanticIndexError: INDEX_FULL or INDEX_UNWRITABLE.
        """
        if self._table is not None:
            condition = filter_of(projects)
            with writing():
                if self._table.count_rows(f"NOT ({condition})"):
                    self._table.delete(f"NOT ({condition})")

    def tidy(self, *, keep: timedelta = KEEP_VERSIONS) -> None:
        """Compact the table, bring its indexes up to date, and delete old versions.

        Raises:
            SemanticIndexError: INDEX_FULL or INDEX_UNWRITABLE; the table still answers.
        """
        if self._table is None:
            return
        with writing():
            self._table.optimize.compact_files()
            self._scalar_indexes()
            self._vector_index()
            self._table.optimize.optimize_indices()
            self._table.cleanup_old_versions(older_than=keep, delete_unverified=False)

    def keep_tidy(self) -> None:
        """Do of ``tidy`` what is due: a change costs what changed, and now and then a little more.

        Rows that the indexes do not cover are looked at one by one, which is fast while they are
        few. Small pieces of the table are put together once there are several, large ones stay.

        Raises:
            SemanticIndexError: INDEX_FULL or INDEX_UNWRITABLE; the table still answers.
        """
        if self._table is None:
            return
        with writing():
            pieces = [each.count_rows() for each in self._table.get_fragments()]
            if sum(rows < SMALL_ROWS for rows in pieces) > MOST_SMALL_PIECES:
                self._table.optimize.compact_files(target_rows_per_fragment=SMALL_ROWS)
            self._scalar_indexes()
            self._vector_index()
            if self._late_rows() > max(LATE_ROWS, sum(pieces) // LATE_SHARE):
                self._table.optimize.optimize_indices()
            self._table.cleanup_old_versions(older_than=KEEP_VERSIONS, delete_unverified=False)

    def _late_rows(self) -> int:
        """Count the rows that came after the index that covers fewest."""
        return max(
            int(self._table.stats.index_stats(item.name)["num_unindexed_rows"])
            for item in self._table.describe_indices()
        )

    def finish(self) -> None:
        """Delete what a finished build leaves behind: kept vectors, tables of other embedders."""
        for path in (*self._folder.glob(f"{_PENDING}-*"), *tables(self._folder)):
            if path != self._path:
                shutil.rmtree(path, ignore_errors=True)
        self._pending = None

    def _opened(self, path: Path) -> Any:
        if not is_table(path):
            shutil.rmtree(path, ignore_errors=True)
            return None
        with index_faults():
            return self._lance.dataset(str(path))

    def _scalar_indexes(self) -> None:
        names = {item.name for item in self._table.describe_indices()}
        for name, column in ((PROJECT_INDEX, "project"), (KIND_INDEX, "kind")):
            if name not in names:
                self._table.create_scalar_index(column, "BITMAP", name=name)

    def _vector_index(self) -> None:
        rows = self._table.count_rows()
        names = {item.name for item in self._table.describe_indices()}
        if rows < INDEX_FROM_ROWS:
            if VECTOR_INDEX in names:
                self._table.drop_index(VECTOR_INDEX)
            return
        if VECTOR_INDEX in names:
            stats = self._table.stats.index_stats(VECTOR_INDEX)
            if stats["num_unindexed_rows"] * RETRAIN_SHARE < rows:
                return
        self._table.create_index("vector", "IVF_SQ", name=VECTOR_INDEX, metric=METRIC, replace=True)

    def _rows(self, rows: Sequence[tuple[str, Chunk]], vectors: "Vectors") -> Any:
        import pyarrow as pa

        names = [
            ("id", pa.string(), [chunk.id for _, chunk in rows]),
            ("project", pa.string(), [project for project, _ in rows]),
            ("kind", pa.string(), [chunk.kind for _, chunk in rows]),
            ("path", pa.string(), [chunk.path for _, chunk in rows]),
            ("name", pa.string(), [chunk.name for _, chunk in rows]),
            ("symbol", pa.string(), [chunk.symbol for _, chunk in rows]),
            ("document_start", pa.int32(), [chunk.document for _, chunk in rows]),
            ("line_start", pa.int32(), [chunk.start for _, chunk in rows]),
            ("line_end", pa.int32(), [chunk.end for _, chunk in rows]),
            ("sha256", pa.string(), [chunk.sha256 for _, chunk in rows]),
            ("text_hash", pa.string(), [chunk.text_hash for _, chunk in rows]),
            ("indexed_at", pa.int64(), [chunk.indexed_at for _, chunk in rows]),
        ]
        schema = pa.schema(
            [
                *((name, type_) for name, type_, _ in names),
                ("vector", pa.list_(pa.float32(), self._dimension)),
            ],
            metadata={"fingerprint": self._fingerprint},
        )
        arrays = [pa.array(values, type_) for _, type_, values in names]
        return pa.table([*arrays, self._array(vectors)], schema=schema)

    def _array(self, vectors: "Vectors | Sequence[Vectors]") -> Any:
        import numpy as np
        import pyarrow as pa

        flat = np.ascontiguousarray(vectors, np.float32).reshape(-1)
        return pa.FixedSizeListArray.from_arrays(pa.array(flat), self._dimension)


def discard_table(folder: Path, fingerprint: str) -> None:
    """Delete a table whose bytes are unusable; it is derived, and made anew."""
    path = table_path(folder, fingerprint)
    for each in (path, folder / f"{_PENDING}-{path.name}"):
        shutil.rmtree(each, ignore_errors=True)


@contextmanager
def private_files() -> Iterator[None]:
    """Files that are made meanwhile, in threads of the engine too, are the person's alone."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def writing() -> Iterator[None]:
    """Turn what lance raises while it writes into the error a person reads."""
    try:
        yield
    except AgenticOSError:
        raise
    except Exception as fault:
        said = str(fault).casefold()
        if any(words in said for words in _NO_ROOM):
            raise index_error("INDEX_FULL", "there is no room for the semantic index") from fault
        if any(words in said for words in _NOT_ALLOWED):
            raise index_error(
                "INDEX_UNWRITABLE", "the folder of the semantic index cannot be written"
            ) from fault
        with index_faults():
            raise


def _condition_of(scope: Scope) -> str:
    whole = [project for project, paths in scope.items() if paths is None]
    parts = [
        f"({filter_of([project])} AND {among('path', paths)})"
        for project, paths in scope.items()
        if paths is not None
    ]
    if whole or not parts:
        parts.append(str(filter_of(whole)))
    return " OR ".join(parts)


def _positions(dataset: Any) -> dict[str, int]:
    """Where each text's vector stands in a table."""
    if dataset is None:
        return {}
    found: dict[str, int] = {}
    at = 0
    for batch in dataset.scanner(columns=["text_hash"], scan_in_order=True).to_batches():
        hashes = batch.column(0).to_pylist()
        found.update(zip(hashes, range(at, at + len(hashes)), strict=True))
        at += len(hashes)
    return found


def _taken(dataset: Any, positions: dict[str, int], hashes: Sequence[str]) -> "dict[str, Vectors]":
    import numpy as np

    wanted = sorted({item for item in hashes if item in positions}, key=positions.__getitem__)
    if not wanted:
        return {}
    with index_faults():
        table = dataset.take([positions[item] for item in wanted], columns=["text_hash", "vector"])
        column = table.column("vector").combine_chunks()
        matrix = np.asarray(column.flatten()).reshape(len(wanted), -1)
        names = table.column("text_hash").to_pylist()
    return dict(zip(names, matrix, strict=True))
