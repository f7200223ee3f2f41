"""What an engine is asked, what it may say, and how it fails."""

from dataclasses import dataclass, field

MAX_OUTPUT_BYTES = 4 * 1024 * 1024
"""What is read of one engine in one search, protocol included."""
MAX_MESSAGES_ENTRIES = 10_000
"""Lines or events read of one engine in one search."""
MAX_HITS_ENTRIES = 100
"""Passages taken of one engine's answer."""
MAX_CONTENT_CHARS = 100_000
"""A longer passage is not looked for."""


class EngineFault(Exception):  # noqa: N818 - not an error of the command: it costs one engine
    """An engine that did not answer: a code of ``engine_codes`` and a reason in our own words."""

    def __init__(self, code: str, reason: str) -> None:
        """Keep code and reason."""
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineHit:
    """A passage as an engine names it: nothing of it is believed yet.

    ``path`` is text; lines count from 1, ``0`` where the engine says none; ``content`` is what it
    says stands there, ``score`` lies between 0 and 1.
    """

    path: str
    start: int
    end: int
    content: str
    score: float


@dataclass(slots=True)
class Meter:
    """Counts what one engine says, and keeps the fault that ended the conversation."""

    limit_bytes: int = MAX_OUTPUT_BYTES
    limit_messages: int = MAX_MESSAGES_ENTRIES
    fault: EngineFault | None = None
    _bytes: int = field(default=0)
    _messages: int = field(default=0)

    def take(self, size_bytes: int, messages: int = 0) -> None:
        """Count what came.

        Raises:
            EngineFault: ENGINE_ANSWER_INVALID, once it is too much; kept as ``fault``.
        """
        self._bytes += size_bytes
        self._messages += messages
        if self._bytes > self.limit_bytes:
            self.fault = EngineFault(
                "ENGINE_ANSWER_INVALID", f"it said more than {self.limit_bytes} bytes"
            )
        elif self._messages > self.limit_messages:
            self.fault = EngineFault(
                "ENGINE_ANSWER_INVALID", f"it said more than {self.limit_messages} lines"
            )
        if self.fault is not None:
            raise self.fault
