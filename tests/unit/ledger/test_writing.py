"""From a request to a durable line: the gate, the trial, effects, and what refuses."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.envelope.public_keys import make_named_envelope
from agentic_os.crypto.envelope.signed import seal
from agentic_os.errors import LedgerError
from agentic_os.files.publishing import ExclusiveLock
from agentic_os.ledger.file.opening import start_journal
from agentic_os.ledger.file.storage import LineReader
from agentic_os.ledger.line.payloads import BeliefPromote
from agentic_os.ledger.line.vocabulary import Level
from agentic_os.ledger.projection.database import SqliteDatabase
from agentic_os.ledger.projection.evidence import evidence_of
from agentic_os.ledger.projection.schema import TABLES
from agentic_os.ledger.projection.tables import EMPTY_CURSOR, Projection
from agentic_os.ledger.rule.chain import Chain
from agentic_os.ledger.rule.gate import Evidence
from agentic_os.ledger.writing import REQUESTS_ENTRIES, Request, Writer, Written, request
from support.ledger.builder import BORN, KEYS, Builder, MemoryStorage
from support.ledger.stories import event_of

if TYPE_CHECKING:
    from agentic_os.ledger.line.payloads import Role


SHOWN = frozenset(("kind", "ring", "authorship", "state", "text", "confidence", "raw", "private"))


class Desk:
    """A writer over memory, with the tables at hand."""

    def __init__(self, folder: Path) -> None:
        self.storage = MemoryStorage(Builder().genesis().data)
        self.projection = Projection(SqliteDatabase(None))
        chain = Chain()
        events = [event_of(chain.admit(line)) for line in LineReader(self.storage)]
        self.journal = start_journal(self.storage, ExclusiveLock(folder / "lock"))
        self.projection.apply(events)
        signers: dict[Role, Any] = {role: KEYS[role] for role in KEYS}  # type: ignore[misc]  # role names
        self.writer = Writer(self.journal, self.projection, signers)

    def write(self, name: str, payload: Any, level: Level = "agent") -> Written:
        return self.writer.submit(level, [request(name, payload)])[0]

    def refuse(self, name: str, payload: Any, code: str, level: Level = "agent") -> None:
        before = (self.storage.size(), self.projection.digest(), self.projection.cursor)
        with pytest.raises(LedgerError) as caught:
            self.write(name, payload, level)
        assert caught.value.code == code
        assert (self.storage.size(), self.projection.digest(), self.projection.cursor) == before

    def entity(self, entity_id: str) -> dict[str, Any]:
        rows = self.projection.db.execute("SELECT * FROM entities WHERE id = ?", (entity_id,))
        names = next(table.names for table in TABLES if table.name == "entities")
        found = dict(zip(names, rows[0], strict=True)) if rows else {}
        return {name: value for name, value in found.items() if name in SHOWN}

    def experiences(self) -> None:
        """One of each authorship class, and one more."""
        self.write("experience.create", {"id": "exp_self", "content": "seen"})
        self.write("experience.create", {"id": "exp_more", "content": "felt", "private": True})
        self.write(
            "experience.create",
            {"id": "exp_op", "content": "told", "provenance": "operator", "source_turn": 1},
            "operator",
        )
        self.write(
            "experience.create",
            {"id": "exp_ext", "content": "read", "provenance": "external", "source_url": "u"},
            "operator",
        )

    def evidence(self, belief_id: str) -> Evidence:
        """What a promotion of a belief would rest on."""
        return evidence_of(self.projection.db, BeliefPromote(id=belief_id, ring=2))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.journal.close()
    made.projection.close()


def test_an_entry_is_durable_and_applied(desk: Desk) -> None:
    written = desk.write("belief.upsert", {"id": "b", "claim": "x", "confidence": 0.87})
    assert (written.line.seq, written.line.type, written.rewritten_from) == (2, "belief.upsert", "")
    assert desk.projection.cursor == (2, written.line.hash)
    assert desk.entity("b") == {
        "kind": "belief",
        "ring": 3,
        "authorship": "resident",
        "state": "live",
        "text": "x",
        "confidence": 0.87,
        "raw": 0,
        "private": 0,
    }


def test_tables_that_somebody_else_changes_decide_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.projection.close()
    path = tmp_path / "tables.db"
    projection = Projection(SqliteDatabase(path))
    projection.apply([event_of(Chain().admit(line)) for line in LineReader(desk.storage)])
    writer = Writer(desk.journal, projection, {"identity": KEYS["identity"]})
    writer.submit("agent", [request("experience.create", {"id": "e", "content": "x"})])
    other = SqliteDatabase(path)
    other.execute("UPDATE entities SET authorship = 'operator'")
    other.close()
    for code in ("PROJECTION_CHANGED", "JOURNAL_FROZEN"):
        with pytest.raises(LedgerError) as caught:
            writer.submit("agent", [request("experience.create", {"id": "f", "content": "x"})])
        assert caught.value.code == code
    projection.close()
    desk.journal.close()


def test_experiences_carry_authorship_and_rawness(desk: Desk) -> None:
    desk.experiences()
    assert [desk.entity(name)["authorship"] for name in ("exp_self", "exp_op", "exp_ext")] == [
        "resident",
        "operator",
        "external",
    ]
    assert (desk.entity("exp_self")["raw"], desk.entity("exp_more")["raw"]) == (1, 0)
    desk.refuse("experience.create", {"id": "exp_self", "content": "y"}, "LEDGER_TARGET_EXISTS")


def test_ring_two_is_earned_by_edges(desk: Desk) -> None:
    desk.experiences()
    desk.write("belief.upsert", {"id": "b", "claim": "x"})
    for source in ("exp_self", "exp_more"):
        desk.write("edge.create", {"from_id": source, "to_id": "b", "edge_type": "SUPPORTS"})
    written = desk.write("belief.promote", {"id": "b", "ring": 2})
    assert (written.line.type, written.rewritten_from) == ("belief.upsert", "belief.promote")
    assert "2 of 3 sources" in written.reason
    desk.write("edge.create", {"from_id": "exp_ext", "to_id": "b", "edge_type": "DERIVED_FROM"})
    written = desk.write("belief.promote", {"id": "b", "ring": 2})
    assert (written.line.type, written.line.ring) == ("belief.promote", 2)
    assert desk.entity("b")["ring"] == 2
    desk.write("belief.upsert", {"id": "b", "claim": "x", "confidence": 0.9}, "operator")
    assert desk.entity("b")["ring"] == 2
    desk.write("belief.upsert", {"id": "b", "claim": "x"})
    assert (desk.entity("b")["ring"], desk.entity("b")["confidence"]) == (2, 0.9)
    desk.write("belief.upsert", {"id": "b", "claim": "other words"}, "operator")
    assert desk.entity("b")["ring"] == 3


def test_the_same_source_counts_once_and_a_gone_one_not_at_all(desk: Desk) -> None:
    desk.experiences()
    desk.write("belief.upsert", {"id": "b", "claim": "x"})
    desk.write("belief.upsert", {"id": "c", "claim": "y"})
    for kind in ("SUPPORTS", "REINFORCED_BY", "DERIVED_FROM"):
        desk.write("edge.create", {"from_id": "exp_ext", "to_id": "b", "edge_type": kind})
    desk.write("edge.create", {"from_id": "exp_op", "to_id": "b", "edge_type": "SUPPORTS"})
    desk.write("edge.create", {"from_id": "c", "to_id": "b", "edge_type": "SUPPORTS"})
    assert desk.evidence("b").support.roots == 3
    desk.write("belief.archive", {"id": "c", "reason": "wrong"})
    assert desk.evidence("b").support.roots == 2
    desk.write("edge.create", {"from_id": "exp_self", "to_id": "b", "edge_type": "SHAPED_BY"})
    assert desk.evidence("b").support.roots == 2
    desk.write("edge.create", {"from_id": "exp_self", "to_id": "b", "edge_type": "SUPPORTS"})
    assert not desk.evidence("b").lacks
    desk.write("edge.create", {"from_id": "b", "to_id": "exp_self", "edge_type": "CONTRADICTS"})
    assert desk.evidence("b").contradicted
    against = {"from_id": "b", "to_id": "exp_self", "edge_type": "CONTRADICTS"}
    desk.refuse("edge.archive", against, "RING_PROTECTED")
    desk.write("edge.archive", against, "operator")
    assert not desk.evidence("b").lacks


def test_a_relationship_takes_over_the_experience_of_its_id(desk: Desk) -> None:
    desk.experiences()
    wanted = {"id": "rel_somebody", "counterpart_name": "Ann", "counterpart_role": "friend"}
    first = desk.write("relationship.upsert", wanted)
    assert (first.line.type, first.rewritten_from) == ("experience.create", "relationship.upsert")
    for source in ("exp_self", "exp_op", "exp_ext"):
        desk.write(
            "edge.create", {"from_id": source, "to_id": "rel_somebody", "edge_type": "SUPPORTS"}
        )
    second = desk.write("relationship.upsert", wanted)
    assert second.line.type == "relationship.upsert"
    assert (desk.entity("rel_somebody")["kind"], desk.entity("rel_somebody")["ring"]) == (
        "relationship",
        2,
    )
    desk.write(
        "commitment.promised",
        {"id": "c", "description": "x", "counterpart_id": "rel_somebody"},
    )
    desk.write("commitment.state_change", {"id": "c", "state": "completed"})
    assert desk.entity("c")["state"] == "completed"


def test_a_batch_sees_itself_and_is_all_or_nothing(desk: Desk) -> None:
    written = desk.writer.submit(
        "agent",
        [
            request("experience.create", {"id": "e", "content": "x"}),
            request("belief.upsert", {"id": "b", "claim": "y", "evidence_refs": ["e"]}),
            request("edge.create", {"from_id": "e", "to_id": "b", "edge_type": "SUPPORTS"}),
        ],
    )
    assert [one.line.seq for one in written] == [2, 3, 4]
    size = desk.storage.size()
    with pytest.raises(LedgerError):
        desk.writer.submit(
            "agent",
            [
                request("experience.create", {"id": "f", "content": "x"}),
                request("belief.archive", {"id": "nothing", "reason": "x"}),
            ],
        )
    assert desk.storage.size() == size
    assert desk.entity("f") == {}


def test_beliefs_end(desk: Desk) -> None:
    for name in ("a", "b", "c"):
        desk.write("belief.upsert", {"id": name, "claim": name})
    desk.write("belief.supersede", {"old_id": "a", "new_id": "b", "reason": "better"})
    assert desk.entity("a")["state"] == "superseded"
    assert desk.projection.db.execute("SELECT from_id, to_id, edge_type FROM edges") == [
        ("b", "a", "SUPERSEDES")
    ]
    desk.write("belief.archive", {"id": "c", "reason": "wrong"})
    desk.refuse("belief.archive", {"id": "c", "reason": "again"}, "LEDGER_TARGET_MISSING")
    desk.refuse(
        "belief.supersede", {"old_id": "b", "new_id": "c", "reason": "x"}, "LEDGER_TARGET_MISSING"
    )
    desk.refuse("belief.promote", {"id": "c", "ring": 2}, "LEDGER_TARGET_MISSING")
    desk.refuse("belief.upsert", {"id": "c", "claim": "back"}, "LEDGER_TARGET_RETIRED")
    desk.write("experience.create", {"id": "e", "content": "seen again"})
    desk.write("belief.upsert", {"id": "c", "claim": "back", "evidence_refs": ["e"]})
    assert desk.entity("c")["state"] == "live"


def test_edges_are_unique_while_they_live(desk: Desk) -> None:
    desk.write("belief.upsert", {"id": "a", "claim": "a"})
    desk.write("belief.upsert", {"id": "b", "claim": "b"})
    edge = {"from_id": "a", "to_id": "b", "edge_type": "SUPPORTS"}
    desk.refuse("edge.archive", edge, "LEDGER_TARGET_MISSING")
    desk.write("edge.create", edge)
    desk.refuse("edge.create", edge, "LEDGER_TARGET_EXISTS")
    desk.write("edge.archive", edge)
    desk.refuse("edge.archive", edge, "LEDGER_TARGET_MISSING")
    desk.write("edge.create", edge)
    desk.refuse("edge.create", edge | {"to_id": "nothing"}, "LEDGER_TARGET_MISSING")


def test_the_remaining_types_have_their_effects(desk: Desk) -> None:
    desk.experiences()
    desk.write("reflection.create", {"id": "r", "content": "x", "refs": ["exp_self"]})
    desk.write("learning.create", {"id": "l", "content": "x", "refs": ["r"]})
    desk.write("value.upsert", {"id": "v", "statement": "x", "confidence": 1})
    desk.write("working_style.upsert", {"id": "w", "content": "x"})
    desk.write("working.note", {"id": "n", "content": "x"})
    desk.write("working.note", {"id": "n", "content": "y"})
    desk.write("intention.create", {"id": "i", "statement": "x", "why": "y"})
    desk.write("intention.state_change", {"id": "i", "state": "completed", "outcome": "served: x"})
    desk.write("decision.record", {"id": "d", "decision": "x", "why": "y", "refs": ["i"]})
    sources = [
        {"class": "values", "id": "v"},
        {"class": "intentions", "id": "i"},
        {"class": "reflections", "id": "r"},
        {"class": "notes", "id": "n"},
        {"class": "experiences", "id": "exp_op"},
        {"class": "working_style", "id": "w"},
    ]
    portrait = {
        "id": "s1",
        "synthesis_text": "x",
        "continuity_thread": "y",
        "source_entity_refs": sources,
    }
    desk.write("self_model.synthesize", portrait)
    desk.write("self_model.synthesize", portrait | {"id": "s2", "previous_synthesis_id": "s1"})
    desk.write("charter.amend", {"id": "art_1", "text": "x"}, "operator")
    desk.write("policy.set", {"key": "k", "value": 1}, "operator")
    desk.write("policy.set", {"key": "k", "value": "two"}, "operator")
    desk.write("commitment.operational", {"id": "o", "description": "x"}, "operator")
    desk.write(
        "trust.epoch_accepted",
        {"root": "r", "trust_epoch": 3, "payload_sha256": "sha256:" + "0" * 64},
    )
    desk.write("schema.declare", {"version": 1})
    kinds = {name: desk.entity(name)["kind"] for name in ("r", "l", "v", "w", "n", "i", "d", "s2")}
    assert kinds == {
        "r": "reflection",
        "l": "learning",
        "v": "value",
        "w": "working_style",
        "n": "note",
        "i": "intention",
        "d": "decision",
        "s2": "self_model",
    }
    assert (desk.entity("n")["ring"], desk.entity("n")["text"]) == (4, "y")
    assert (desk.entity("art_1")["ring"], desk.entity("art_1")["authorship"]) == (1, "operator")
    assert desk.projection.db.execute("SELECT value FROM policies") == [
        ('{"key":"k","value":"two"}',)
    ]


@pytest.mark.parametrize(
    ("name", "payload", "code"),
    [
        ("reflection.create", {"id": "r", "content": "x", "refs": ["no"]}, "LEDGER_TARGET_MISSING"),
        ("value.upsert", {"id": "b", "statement": "x"}, "LEDGER_TARGET_KIND"),
        ("intention.state_change", {"id": "b", "state": "active"}, "LEDGER_TARGET_KIND"),
        ("intention.state_change", {"id": "no", "state": "active"}, "LEDGER_TARGET_MISSING"),
        (
            "commitment.promised",
            {"id": "c", "description": "x", "counterpart_id": "b"},
            "LEDGER_TARGET_KIND",
        ),
        (
            "self_model.synthesize",
            {
                "id": "s",
                "synthesis_text": "x",
                "continuity_thread": "y",
                "source_entity_refs": [{"class": "values", "id": "b"}],
            },
            "LEDGER_TARGET_KIND",
        ),
        (
            "self_model.synthesize",
            {
                "id": "s",
                "synthesis_text": "x",
                "continuity_thread": "y",
                "source_entity_refs": [],
                "previous_synthesis_id": "none",
            },
            "LEDGER_TARGET_MISSING",
        ),
        ("belief.upsert", {"id": "exp", "claim": "x"}, "LEDGER_TARGET_KIND"),
        ("belief.upsert", {"id": "b", "claim": "x", "extra": 1}, "LEDGER_PAYLOAD_INVALID"),
        ("belief.upsert", {"id": "b", "claim": "x", "model_id": "m"}, "LEDGER_PAYLOAD_INVALID"),
        ("charter.amend", {"id": "a", "text": "x"}, "RING_DENIED"),
        ("plugin.installed", {}, "LEDGER_CATEGORY_FORBIDDEN"),
        ("dream.run", {}, "LEDGER_TYPE_UNKNOWN"),
        ("schema.declare", {"version": 2}, "LEDGER_SCHEMA_UNKNOWN"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_signed(
    desk: Desk, name: str, payload: Any, code: str
) -> None:
    desk.write("belief.upsert", {"id": "b", "claim": "b"})
    desk.write("experience.create", {"id": "exp", "content": "x"})
    desk.refuse(name, payload, code)


def test_a_trust_epoch_never_goes_back(desk: Desk) -> None:
    epoch = {"root": "r", "trust_epoch": 3, "payload_sha256": "sha256:" + "0" * 64}
    desk.write("trust.epoch_accepted", epoch)
    desk.refuse("trust.epoch_accepted", epoch, "LEDGER_TRUST_EPOCH")
    desk.refuse("trust.epoch_accepted", epoch | {"trust_epoch": 2}, "LEDGER_TRUST_EPOCH")
    desk.write("trust.epoch_accepted", epoch | {"root": "other", "trust_epoch": 1})


def test_a_posture_is_accepted_by_a_platform_session(desk: Desk) -> None:
    platform = KEYS["platform"]
    published = make_named_envelope(platform.public, key_type="ring5", created_at=BORN)
    envelope = seal(
        "ring5.bundle",
        {
            "purpose": "x",
            "ring5_version": "1",
            "ordinal": 1,
            "timestamp": 1,
            "posture": "x",
        },
        key=platform,
        envelope=published,
    )
    payload = {"ring5_envelope": envelope.to_json(), "ring5_key": decode(published.document)}
    desk.refuse("posture.accept", payload, "RING_DENIED")
    desk.refuse("posture.accept", payload, "RING_DENIED", "operator")
    assert desk.write("posture.accept", payload, "platform").line.role == "identity"
    assert len(desk.projection.db.execute("SELECT * FROM postures")) == 1


def test_a_callers_ring_must_be_the_types(desk: Desk) -> None:
    right = request("belief.upsert", {"id": "b", "claim": "x"}, ring=3)
    assert desk.writer.submit("agent", [right])[0].line.ring == 3
    wrong = request("belief.upsert", {"id": "c", "claim": "x"}, ring=2)
    with pytest.raises(LedgerError) as caught:
        desk.writer.submit("agent", [wrong])
    assert caught.value.code == "LEDGER_RING_WRONG"
    promoted = request("belief.promote", {"id": "b", "ring": 2}, ring=2)
    assert desk.writer.submit("agent", [promoted])[0].line.ring == 3


def test_the_runtime_stamps_the_model(desk: Desk) -> None:
    written = desk.writer.submit(
        "operator",
        [
            request("belief.upsert", {"id": "b", "claim": "x", "confidence": 0.5}),
            request("policy.set", {"key": "k", "value": 1}),
        ],
        model_id="model-1",
    )
    assert written[0].line.payload == (
        b'{"claim":"x","confidence":0.5,"id":"b","model_id":"model-1"}'
    )
    assert b"model_id" not in written[1].line.payload


@pytest.mark.parametrize("payload", [b"", b"1", b"[]", b'{"b":1,"a":2}', b'{"claim": "x"}'])
def test_a_payload_must_be_a_canonical_object(desk: Desk, payload: bytes) -> None:
    with pytest.raises(LedgerError) as caught:
        desk.writer.submit("agent", [Request(type="belief.upsert", payload=payload)])
    assert caught.value.code == "LEDGER_PAYLOAD_INVALID"


def test_a_batch_has_a_size(desk: Desk) -> None:
    one = request("working.note", {"id": "n", "content": "x"})
    for count in (0, REQUESTS_ENTRIES + 1):
        with pytest.raises(LedgerError) as caught:
            desk.writer.submit("agent", [one] * count)
        assert caught.value.code == "BATCH_SIZE"


def test_a_projection_that_fails_after_the_write_stops_the_writer(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: object) -> None:
        raise LedgerError("disk full", code="PROJECTION_UNUSABLE")

    monkeypatch.setattr(Projection, "apply", lambda _, events: full(events))
    with pytest.raises(LedgerError) as caught:
        desk.write("working.note", {"id": "n", "content": "x"})
    assert caught.value.code == "PROJECTION_BEHIND"
    assert desk.journal.chain.size == 2
    monkeypatch.undo()
    with pytest.raises(LedgerError) as caught:
        desk.write("working.note", {"id": "m", "content": "x"})
    assert caught.value.code == "JOURNAL_FROZEN"
    assert "behind" in desk.writer.stopped


def test_a_projection_accepts_only_the_next_line() -> None:
    replayed = Chain()
    lines = Builder().genesis().experience(1).lines
    events = [event_of(replayed.admit(line)) for line in lines]
    empty = Projection(SqliteDatabase(None))
    with pytest.raises(LedgerError) as caught:
        empty.apply(events[1:])
    assert caught.value.code == "PROJECTION_BEHIND"
    assert empty.cursor == EMPTY_CURSOR
    empty.close()
