"""What the semantic index was last built from: a small file beside its table.

It says which projects are in the table and the mark of every file they were read from, so that a
question can say what is not in the index yet without opening anything large, and a build reads
what changed. It is written after the table: where it is behind, a build only looks again.
"""

from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from agentic_os.files.publishing import publish

STATE_NAME = "state.msgpack"
STATE_SCHEMA = 2
STATE_LIMIT_BYTES = 268_435_456


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectState:
    """One project in the table: how many rows, and the files behind them with their marks."""

    rows: int
    files: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """The table's embedder, and every project in it.

    ``made_by`` is the hash of what the store was made by: another parser, or another rule of
    secrets, may make other chunks of the same bytes.
    """

    fingerprint: str
    model: str
    made_by: str = ""
    projects: dict[str, ProjectState] = field(default_factory=dict)
    schema: int = STATE_SCHEMA

    @property
    def rows(self) -> int:
        """Rows of all projects."""
        return sum(project.rows for project in self.projects.values())


def read_state(folder: Path) -> IndexState | None:
    """Read the state beside a table; ``None`` if there is none that can be used."""
    try:
        with (folder / STATE_NAME).open("rb") as stream:
            data = stream.read(STATE_LIMIT_BYTES + 1)
        if len(data) > STATE_LIMIT_BYTES:
            return None
        found = msgspec.msgpack.decode(data, type=IndexState)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return found if found.schema == STATE_SCHEMA else None


def write_state(folder: Path, state: IndexState) -> None:
    """Publish the state, whole or not at all.

    Raises:
        FilesError: PUBLISH_FAILED.
    """
    publish(folder / STATE_NAME, msgspec.msgpack.encode(state))


def drop_state(folder: Path) -> None:
    """Forget the state: the next build looks at every project."""
    (folder / STATE_NAME).unlink(missing_ok=True)
