"""The values that the witness's rule works on: state, claims, cases, decisions.

A state is what one transaction read; a claim is a request whose signatures verified; a case is one
beside the other, with the questions that the tables ask; a decision says what to store and sign.
Ordinals count from 1, sizes are numbers of leaves, times are POSIX seconds, vkeys are texts.
"""

from dataclasses import dataclass
from typing import TypeAlias

from agentic_os.crypto.envelope.receipts import NO_ORDINAL, ZERO_LEDGER_HASH
from agentic_os.witness.protocol.bookmark import origin_key_digits
from agentic_os.witness.protocol.refusal import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmarked:
    """The newest bookmark of an identity; ``answer`` is the receipt as it was sent."""

    ordinal: int
    ledger_hash: str
    witnessed_at: int
    answer: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityState:
    """What the witness holds about an identity.

    Args:
        identity_id: its name.
        key_digits: first 16 hex digits of the SHA-256 of its public key.
        proved: whether it ever proved consistency; never taken back.
        origin: the origin that is bound to it now.
        successor: the identity that its key passed to; such an identity is retired.
        bookmark: its newest bookmark.
    """

    identity_id: str
    key_digits: str
    proved: bool = False
    origin: str | None = None
    successor: str | None = None
    bookmark: Bookmarked | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeHead:
    """The newest cosigned tree head of an origin."""

    size: int
    root: bytes
    cosigned_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginState:
    """What the witness holds about an origin; ``closed`` means retired by the operator."""

    origin: str
    identity_id: str | None = None
    keys: frozenset[str] = frozenset()
    retired_keys: frozenset[str] = frozenset()
    closed: bool = False
    head: TreeHead | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadClaim:
    """A tree head that the keys ``vkeys`` have signed; ``binds`` is the key of a binding."""

    origin: str
    size: int
    root: bytes
    old_size: int
    consistency: tuple[bytes, ...]
    vkeys: frozenset[str]
    binds: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BookmarkClaim:
    """A bookmark whose signatures verified.

    Args:
        identity_id: as the request states it.
        derived_id: what the public key in the request gives.
        key_digits: the first 16 hex digits of that key's SHA-256.
        ordinal: position of the ledger's head.
        ledger_hash: the head's hash, bare hex.
        admitted: whether the registration mode lets a new identity in.
        head: the proof, if there is one.
        earlier_keys: digits of the keys that led to this identity's by verified transitions
            in the tree.
    """

    identity_id: str
    derived_id: str
    key_digits: str
    ordinal: int
    ledger_hash: str
    admitted: bool = True
    head: HeadClaim | None = None
    earlier_keys: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSettings:
    """What the operator decides: smallest advance in entries, and whether to demand proofs."""

    min_cadence: int = 0
    require_proof: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The claim holds and the state advances; ``time`` is what is signed and stored.

    ``is_first`` says that the witness never answered for this identity (or origin) before;
    ``succeeds`` names the identity that is retired by it.
    """

    time: int
    is_first: bool
    previous_ordinal: int = NO_ORDINAL
    previous_hash: str = ZERO_LEDGER_HASH
    succeeds: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """The same bookmark again: the stored answer is given once more."""

    time: int
    answer: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The claim is refused; ``is_evidence`` marks a signed contradiction worth keeping."""

    refusal: Refusal
    is_evidence: bool = False


BookmarkDecision: TypeAlias = Accepted | Repeated | Refused
CheckpointDecision: TypeAlias = Accepted | Refused


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
