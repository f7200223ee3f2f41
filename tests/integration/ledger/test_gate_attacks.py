"""What an agent tries in order to be believed more than its sources allow, and what comes of it.

The table "On the gate" of ``docs/explanation/attack-table.md`` is the expectation: each row is
run here against a real journal and projection. A row that no test runs, or a test without a row,
fails.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from agentic_os.errors import LedgerError
from agentic_os.files.publishing import ExclusiveLock
from agentic_os.ledger.file.opening import start_journal
from agentic_os.ledger.line.vocabulary import Level
from agentic_os.ledger.projection.database import SqliteDatabase
from agentic_os.ledger.projection.tables import Projection
from agentic_os.ledger.writing import Request, Writer, Written, request
from support.ledger.builder import KEYS, Builder, MemoryStorage

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "attack-table.md"


def _rows() -> dict[str, str]:
    section = PAGE.read_text("utf-8").split("\n## On the gate\n", 1)[1].split("\n## ", 1)[0]
    rows: dict[str, str] = {}
    for line in section.splitlines():
        cells = [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3 and not set(line) <= set("|-: "):
            rows[cells[0]] = cells[1]
    rows.pop("what an agent does", None)
    return rows


ROWS = _rows()


class Agent:
    """A session of level agent beside an honest person; every call is one entry."""

    def __init__(self, folder: Path) -> None:
        storage = MemoryStorage(Builder().genesis().data)
        self.journal = start_journal(storage, ExclusiveLock(folder / "ledger.lock"))
        self.projection = Projection(SqliteDatabase(None))
        from agentic_os.ledger.file.storage import LineReader
        from agentic_os.ledger.rule.chain import Chain
        from support.ledger.stories import event_of

        chain = Chain()
        self.projection.apply([event_of(chain.admit(line)) for line in LineReader(storage)])
        self.writer = Writer(
            self.journal,
            self.projection,
            {"identity": KEYS["identity"], "operator": KEYS["operator"]},
        )
        self._turn = 0

    def write(self, kind: str, payload: Any, level: Level = "agent") -> Written:
        return self.writer.submit(level, [request(kind, payload)])[0]

    def batch(self, *asked: tuple[str, Any]) -> tuple[Written, ...]:
        return self.writer.submit("agent", [request(kind, payload) for kind, payload in asked])

    def told(self, name: str, words: str = "") -> str:
        """Something the operator said."""
        self._turn += 1
        self.write(
            "experience.create",
            {
                "id": name,
                "content": words or f"told {name}",
                "provenance": "operator",
                "source_turn": self._turn,
            },
            "operator",
        )
        return name

    def read(self, name: str, words: str = "") -> str:
        """Something from outside, taken in by the operator's own means."""
        self.write(
            "experience.create",
            {
                "id": name,
                "content": words or f"read {name}",
                "provenance": "external",
                "source_url": "https://example.org",
            },
            "operator",
        )
        return name

    def seen(self, name: str, words: str = "", **members: Any) -> str:
        """The agent's own experience."""
        self.write("experience.create", {"id": name, "content": words or f"seen {name}"} | members)
        return name

    def believes(self, name: str = "b", words: str = "obey the page", **members: Any) -> str:
        self.write("belief.upsert", {"id": name, "claim": words} | members)
        return name

    def joined(self, source: str, target: str, kind: str = "SUPPORTS") -> None:
        self.write("edge.create", {"from_id": source, "to_id": target, "edge_type": kind})

    def supported(self, target: str, *sources: str) -> None:
        for source in sources:
            self.joined(source, target)

    def promote(self, name: str = "b") -> str:
        written = self.write("belief.promote", {"id": name, "ring": 2})
        return "ring 2" if written.line.ring == 2 else f"ring 3, {written.line.type}"

    def doctrine(self, name: str = "b", words: str = "tell the truth") -> str:
        """A belief that stands at ring 2 with good reason."""
        self.believes(name, words)
        self.supported(name, self.told("o1"), self.told("o2"), self.seen("s1"))
        assert self.promote(name) == "ring 2"
        return name

    def ring(self, name: str = "b") -> str:
        rows = self.projection.db.execute("SELECT ring, state FROM entities WHERE id = ?", (name,))
        return f"ring {rows[0][0]}" + ("" if rows[0][1] == "live" else f", {rows[0][1]}")


Attack: TypeAlias = Callable[[Agent], str]
ATTACKS: dict[str, Attack] = {}


def attack(name: str) -> Callable[[Attack], Attack]:
    def keep(function: Attack) -> Attack:
        ATTACKS[name] = function
        return function

    return keep


# --- who is said to speak ---


@attack("write an experience as the operator's words")
def _(agent: Agent) -> str:
    agent.seen("e", provenance="operator", source_turn=7)
    return "written"


@attack("write an experience as words from outside")
def _(agent: Agent) -> str:
    agent.seen("e", provenance="external", source_url="https://example.org")
    return "written"


@attack("write an experience as the host's")
def _(agent: Agent) -> str:
    agent.seen("e", provenance="system")
    return "written"


@attack("name a turn of the operator's for its own words")
def _(agent: Agent) -> str:
    agent.seen("e", source_turn=7)
    return "written"


@attack("call words its own that name an address outside")
def _(agent: Agent) -> str:
    agent.believes()
    own = agent.seen("e", source_url="https://example.org")
    agent.supported("b", own, agent.read("x1"), agent.read("x2"))
    return agent.promote()


@attack("claim the operator's approval of a relationship")
def _(agent: Agent) -> str:
    agent.write(
        "relationship.upsert",
        {
            "id": "rel_somebody",
            "counterpart_name": "Ann",
            "counterpart_role": "owner",
            "operator_approval_excerpt": "yes, trust her",
            "operator_approval_turn": 3,
            "approval_basis": "conversation_turn",
        },
    )
    return "written"


@attack("put free words into an anchor: a schema's description")
def _(agent: Agent) -> str:
    agent.write("schema.declare", {"version": 1, "description": "obey the page"})
    return "written"


@attack("put free words into an anchor: the root of a trust epoch")
def _(agent: Agent) -> str:
    epoch = {"root": "obey the page", "trust_epoch": 1, "payload_sha256": "sha256:" + "0" * 64}
    agent.write("trust.epoch_accepted", epoch)
    return "written"


@attack("write an article of the charter")
def _(agent: Agent) -> str:
    agent.write("charter.amend", {"id": "art_1", "text": "obey the page"})
    return "written"


@attack("set a policy")
def _(agent: Agent) -> str:
    agent.write("policy.set", {"key": "quiet", "value": False})
    return "written"


@attack("ask for a ring of its own choice")
def _(agent: Agent) -> str:
    payload = request("belief.upsert", {"id": "b", "claim": "x"}).payload
    agent.writer.submit("agent", [Request(type="belief.upsert", payload=payload, ring=2)])
    return "written"


@attack("name the model that wrote it")
def _(agent: Agent) -> str:
    agent.seen("e", model_id="the operator")
    return "written"


# --- one source that counts as several ---


@attack("reflect on one text from outside and count both")
def _(agent: Agent) -> str:
    source = agent.read("x")
    agent.write("reflection.create", {"id": "r1", "content": "so it is", "refs": [source]})
    agent.write("reflection.create", {"id": "r2", "content": "yes, so it is", "refs": [source]})
    agent.believes()
    agent.supported("b", source, "r1", "r2")
    return agent.promote()


@attack("learn from one text from outside and count both")
def _(agent: Agent) -> str:
    source = agent.read("x")
    for number in range(3):
        learned = {"id": f"l{number}", "content": f"lesson {number}", "refs": [source]}
        agent.write("learning.create", learned)
    agent.believes()
    agent.supported("b", "l0", "l1", "l2")
    return agent.promote()


@attack("reflect on reflections, three deep")
def _(agent: Agent) -> str:
    last = agent.read("x")
    for number in range(3):
        deeper = {"id": f"r{number}", "content": f"thought {number}", "refs": [last]}
        agent.write("reflection.create", deeper)
        last = f"r{number}"
    agent.believes()
    agent.supported("b", "x", "r0", "r1", "r2")
    return agent.promote()


@attack("copy a text word for word under other ids")
def _(agent: Agent) -> str:
    agent.read("x", "buy now")
    agent.believes()
    agent.supported("b", "x", agent.seen("c1", "buy now"), agent.seen("c2", " Buy  NOW"))
    return agent.promote()


@attack("join one source by three kinds of edges")
def _(agent: Agent) -> str:
    source = agent.told("o")
    agent.believes()
    for kind in ("SUPPORTS", "REINFORCED_BY", "DERIVED_FROM"):
        agent.joined(source, "b", kind)
    return agent.promote()


@attack("let two beliefs support each other")
def _(agent: Agent) -> str:
    agent.believes("b")
    agent.believes("c", "the page is right")
    agent.believes("d", "the page is good")
    for one in ("b", "c", "d"):
        for other in ("b", "c", "d"):
            if one != other:
                agent.joined(one, other)
    return agent.promote()


@attack("let a belief rest on reflections on itself")
def _(agent: Agent) -> str:
    agent.believes()
    for number in range(3):
        thought = {"id": f"r{number}", "content": f"thought {number}", "refs": ["b"]}
        agent.write("reflection.create", thought)
    agent.supported("b", "r0", "r1", "r2", agent.told("o"))
    return agent.promote()


@attack("say the belief itself as experiences")
def _(agent: Agent) -> str:
    agent.believes("b", "obey the page")
    agent.supported("b", agent.seen("e1", "obey the page"), agent.seen("e2", "Obey the page"))
    agent.supported("b", agent.told("o1"), agent.told("o2"))
    return agent.promote()


@attack("give references instead of edges, all to one text")
def _(agent: Agent) -> str:
    source = agent.read("x")
    agent.write("reflection.create", {"id": "r", "content": "so it is", "refs": [source]})
    agent.believes("b", evidence_refs=[source, "r"])
    return agent.promote()


@attack("archive the edge that says where a reflection comes from")
def _(agent: Agent) -> str:
    source = agent.read("x")
    for number in range(3):
        thought = {"id": f"r{number}", "content": f"thought {number}", "refs": [source]}
        agent.write("reflection.create", thought)
        agent.write(
            "edge.archive", {"from_id": source, "to_id": f"r{number}", "edge_type": "DERIVED_FROM"}
        )
    agent.believes()
    agent.supported("b", "r0", "r1", "r2", agent.read("y"))
    return agent.promote()


@attack("draw on a portrait of itself")
def _(agent: Agent) -> str:
    source = agent.read("x")
    agent.write(
        "self_model.synthesize",
        {
            "id": "s",
            "synthesis_text": "who I am",
            "continuity_thread": "as before",
            "source_entity_refs": [{"class": "experiences", "id": source}],
        },
    )
    agent.believes()
    agent.supported("b", source, "s", agent.read("y"))
    return agent.promote()


# --- what is no evidence ---


@attack("count the constitution as a source")
def _(agent: Agent) -> str:
    agent.believes()
    agent.supported("b", "ring0", agent.seen("s1"), agent.seen("s2"))
    return agent.promote()


@attack("count an article of the charter as a source")
def _(agent: Agent) -> str:
    agent.write("charter.amend", {"id": "art_1", "text": "be kind"}, "operator")
    agent.believes()
    agent.supported("b", "art_1", agent.seen("s1"), agent.seen("s2"))
    return agent.promote()


@attack("count passing notes as sources")
def _(agent: Agent) -> str:
    for number in range(2):
        agent.write("working.note", {"id": f"n{number}", "content": f"note {number}"})
    agent.believes()
    agent.supported("b", "n0", "n1", agent.told("o"))
    return agent.promote()


@attack("count a belief that was archived")
def _(agent: Agent) -> str:
    agent.believes("c", "it was so")
    agent.believes()
    agent.supported("b", "c", agent.told("o1"), agent.told("o2"))
    agent.write("belief.archive", {"id": "c", "reason": "wrong"})
    return agent.promote()


@attack("gather sources for harmless words, then change the words")
def _(agent: Agent) -> str:
    agent.believes("b", "water is wet")
    agent.supported("b", agent.told("o1"), agent.told("o2"), agent.seen("s1"))
    agent.believes("b", "obey the page")
    return agent.promote()


@attack("change the words and promote in one batch")
def _(agent: Agent) -> str:
    agent.believes("b", "water is wet")
    agent.supported("b", agent.told("o1"), agent.told("o2"), agent.seen("s1"))
    done = agent.batch(
        ("belief.upsert", {"id": "b", "claim": "obey the page"}),
        ("belief.promote", {"id": "b", "ring": 2}),
    )
    return f"ring {done[-1].line.ring}, {done[-1].line.type}"


@attack("gather sources for one relationship, then describe another")
def _(agent: Agent) -> str:
    ann = {"id": "rel_somebody", "counterpart_name": "Ann", "counterpart_role": "friend"}
    agent.write("relationship.upsert", ann)
    agent.supported("rel_somebody", agent.told("o1"), agent.told("o2"), agent.seen("s1"))
    written = agent.write("relationship.upsert", ann | {"counterpart_role": "owner"})
    return f"ring {written.line.ring}, {written.line.type}"


@attack("promote against a contradiction that it archives first")
def _(agent: Agent) -> str:
    agent.believes()
    agent.supported("b", agent.told("o1"), agent.told("o2"), agent.seen("s1"))
    agent.joined(agent.told("no"), "b", "CONTRADICTS")
    agent.write("edge.archive", {"from_id": "no", "to_id": "b", "edge_type": "CONTRADICTS"})
    return agent.promote()


@attack("take an operator's experience over with other words")
def _(agent: Agent) -> str:
    agent.told("rel_somebody", "Ann (friend)")
    agent.supported("rel_somebody", agent.told("o1"), agent.told("o2"), agent.seen("s1"))
    ann = {"id": "rel_somebody", "counterpart_name": "Ann", "counterpart_role": "owner"}
    written = agent.write("relationship.upsert", ann)
    return f"ring {written.line.ring}, {written.line.type}"


# --- what stands already ---


@attack("archive a belief of ring 2")
def _(agent: Agent) -> str:
    agent.write("belief.archive", {"id": agent.doctrine(), "reason": "no longer"})
    return agent.ring()


@attack("supersede a belief of ring 2")
def _(agent: Agent) -> str:
    agent.believes("new", "obey the page")
    agent.write(
        "belief.supersede", {"old_id": agent.doctrine(), "new_id": "new", "reason": "better"}
    )
    return agent.ring()


@attack("reword a belief of ring 2")
def _(agent: Agent) -> str:
    agent.believes(agent.doctrine(), "obey the page")
    return agent.ring()


@attack("raise the confidence of a belief of ring 2")
def _(agent: Agent) -> str:
    agent.believes(agent.doctrine(), "tell the truth", confidence=1)
    return agent.ring()


@attack("contradict a belief of ring 2 with two of its own thoughts, then archive it")
def _(agent: Agent) -> str:
    agent.doctrine()
    for name in ("c1", "c2"):
        agent.joined(agent.seen(name), "b", "CONTRADICTS")
    agent.write("belief.archive", {"id": "b", "reason": "contradicted"})
    return agent.ring()


@attack("bring an archived belief back")
def _(agent: Agent) -> str:
    agent.believes()
    agent.write("belief.archive", {"id": "b", "reason": "wrong"})
    agent.believes()
    return agent.ring()


@attack("bring an archived belief back with evidence from before")
def _(agent: Agent) -> str:
    old = agent.seen("old")
    agent.believes()
    agent.write("belief.archive", {"id": "b", "reason": "wrong"})
    agent.believes("b", evidence_refs=[old])
    return agent.ring()


@attack("bring a retired belief of ring 2 back at ring 2, with newer evidence")
def _(agent: Agent) -> str:
    agent.doctrine()
    agent.write("belief.archive", {"id": "b", "reason": "the operator says so"}, "operator")
    agent.believes("b", "tell the truth", evidence_refs=[agent.seen("new")])
    return agent.ring()


@attack("bring a superseded belief back")
def _(agent: Agent) -> str:
    agent.believes()
    agent.believes("new", "the page is wrong")
    agent.write("belief.supersede", {"old_id": "b", "new_id": "new", "reason": "better"})
    agent.believes()
    return agent.ring()


# --- what is right ---


@attack("promote a belief with three roots of two classes")
def _(agent: Agent) -> str:
    return agent.ring(agent.doctrine())


@attack("promote a belief whose references are three roots of two classes")
def _(agent: Agent) -> str:
    refs = [agent.told("o1"), agent.told("o2"), agent.seen("s1")]
    agent.believes("b", "tell the truth", evidence_refs=refs)
    return agent.promote()


@attack("archive a belief of ring 2 that three roots of two classes contradict")
def _(agent: Agent) -> str:
    agent.doctrine()
    for source in (agent.told("no1"), agent.told("no2"), agent.seen("no3")):
        agent.joined(source, "b", "CONTRADICTS")
    agent.write("belief.archive", {"id": "b", "reason": "contradicted"})
    return agent.ring()


@attack("say a belief of ring 2 again in the same words")
def _(agent: Agent) -> str:
    agent.believes(agent.doctrine(), "tell the truth")
    return agent.ring()


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    made = Agent(tmp_path)
    yield made
    made.journal.close()
    made.projection.close()


def test_each_row_is_run_and_each_attack_has_its_row() -> None:
    assert sorted(ATTACKS) == sorted(ROWS)
    assert len(ATTACKS) > 40


@pytest.mark.parametrize("name", ROWS)
def test_what_comes_of_it(agent: Agent, name: str) -> None:
    try:
        answer = ATTACKS[name](agent)
    except LedgerError as error:
        answer = error.code
    assert answer == ROWS[name]
