"""The closed list of entry types: layer, ring, who signs, who may ask, payload.

One table (ledger format, section Types). Ring and layer are the type's own. What is not in
the table has no legal place in a ledger; categories that must never get one are refused by
name.
"""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import msgspec

from agentic_os.errors import LedgerError
from agentic_os.ledger.line import payloads as p

Layer: TypeAlias = Literal["identity", "anchor"]
Level: TypeAlias = Literal["agent", "operator", "platform"]

SCHEMA_VERSION: Final = 1
ROLES: Final[tuple[p.Role, ...]] = ("identity", "operator", "platform")
LEVELS: Final[tuple[Level, ...]] = ("agent", "operator", "platform")
FORBIDDEN_CATEGORIES: Final = (
    "plugin",
    "provider",
    "telemetry",
    "metric",
    "transcript",
    "conversation",
    "agency",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryType:
    """One row of the table. ``level`` is the lowest session level that may write it."""

    name: str
    layer: Layer
    ring: int
    signers: tuple[p.Role, ...]
    level: Level
    payload: type[p.Payload]
    decoder: "msgspec.json.Decoder[p.Payload]"

    def read(self, payload: bytes) -> p.Payload:
        """Decode a payload to its schema's value.

        Raises:
            LedgerError: ``LEDGER_PAYLOAD_INVALID``, naming the member.
        """
        try:
            return self.decoder.decode(payload)
        except (ValueError, RecursionError) as error:
            raise LedgerError(
                f"the payload of {self.name} is refused: {error}", code="LEDGER_PAYLOAD_INVALID"
            ) from None


def _row(
    name: str,
    payload: type[p.Payload],
    ring: int,
    *signers: p.Role,
    layer: Layer = "identity",
    level: Level = "agent",
) -> EntryType:
    return EntryType(
        name=name,
        layer=layer,
        ring=ring,
        signers=signers or ("identity",),
        level=level,
        payload=payload,
        decoder=msgspec.json.Decoder(payload),
    )


ENTRY_TYPES: Final[dict[str, EntryType]] = {
    row.name: row
    for row in (
        _row("ring0.genesis", p.Genesis, 0, "platform", layer="anchor", level="platform"),
        _row("system.witnessed", p.Witnessed, 0, layer="anchor"),
        _row("schema.declare", p.SchemaDeclare, 0, layer="anchor"),
        _row("trust.epoch_accepted", p.TrustEpoch, 0, layer="anchor"),
        _row(
            "key.transition", p.KeyTransition, 0, "identity", "operator", "platform", layer="anchor"
        ),
        _row("charter.amend", p.CharterAmend, 1, "operator", level="operator"),
        _row("policy.set", p.PolicySet, 1, "operator", level="operator"),
        _row("commitment.operational", p.OperationalCommitment, 1, "operator", level="operator"),
        _row("belief.promote", p.BeliefPromote, 2),
        _row("relationship.upsert", p.RelationshipUpsert, 2),
        _row("experience.create", p.ExperienceCreate, 3),
        _row("reflection.create", p.ReflectionCreate, 3),
        _row("learning.create", p.LearningCreate, 3),
        _row("belief.upsert", p.BeliefUpsert, 3),
        _row("belief.archive", p.BeliefArchive, 3),
        _row("belief.supersede", p.BeliefSupersede, 3),
        _row("value.upsert", p.ValueUpsert, 3),
        _row("edge.create", p.EdgeCreate, 3),
        _row("edge.archive", p.EdgeArchive, 3),
        _row("intention.create", p.IntentionCreate, 3),
        _row("intention.state_change", p.IntentionStateChange, 3),
        _row("commitment.promised", p.CommitmentPromised, 3),
        _row("commitment.state_change", p.CommitmentStateChange, 3),
        _row("decision.record", p.DecisionRecord, 3),
        _row("self_model.synthesize", p.SelfModelSynthesize, 3),
        _row("working_style.upsert", p.WorkingStyleUpsert, 3),
        _row("working.note", p.WorkingNote, 4),
        _row("posture.accept", p.PostureAccept, 5, level="platform"),
    )
}


def entry_type(name: str) -> EntryType:
    """Return the row of a type.

    Raises:
        LedgerError: ``LEDGER_CATEGORY_FORBIDDEN`` for what may never stand in a ledger,
            ``LEDGER_TYPE_UNKNOWN`` for anything else that is not in the table.
    """
    found = ENTRY_TYPES.get(name)
    if found is not None:
        return found
    category = name.partition(".")[0]
    if category in FORBIDDEN_CATEGORIES:
        raise LedgerError(
            f"{category} entries are forbidden in the ledger",
            code="LEDGER_CATEGORY_FORBIDDEN",
            hint="Keep them in a store of their own.",
        )
    raise LedgerError("an unknown type of entry", code="LEDGER_TYPE_UNKNOWN")
