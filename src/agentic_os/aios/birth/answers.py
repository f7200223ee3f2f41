"""The answers that a new folder starts from: a JSON object, strictly read."""

import json
import re
from dataclasses import dataclass
from typing import Final

from agentic_os.aios.folder.faults import argument_fault

ANSWERS_BYTES: Final = 64 * 1024
ANSWER_CHARS: Final = 2000
"""Code points of one answer."""
NAMES: Final = ("name", "role", "work", "priorities", "tools")

_UNFIT = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200e\u200f\ud800-\udfff]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the person said about themselves; ``None`` where they said nothing."""

    name: str | None = None
    role: str | None = None
    work: str | None = None
    priorities: str | None = None
    tools: str | None = None

    @property
    def ai_tools(self) -> tuple[str, ...]:
        """The tools, which are a comma list."""
        return tuple(part.strip() for part in (self.tools or "").split(",") if part.strip())


def read_answers(data: bytes) -> Answers:
    """Read the answers.

    Raises:
        AiosError: DOTAIOS_ARGUMENT_INVALID, naming the key that is wrong.
    """
    if len(data) > ANSWERS_BYTES:
        raise argument_fault(f"the answers are larger than {ANSWERS_BYTES} bytes")
    try:
        pairs = json.loads(data, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        raise argument_fault("the answers are not JSON") from None
    if not isinstance(pairs, _Pairs):
        raise argument_fault("the answers must be one JSON object")
    found: dict[str, str] = {}
    for name, value in pairs:
        if name not in NAMES:
            raise argument_fault(f"unknown answer {name[:40]!r}; known: {', '.join(NAMES)}")
        if name in found:
            raise argument_fault(f"the answer {name!r} is given twice")
        found[name] = checked(name, value)
    return Answers(**found)


def checked(name: str, value: object) -> str:
    """Check one answer: a line of text.

    Raises:
        AiosError: DOTAIOS_ARGUMENT_INVALID.
    """
    text = value.strip() if isinstance(value, str) else ""
    if not 0 < len(text) <= ANSWER_CHARS or _UNFIT.search(text):
        raise argument_fault(
            f"the answer {name!r} must be one line of 1 to {ANSWER_CHARS} characters"
        )
    return text


class _Pairs(list[tuple[str, object]]):
    """The members of a JSON object in order, repeated ones included."""
