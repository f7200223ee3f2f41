"""The scaffold record at the end of a descriptor: set apart, and read as JSON on demand.

Producer contract, section 9, item 1: the record holds two one-line JSON maps that YAML
reads slowly, and that the C loader rejects when a name holds an emoji. The descriptor is
parsed without it (design decision 4); whoever wants the record asks for it.
"""

import json
import re
from collections.abc import Mapping

import msgspec

from agentic_os.registry.codes import diagnostic
from agentic_os.registry.descriptor.fields import clean_name
from agentic_os.registry.descriptor.memory_block import STACK_ALIASES
from agentic_os.registry.descriptor.values import Descriptor
from agentic_os.results import Diagnostic
from agentic_os.text.decoding import decode

MARKER = "# --- scaffold record"
MAX_RECORD_ENTRIES = 10_000

KEY = "scaffold:"

# A key of the person's own below the record: it belongs to the visible part.
_NEXT_KEY = re.compile(r"\n(?!scaffold:)(?=[A-Za-z_][\w.-]*[ \t]*:(?:[ \t\n]|\Z))")
_FIELD = re.compile(r"^[ \t]+(preset|variables|manifest):(.*)$", re.MULTILINE)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


class SplitText(msgspec.Struct, frozen=True, kw_only=True):
    """A descriptor's text without its record, and the record.

    ``visible`` keeps the line numbers of the file. ``record`` is empty where there is none.
    """

    visible: str
    record: str


class ScaffoldRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What project-init remembers: preset, variables and the hashes of its files."""

    preset: str | None = None
    variables: Mapping[str, str] = msgspec.field(default_factory=dict)
    manifest: Mapping[str, str] = msgspec.field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()


def split_record(text: str) -> SplitText:
    """Set the record apart: from its marker line, or the ``scaffold:`` key, to its end.

    Keys that someone appended below the record stay in the visible part.
    """
    begin = _line_start(text, MARKER)
    if begin < 0:
        begin = _line_start(text, KEY)
    if begin < 0:
        return SplitText(visible=text, record="")
    after = _NEXT_KEY.search(text, begin)
    if after is None:
        return SplitText(visible=text[:begin], record=text[begin:])
    record = text[begin : after.end()]
    blank = "\n" * record.count("\n")
    return SplitText(visible=text[:begin] + blank + text[after.end() :], record=record)


def has_surrogate_escapes(record: str) -> bool:
    """Whether strict YAML readers reject the record (producer contract, section 9, item 1)."""
    return _SURROGATE_ESCAPE.search(record) is not None


def read_record(data: bytes, *, path: str) -> ScaffoldRecord | None:
    """Read the record of a descriptor's bytes; ``None`` if it has none.

    Args:
        data: the whole file.
        path: the descriptor's path in its project, for the diagnostics.
    """
    record = split_record(decode(data).text).record
    if not record:
        return None
    found: dict[str, str] = {}
    for match in _FIELD.finditer(record):
        found.setdefault(match[1], match[2].strip(" \t"))
    problems: list[Diagnostic] = []
    variables = _map(found.get("variables", "{}"), "variables", path, problems)
    manifest = _map(found.get("manifest", "{}"), "manifest", path, problems)
    return ScaffoldRecord(
        preset=found.get("preset") or None,
        variables=variables,
        manifest=manifest,
        diagnostics=tuple(problems),
    )


def compare_record(record: ScaffoldRecord, descriptor: Descriptor) -> tuple[Diagnostic, ...]:
    """Say where the record disagrees with the visible block, which counts.

    Producer contract, sections 2 and 10: after a hand edit the record is stale until the
    next upgrade. Only what both state is compared.
    """
    visible = {
        "project_name": descriptor.name,
        "language": descriptor.language,
        "delivery": descriptor.delivery,
        "memory_stack": descriptor.label if descriptor.choice != "unknown" else None,
    }
    noted: list[Diagnostic] = []
    for key, value in visible.items():
        recorded = record.variables.get(key)
        if not recorded or value is None:
            continue
        if STACK_ALIASES.get(recorded, recorded) != value and clean_name(recorded) != value:
            message = f"scaffold.variables.{key} says otherwise than the visible block"
            noted.append(diagnostic("RECORD_DISAGREES", message, path=descriptor.path))
    return tuple(noted)


def _line_start(text: str, words: str) -> int:
    """Return where a line begins with ``words``, or -1."""
    if text.startswith(words):
        return 0
    found = text.find("\n" + words)
    return found + 1 if found >= 0 else -1


def _map(text: str, name: str, path: str, problems: list[Diagnostic]) -> dict[str, str]:
    """Parse a one-line JSON map; only pairs of strings are kept."""
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict) or len(parsed) > MAX_RECORD_ENTRIES:
        problems.append(_unreadable(f"scaffold.{name} is not a one-line JSON map", path))
        return {}
    kept = {
        _joined(key): _joined(value)
        for key, value in parsed.items()
        if isinstance(key, str) and isinstance(value, str)
    }
    if len(kept) < len(parsed):
        problems.append(_unreadable(f"scaffold.{name} holds values that are no strings", path))
    return kept


def _joined(text: str) -> str:
    """Replace lone surrogates, which no output can carry; JSON has joined the pairs."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _unreadable(message: str, path: str) -> Diagnostic:
    return diagnostic("RECORD_UNREADABLE", message, path=path)
