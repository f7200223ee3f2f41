"""The ring gate: who may write what (ledger format, section Gate). A pure rule.

::

    level      may write                                         signed with
    agent      rings 2, 3, 4; anchors that the identity signs    the identity key
    operator   also ring 1; anchors that the operator signs      also the operator key
    platform   also rings 0 and 5; anchors that the platform signs   also the platform key

Ring 2 needs provenance: at least ``SOURCES`` distinct existing sources over SUPPORTS,
REINFORCED_BY and DERIVED_FROM edges (an edge points from the evidence to what it bears on),
of at least ``CLASSES`` authorship classes, and no CONTRADICTS edge in either direction.
Otherwise the entry becomes the ring-3 type that fits, and the ruling says so and why:

    belief.promote        -> belief.upsert of the belief as it stands
    relationship.upsert   -> experience.create under the relationship's own id, so that edges
                             can point to it; a later upsert with provenance takes the id over
"""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from agentic_os.crypto.canonical.values import Number
from agentic_os.errors import LedgerError
from agentic_os.ledger.line.entry import Draft, draft
from agentic_os.ledger.line.payloads import (
    TEXT_CHARS,
    BeliefPromote,
    KeyTransition,
    Payload,
    RelationshipUpsert,
    Role,
    SchemaDeclare,
)
from agentic_os.ledger.line.vocabulary import LEVELS, SCHEMA_VERSION, Level

SOURCES: Final = 3
CLASSES: Final = 2
PROVENANCE_RING: Final = 2

AuthorshipClass: TypeAlias = Literal["operator", "external", "resident"]

_LEVEL_OF_ROLE: Final[dict[Role, Level]] = {
    "identity": "agent",
    "operator": "operator",
    "platform": "platform",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the projection says about the subject of a ring-2 entry.

    ``text`` and ``confidence`` are the subject's own as it stands; ``text`` is ``None`` when
    there is no live subject of that id.
    """

    sources: int = 0
    classes: frozenset[AuthorshipClass] = frozenset()
    contradicted: bool = False
    text: str | None = None
    confidence: int | Number | None = None

    @property
    def lacks(self) -> str:
        """What is missing for ring 2; empty when nothing is."""
        if self.contradicted:
            return "it is contradicted"
        if self.sources < SOURCES:
            return f"it has {self.sources} of {SOURCES} sources"
        if len(self.classes) < CLASSES:
            return f"its sources are of {len(self.classes)} of {CLASSES} authorship classes"
        return ""


NO_EVIDENCE: Final = Evidence()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What is to be written, who signs it, and whether it is what was asked for."""

    draft: Draft
    role: Role
    rewritten_from: str = ""
    reason: str = ""


def gate(level: Level, drafted: Draft, evidence: Evidence, *, seq: int) -> Ruling:
    """Rule on one entry.

    Args:
        level: the session's.
        drafted: what is asked for; its type is in the table.
        evidence: for a ring-2 entry, what its subject rests on; ``NO_EVIDENCE`` otherwise.
        seq: the place it would get, for a fallback id that is free.

    Raises:
        LedgerError: ``RING_DENIED``, naming the level that would be needed;
            ``LEDGER_TARGET_MISSING`` for a promotion of nothing; ``LEDGER_SCHEMA_UNKNOWN`` for
            a declaration after which this program could read nothing more.
    """
    kind, payload = drafted.kind, drafted.value
    role: Role = payload.role if isinstance(payload, KeyTransition) else kind.signers[0]
    needed = max(kind.level, _LEVEL_OF_ROLE[role], key=LEVELS.index)
    if LEVELS.index(level) < LEVELS.index(needed):
        raise LedgerError(
            f"{kind.name} is ring {kind.ring}: it needs a session of level {needed}",
            code="RING_DENIED",
            hint=f"needed level: {needed}",
        )
    if isinstance(payload, SchemaDeclare) and payload.version != SCHEMA_VERSION:
        raise LedgerError(
            f"this program writes schema version {SCHEMA_VERSION}", code="LEDGER_SCHEMA_UNKNOWN"
        )
    if kind.ring != PROVENANCE_RING:
        return Ruling(draft=drafted, role=role)
    if isinstance(payload, BeliefPromote) and evidence.text is None:
        raise LedgerError(f"there is no live belief {payload.id}", code="LEDGER_TARGET_MISSING")
    if not evidence.lacks:
        return Ruling(draft=drafted, role=role)
    return Ruling(
        draft=_fallback(payload, evidence, seq),
        role=role,
        rewritten_from=kind.name,
        reason=f"ring 2 needs provenance: {evidence.lacks}",
    )


def _fallback(payload: Payload, evidence: Evidence, seq: int) -> Draft:
    if isinstance(payload, BeliefPromote):
        belief: dict[str, str | int | Number] = {"id": payload.id, "statement": evidence.text or ""}
        if evidence.confidence is not None:
            belief["confidence"] = evidence.confidence
        return draft("belief.upsert", belief)
    if not isinstance(payload, RelationshipUpsert):
        raise LedgerError("no ring-3 type fits", code="RING_DENIED")
    words = f"{payload.counterpart_name} ({payload.counterpart_role})"
    if payload.description:
        words = f"{words}: {payload.description}"
    free = payload.id if evidence.text is None else f"{payload.id}.{seq}"
    return draft(
        "experience.create",
        {"id": free, "content": words[:TEXT_CHARS], "category": "observation"},
    )
