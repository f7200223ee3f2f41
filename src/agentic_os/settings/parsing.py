"""``projects.toml`` from text to values; a misspelt key or a wrong type names its line.

Pure: nothing on disk is looked at. Every refusal is a ``SettingsError`` whose message
begins with the file's name and, where it is known, the line.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeGuard

import tomli

from agentic_os.errors import SettingsError
from agentic_os.settings.lines import line_of
from agentic_os.settings.paths import expanded, root_from
from agentic_os.settings.values import Grant, Limits, ListedProject, Root, Settings
from agentic_os.text.fencing import one_line

MAX_DEPTH_LEVELS = 64
MAX_FOLDERS_ENTRIES = 10_000_000
MAX_FOLDER_ENTRIES = 10_000_000
MAX_GRAPH_BYTES = 8_589_934_592
MAX_ID_CHARS = 80
MAX_ALIAS_CHARS = 200

_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_TOP_KEYS = ("roots", "exclude", "limits", "project", "grant", "redaction", "embedding")
_LIMIT_KEYS = ("depth", "folders", "entries", "graph_bytes")
_PROJECT_KEYS = ("path", "id", "aliases")
_GRANT_KEYS = ("project", "endpoint")
_REDACTION_KEYS = ("allow",)
_EMBEDDING_KEYS = ("model",)


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
    top = _Table(text=text, file=file.name, values=document)
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
        ),
        projects=_projects(top, file.parent, home),
        grants=_grants(top),
        redaction_allow=frozenset(redaction.strings("allow")),
        embedding_model=embedding.string("model"),
    )


class _Table:
    """One table of the document, with what is needed to name a fault in it."""

    def __init__(
        self,
        *,
        text: str,
        file: str,
        values: Mapping[str, object],
        name: str = "",
        position: int = 0,
    ) -> None:
        self._text = text
        self._file = file
        self._values = values
        self._name = name
        self._position = position

    def refuse(self, key: str, fault: str, *, code: str, hint: str = "") -> SettingsError:
        """Build the error for ``key`` of this table."""
        line = line_of(self._text, key=key, table=self._name, position=self._position)
        where = f"{self._file} line {line}" if line else self._file
        place = f" in [{self._name}]" if self._name else ""
        shown = one_line(key[:MAX_ALIAS_CHARS])
        return SettingsError(f"{where}: {shown!r}{place} {fault}", code=code, hint=hint)

    def require_known(self, keys: Sequence[str]) -> None:
        """Refuse the first key that is not one of ``keys``, with the nearest one."""
        for key in self._values:
            if key in keys:
                continue
            near = difflib.get_close_matches(key, keys, n=1, cutoff=0.5)
            fault = "is not a known key" + (f"; did you mean {near[0]!r}?" if near else "")
            raise self.refuse(
                key, fault, code="SETTINGS_KEY_UNKNOWN", hint=f"known keys: {', '.join(keys)}"
            )

    def strings(self, key: str) -> tuple[str, ...]:
        """Read a list of non-empty strings; absent is empty."""
        found = self._values.get(key, [])
        if not isinstance(found, list):
            raise self.wrong(key, "a list of strings", found)
        texts: list[str] = []
        for item in found:
            if not isinstance(item, str):
                raise self.wrong(key, "a list of strings", item, inside=True)
            if not item.strip():
                raise self.refuse(key, "holds an empty string", code="SETTINGS_VALUE_INVALID")
            texts.append(item)
        return tuple(texts)

    def string(self, key: str) -> str | None:
        """Read a non-empty string; absent is ``None``."""
        if key not in self._values:
            return None
        found = self._values[key]
        if not isinstance(found, str):
            raise self.wrong(key, "a string", found)
        if not found.strip():
            raise self.refuse(key, "is empty", code="SETTINGS_VALUE_INVALID")
        return found

    def required(self, key: str) -> str:
        """Read a string that must be there."""
        found = self.string(key)
        if found is None:
            raise self.refuse(key, "is missing", code="SETTINGS_VALUE_INVALID")
        return found

    def integer(self, key: str, default: int, most: int) -> int:
        """Read a whole number from 1 to ``most``."""
        found = self._values.get(key, default)
        if not isinstance(found, int) or isinstance(found, bool):
            raise self.wrong(key, "a whole number", found)
        if not 1 <= found <= most:
            raise self.refuse(key, f"must lie between 1 and {most}", code="SETTINGS_VALUE_INVALID")
        return found

    def table(self, key: str, known: Sequence[str]) -> "_Table":
        """Read a sub-table; absent is empty."""
        found = self._values.get(key, {})
        if not _is_table(found):
            raise self.wrong(key, f"a table, [{key}]", found)
        below = self._below(key, found, 0)
        below.require_known(known)
        return below

    def tables(self, key: str, known: Sequence[str]) -> list["_Table"]:
        """Read an array of tables; absent is empty."""
        found = self._values.get(key, [])
        if not isinstance(found, list):
            raise self.wrong(key, f"a list of tables, [[{key}]]", found)
        rows: list[_Table] = []
        for position, item in enumerate(found):
            if not _is_table(item):
                raise self.wrong(key, f"a list of tables, [[{key}]]", item, inside=True)
            row = self._below(key, item, position)
            row.require_known(known)
            rows.append(row)
        return rows

    def wrong(self, key: str, wanted: str, found: object, *, inside: bool = False) -> SettingsError:
        """Build the error for a value of the wrong type."""
        verb = "holds" if inside else "is"
        return self.refuse(
            key, f"must be {wanted}; it {verb} {_kind(found)}", code="SETTINGS_TYPE_WRONG"
        )

    def named(self, key: str, fault: SettingsError) -> SettingsError:
        """Add file and line to an error of a single entry."""
        return self.refuse(key, f": {fault.message}", code=fault.code, hint=fault.hint)

    def _below(self, key: str, values: Mapping[str, object], position: int) -> "_Table":
        return _Table(text=self._text, file=self._file, values=values, name=key, position=position)


def _roots(top: _Table, base: Path, home: Path) -> tuple[Root, ...]:
    roots: list[Root] = []
    for typed in top.strings("roots"):
        try:
            roots.append(root_from(typed, base=base, home=home, origin="projects.toml"))
        except SettingsError as fault:
            raise top.named("roots", fault) from fault
    return tuple(roots)


def _projects(top: _Table, base: Path, home: Path) -> tuple[ListedProject, ...]:
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


def _pin(row: _Table) -> str | None:
    pin = row.string("id")
    if pin is not None and (len(pin) > MAX_ID_CHARS or not _ID.fullmatch(pin)):
        raise row.refuse(
            "id",
            f"must be at most {MAX_ID_CHARS} small letters, digits and inner hyphens",
            code="SETTINGS_VALUE_INVALID",
        )
    return pin


def _grants(top: _Table) -> tuple[Grant, ...]:
    return tuple(
        Grant(project=row.required("project"), endpoint=row.required("endpoint"))
        for row in top.tables("grant", _GRANT_KEYS)
    )


def _is_table(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, dict)


def _kind(value: object) -> str:
    match value:
        case bool():
            return "a true/false value"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case dict():
            return "a table"
        case _:
            return "a date or time"
