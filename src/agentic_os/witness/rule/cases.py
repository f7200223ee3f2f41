"""What the witness's rule looks at: one claim beside the state, with the derived questions.

The tables that ask these questions stand in ``rule``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from agentic_os.witness.protocol.bookmark import origin_key_digits
from agentic_os.witness.rule.state import (
    BookmarkClaim,
    Bookmarked,
    HeadClaim,
    IdentityState,
    OriginState,
    RuleSettings,
    TreeHead,
)

CaseT = TypeVar("CaseT", "BookmarkCase", "CheckpointCase")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Generic[CaseT]):
    """One row of a decision table: the refusal, and the cases that it answers."""

    status: int
    code: str
    message: str
    when: Callable[[CaseT], bool]
    is_evidence: bool = False
    tells_size: bool = False


@dataclass(frozen=True, kw_only=True)
class CheckpointCase:
    """An ``add-checkpoint`` claim beside the state of its origin."""

    claim: HeadClaim
    origin: OriginState | None
    now: int

    @property
    def stored(self) -> TreeHead | None:
        """The head that was cosigned last."""
        return self.origin.head if self.origin else None

    @property
    def witnessed(self) -> int:
        """The size that was cosigned last, 0 if none."""
        return self.stored.size if self.stored else 0

    @property
    def last_time(self) -> int:
        """The newest time given for this origin."""
        return self.stored.cosigned_at if self.stored else 0


@dataclass(frozen=True, kw_only=True)
class BookmarkCase:
    """A bookmark beside everything that the witness holds about it.

    ``predecessor`` is the identity that the origin is bound to, when that is another one; ``twin``
    is another identity of the very same public key.
    """

    claim: BookmarkClaim
    identity: IdentityState | None
    origin: OriginState | None
    predecessor: IdentityState | None
    settings: RuleSettings
    now: int
    twin: str | None = None

    @property
    def stored(self) -> Bookmarked | None:
        """The bookmark that this one follows: the highest of the identity and whom it succeeds."""
        states = (self.identity, self.predecessor)
        marks = [state.bookmark for state in states if state and state.bookmark]
        return max(marks, key=lambda mark: mark.ordinal, default=None)

    @property
    def tree(self) -> CheckpointCase | None:
        """The tree half of the case, when there is a proof."""
        head = self.claim.head
        return CheckpointCase(claim=head, origin=self.origin, now=self.now) if head else None

    @property
    def is_bound(self) -> bool:
        """Whether the origin is bound to the claiming identity."""
        return self.origin is not None and self.origin.identity_id == self.claim.identity_id

    @property
    def may_speak(self) -> bool:
        """Whether the origin is the identity's own, by binding, by name or by succession."""
        head = self.claim.head
        if head is None or self.is_bound:
            return True
        if self.origin and self.origin.identity_id:
            owner = self.predecessor
            return owner is not None and owner.key_digits in self.claim.earlier_keys
        named = origin_key_digits(head.origin)
        return named in {self.claim.key_digits, *self.claim.earlier_keys}

    @property
    def is_repeat(self) -> bool:
        """Whether the identity's own newest bookmark is this very one."""
        mark = self.identity.bookmark if self.identity else None
        return mark is not None and self._is_at(mark)

    @property
    def is_rollback(self) -> bool:
        """Whether the ordinal falls, or stays with another hash."""
        mark = self.stored
        return mark is not None and self.claim.ordinal <= mark.ordinal and not self._is_at(mark)

    @property
    def advance(self) -> int:
        """How many entries lie between the last bookmark and this one."""
        return self.claim.ordinal - (self.stored.ordinal if self.stored else 0)

    @property
    def last_time(self) -> int:
        """The newest time given for this identity or its origin."""
        mark, tree = self.stored, self.tree
        return max(mark.witnessed_at if mark else 0, tree.last_time if tree else 0)

    def _is_at(self, mark: Bookmarked) -> bool:
        return (mark.ordinal, mark.ledger_hash) == (self.claim.ordinal, self.claim.ledger_hash)
