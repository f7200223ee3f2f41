"""The question in an address: every parameter is bounded, and named where it is wrong."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeVar, get_args

from agentic_os.errors import AgenticOSError
from agentic_os.results import KINDS, MODES, Kind, SearchMode
from agentic_os.web.codes import ERRORS

T = TypeVar("T", bound=str)

MAX_TEXT_CHARS: Final = 512
MAX_VALUES: Final = 200
"""Values of one parameter that may be repeated."""
Walk = Literal["neighbors", "path", "impact"]


@dataclass(frozen=True, slots=True)
class Question:
    """The parameters of one request, in the order in which they were given."""

    pairs: tuple[tuple[str, str], ...]

    def text(self, name: str, default: str = "") -> str:
        """Return a text of at most 512 characters.

        Raises:
            UsageError: ``ARGUMENT_INVALID``: longer, given twice, or not Unicode.
        """
        found = self._values(name)
        if not found:
            return default
        if len(found) > 1:
            raise _invalid(name, "is given more than once")
        return found[0]

    def needed(self, name: str) -> str:
        """Return a text that must not be empty.

        Raises:
            UsageError: ``ARGUMENT_INVALID``.
        """
        text = self.text(name).strip()
        if not text:
            raise _invalid(name, "is missing")
        return text

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the values of a parameter that may be repeated, at most 200.

        Raises:
            UsageError: ``ARGUMENT_INVALID``.
        """
        return tuple(value for value in self._values(name) if value)

    def integer(self, name: str, default: int, *, least: int, most: int) -> int:
        """Return a whole number within bounds.

        Raises:
            UsageError: ``ARGUMENT_INVALID``.
        """
        text = self.text(name)
        if not text:
            return default
        try:
            number = int(text)
        except ValueError:
            raise _invalid(name, "is not a whole number") from None
        if not least <= number <= most:
            raise _invalid(name, f"is not between {least} and {most}")
        return number

    def real(self, name: str) -> float | None:
        """Return a finite number, or None where the parameter is not given.

        Raises:
            UsageError: ``ARGUMENT_INVALID``.
        """
        text = self.text(name)
        if not text:
            return None
        try:
            number = float(text)
        except ValueError:
            raise _invalid(name, "is not a number") from None
        if not abs(number) < 1e12:  # noqa: PLR2004 - far outside every layout; NaN fails it too
            raise _invalid(name, "is out of bounds")
        return number

    def choice(self, name: str, options: Sequence[T], default: T) -> T:
        """Return one of ``options``.

        Raises:
            UsageError: ``ARGUMENT_INVALID``.
        """
        text = self.text(name)
        if not text:
            return default
        for option in options:
            if option == text:
                return option
        raise _invalid(name, f"is none of {', '.join(options)}")

    def kinds(self) -> frozenset[Kind]:
        """Return the kinds that a search is limited to; empty for all.

        Raises:
            UsageError: ``ARGUMENT_INVALID``.
        """
        asked = self.texts("kind")
        found = frozenset(kind for kind in KINDS if kind in asked)
        if unknown := [kind for kind in asked if kind not in found]:
            raise _invalid("kind", f"{unknown[0]!r} is none of {', '.join(KINDS)}")
        return found

    def mode(self) -> SearchMode:
        """Return how a search finds.

        Raises:
            UsageError: ``ARGUMENT_INVALID``.
        """
        return self.choice("mode", MODES, "auto")

    def _values(self, name: str) -> list[str]:
        found = [value for key, value in self.pairs if key == name]
        if len(found) > MAX_VALUES:
            raise _invalid(name, f"is given more than {MAX_VALUES} times")
        for value in found:
            if len(value) > MAX_TEXT_CHARS:
                raise _invalid(name, f"is longer than {MAX_TEXT_CHARS} characters")
            if "\0" in value or "\ufffd" in value:
                raise _invalid(name, "is not text")
        return found


WALKS: Final = get_args(Walk)


def _invalid(name: str, why: str) -> AgenticOSError:
    return ERRORS.error("ARGUMENT_INVALID", f"the parameter {name} {why}")
