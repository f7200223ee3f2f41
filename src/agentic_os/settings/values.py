"""What ``projects.toml`` says, as frozen values."""

from pathlib import Path
from typing import Literal

import msgspec

RootOrigin = Literal["command line", "projects.toml", "current directory"]

DEFAULT_DEPTH_LEVELS = 8
DEFAULT_FOLDERS_ENTRIES = 50_000
DEFAULT_FOLDER_ENTRIES = 50_000
DEFAULT_GRAPH_BYTES = 536_870_912
DEFAULT_ENGINE_SECONDS = 20
DEFAULT_SYNTHESIS_SECONDS = 120


class Root(msgspec.Struct, frozen=True, kw_only=True):
    """A folder to walk: as the person typed it, where that is, and who named it."""

    typed: str
    path: Path
    origin: RootOrigin


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of one walk; each one that is hit is reported.

    ``depth`` counts levels of folders below a root (the root itself is level 0),
    ``folders`` the folders entered per root, ``entries`` the entries looked at in one
    folder, ``graph_bytes`` the largest code graph that is read, ``engine_seconds`` how long
    one granted engine may take to answer.
    """

    depth: int = DEFAULT_DEPTH_LEVELS
    folders: int = DEFAULT_FOLDERS_ENTRIES
    entries: int = DEFAULT_FOLDER_ENTRIES
    graph_bytes: int = DEFAULT_GRAPH_BYTES
    engine_seconds: int = DEFAULT_ENGINE_SECONDS


class ListedProject(msgspec.Struct, frozen=True, kw_only=True):
    """A project that is listed by its own path, with its pinned id and aliases."""

    typed: str
    path: Path
    id: str | None = None
    aliases: tuple[str, ...] = ()


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """Leave to ask one project's own engine, valid for exactly this endpoint."""

    project: str
    endpoint: str


class Synthesis(msgspec.Struct, frozen=True, kw_only=True):
    """The language model that answers from passages: an address and a model, or a command.

    ``key_variable`` names the environment variable that holds the address's key; the key itself
    never stands in the file. ``seconds`` is how long one answer may take.
    """

    url: str | None = None
    model: str | None = None
    key_variable: str | None = None
    command: tuple[str, ...] = ()
    seconds: int = DEFAULT_SYNTHESIS_SECONDS


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in ``projects.toml``; ``file`` is ``None`` where there is no such file.

    ``embedding_model`` is the embedding model the person chose, by a name of ``model list``, a
    folder or a hub name; ``None`` is the default model.
    """

    file: Path | None = None
    roots: tuple[Root, ...] = ()
    exclude: tuple[str, ...] = ()
    limits: Limits = msgspec.field(default_factory=Limits)
    projects: tuple[ListedProject, ...] = ()
    grants: tuple[Grant, ...] = ()
    redaction_allow: frozenset[str] = frozenset()
    embedding_model: str | None = None
    synthesis: Synthesis | None = None

    def granted(self, project: str, endpoint: str) -> bool:
        """Whether the engine at ``endpoint`` of this project id may be asked.

        A grant holds for one exact string: it is void as soon as the project's
        descriptor names another endpoint (design section 6).
        """
        return Grant(project=project, endpoint=endpoint) in self.grants
