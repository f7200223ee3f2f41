"""``projects.toml`` from text to values; a misspelt key or a wrong type names its line.

Pure: nothing on disk is looked at. The structs below and in ``values`` are the schema, and
``msgspec`` holds the file against it; every refusal is a ``SettingsError`` whose message begins
with the file's name and, where it is known, the line.
"""

from pathlib import Path
from typing import Annotated

import msgspec
import tomli
from msgspec import Meta

from agentic_os.errors import SettingsError
from agentic_os.settings.paths import expanded, root_from
from agentic_os.settings.refusals import Refusals
from agentic_os.settings.values import (
    Grant,
    HarnessMemory,
    Limits,
    ListedProject,
    Root,
    Settings,
    SurfaceName,
    Synthesis,
    Text,
)
from agentic_os.text.fencing import one_line
from agentic_os.text.unicode_form import folded

MAX_ID_CHARS = 80
MAX_ALIAS_CHARS = 200

ProjectId = Annotated[
    str, Meta(pattern=r"\A[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\Z", max_length=MAX_ID_CHARS)
]
_PATTERNS = {
    "id": (f"must be at most {MAX_ID_CHARS} small letters, digits and inner hyphens", ""),
    "key_variable": (
        "must be the name of an environment variable",
        "The key itself never stands in this file.",
    ),
}
"""What a string must be whose form is more than not being empty, and a hint."""


class _Project(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    path: Text
    id: ProjectId | None = None
    aliases: tuple[Text, ...] = ()
    adopt: bool | None = None
    surfaces: tuple[SurfaceName, ...] | None = None


class _Root(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    path: Text
    adopt: bool = False


class _Redaction(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    allow: tuple[Text, ...] = ()


class _Corpus(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    include: tuple[Text, ...] = ()


class _Embedding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    model: Text | None = None


class _Document(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file, as it is written."""

    roots: tuple[Text, ...] = ()
    root: tuple[_Root, ...] = ()
    exclude: tuple[Text, ...] = ()
    exclude_remotes: tuple[Text, ...] = ()
    limits: Limits = msgspec.field(default_factory=Limits)
    project: tuple[_Project, ...] = ()
    grant: tuple[Grant, ...] = ()
    redaction: _Redaction = msgspec.field(default_factory=_Redaction)
    corpus: _Corpus = msgspec.field(default_factory=_Corpus)
    embedding: _Embedding = msgspec.field(default_factory=_Embedding)
    synthesis: Synthesis | None = None
    harness_memory: HarnessMemory = HarnessMemory()


_FORMS: dict[str, type[msgspec.Struct]] = {
    "": _Document,
    "root": _Root,
    "limits": Limits,
    "project": _Project,
    "grant": Grant,
    "redaction": _Redaction,
    "corpus": _Corpus,
    "embedding": _Embedding,
    "synthesis": Synthesis,
    "harness_memory": HarnessMemory,
}


def parse_settings(text: str, *, file: Path, home: Path) -> Settings:
    """Read the text of a ``projects.toml``.

    Args:
        text: the whole file.
        file: where it lies; relative paths are below its folder.
        home: what ``~`` stands for.

    Raises:
        SettingsError: SETTINGS_SYNTAX, SETTINGS_KEY_UNKNOWN, SETTINGS_TYPE_WRONG,
            SETTINGS_VALUE_INVALID or SETTINGS_PATH_INVALID.
    """
    values = _loaded(text, file.name)
    refusals = Refusals(text, file.name)
    try:
        document = msgspec.convert(values, _Document)
    except msgspec.ValidationError as fault:
        raise refusals.converted(fault, values, forms=_FORMS, patterns=_PATTERNS) from None
    _check_synthesis(document.synthesis, values.get("synthesis"), refusals)
    return Settings(
        file=file,
        roots=_roots(document, file.parent, home, refusals),
        exclude=document.exclude,
        exclude_remotes=document.exclude_remotes,
        limits=document.limits,
        projects=_projects(document, file.parent, home, refusals),
        grants=document.grant,
        redaction_allow=frozenset(document.redaction.allow),
        corpus_include=document.corpus.include,
        embedding_model=document.embedding.model,
        synthesis=document.synthesis,
        harness_memory=document.harness_memory,
    )


def _loaded(text: str, file: str) -> dict[str, object]:
    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError as fault:
        raise SettingsError(
            f"{file} line {fault.lineno}: {one_line(fault.msg)}",
            code="SETTINGS_SYNTAX",
            hint="the file is TOML: strings are quoted, lists stand in brackets",
        ) from fault
    except RecursionError:
        raise SettingsError(f"{file} is nested too deeply", code="SETTINGS_SYNTAX") from None
    except ValueError:  # more digits than Python turns into a number: no TOMLDecodeError
        raise SettingsError(
            f"{file} holds a number that is too long", code="SETTINGS_SYNTAX"
        ) from None


def _roots(document: _Document, base: Path, home: Path, refusals: Refusals) -> tuple[Root, ...]:
    """Return the roots of the list, then those with a table of their own."""
    found = []
    rows = (
        *(("roots", "", 0, _Root(path=typed)) for typed in document.roots),
        *(("path", "root", at, row) for at, row in enumerate(document.root)),
    )
    for key, table, at, row in rows:
        try:
            root = root_from(row.path, base=base, home=home, origin="projects.toml")
        except SettingsError as fault:
            raise refusals.of(
                key,
                f": {fault.message}",
                table=table,
                position=at,
                code=fault.code,
                hint=fault.hint,
            ) from fault
        found.append(msgspec.structs.replace(root, adopt=row.adopt))
    return tuple(found)


def _projects(
    document: _Document, base: Path, home: Path, refusals: Refusals
) -> tuple[ListedProject, ...]:
    listed: list[ListedProject] = []
    paths: set[Path] = set()
    taken: set[str] = set()
    for at, row in enumerate(document.project):
        try:
            path = expanded(row.path, base=base, home=home)
        except SettingsError as fault:
            raise refusals.of(
                "path",
                f": {fault.message}",
                table="project",
                position=at,
                code=fault.code,
                hint=fault.hint,
            ) from fault
        if path in paths:
            raise refusals.of("path", "is listed twice", table="project", position=at)
        paths.add(path)
        for alias in row.aliases:
            if len(alias) > MAX_ALIAS_CHARS or folded(alias) in taken:
                fault_words = (
                    f"holds {one_line(alias[:MAX_ALIAS_CHARS])!r} a second time, or too long"
                )
                raise refusals.of("aliases", fault_words, table="project", position=at)
            taken.add(folded(alias))
        listed.append(
            ListedProject(
                typed=row.path,
                path=path,
                id=row.id,
                aliases=row.aliases,
                adopt=row.adopt,
                surfaces=None if row.surfaces is None else frozenset(row.surfaces),
            )
        )
    return tuple(listed)


def _check_synthesis(chosen: Synthesis | None, written: object, refusals: Refusals) -> None:
    """Refuse what is not exactly one of an address, with its model, and a command."""
    if chosen is None:
        return
    if not isinstance(written, dict) or not written:
        raise refusals.of("synthesis", "names neither a url nor a command")
    if (chosen.url is None) == (not chosen.command):
        key = "command" if chosen.command else next(iter(written))
        raise refusals.of(key, "needs a url or a command, and not both", table="synthesis")
    for key, value in (("model", chosen.model), ("key_variable", chosen.key_variable)):
        if chosen.command and value is not None:
            raise refusals.of(key, "belongs to a url", table="synthesis")
    if chosen.url is not None and chosen.model is None:
        raise refusals.of("url", "needs a model", table="synthesis")
