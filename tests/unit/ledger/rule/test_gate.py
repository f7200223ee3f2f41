"""The ring gate: every level against every type, and what ring 2 rests on."""

from dataclasses import dataclass
from functools import cached_property

import pytest

from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.canonical.values import JsonInput
from agentic_os.errors import LedgerError
from agentic_os.ledger.line.entry import Draft, draft
from agentic_os.ledger.line.payloads import TEXT_CHARS, KeyTransition, Payload
from agentic_os.ledger.line.vocabulary import ENTRY_TYPES, LEVELS, Level
from agentic_os.ledger.rule.gate import NO_EVIDENCE, AuthorshipClass, Evidence, Ruling, Weight, gate

SUPPORT = Weight(roots=3, classes=frozenset({"operator", "resident"}))
ENOUGH = Evidence(support=SUPPORT, text="x", confidence=None)
PLAIN = sorted(
    name
    for name, kind in ENTRY_TYPES.items()
    if kind.ring != 2 and name not in {"key.transition", "schema.declare"}
)
KEY_PAYLOAD = {"new_public_key_b64": "A" * 3456, "new_sig_b64": "A" * 6172}


@dataclass(frozen=True, kw_only=True)
class Blank(Draft):
    """A draft whose payload says nothing: of its type alone the levels depend."""

    @cached_property
    def value(self) -> Payload:
        return Payload()


def _rule(level: Level, name: str, payload: JsonInput, evidence: Evidence = NO_EVIDENCE) -> Ruling:
    return gate(level, draft(name, payload), evidence, seq=7)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", PLAIN)
def test_levels_open_their_rings_and_no_others(level: Level, name: str) -> None:
    kind = ENTRY_TYPES[name]
    allowed = LEVELS.index(level) >= LEVELS.index(kind.level)
    drafted = Blank(type=name, payload=b"{}")
    if allowed:
        ruling = gate(level, drafted, NO_EVIDENCE, seq=1)
        assert (ruling.draft, ruling.role, ruling.rewritten_from) == (drafted, kind.signers[0], "")
        return
    with pytest.raises(LedgerError) as caught:
        gate(level, drafted, NO_EVIDENCE, seq=1)
    assert caught.value.code == "RING_DENIED"
    assert kind.level in caught.value.message


@pytest.mark.parametrize(("role", "needed"), [("identity", 0), ("operator", 1), ("platform", 2)])
def test_a_role_changes_its_own_key(role: str, needed: int) -> None:
    for place, level in enumerate(LEVELS):
        payload = {"role": role} | KEY_PAYLOAD
        if place >= needed:
            assert _rule(level, "key.transition", payload).role == role
            continue
        with pytest.raises(LedgerError) as caught:
            _rule(level, "key.transition", payload)
        assert caught.value.code == "RING_DENIED"
    assert ENTRY_TYPES["key.transition"].payload is KeyTransition


def test_a_version_that_nobody_here_could_read_is_not_declared() -> None:
    assert _rule("agent", "schema.declare", {"version": 1}).role == "identity"
    with pytest.raises(LedgerError) as caught:
        _rule("agent", "schema.declare", {"version": 2})
    assert caught.value.code == "LEDGER_SCHEMA_UNKNOWN"


def test_provenance_opens_ring_two() -> None:
    ruling = _rule("agent", "belief.promote", {"id": "b", "ring": 2}, ENOUGH)
    assert (ruling.draft.type, ruling.rewritten_from) == ("belief.promote", "")


@pytest.mark.parametrize(
    ("sources", "classes", "contradicted", "words"),
    [
        (2, {"operator", "resident"}, False, "2 of 3 sources"),
        (9, {"resident"}, False, "1 of 2 authorship classes"),
        (9, {"operator", "external", "resident"}, True, "contradicted"),
    ],
)
def test_without_provenance_a_promotion_is_written_one_ring_out(
    sources: int, classes: set[AuthorshipClass], contradicted: bool, words: str
) -> None:
    evidence = Evidence(
        support=Weight(roots=sources, classes=frozenset(classes)),
        contradicted=contradicted,
        text="the words",
        confidence=1,
    )
    ruling = _rule("platform", "belief.promote", {"id": "b", "ring": 2}, evidence)
    assert ruling.draft == draft(
        "belief.upsert", {"id": "b", "statement": "the words", "confidence": 1}
    )
    assert (ruling.role, ruling.rewritten_from) == ("identity", "belief.promote")
    assert words in ruling.reason


def test_a_belief_without_confidence_gets_none() -> None:
    evidence = Evidence(text="x")
    ruling = _rule("agent", "belief.promote", {"id": "b", "ring": 2}, evidence)
    assert decode(ruling.draft.payload) == {"id": "b", "statement": "x"}


def test_nothing_cannot_be_promoted() -> None:
    with pytest.raises(LedgerError) as caught:
        _rule("agent", "belief.promote", {"id": "b", "ring": 2})
    assert caught.value.code == "LEDGER_TARGET_MISSING"


RELATIONSHIP = {"id": "rel_somebody", "counterpart_name": "Ann", "counterpart_role": "friend"}


def test_a_relationship_without_provenance_becomes_an_experience_of_its_id() -> None:
    ruling = _rule("agent", "relationship.upsert", RELATIONSHIP | {"description": "kind"})
    assert ruling.draft == draft(
        "experience.create",
        {"id": "rel_somebody", "content": "Ann (friend): kind", "category": "observation"},
    )
    again = _rule("agent", "relationship.upsert", RELATIONSHIP, Evidence(text="Ann"))
    assert decode(again.draft.payload) == {
        "id": "rel_somebody.7",
        "content": "Ann (friend)",
        "category": "observation",
    }
    known = Evidence(support=SUPPORT, text="Ann (friend)")
    assert _rule("agent", "relationship.upsert", RELATIONSHIP, known).rewritten_from == ""


def test_long_words_still_fit() -> None:
    ruling = _rule("agent", "relationship.upsert", RELATIONSHIP | {"description": "x" * TEXT_CHARS})
    ruling.draft.kind.read(ruling.draft.payload)
