"""What the scopes of one search share: the question, the readers, the allowances."""

from collections.abc import Iterable
from dataclasses import dataclass

from agentic_os.aios.folder.allowance import Allowance, Charges
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.folder.withheld import SecretGuard
from agentic_os.aios.projects.selection import PortableIdentity
from agentic_os.aios.search.matching import Query
from agentic_os.aios.search.values import MarkdownHit, MemoryHit, SearchHit, SessionFilters


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchContext:
    """The question and what is needed to answer it.

    ``now_ms`` is milliseconds since the epoch; ``identity`` is set in project memory;
    ``vault`` is the reader and folder of the vault; ``root`` the root hash of references.
    """

    query: Query
    text: str
    limit: int
    filters: SessionFilters
    identity: PortableIdentity | None
    reader: FolderReader
    vault: "tuple[FolderReader, str] | None"
    guard: SecretGuard
    root: str
    now_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseCharges:
    """The allowances of a scope in one phase.

    ``work`` pays for what is really read now; ``demand`` only for what the scope will
    need in all; ``both`` for what is read now and was not known before.
    """

    work: Charges
    demand: Charges
    both: Charges

    @classmethod
    def of(cls, physical: Allowance, phase: Allowance, demand: Allowance) -> "PhaseCharges":
        """Combine the request's, the phase's and the scope's own allowance."""
        return cls(
            work=Charges(physical, phase),
            demand=Charges(demand),
            both=Charges(physical, phase, demand),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeOutcome:
    """What one scope found, best first, and how much was withheld."""

    hits: tuple[SearchHit, ...]
    withheld: int


def interleave(
    corpora: Iterable[tuple[MemoryHit | MarkdownHit, ...]], limit: int
) -> tuple[SearchHit, ...]:
    """Merge corpora round-robin: their ranks are not comparable, so each has its turn."""
    queues = [list(corpus) for corpus in corpora]
    deepest = max((len(queue) for queue in queues), default=0)
    merged: list[SearchHit] = [
        queue[turn] for turn in range(deepest) for queue in queues if turn < len(queue)
    ]
    return tuple(merged[:limit])
