"""What the host does for a guest that this room cannot do itself; its users fill it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class FleetReader(Protocol):
    """The fleet's answers, redacted and withheld as the MCP server's are."""

    def search(self, query: str, limit: int) -> Sequence[Mapping[str, Any]]:
        """Return hits as the server would give them."""

    def read_memory(self, project: str, fact: str) -> Mapping[str, Any] | None:
        """Return one fact of a project's memory; ``None`` where there is none."""


class Proposals(Protocol):
    """The queue that the person looks through; nothing in it is true because it is there."""

    def propose(self, plugin: str, texts: Sequence[str]) -> int:
        """Add observations of external provenance; return how many were taken."""


class HttpEgress(Protocol):
    """The way out to one host."""

    def fetch(self, request: "Outgoing") -> "Incoming":
        """Ask, and return what came back.

        Raises:
            OperationFailed: a reason of the format's list.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A request to a host, with the time that it may take."""

    method: str
    host: str
    port: int
    path: str
    headers: Mapping[str, str]
    body: bytes
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """What a host answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class OperationFailed(Exception):  # noqa: N818 - a result of the guest's, not an error of ours
    """An operation that was allowed did not succeed; ``reason`` is a word of the format."""

    def __init__(self, reason: str, words: str) -> None:
        """Say the word, and what it means here."""
        super().__init__(words)
        self.reason = reason


class NoFleet:
    """Stands where nobody gave a fleet."""

    def search(self, query: str, limit: int) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002 - the port's
        """Refuse."""
        raise OperationFailed("OPERATION_TARGET_INVALID", "no fleet is open here")

    def read_memory(self, project: str, fact: str) -> Mapping[str, Any] | None:  # noqa: ARG002 - the port's
        """Refuse."""
        raise OperationFailed("OPERATION_TARGET_INVALID", "no fleet is open here")
