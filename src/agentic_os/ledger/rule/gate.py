"""The ring gate: who may write what (ledger format, section Gate). A pure rule.

::

    level      may write                                         signed with
    agent      rings 2, 3, 4; anchors that the identity signs    the identity key
    operator   also ring 1; anchors that the operator signs      also the operator key
    platform   also rings 0 and 5; anchors that the platform signs   also the platform key

Below the level operator nobody speaks for somebody else (``PROVENANCE_DENIED``): words of an agent
are its own, and the anchors that it writes hold no free words.

Ring 2 needs provenance: at least ``SOURCES`` distinct roots (``projection/evidence.py``) over
SUPPORTS, REINFORCED_BY and DERIVED_FROM edges (an edge points from the evidence to what it bears
on), of at least ``CLASSES`` authorship classes, and no CONTRADICTS edge in either direction.
Otherwise the entry becomes the ring-3 type that fits, and the ruling says so and why:

    belief.promote        -> belief.upsert of the belief as it stands
    relationship.upsert   -> experience.create under the relationship's own id, so that edges
                             can point to it; a later upsert of the same words with provenance
                             takes the id over

What stands at ring 2 is changed, archived or superseded from ring 3 only at the level operator, or
against as much evidence as brought it there (``RING_PROTECTED``); nor does an agent take back a
contradiction. What was retired comes back only with evidence that is younger than its retirement
(``LEDGER_TARGET_RETIRED``).
"""

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from agentic_os.crypto.canonical.values import Number
from agentic_os.errors import LedgerError
from agentic_os.ledger.line.entry import Draft, draft
from agentic_os.ledger.line.payloads import (
    Authorship,
    BeliefArchive,
    BeliefPromote,
    BeliefSupersede,
    BeliefUpsert,
    EdgeArchive,
    ExperienceCreate,
    KeyTransition,
    Payload,
    RelationshipUpsert,
    Role,
    SchemaDeclare,
    TrustEpoch,
    relationship_words,
)
from agentic_os.ledger.line.vocabulary import LEVELS, SCHEMA_VERSION, Level

SOURCES: Final = 3
CLASSES: Final = 2
PROVENANCE_RING: Final = 2
OWN_PROVENANCE: Final[frozenset[Authorship]] = frozenset({"self", "dream"})
"""What an agent may say of its own experiences."""

_ROOT_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")

AuthorshipClass: TypeAlias = Literal["operator", "external", "resident"]

_LEVEL_OF_ROLE: Final[dict[Role, Level]] = {
    "identity": "agent",
    "operator": "operator",
    "platform": "platform",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """How many roots speak for or against something, and of which authorship classes."""

    roots: int = 0
    classes: frozenset[AuthorshipClass] = frozenset()

    @property
    def lacks(self) -> str:
        """What is missing for a change of ring 2; empty when nothing is."""
        if self.roots < SOURCES:
            return f"it has {self.roots} of {SOURCES} sources"
        if len(self.classes) < CLASSES:
            return f"its sources are of {len(self.classes)} of {CLASSES} authorship classes"
        return ""


NO_WEIGHT: Final = Weight()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the projection says about the subject of an entry.

    ``text`` and ``confidence`` are the subject's own as it stands; ``text`` is ``None`` when
    there is no live subject of that id. ``has_confidence`` is the number that is in force.
    ``retired_seq`` is the line that archived or superseded it, ``newest_ref_seq`` the first line of
    the youngest entity that the entry refers to.
    """

    support: Weight = NO_WEIGHT
    against: Weight = NO_WEIGHT
    contradicted: bool = False
    text: str | None = None
    confidence: int | Number | None = None
    has_confidence: float | None = None
    ring: int | None = None
    retired_seq: int | None = None
    newest_ref_seq: int = 0

    @property
    def lacks(self) -> str:
        """What is missing for ring 2; empty when nothing is."""
        return "it is contradicted" if self.contradicted else self.support.lacks

    @property
    def is_protected(self) -> bool:
        """Whether the subject stands above ring 3, and too little speaks against it."""
        return (
            self.text is not None
            and self.ring is not None
            and self.ring <= PROVENANCE_RING
            and self.against.lacks != ""
        )


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
            ``PROVENANCE_DENIED``, ``RING_PROTECTED``, ``LEDGER_TARGET_RETIRED``;
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
    if level == "agent":
        _require_own_words(payload)
        _require_unprotected(payload, evidence)
    if isinstance(payload, BeliefUpsert) and evidence.retired_seq is not None:
        _require_newer_evidence(payload, evidence.retired_seq, evidence.newest_ref_seq)
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


def _require_own_words(payload: Payload) -> None:
    """Refuse an agent's entry that speaks for the operator, the host or the world."""
    match payload:
        case ExperienceCreate() if payload.provenance not in OWN_PROVENANCE:
            what = f"provenance {payload.provenance}"
        case ExperienceCreate() if payload.source_turn is not None:
            what = "a turn of the operator's"
        case RelationshipUpsert() if (
            payload.operator_approval_excerpt is not None
            or payload.operator_approval_turn is not None
            or payload.approval_basis is not None
        ):
            what = "the operator's approval"
        case SchemaDeclare() if payload.description is not None:
            what = "a description at ring 0"
        case TrustEpoch() if not _ROOT_NAME.fullmatch(payload.root):
            what = "a root that is no name"
        case _:
            return
    raise LedgerError(
        f"an agent may not state {what}",
        code="PROVENANCE_DENIED",
        hint="Leave it out, or use a session of level operator.",
    )


def _require_unprotected(payload: Payload, evidence: Evidence) -> None:
    match payload:
        case EdgeArchive():
            is_denied = payload.edge_type == "CONTRADICTS"
        case BeliefArchive() | BeliefSupersede():
            is_denied = evidence.is_protected
        case BeliefUpsert():
            same = payload.text == evidence.text and payload.confidence in {
                None,
                evidence.has_confidence,
            }
            is_denied = evidence.is_protected and not same
        case _:
            is_denied = False
    if is_denied:
        raise LedgerError(
            "what stands above ring 3 is not changed from ring 3",
            code="RING_PROTECTED",
            hint=f"needed level: operator; or {SOURCES} sources of {CLASSES} authorship classes"
            " that contradict it.",
        )


def _require_newer_evidence(payload: BeliefUpsert, retired_seq: int, newest_ref_seq: int) -> None:
    if newest_ref_seq <= retired_seq:
        raise LedgerError(
            f"{payload.belief_id} was retired in line {retired_seq}",
            code="LEDGER_TARGET_RETIRED",
            hint="Give evidence_refs to something younger, or say it under another id.",
        )


def _fallback(payload: Payload, evidence: Evidence, seq: int) -> Draft:
    if isinstance(payload, BeliefPromote):
        belief: dict[str, str | int | Number] = {"id": payload.id, "statement": evidence.text or ""}
        if evidence.confidence is not None:
            belief["confidence"] = evidence.confidence
        return draft("belief.upsert", belief)
    if not isinstance(payload, RelationshipUpsert):
        raise LedgerError("no ring-3 type fits", code="RING_DENIED")
    free = payload.id if evidence.text is None else f"{payload.id}.{seq}"
    return draft(
        "experience.create",
        {"id": free, "content": relationship_words(payload), "category": "observation"},
    )
