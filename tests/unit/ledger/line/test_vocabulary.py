"""The closed list of types, and what each payload must hold."""

from typing import Any

import msgspec
import pytest

from agentic_os.crypto.canonical.json import encode
from agentic_os.errors import LedgerError
from agentic_os.ledger.line.payloads import BeliefUpsert, KeyTransition
from agentic_os.ledger.line.vocabulary import ENTRY_TYPES, FORBIDDEN_CATEGORIES, entry_type

EXPECTED = {
    ("anchor", 0, "platform", "platform"): {"ring0.genesis"},
    ("anchor", 0, "agent", "identity"): {
        "system.witnessed",
        "schema.declare",
        "trust.epoch_accepted",
    },
    ("anchor", 0, "agent", "identity operator platform"): {"key.transition"},
    ("identity", 1, "operator", "operator"): {
        "charter.amend",
        "policy.set",
        "commitment.operational",
    },
    ("identity", 2, "agent", "identity"): {"belief.promote", "relationship.upsert"},
    ("identity", 3, "agent", "identity"): {
        "experience.create",
        "reflection.create",
        "learning.create",
        "belief.upsert",
        "belief.archive",
        "belief.supersede",
        "value.upsert",
        "edge.create",
        "edge.archive",
        "intention.create",
        "intention.state_change",
        "commitment.promised",
        "commitment.state_change",
        "decision.record",
        "self_model.synthesize",
        "working_style.upsert",
    },
    ("identity", 4, "agent", "identity"): {"working.note"},
    ("identity", 5, "platform", "identity"): {"posture.accept"},
}


def test_the_table_is_the_formats() -> None:
    found: dict[tuple[str, int, str, str], set[str]] = {}
    for kind in ENTRY_TYPES.values():
        key = (kind.layer, kind.ring, kind.level, " ".join(kind.signers))
        found.setdefault(key, set()).add(kind.name)
    assert found == EXPECTED


@pytest.mark.parametrize("category", FORBIDDEN_CATEGORIES)
def test_forbidden_categories_are_refused_by_name(category: str) -> None:
    with pytest.raises(LedgerError) as caught:
        entry_type(f"{category}.anything")
    assert caught.value.code == "LEDGER_CATEGORY_FORBIDDEN"


@pytest.mark.parametrize("name", ["", "belief", "belief.delete", "ring0.genesis ", "dream.run"])
def test_everything_else_is_unknown(name: str) -> None:
    with pytest.raises(LedgerError) as caught:
        entry_type(name)
    assert caught.value.code == "LEDGER_TYPE_UNKNOWN"


VALID: list[tuple[str, dict[str, Any]]] = [
    ("belief.upsert", {"claim": "x"}),
    ("belief.upsert", {"id": "b", "statement": "x", "confidence": 1}),
    ("belief.upsert", {"id": "b", "content": "x", "confidence": 0, "node_type": "value"}),
    ("experience.create", {"id": "e", "content": "x", "category": None}),
    (
        "experience.create",
        {"id": "e", "content": "x", "provenance": "operator", "source_turn": 1},
    ),
    (
        "experience.create",
        {"id": "e", "content": "x", "provenance": "external", "source_url": "https://x"},
    ),
    ("intention.state_change", {"id": "i", "state": "active"}),
    ("intention.state_change", {"id": "i", "state": "completed", "outcome": "served: me"}),
    ("commitment.state_change", {"id": "c", "state": "repaired", "repair_state": "x"}),
    (
        "relationship.upsert",
        {"id": "rel_abcdefgh", "counterpart_name": "A", "counterpart_role": "b"},
    ),
    ("decision.record", {"id": "d", "decision": "x", "why": "y", "alternatives": ["z"]}),
    (
        "self_model.synthesize",
        {
            "id": "s",
            "synthesis_text": "x",
            "continuity_thread": "y",
            "source_entity_refs": [{"class": "beliefs", "id": "b"}],
        },
    ),
    ("policy.set", {"key": "a", "value": None}),
    ("policy.set", {"key": "a", "value": 3}),
    ("schema.declare", {"version": 1}),
    (
        "trust.epoch_accepted",
        {"root": "r", "trust_epoch": 1, "payload_sha256": "sha256:" + "0" * 64},
    ),
]

INVALID: list[tuple[str, dict[str, Any]]] = [
    ("belief.upsert", {}),
    ("belief.upsert", {"claim": "x", "statement": "x"}),
    ("belief.upsert", {"claim": "x", "confidence": 1.5}),
    ("belief.upsert", {"claim": "x", "confidence": -1}),
    ("belief.upsert", {"claim": "x", "ring": 2}),
    ("belief.upsert", {"claim": "", "confidence": 1}),
    ("belief.upsert", {"claim": "x", "unknown": 1}),
    ("belief.upsert", {"claim": "x", "id": "two words"}),
    ("belief.upsert", {"claim": "x", "id": "line\n"}),
    ("belief.upsert", {"claim": "x", "id": "x" * 129}),
    ("belief.promote", {"id": "b"}),
    ("belief.promote", {"id": "b", "ring": 3}),
    ("belief.supersede", {"old_id": "b", "new_id": "b", "reason": "x"}),
    ("experience.create", {"id": "e", "content": "x", "category": "other"}),
    ("experience.create", {"id": "e", "content": "x", "provenance": "operator"}),
    ("experience.create", {"id": "e", "content": "x", "provenance": "external"}),
    ("experience.create", {"id": "e", "content": "x" * 100_001}),
    ("edge.create", {"from_id": "a", "to_id": "a", "edge_type": "SUPPORTS"}),
    ("edge.create", {"from_id": "a", "to_id": "b", "edge_type": "LIKES"}),
    ("intention.state_change", {"id": "i", "state": "completed"}),
    ("intention.state_change", {"id": "i", "state": "abandoned", "outcome": "well"}),
    ("intention.state_change", {"id": "i", "state": "completed", "outcome": "served:  "}),
    ("relationship.upsert", {"id": "rel_short", "counterpart_name": "A", "counterpart_role": "b"}),
    ("self_model.synthesize", {"id": "s", "synthesis_text": "x", "continuity_thread": "y"}),
    ("schema.declare", {"version": 0}),
    ("policy.set", {"key": "a", "value": [1]}),
]


@pytest.mark.parametrize(("name", "payload"), VALID)
def test_valid_payloads_are_read(name: str, payload: dict[str, Any]) -> None:
    value = entry_type(name).read(encode(payload))
    assert isinstance(value, entry_type(name).payload)


@pytest.mark.parametrize(("name", "payload"), INVALID)
def test_invalid_payloads_are_refused(name: str, payload: dict[str, Any]) -> None:
    with pytest.raises(LedgerError) as caught:
        entry_type(name).read(encode(payload))
    assert caught.value.code == "LEDGER_PAYLOAD_INVALID"
    assert name in caught.value.message


def test_a_belief_without_an_id_gets_one_from_its_words() -> None:
    one = msgspec.json.decode(b'{"claim":"x"}', type=BeliefUpsert)
    other = msgspec.json.decode(b'{"statement":"x"}', type=BeliefUpsert)
    assert one.text == other.text == "x"
    assert one.belief_id == other.belief_id
    assert msgspec.json.decode(b'{"id":"b","content":"x"}', type=BeliefUpsert).belief_id == "b"


def test_every_identity_payload_has_room_for_the_model() -> None:
    for kind in ENTRY_TYPES.values():
        has_room = "model_id" in kind.payload.__struct_fields__
        expected = (kind.layer == "identity" and kind.ring in {2, 3, 4}) or kind.ring == 5
        assert has_room == expected, kind.name


def test_keys_in_payloads_have_their_exact_length() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(
            encode({"role": "identity", "new_public_key_b64": "AA==", "new_sig_b64": "AA=="}),
            type=KeyTransition,
        )
