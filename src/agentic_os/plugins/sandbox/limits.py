"""What a guest may use (runtime and plugins, section 17)."""

from dataclasses import asdict, dataclass
from typing import Any, Final, Self

PAGE_BYTES: Final = 64 * 1024
PROTOCOL_VERSION: Final = 2
"""The version of the messages between host and guest (BBB v2)."""
MESSAGE_BYTES: Final = 1024 * 1024
"""One text in either direction between host and guest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The bounds of one running plugin.

    Attributes:
        fuel: WebAssembly instructions a call, bulk memory operations charged by length.
        wall_seconds: time a call; the parent ends the process a second later.
        memory_bytes: the guest's one memory.
        stack_bytes: the guest's stack.
        host_calls: calls back to the host during one call.
        module_bytes: the largest module that is compiled.
        compile_seconds: CPU that compiling may take, in a process of its own.
        compile_bytes: address space of that process.
    """

    fuel: int = 50_000_000
    wall_seconds: float = 5.0
    memory_bytes: int = 64 * 1024 * 1024
    stack_bytes: int = 512 * 1024
    host_calls: int = 64
    module_bytes: int = 8 * 1024 * 1024
    compile_seconds: int = 30
    compile_bytes: int = 1024 * 1024 * 1024

    def to_json(self) -> dict[str, Any]:
        """Return the bounds as a document, for the process that keeps them."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        """Read what ``to_json`` returned."""
        return cls(**document)


TABLES: Final = 4
TABLE_ELEMENTS: Final = 10_000
INSTANCES: Final = 4
MAX_WALL_SECONDS: Final = 60.0
OVERTIME_SECONDS: Final = 1.0
EPOCH_SECONDS: Final = 0.05
GUARD_BYTES: Final = 64 * 1024
OPEN_FILES: Final = 16
WORKER_BYTES: Final = 1024 * 1024 * 1024
"""Address space of a worker: the interpreter and the engine around the guest's memory."""
