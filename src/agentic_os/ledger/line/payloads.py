"""What the payload of each type of entry must hold.

Fields are those of AII OS formats, section 1.4, where the type stands there, and our own
otherwise. Unknown members are refused: what a reader would skip, nobody signed knowingly.
``model_id`` names the model that produced an entry and is stamped by the runtime.
"""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from agentic_os.crypto.canonical.texts import sha256_hex

ID_CHARS = 128
TEXT_CHARS = 100_000
SHORT_CHARS = 1_000
MOST_REFERENCES = 256
KEY_B64_CHARS = 3_456  # 2,592 bytes
SIGNATURE_B64_CHARS = 6_172  # 4,627 bytes
NOTE_CHARS = 128 * 1024
_DERIVED_ID_CHARS = 32
CLOSING_OUTCOMES = ("served:", "partial:", "unserved:")

Id: TypeAlias = Annotated[str, Meta(max_length=ID_CHARS, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]*\Z")]
Text: TypeAlias = Annotated[str, Meta(min_length=1, max_length=TEXT_CHARS)]
Short: TypeAlias = Annotated[str, Meta(min_length=1, max_length=SHORT_CHARS)]
Confidence: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
References: TypeAlias = Annotated[tuple[Id, ...], Meta(max_length=MOST_REFERENCES)]
Sha256Text: TypeAlias = Annotated[str, Meta(pattern=r"^sha256:[0-9a-f]{64}\Z")]
Sha256Hex: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
PublicKeyB64: TypeAlias = Annotated[str, Meta(min_length=KEY_B64_CHARS, max_length=KEY_B64_CHARS)]
SignatureB64: TypeAlias = Annotated[
    str, Meta(min_length=SIGNATURE_B64_CHARS, max_length=SIGNATURE_B64_CHARS)
]
Role: TypeAlias = Literal["identity", "operator", "platform"]
Authorship: TypeAlias = Literal["self", "operator", "external", "system", "dream"]
EdgeType: TypeAlias = Literal[
    "DERIVED_FROM",
    "SUPPORTS",
    "CONTRADICTS",
    "SUPERSEDES",
    "REINFORCED_BY",
    "SHAPED_BY",
    "INTERPRETS",
]
SourceClass: TypeAlias = Literal[
    "beliefs",
    "values",
    "intentions",
    "reflections",
    "relationships",
    "notes",
    "experiences",
    "working_style",
]


class Payload(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every payload."""


class Authored(Payload, frozen=True, kw_only=True):
    """Base of what an identity writes."""

    model_id: Short | None = None


class Genesis(Payload, frozen=True, kw_only=True):
    """``ring0.genesis``: the constitution and the three keys that it binds."""

    origin: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9.:/_-]{0,199}/ledger/[0-9a-f]{16}\Z")]
    ring0_envelope: msgspec.Raw
    ring0_key: msgspec.Raw
    platform_public_key_b64: PublicKeyB64
    operator_public_key_b64: PublicKeyB64
    identity_public_key_b64: PublicKeyB64
    operator_sig_b64: SignatureB64
    identity_sig_b64: SignatureB64


class Receipt(Payload, frozen=True, kw_only=True):
    """A witness's receipt (AII OS formats, sections 4.3 and 4.5)."""

    identity_id: Short
    previous_witnessed_ledger_ordinal: Annotated[int, Meta(ge=-1)]
    previous_witnessed_ledger_hash: Sha256Hex
    ledger_ordinal: Annotated[int, Meta(ge=1)]
    ledger_hash: Sha256Hex
    witnessed_at: Short
    witness_key_id: Short
    witness_sig_b64: SignatureB64


class Witnessed(Payload, frozen=True, kw_only=True):
    """``system.witnessed``: a receipt, and the cosigned checkpoint where there is one."""

    receipt: Receipt
    checkpoint: Annotated[str, Meta(max_length=NOTE_CHARS)] | None = None


class SchemaDeclare(Payload, frozen=True, kw_only=True):
    """``schema.declare``: the schema version that later entries follow."""

    version: Annotated[int, Meta(ge=1, le=1_000_000)]
    description: Text | None = None


class TrustEpoch(Payload, frozen=True, kw_only=True):
    """``trust.epoch_accepted``: a revocation status that was taken over."""

    root: Short
    trust_epoch: Annotated[int, Meta(ge=1, le=2**53)]
    payload_sha256: Sha256Text


class KeyTransition(Payload, frozen=True, kw_only=True):
    """``key.transition``: the key that signs for a role from the next line on."""

    role: Role
    new_public_key_b64: PublicKeyB64
    new_sig_b64: SignatureB64
    reason: Short | None = None


class CharterAmend(Payload, frozen=True, kw_only=True):
    """``charter.amend``: an article of the operator's charter; an upsert by id."""

    id: Id
    text: Text
    reason: Text | None = None


class PolicySet(Payload, frozen=True, kw_only=True):
    """``policy.set``: one setting of the operator's."""

    key: Id
    value: bool | int | Annotated[str, Meta(max_length=TEXT_CHARS)] | None
    reason: Text | None = None


class OperationalCommitment(Payload, frozen=True, kw_only=True):
    """``commitment.operational``: what the operator binds the identity to."""

    id: Id
    description: Text
    until: Short | None = None


class BeliefPromote(Authored, frozen=True, kw_only=True):
    """``belief.promote``: an existing belief becomes operating doctrine."""

    id: Id
    ring: Literal[2]


class RelationshipUpsert(Authored, frozen=True, kw_only=True):
    """``relationship.upsert``: who somebody is to this identity."""

    id: Annotated[str, Meta(pattern=r"^rel_[a-z0-9][a-z0-9_-]{7,63}\Z")]
    counterpart_name: Short
    counterpart_role: Short
    description: Text | None = None
    operator_approval_excerpt: Text | None = None
    operator_approval_turn: Annotated[int, Meta(ge=1)] | None = None
    approval_basis: Literal["conversation_turn"] | None = None


class ExperienceCreate(Authored, frozen=True, kw_only=True):
    """``experience.create``: something that happened."""

    id: Id
    content: Text
    category: Literal["observation", "reflection", "work", "learning", "communication"] | None = (
        None
    )
    private: bool = False
    provenance: Authorship = "self"
    source_turn: Annotated[int, Meta(ge=1)] | None = None
    source_url: Short | None = None
    raw: bool | None = None

    def __post_init__(self) -> None:
        """Require a source if the words are not the identity's own."""
        if self.provenance == "operator" and self.source_turn is None:
            raise ValueError("provenance operator needs source_turn")
        if self.provenance == "external" and self.source_url is None:
            raise ValueError("provenance external needs source_url")


class ReflectionCreate(Authored, frozen=True, kw_only=True):
    """``reflection.create``: what the identity made of experiences."""

    id: Id
    content: Text
    refs: References = ()


class LearningCreate(Authored, frozen=True, kw_only=True):
    """``learning.create``: something learned, and from what."""

    id: Id
    content: Text
    refs: References = ()


class BeliefUpsert(Authored, frozen=True, kw_only=True):
    """``belief.upsert``: a provisional belief; exactly one of three names for its text."""

    id: Id | None = None
    statement: Text | None = None
    content: Text | None = None
    claim: Text | None = None
    confidence: Confidence | None = None
    node_type: Literal["value", "working_style"] | None = None
    ring: Literal[3] | None = None
    evidence_refs: References = ()

    def __post_init__(self) -> None:
        """One text, under one name."""
        missing = (self.statement is None) + (self.content is None) + (self.claim is None)
        if missing != 2:  # noqa: PLR2004 - two of three
            raise ValueError("exactly one of statement, content, claim is needed")

    @property
    def text(self) -> str:
        """The belief's words."""
        return self.statement or self.content or self.claim or ""

    @property
    def belief_id(self) -> str:
        """The id given, or one made of the words: an equal claim is the same belief."""
        return self.id or f"belief_{sha256_hex(self.text.encode())[:_DERIVED_ID_CHARS]}"


class BeliefArchive(Authored, frozen=True, kw_only=True):
    """``belief.archive``."""

    id: Id
    reason: Text


class BeliefSupersede(Authored, frozen=True, kw_only=True):
    """``belief.supersede``: also makes the edge SUPERSEDES from the new to the old."""

    old_id: Id
    new_id: Id
    reason: Text

    def __post_init__(self) -> None:
        """Nothing supersedes itself."""
        if self.old_id == self.new_id:
            raise ValueError("old_id and new_id are the same")


class ValueUpsert(Authored, frozen=True, kw_only=True):
    """``value.upsert``."""

    id: Id
    statement: Text
    confidence: Confidence | None = None


class WorkingStyleUpsert(Authored, frozen=True, kw_only=True):
    """``working_style.upsert``."""

    id: Id
    content: Text
    confidence: Confidence | None = None


class EdgeCreate(Authored, frozen=True, kw_only=True):
    """``edge.create``: points from the evidence to what it bears on; a unique triple."""

    from_id: Id
    to_id: Id
    edge_type: EdgeType

    def __post_init__(self) -> None:
        """Nothing is evidence for itself."""
        if self.from_id == self.to_id:
            raise ValueError("an edge joins two different ids")


class EdgeArchive(Authored, frozen=True, kw_only=True):
    """``edge.archive``."""

    from_id: Id
    to_id: Id
    edge_type: EdgeType
    reason: Text | None = None


class IntentionCreate(Authored, frozen=True, kw_only=True):
    """``intention.create``."""

    id: Id
    statement: Text
    why: Text


class IntentionStateChange(Authored, frozen=True, kw_only=True):
    """``intention.state_change``: closing says whom it served."""

    id: Id
    state: Literal["active", "completed", "abandoned"]
    outcome: Text | None = None

    def __post_init__(self) -> None:
        """Require of a closed intention an outcome with words behind its mark."""
        if self.state == "active":
            return
        outcome = self.outcome or ""
        mark = next((mark for mark in CLOSING_OUTCOMES if outcome.startswith(mark)), None)
        if mark is None or not outcome.removeprefix(mark).strip():
            raise ValueError(f"closing needs an outcome beginning {', '.join(CLOSING_OUTCOMES)}")


class CommitmentPromised(Authored, frozen=True, kw_only=True):
    """``commitment.promised``: to a counterpart that exists."""

    id: Id
    description: Text
    counterpart_id: Id


class CommitmentStateChange(Authored, frozen=True, kw_only=True):
    """``commitment.state_change``."""

    id: Id
    state: Literal["promised", "in_progress", "completed", "abandoned", "repaired"]
    result: Text | None = None
    repair_state: Text | None = None


class DecisionRecord(Authored, frozen=True, kw_only=True):
    """``decision.record``."""

    id: Id
    decision: Text
    why: Text
    alternatives: Annotated[tuple[Text, ...], Meta(max_length=MOST_REFERENCES)] = ()
    refs: References = ()


class SourceEntity(Payload, frozen=True, kw_only=True):
    """One source of a self-model; ``class`` in JSON."""

    class_: SourceClass = msgspec.field(name="class")
    id: Id


class SelfModelSynthesize(Authored, frozen=True, kw_only=True):
    """``self_model.synthesize``: the portrait of now, and what it was drawn from."""

    id: Id
    synthesis_text: Text
    continuity_thread: Text
    source_entity_refs: Annotated[tuple[SourceEntity, ...], Meta(max_length=MOST_REFERENCES)]
    changes_since_last: Text | None = None
    previous_synthesis_id: Id | None = None


class WorkingNote(Authored, frozen=True, kw_only=True):
    """``working.note``: current context worth keeping; an upsert by id."""

    id: Id
    content: Text


class PostureAccept(Authored, frozen=True, kw_only=True):
    """``posture.accept``: a security posture that the platform signed."""

    ring5_envelope: msgspec.Raw
    ring5_key: msgspec.Raw


def relationship_words(payload: RelationshipUpsert) -> str:
    """Return what a relationship says, as one text."""
    words = f"{payload.counterpart_name} ({payload.counterpart_role})"
    if payload.description:
        words = f"{words}: {payload.description}"
    return words[:TEXT_CHARS]
