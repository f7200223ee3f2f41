"""What a provider is asked and what it gives: one prompt, one bounded text."""

from dataclasses import dataclass
from typing import Protocol

MAX_REPLY_CHARS = 20_000
MAX_REPLY_BYTES = 1024 * 1024
"""What is read of an answer; a longer one is cut off (command) or refused (HTTP)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What the model is told (``system``) and asked (``user``)."""

    system: str
    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model said, as it said it: untrusted text. ``cut`` where some of it is missing."""

    text: str
    cut: bool = False


class Provider(Protocol):
    """A language model; one call is one question, without memory."""

    @property
    def name(self) -> str:
        """What to call it, in one line, without secrets."""

    def complete(self, prompt: Prompt) -> Reply:
        """Ask the model.

        Raises:
            ModelError: it could not be reached, refused, took too long, or made no sense.
        """


def bounded(text: str, *, cut: bool = False) -> Reply:
    """Return a reply of at most ``MAX_REPLY_CHARS`` characters."""
    return Reply(text=text[:MAX_REPLY_CHARS], cut=cut or len(text) > MAX_REPLY_CHARS)
