"""What is wrong with ``projects.toml``, in the person's words: the line, the key, the mend."""

import difflib
import functools
import re
from collections.abc import Mapping

import msgspec

from agentic_os.errors import SettingsError
from agentic_os.settings.lines import line_of
from agentic_os.text.fencing import one_line

MAX_SHOWN_CHARS = 200

_PLACE = re.compile(
    r" - at `\$\.(?P<key>\w+)(?:\[(?P<at>\d+)\])?(?:\.(?P<below>\w+)(?P<item>\[\d+\])?)?`\Z"
)
_TYPES = re.compile(r"Expected `(?P<wanted>\w+)(?: \| null)?`, got `(?P<found>\w+)`")
_BOUND = re.compile(r"Expected `int` (?P<sign>[<>])= (?P<bound>\d+)")
_MISSING = re.compile(r"Object missing required field `(?P<key>\w+)`")
_KINDS = {
    "bool": "a true/false value",
    "int": "a number",
    "float": "a number",
    "str": "a string",
    "array": "a list",
    "object": "a table",
}
_BOUNDS = {">": "must be at least", "<": "must be at most"}


class Refusals:
    """Builds the errors of one file, each with the line where its key stands."""

    def __init__(self, text: str, file: str) -> None:
        """Keep the whole file to find lines in, and its name."""
        self._text = text
        self._file = file

    def of(
        self,
        key: str,
        fault: str,
        *,
        table: str = "",
        position: int = 0,
        code: str = "SETTINGS_VALUE_INVALID",
        hint: str = "",
    ) -> SettingsError:
        """Build the error for ``key`` of a table, the ``position``-th of that name."""
        line = line_of(self._text, key=key, table=table, position=position)
        where = f"{self._file} line {line}" if line else self._file
        place = f" in [{table}]" if table else ""
        shown = one_line(key[:MAX_SHOWN_CHARS])
        return SettingsError(f"{where}: {shown!r}{place} {fault}", code=code, hint=hint)

    def converted(
        self,
        fault: msgspec.ValidationError,
        document: Mapping[str, object],
        *,
        forms: Mapping[str, type[msgspec.Struct]],
        patterns: Mapping[str, tuple[str, str]],
    ) -> SettingsError:
        """Say in the person's words why a document could not be converted.

        Args:
            fault: what ``msgspec.convert`` said; it names the place, never the line.
            document: the document.
            forms: the struct of each table; that of the document under the empty name.
            patterns: what a string of a key must be, and a hint; without one it was empty.
        """
        said = str(fault)
        place = _PLACE.search(said)
        outer, at, below, item = place.groups() if place else ("", None, None, None)
        position = int(at or 0)
        if said.startswith("Object contains unknown field"):
            return self._unknown(document, forms[outer], outer, position)
        if missing := _MISSING.match(said):
            return self.of(missing["key"], "is missing", table=outer, position=position)
        key, table, listed = (below, outer, item) if below else (outer, "", at)
        refuse = functools.partial(self.of, key, table=table, position=position)
        if bound := _BOUND.match(said):
            return refuse(f"{_BOUNDS[bound['sign']]} {bound['bound']}")
        if said.startswith("Invalid enum value"):
            return refuse("holds a name that is not known", hint=_choices(forms[outer], below))
        expected = _TYPES.match(said)
        if expected is None:
            words, hint = patterns.get(key, ("holds an empty string" if listed else "is empty", ""))
            return refuse(words, hint=hint)
        wanted = _wanted(expected["wanted"], key, listed=listed is not None, table=key in forms)
        verb = "holds" if listed else "is"
        found = _KINDS.get(expected["found"], "a date or time")
        return refuse(f"must be {wanted}; it {verb} {found}", code="SETTINGS_TYPE_WRONG")

    def _unknown(
        self,
        document: Mapping[str, object],
        form: type[msgspec.Struct],
        table: str,
        position: int,
    ) -> SettingsError:
        # The message of msgspec does not quote: a key could look like the rest of it.
        values = document[table] if table else document
        values = values[position] if isinstance(values, list) else values
        known = [field.encode_name for field in msgspec.structs.fields(form)]
        key = next(name for name in values if name not in known) if isinstance(values, dict) else ""
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
        return self.of(
            key,
            "is not a known key" + (f"; did you mean {near[0]!r}?" if near else ""),
            table=table,
            position=position,
            code="SETTINGS_KEY_UNKNOWN",
            hint=f"known keys: {', '.join(known)}",
        )


def _choices(form: type[msgspec.Struct], key: str | None) -> str:
    """Return the words that a key may hold, for the hint."""
    field = next((one for one in msgspec.structs.fields(form) if one.encode_name == key), None)
    words = re.findall(r"'([a-z]+)'", str(field.type)) if field else []
    return f"known names: {', '.join(words)}" if words else ""


def _wanted(kind: str, key: str, *, listed: bool, table: bool) -> str:
    """Return what a value should have been; a fault inside a list is the list's."""
    if table and (listed or kind == "array"):
        return f"a list of tables, [[{key}]]"
    if listed:
        return "a list of strings"
    names = {"object": f"a table, [{key}]", "array": "a list of strings"}
    return {**names, "int": "a whole number", "bool": "true or false"}.get(kind, "a string")
