"""``projects.toml`` from text to values; a misspelt key or a wrong type names its line.

Pure: nothing on disk is looked at. Every refusal is a ``SettingsError`` whose message
begins with the file's name and, where it is known, the line.
"""

import re
from pathlib import Path

import tomli

from agentic_os.errors import SettingsError
from agentic_os.settings.paths import expanded, root_from
from agentic_os.settings.tables import Table
from agentic_os.settings.values import Grant, Limits, ListedProject, Root, Settings, Synthesis
from agentic_os.text.fencing import one_line

MAX_DEPTH_LEVELS = 64
MAX_FOLDERS_ENTRIES = 10_000_000
MAX_FOLDER_ENTRIES = 10_000_000
MAX_GRAPH_BYTES = 8_589_934_592
MAX_ENGINE_SECONDS = 600
MAX_SYNTHESIS_SECONDS = 3_600
MAX_ID_CHARS = 80
MAX_ALIAS_CHARS = 200

_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_TOP_KEYS = (
    "roots",
    "exclude",
    "limits",
    "project",
    "grant",
    "redaction",
    "embedding",
    "synthesis",
)
_LIMIT_KEYS = ("depth", "folders", "entries", "graph_bytes", "engine_seconds")
_PROJECT_KEYS = ("path", "id", "aliases")
_GRANT_KEYS = ("project", "endpoint")
_REDACTION_KEYS = ("allow",)
_EMBEDDING_KEYS = ("model",)
_SYNTHESIS_KEYS = ("url", "model", "key_variable", "command", "seconds")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


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
    try:
        document: dict[str, object] = tomli.loads(text)
    except tomli.TOMLDecodeError as fault:
        raise SettingsError(
            f"{file.name} line {fault.lineno}: {one_line(fault.msg)}",
            code="SETTINGS_SYNTAX",
            hint="the file is TOML: strings are quoted, lists stand in brackets",
        ) from fault
    except RecursionError:
        raise SettingsError(f"{file.name} is nested too deeply", code="SETTINGS_SYNTAX") from None
    except ValueError:  # more digits than Python turns into a number: no TOMLDecodeError
        raise SettingsError(
            f"{file.name} holds a number that is too long", code="SETTINGS_SYNTAX"
        ) from None
    top = Table(text=text, file=file.name, values=document)
    top.require_known(_TOP_KEYS)
    limits = top.table("limits", _LIMIT_KEYS)
    redaction = top.table("redaction", _REDACTION_KEYS)
    embedding = top.table("embedding", _EMBEDDING_KEYS)
    defaults = Limits()
    return Settings(
        file=file,
        roots=_roots(top, file.parent, home),
        exclude=top.strings("exclude"),
        limits=Limits(
            depth=limits.integer("depth", defaults.depth, MAX_DEPTH_LEVELS),
            folders=limits.integer("folders", defaults.folders, MAX_FOLDERS_ENTRIES),
            entries=limits.integer("entries", defaults.entries, MAX_FOLDER_ENTRIES),
            graph_bytes=limits.integer("graph_bytes", defaults.graph_bytes, MAX_GRAPH_BYTES),
            engine_seconds=limits.integer(
                "engine_seconds", defaults.engine_seconds, MAX_ENGINE_SECONDS
            ),
        ),
        projects=_projects(top, file.parent, home),
        grants=_grants(top),
        redaction_allow=frozenset(redaction.strings("allow")),
        embedding_model=embedding.string("model"),
        synthesis=_synthesis(top),
    )


def _roots(top: Table, base: Path, home: Path) -> tuple[Root, ...]:
    roots: list[Root] = []
    for typed in top.strings("roots"):
        try:
            roots.append(root_from(typed, base=base, home=home, origin="projects.toml"))
        except SettingsError as fault:
            raise top.named("roots", fault) from fault
    return tuple(roots)


def _projects(top: Table, base: Path, home: Path) -> tuple[ListedProject, ...]:
    listed: list[ListedProject] = []
    paths: set[Path] = set()
    taken: set[str] = set()
    for row in top.tables("project", _PROJECT_KEYS):
        typed = row.required("path")
        try:
            path = expanded(typed, base=base, home=home)
        except SettingsError as fault:
            raise row.named("path", fault) from fault
        if path in paths:
            raise row.refuse("path", "is listed twice", code="SETTINGS_VALUE_INVALID")
        paths.add(path)
        aliases = row.strings("aliases")
        for alias in aliases:
            if len(alias) > MAX_ALIAS_CHARS or alias.casefold() in taken:
                raise row.refuse(
                    "aliases",
                    f"holds {one_line(alias[:MAX_ALIAS_CHARS])!r} a second time, or too long",
                    code="SETTINGS_VALUE_INVALID",
                )
            taken.add(alias.casefold())
        listed.append(ListedProject(typed=typed, path=path, id=_pin(row), aliases=aliases))
    return tuple(listed)


def _pin(row: Table) -> str | None:
    pin = row.string("id")
    if pin is not None and (len(pin) > MAX_ID_CHARS or not _ID.fullmatch(pin)):
        raise row.refuse(
            "id",
            f"must be at most {MAX_ID_CHARS} small letters, digits and inner hyphens",
            code="SETTINGS_VALUE_INVALID",
        )
    return pin


def _grants(top: Table) -> tuple[Grant, ...]:
    return tuple(
        Grant(project=row.required("project"), endpoint=row.required("endpoint"))
        for row in top.tables("grant", _GRANT_KEYS)
    )


def _synthesis(top: Table) -> Synthesis | None:
    """Read the language model: exactly one of an address, with its model, and a command."""
    table = top.table("synthesis", _SYNTHESIS_KEYS)
    if not table.keys:
        if "synthesis" not in top.keys:
            return None
        raise top.refuse(
            "synthesis", "names neither a url nor a command", code="SETTINGS_VALUE_INVALID"
        )
    url, model, variable = table.string("url"), table.string("model"), table.string("key_variable")
    command = table.strings("command")
    seconds = table.integer("seconds", Synthesis().seconds, MAX_SYNTHESIS_SECONDS)
    if (url is None) == (not command):
        key = "command" if command else next(iter(table.keys))
        raise table.refuse(
            key, "needs a url or a command, and not both", code="SETTINGS_VALUE_INVALID"
        )
    for key, value in (("model", model), ("key_variable", variable)):
        if command and value is not None:
            raise table.refuse(key, "belongs to a url", code="SETTINGS_VALUE_INVALID")
    if url is not None and model is None:
        raise table.refuse("url", "needs a model", code="SETTINGS_VALUE_INVALID")
    if variable is not None and not _VARIABLE.fullmatch(variable):
        raise table.refuse(
            "key_variable",
            "must be the name of an environment variable",
            code="SETTINGS_VALUE_INVALID",
            hint="The key itself never stands in this file.",
        )
    return Synthesis(url=url, model=model, key_variable=variable, command=command, seconds=seconds)
