"""What an entry does to the projection: one function a type, a pure function of the ledger.

Live and replayed entries take the same way, and what applies to nothing never reaches the
ledger, because the whole effect is tried first and rolled back (ledger format, section Gate).

- A belief whose words change by ``belief.upsert`` falls back to ring 3; equal words keep it. One
  that was retired starts again at ring 3.
- References make edges DERIVED_FROM, which an entry may state again or archive.
- Nothing here asks who may do it. That is the gate's, before anything is signed: what stands in a
  ledger has its effect, also where an older gate let more through.
- ``relationship.upsert`` takes over an experience of the same id (see ``gate.py``).
- An archived edge can be made again; a live one cannot be made twice.
"""

from functools import singledispatch
from typing import Final

from agentic_os.crypto.canonical.texts import sha256_text
from agentic_os.errors import LedgerError
from agentic_os.ledger.line import payloads as p
from agentic_os.ledger.projection.database import Database
from agentic_os.ledger.projection.rows import Event, Rows
from agentic_os.ledger.rule.gate import AuthorshipClass

_AUTHORSHIP: Final[dict[p.Authorship, AuthorshipClass]] = {
    "operator": "operator",
    "external": "external",
    "self": "resident",
    "system": "resident",
    "dream": "resident",
}
_SOURCE_KINDS: Final[dict[p.SourceClass, tuple[str, ...]]] = {
    "beliefs": ("belief",),
    "values": ("value",),
    "intentions": ("intention",),
    "reflections": ("reflection", "experience"),
    "relationships": ("relationship",),
    "notes": ("note",),
    "experiences": ("experience", "learning"),
    "working_style": ("working_style",),
}


def apply_event(db: Database, event: Event) -> None:
    """Write an entry's mirror row and its effect, inside the caller's transaction.

    Raises:
        LedgerError: ``LEDGER_TARGET_MISSING``, ``LEDGER_TARGET_EXISTS``,
            ``LEDGER_TARGET_KIND``, ``LEDGER_TRUST_EPOCH``, ``PROJECTION_UNUSABLE``.
    """
    rows = Rows(db, event)
    kind = event.kind
    rows.insert(
        "mirror", event.seq, event.hash, kind.name, kind.layer, kind.ring, event.role, event.ts
    )
    _effect(event.payload, rows)


def _authorship(payload: p.ExperienceCreate) -> AuthorshipClass:
    """Words that name a place outside are from outside, whoever says that they are their own."""
    own = _AUTHORSHIP[payload.provenance]
    return "external" if own == "resident" and payload.source_url is not None else own


@singledispatch
def _effect(payload: p.Payload, rows: Rows) -> None:
    raise LedgerError(
        f"{rows.event.kind.name} has no effect ({type(payload).__name__})",
        code="LEDGER_TYPE_UNKNOWN",
    )


@_effect.register
def _(payload: p.Genesis, rows: Rows) -> None:
    seq = rows.event.seq
    rows.add_tenure("platform", payload.platform_public_key_b64, seq)
    rows.add_tenure("operator", payload.operator_public_key_b64, seq + 1)
    rows.add_tenure("identity", payload.identity_public_key_b64, seq + 1)
    rows.create("ring0", "constitution", payload.origin, authorship="operator")


@_effect.register
def _(payload: p.Witnessed, rows: Rows) -> None:
    receipt = payload.receipt
    rows.insert(
        "receipts",
        rows.event.seq,
        receipt.identity_id,
        receipt.previous_witnessed_ledger_ordinal,
        receipt.previous_witnessed_ledger_hash,
        receipt.ledger_ordinal,
        receipt.ledger_hash,
        receipt.witnessed_at,
        receipt.witness_key_id,
    )


@_effect.register
def _(payload: p.SchemaDeclare, rows: Rows) -> None:
    rows.insert("schema_versions", rows.event.seq, payload.version)


@_effect.register
def _(payload: p.TrustEpoch, rows: Rows) -> None:
    rows.accept_epoch(payload.root, payload.trust_epoch, payload.payload_sha256)


@_effect.register
def _(payload: p.KeyTransition, rows: Rows) -> None:
    rows.add_tenure(payload.role, payload.new_public_key_b64, rows.event.seq + 1)


@_effect.register
def _(payload: p.PostureAccept, rows: Rows) -> None:
    rows.insert("postures", rows.event.seq, sha256_text(bytes(payload.ring5_envelope)))


@_effect.register
def _(payload: p.CharterAmend, rows: Rows) -> None:
    rows.upsert(payload.id, "charter", payload.text, authorship="operator")


@_effect.register
def _(payload: p.PolicySet, rows: Rows) -> None:
    rows.set_policy(payload.key, rows.event.payload_bytes.decode())


@_effect.register
def _(payload: p.OperationalCommitment, rows: Rows) -> None:
    rows.upsert(payload.id, "operational", payload.description, authorship="operator")


@_effect.register
def _(payload: p.ExperienceCreate, rows: Rows) -> None:
    rows.create(
        payload.id,
        "experience",
        payload.content,
        authorship=_authorship(payload),
        raw=not payload.private and payload.raw is not False,
        private=payload.private,
    )


@_effect.register
def _(payload: p.ReflectionCreate, rows: Rows) -> None:
    rows.require(payload.refs)
    rows.create(payload.id, "reflection", payload.content)
    rows.derive(payload.id, payload.refs)


@_effect.register
def _(payload: p.LearningCreate, rows: Rows) -> None:
    rows.require(payload.refs)
    rows.create(payload.id, "learning", payload.content)
    rows.derive(payload.id, payload.refs)


@_effect.register
def _(payload: p.BeliefUpsert, rows: Rows) -> None:
    rows.require(payload.evidence_refs)
    rows.upsert(
        payload.belief_id,
        payload.node_type or "belief",
        payload.text,
        confidence=payload.confidence,
    )
    rows.derive(payload.belief_id, payload.evidence_refs)


@_effect.register
def _(payload: p.BeliefPromote, rows: Rows) -> None:
    rows.set_ring(payload.id, "belief", rows.event.kind.ring)


@_effect.register
def _(payload: p.BeliefArchive, rows: Rows) -> None:
    rows.set_state(payload.id, "belief", "archived")


@_effect.register
def _(payload: p.BeliefSupersede, rows: Rows) -> None:
    rows.require((payload.new_id,), "belief")
    rows.set_state(payload.old_id, "belief", "superseded")
    rows.add_edge(payload.new_id, payload.old_id, "SUPERSEDES")


@_effect.register
def _(payload: p.ValueUpsert, rows: Rows) -> None:
    rows.upsert(payload.id, "value", payload.statement, confidence=payload.confidence)


@_effect.register
def _(payload: p.WorkingStyleUpsert, rows: Rows) -> None:
    rows.upsert(payload.id, "working_style", payload.content, confidence=payload.confidence)


@_effect.register
def _(payload: p.WorkingNote, rows: Rows) -> None:
    rows.upsert(payload.id, "note", payload.content)


@_effect.register
def _(payload: p.RelationshipUpsert, rows: Rows) -> None:
    words = p.relationship_words(payload)
    rows.upsert(payload.id, "relationship", words, takes_over="experience")


@_effect.register
def _(payload: p.EdgeCreate, rows: Rows) -> None:
    rows.require((payload.from_id, payload.to_id))
    rows.add_edge(payload.from_id, payload.to_id, payload.edge_type)


@_effect.register
def _(payload: p.EdgeArchive, rows: Rows) -> None:
    rows.archive_edge(payload.from_id, payload.to_id, payload.edge_type)


@_effect.register
def _(payload: p.IntentionCreate, rows: Rows) -> None:
    rows.create(payload.id, "intention", payload.statement, state="active")


@_effect.register
def _(payload: p.IntentionStateChange, rows: Rows) -> None:
    rows.set_state(payload.id, "intention", payload.state)


@_effect.register
def _(payload: p.CommitmentPromised, rows: Rows) -> None:
    rows.require((payload.counterpart_id,), "relationship")
    rows.create(payload.id, "commitment", payload.description, state="promised")


@_effect.register
def _(payload: p.CommitmentStateChange, rows: Rows) -> None:
    rows.set_state(payload.id, "commitment", payload.state)


@_effect.register
def _(payload: p.DecisionRecord, rows: Rows) -> None:
    rows.require(payload.refs)
    rows.create(payload.id, "decision", payload.decision)
    rows.derive(payload.id, payload.refs)


@_effect.register
def _(payload: p.SelfModelSynthesize, rows: Rows) -> None:
    for source in payload.source_entity_refs:
        rows.require((source.id,), *_SOURCE_KINDS[source.class_])
    if payload.previous_synthesis_id is not None:
        rows.require((payload.previous_synthesis_id,), "self_model")
    rows.create(payload.id, "self_model", payload.synthesis_text)
    rows.derive(payload.id, (source.id for source in payload.source_entity_refs))
