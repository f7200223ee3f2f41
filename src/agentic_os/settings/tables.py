"""One table of a TOML document, read strictly: every fault names its line and its nearest key."""

import difflib
from collections.abc import Mapping, Sequence
from typing import TypeGuard

from agentic_os.errors import SettingsError
from agentic_os.settings.lines import line_of
from agentic_os.text.fencing import one_line

MAX_SHOWN_CHARS = 200


class Table:
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
        """Hold the values of one table.

        Args:
            text: the whole file, to find lines in.
            file: the file's name.
            values: what the table holds.
            name: the table's name; empty for the top level.
            position: which table of an array, from 0.
        """
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
        shown = one_line(key[:MAX_SHOWN_CHARS])
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

    def table(self, key: str, known: Sequence[str]) -> "Table":
        """Read a sub-table; absent is empty."""
        found = self._values.get(key, {})
        if not _is_table(found):
            raise self.wrong(key, f"a table, [{key}]", found)
        below = self._below(key, found, 0)
        below.require_known(known)
        return below

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that stand in this table."""
        return tuple(self._values)

    def tables(self, key: str, known: Sequence[str]) -> list["Table"]:
        """Read an array of tables; absent is empty."""
        found = self._values.get(key, [])
        if not isinstance(found, list):
            raise self.wrong(key, f"a list of tables, [[{key}]]", found)
        rows: list[Table] = []
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

    def _below(self, key: str, values: Mapping[str, object], position: int) -> "Table":
        return Table(text=self._text, file=self._file, values=values, name=key, position=position)


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
