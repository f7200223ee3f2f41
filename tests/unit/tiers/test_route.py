"""One question to every surface that may answer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentic_os.aggregate.refresh.corpus import refresh_corpus
from agentic_os.aggregate.store.database import writing
from agentic_os.aggregate.store.space import space_for
from agentic_os.aggregate.workspace import Person, Workspace, open_workspace
from agentic_os.errors import SemanticIndexError, UsageError
from agentic_os.files.publishing import ExclusiveLock
from agentic_os.results import Answer, Kind, SearchData, SearchMode
from agentic_os.tiers.interface import MAX_LIMIT_HITS, MAX_QUERY_CHARS, ProjectScore, Query
from agentic_os.tiers.route import search
from support.fleet.builder import FleetBuilder

GRAPH = (
    '{"nodes": [{"id": "a", "label": "lighthouse()", "source_file": "a.py",'
    ' "source_location": "L2"}, {"id": "b", "label": "other()", "source_file": "gone.py",'
    ' "source_location": "L1"}], "links": []}'
)


@pytest.fixture
def coded(fleet: FleetBuilder) -> FleetBuilder:
    """A project with memory and a code graph, one with a vault, one that opted out."""
    shop = fleet.project("shop", "obsidian-graphify")
    shop.fact("f", "The lighthouse is lit.", title="Light")
    shop.note("n.md", "text\n")
    shop.write("graphify-out/graph.json", GRAPH)
    shop.write("a.py", "import x\ndef lighthouse(): ...\n")
    fleet.project("dock", "obsidian-only").fact("f", "A lighthouse.", title="Dock")
    fleet.project("out", None)
    return fleet


@pytest.fixture
def workspace(coded: FleetBuilder, person: Person) -> Iterator[Workspace]:
    with open_workspace(person, [str(coded.root)]) as opened:
        yield opened


def asked(
    workspace: Workspace,
    text: str = "lighthouse",
    *,
    kinds: frozenset[Kind] = frozenset(),
    mode: SearchMode = "auto",
    limit: int = 10,
) -> Answer[SearchData]:
    return search(workspace, Query(text=text, kinds=kinds, mode=mode, limit=limit))


@pytest.mark.parametrize(
    ("text", "limit"),
    [("", 10), (" \n", 10), ("x" * (MAX_QUERY_CHARS + 1), 10), ("x", 0), ("x", MAX_LIMIT_HITS + 1)],
)
def test_questions_that_cannot_be_asked(workspace: Workspace, text: str, limit: int) -> None:
    with pytest.raises(UsageError):
        asked(workspace, text, limit=limit)


def test_the_bounds_themselves_are_fine(workspace: Workspace) -> None:
    assert asked(workspace, "x" * MAX_QUERY_CHARS, limit=MAX_LIMIT_HITS).data.total == 0


def test_memory_and_graph_answer_together(workspace: Workspace) -> None:
    data = asked(workspace).data

    assert {(hit.kind, hit.name) for hit in data.hits} == {
        ("memory", "Light"),
        ("memory", "Dock"),
        ("graph", "lighthouse()"),
    }
    assert data.hits[0].kind == "memory"
    assert data.total == 3
    assert data.coverage.surfaces == {
        "memory": 2,
        "instruction": 0,
        "vault": 1,
        "graph": 1,
        "capability": 0,
        "corpus": 0,
        "semantic": 0,
        "engine": 0,
    }
    assert data.coverage.projects_searched == 2


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        (frozenset({"graph"}), {"graph"}),
        (frozenset({"memory"}), {"memory"}),
        (frozenset({"memory", "graph"}), {"memory", "graph"}),
        (frozenset({"vault"}), set()),
        (frozenset({"code", "document"}), set()),
    ],
)
def test_kinds_decide_who_is_asked(
    workspace: Workspace, kinds: frozenset[Kind], found: set[str]
) -> None:
    assert {hit.kind for hit in asked(workspace, kinds=kinds).data.hits} == found


def test_a_name_whose_source_is_gone_is_the_graphs_word(workspace: Workspace) -> None:
    (found,) = asked(workspace, "other", kinds=frozenset({"graph"})).data.hits

    assert not found.confirmed
    assert found.path == "graphify-out/graph.json"


def test_without_a_semantic_index(workspace: Workspace) -> None:
    with pytest.raises(SemanticIndexError) as raised:
        asked(workspace, mode="semantic")
    assert raised.value.code == "SEMANTIC_UNAVAILABLE"

    hybrid = asked(workspace, mode="hybrid")
    assert [item.code for item in hybrid.omissions] == ["SEMANTIC_UNAVAILABLE"]
    assert not hybrid.incomplete
    assert hybrid.data.hits == asked(workspace, mode="lexical").data.hits


def test_surfaces_say_what_they_lack(workspace: Workspace) -> None:
    answer = search(workspace, Query(text="lighthouse"), explain=True, projects_only=True)

    said = {
        (trace.project.rpartition("-")[0], trace.surface): (trace.hits, trace.missing)
        for trace in answer.data.explain
    }
    assert said == {
        ("dock", "memory"): (1, None),
        ("dock", "instruction"): (0, "has none"),
        ("dock", "vault"): (0, "missing"),
        ("dock", "graph"): (0, "its stack has none"),
        ("dock", "capability"): (0, "no inventory"),
        ("dock", "corpus"): (0, "its stack has none"),
        ("dock", "semantic"): (0, "there is no semantic index"),
        ("out", "memory"): (0, "opted out of retrieval"),
        ("out", "instruction"): (0, "opted out of retrieval"),
        ("out", "vault"): (0, "opted out of retrieval"),
        ("out", "graph"): (0, "opted out of retrieval"),
        ("out", "capability"): (0, "no inventory"),
        ("out", "corpus"): (0, "opted out of retrieval"),
        ("out", "semantic"): (0, "opted out of retrieval"),
        ("shop", "memory"): (1, None),
        ("shop", "instruction"): (0, "has none"),
        ("shop", "vault"): (0, None),
        ("shop", "graph"): (1, None),
        ("shop", "capability"): (0, "no inventory"),
        ("shop", "corpus"): (0, "its stack has none"),
        ("shop", "semantic"): (0, "there is no semantic index"),
    }
    assert [(rank.name, rank.hits) for rank in answer.data.projects] == [("shop", 2), ("dock", 1)]
    assert answer.data.total == 2
    assert answer.data.hits == ()


def test_an_empty_surface_is_not_a_missing_one(fleet: FleetBuilder, person: Person) -> None:
    fleet.project("p").write(".agents/memory/.keep", "")

    with open_workspace(person, [str(fleet.root)]) as workspace:
        traces = search(workspace, Query(text="x"), explain=True).data.explain

    assert {trace.surface: trace.missing for trace in traces}["memory"] == "empty"


def test_projects_that_failed_are_named(coded: FleetBuilder, person: Person) -> None:
    coded.project("broken").write(".agents/config.yaml", "a: [\n")
    (coded.root / "dock/.agents/memory/folder.md").mkdir()

    with open_workspace(person, [str(coded.root)]) as workspace:
        answer = search(workspace, Query(text="lighthouse"))

    failed = {
        item.project.rpartition("-")[0]: item.code for item in answer.data.coverage.projects_failed
    }
    assert failed == {"broken": "DESCRIPTOR_UNPARSEABLE", "dock": "EVIDENCE_UNREAD"}
    assert answer.incomplete
    assert answer.data.coverage.unindexed == 1


def test_hits_that_changed_are_counted_where_the_store_is_held(
    coded: FleetBuilder, person: Person
) -> None:
    dock = coded.project("dock", "obsidian-only")
    note = dock.note("two.md", "# A\n\nlighthouse\n\n# B\n\nlighthouse\n")
    gone = dock.fact("gone", "lighthouse")
    with open_workspace(person, [str(coded.root)]):
        pass
    space = space_for(Path(person.environ["AGENTIC_OS_CACHE_DIR"]), [coded.root])
    lock = ExclusiveLock(space.lock)
    assert lock.try_acquire()
    note.write_text("# One\n\nlighthouse\n")
    gone.unlink()
    (coded.root / "shop/.agents/memory/f.md").write_text("windmill")

    with open_workspace(person, [str(coded.root)]) as workspace:
        answer = search(workspace, Query(text="lighthouse"))
    lock.release()

    left_out = {(item.code, item.scope.rpartition("-")[0]): item.count for item in answer.omissions}
    assert left_out == {
        ("HIT_CHANGED", "dock"): 1,
        ("HIT_CHANGED", "shop"): 1,
        ("HIT_UNREADABLE", "dock"): 1,
    }
    shown = [(hit.path, hit.lines) for hit in answer.data.hits]
    assert len(shown) == len(set(shown)) == answer.data.total == 3
    assert answer.data.coverage.stale
    assert not answer.incomplete


def test_a_score_counts_its_kinds() -> None:
    score = ProjectScore(counts={"memory": 2, "index": 1}, best=1.0)

    assert score.hits == 3
    assert score.kinds(("memory", "vault")) == 2


def test_projects_are_counted_before_they_are_cut(workspace: Workspace) -> None:
    answer = search(workspace, Query(text="lighthouse", limit=1), projects_only=True)

    assert [rank.name for rank in answer.data.projects] == ["shop"]
    assert answer.data.total == 2


SOURCES = {
    "src/pay.py": "def retry_payment(order):\n    return charge(order, attempts=5)\n",
    "tests/test_pay.py": "def test_retry_payment_charges_order():\n    retry_payment(order)\n",
    "docs/pay.md": "# Retry a payment\n\nretry_payment charges the order again.\n",
}


def test_own_code_goes_before_tests_and_documents(fleet: FleetBuilder, person: Person) -> None:
    project = fleet.project("shop", "obsidian-graphify-rag")
    for path, text in SOURCES.items():
        project.write(path, text)
    with open_workspace(person, [str(fleet.root)]) as workspace:
        space, found, redactor = workspace.store.space, workspace.fleet, workspace.redactor
    with writing(space) as store:
        refresh_corpus(store, found, redactor)

    def first(text: str, *kinds: Kind) -> str:
        with open_workspace(person, [str(fleet.root)]) as workspace:
            return asked(workspace, text, kinds=frozenset(kinds)).data.hits[0].path

    assert first("retry payment charge order") == "src/pay.py"
    assert first("test retry payment charges order") == "tests/test_pay.py"
    assert first("retry payment charge order", "document") == "docs/pay.md"


def test_one_place_is_one_hit(fleet: FleetBuilder, person: Person) -> None:
    project = fleet.project("shop", "obsidian-graphify-rag")
    project.write("graphify-out/graph.json", GRAPH)
    project.write("a.py", "import x\ndef lighthouse():\n    return x.lamp\n")
    with open_workspace(person, [str(fleet.root)]) as workspace:
        space, found, redactor = workspace.store.space, workspace.fleet, workspace.redactor
    with writing(space) as store:
        refresh_corpus(store, found, redactor)

    with open_workspace(person, [str(fleet.root)]) as workspace:
        answer = asked(workspace)

    assert [(hit.path, hit.kind) for hit in answer.data.hits] == [("a.py", "code")]
