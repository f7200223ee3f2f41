"""What ``projects.toml`` says, as frozen values."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

RootOrigin = Literal["command line", "projects.toml", "current directory", "enclosing project"]

MAX_DEPTH_LEVELS = 64
MAX_FOLDERS = 10_000_000
MAX_ENTRIES = 10_000_000
MAX_GRAPH_BYTES = 8_589_934_592
MAX_ENGINE_SECONDS = 600
MAX_SYNTHESIS_SECONDS = 3_600

Text = Annotated[str, Meta(pattern=r"\S")]
"""A string that says something."""
VariableName = Annotated[str, Meta(pattern=r"\A[A-Za-z_][A-Za-z0-9_]{0,127}\Z")]


class Root(msgspec.Struct, frozen=True, kw_only=True):
    """A folder to walk: as the person typed it, where that is, and who named it.

    ``adopt`` takes in the repositories below it that have no descriptor.
    """

    typed: str
    path: Path
    origin: RootOrigin
    adopt: bool = False


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bounds of one walk; each one that is hit is reported.

    ``depth`` counts levels of folders below a root (the root itself is level 0),
    ``folders`` the folders entered per root, ``entries`` the entries looked at in one
    folder, ``graph_bytes`` the largest code graph that is read, ``engine_seconds`` how long
    one granted engine may take to answer.
    """

    depth: Annotated[int, Meta(ge=1, le=MAX_DEPTH_LEVELS)] = 8
    folders: Annotated[int, Meta(ge=1, le=MAX_FOLDERS)] = 50_000
    entries: Annotated[int, Meta(ge=1, le=MAX_ENTRIES)] = 50_000
    graph_bytes: Annotated[int, Meta(ge=1, le=MAX_GRAPH_BYTES)] = 536_870_912
    engine_seconds: Annotated[int, Meta(ge=1, le=MAX_ENGINE_SECONDS)] = 20


SurfaceName = Literal["memory", "vault", "graph", "instructions", "capabilities", "corpus"]
"""What may be taken of one project: ``corpus`` are its code and documents."""


class ListedProject(msgspec.Struct, frozen=True, kw_only=True):
    """A project that is listed by its own path, with its pinned id and aliases.

    ``adopt`` says whether it is taken in where it has no descriptor; ``None`` leaves that to its
    root. ``surfaces`` are those that may be taken of it, ``None`` for all.
    """

    typed: str
    path: Path
    id: str | None = None
    aliases: tuple[str, ...] = ()
    adopt: bool | None = None
    surfaces: frozenset[str] | None = None


class Grant(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Leave to ask one project's own engine, valid for exactly this endpoint."""

    project: Text
    endpoint: Text


class Synthesis(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The language model that answers from passages: an address and a model, or a command.

    ``key_variable`` names the environment variable that holds the address's key; the key itself
    never stands in the file. ``seconds`` is how long one answer may take.
    """

    url: Text | None = None
    model: Text | None = None
    key_variable: VariableName | None = None
    command: tuple[Text, ...] = ()
    seconds: Annotated[int, Meta(ge=1, le=MAX_SYNTHESIS_SECONDS)] = 120


class HarnessMemory(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The harnesses whose own folders of the person are read; none unless it is named."""

    claude_code: bool = False
    codex: bool = False
    gemini: bool = False
    serena: bool = False


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in ``projects.toml``; ``file`` is ``None`` where there is no such file.

    ``embedding_model`` is the embedding model the person chose, by a name of ``model list``, a
    folder or a hub name; ``None`` is the default model.
    """

    file: Path | None = None
    roots: tuple[Root, ...] = ()
    exclude: tuple[str, ...] = ()
    exclude_remotes: tuple[str, ...] = ()
    limits: Limits = msgspec.field(default_factory=Limits)
    projects: tuple[ListedProject, ...] = ()
    grants: tuple[Grant, ...] = ()
    redaction_allow: frozenset[str] = frozenset()
    corpus_include: tuple[str, ...] = ()
    embedding_model: str | None = None
    synthesis: Synthesis | None = None
    harness_memory: HarnessMemory = HarnessMemory()

    def granted(self, project: str, endpoint: str) -> bool:
        """Whether the engine at ``endpoint`` of this project id may be asked.

        A grant holds for one exact string: it is void as soon as the project's
        descriptor names another endpoint (design section 6).
        """
        return Grant(project=project, endpoint=endpoint) in self.grants
