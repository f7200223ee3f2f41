"""JSON as the DotAIOS convention writes and measures it.

Documents of the convention were made by ``JSON.stringify``: non-ASCII kept raw,
separators ``,`` and ``:``, pretty form with two spaces. Lengths are UTF-16 code units
(``agentic_os.text.budget``). Parsing is that of ``agentic_os.text.jsonl``.

One documented difference: integers beyond 2**53 are kept exact, where JavaScript rounds.
"""

import json
import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final, TypeAlias

from agentic_os.text.jsonl import iterate_jsonl, parse_json
from agentic_os.text.unicode_form import SURROGATE

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
JsonObject: TypeAlias = dict[str, "Json"]

MAX_EXACT_INTEGER: Final = 2**53
"""Largest integer that a JavaScript number always holds exactly."""

_EXPONENT_FROM: Final = 1e21
ISO_DATE_CHARS: Final = 10
"""A record's time begins with its date: YYYY-MM-DD."""
_INSTANT = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})"
    r"(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|z|[+-]\d{2}:?\d{2})?)?"
)


def parse_object(text: str) -> JsonObject | None:
    """Parse one JSON document; ``None`` when it is not an object."""
    try:
        parsed = parse_json(text)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None


def parse_strict(text: str) -> object:
    """Parse JSON in which no object repeats a key, compared after unescaping.

    Raises:
        ValueError: it is not JSON, or repeats a key.
    """
    try:
        return json.loads(text, object_pairs_hook=_unrepeated)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def object_lines(text: str) -> Iterator[JsonObject | None]:
    """Yield each line of a JSONL text that is not blank: its object, or ``None`` for any other."""
    data = text.encode("utf-8", "surrogatepass")
    for _, value in iterate_jsonl(data, max_line_bytes=len(data)):
        yield value if isinstance(value, dict) else None


def compact(value: Json) -> str:
    """Serialise like ``JSON.stringify(value)``."""
    return _escaped(json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":")))


def pretty(value: Json) -> str:
    """Serialise like ``JSON.stringify(value, null, 2)``."""
    return _escaped(json.dumps(_plain(value), ensure_ascii=False, indent=2))


def stable(value: Json) -> str:
    """Serialise with the keys of every object sorted: a total order for ties."""
    return _escaped(
        json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    )


def number_text(value: float) -> str:
    """Write a number as JavaScript does: integral values without ``.0``."""
    if isinstance(value, int) and abs(value) <= MAX_EXACT_INTEGER:
        return str(value)
    number = float(value)
    if number.is_integer() and abs(number) < _EXPONENT_FROM:
        # The shortest digits that round-trip, padded with zeros.
        return str(int(Decimal(repr(number))))
    return re.sub(r"e([+-])0+(?=\d)", r"e\1", repr(number))


def text_of(value: Json) -> str:
    """Turn a JSON value into text as JavaScript's ``String`` does."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ",".join("" if item is None else text_of(item) for item in value)
    if isinstance(value, dict):
        return "[object Object]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return number_text(value) if math.isfinite(value) else "Infinity"


def instant_ms(text: str, *, local: bool = True) -> float | None:
    """Read an ISO date or date-time as milliseconds since the epoch.

    A bare date is UTC; a date-time without a zone is the machine's local time, or UTC
    when ``local`` is false. Anything else is ``None``.
    """
    found = _INSTANT.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    iso = f"{year}-{month}-{day}T{hour or '00'}:{minute or '00'}:{second or '00'}"
    micros = f".{(fraction or '0')[:6]:0<6}"
    if zone is None:
        offset = "" if hour is not None and local else "+00:00"
    else:
        offset = "+00:00" if zone in {"Z", "z"} else zone
    try:
        moment = datetime.fromisoformat(iso + micros + offset)
        return moment.timestamp() * 1000
    except (ValueError, OverflowError, OSError):
        return None


def iso_utc(moment: datetime) -> str:
    """Write a moment as the convention does: UTC, milliseconds, ``Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _unrepeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key is repeated")
    return made


def _plain(value: Json) -> Json:
    """Replace floats by what JavaScript writes; everything else stays."""
    match value:
        case float():
            if not math.isfinite(value):
                return None
            return (
                int(number_text(value))
                if value.is_integer() and abs(value) < _EXPONENT_FROM
                else value
            )
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case _:
            return value


def _escaped(text: str) -> str:
    """Spell lone surrogates as escapes, so that the text can be encoded."""
    return SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
