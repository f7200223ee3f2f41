"""Words and meaning asked together: routing, degrading, confirming."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentic_os.aggregate.workspace import Person, Workspace, open_workspace
from agentic_os.errors import SemanticIndexError
from agentic_os.results import Answer, Kind, SearchData, SearchMode
from agentic_os.tiers import meaning
from agentic_os.tiers.index import surface as semantic
from agentic_os.tiers.index.build import build_index
from agentic_os.tiers.index.codes import INDEX_CODES
from agentic_os.tiers.index.state import drop_state
from agentic_os.tiers.index.table import VECTORS_FOLDER, VectorTable, vectors_folder
from agentic_os.tiers.interface import Query
from agentic_os.tiers.route import search
from support.fleet.builder import FleetBuilder
from support.model.lent import lend_tiny

LONG = "\n".join(f"delta {number} gamma, and so the line goes on" for number in range(60))


@pytest.fixture
def built(fleet: FleetBuilder, person: Person) -> FleetBuilder:
    """An index over three projects, one of them of tier 3."""
    lend_tiny(Path(person.environ["AGENTIC_OS_DATA_DIR"]))
    shop = fleet.project("shop", "obsidian-graphify-rag")
    shop.fact("light", "alpha beta", title="Light")
    shop.write("src/rate.py", "def rate_limit(client):\n    return client.limit\n")
    shop.write("README.md", "# Shop\n\nledger witness\n")
    dock = fleet.project("dock", "obsidian-only")
    dock.fact("rate", "the rate limit of a client", title="Rate")
    dock.note("n.md", f"# Long\n\n{LONG}\n")
    fleet.project("out", "none").fact("f", "alpha beta")
    build_index(person, [str(fleet.root)])
    return fleet


@pytest.fixture
def workspace(built: FleetBuilder, person: Person) -> Iterator[Workspace]:
    with open_workspace(person, [str(built.root)]) as opened:
        yield opened


def asked(
    workspace: Workspace,
    text: str,
    *,
    mode: SearchMode = "auto",
    kinds: frozenset[Kind] = frozenset(),
    projects: frozenset[str] | None = None,
    limit: int = 10,
    explain: bool = False,
    projects_only: bool = False,
) -> Answer[SearchData]:
    query = Query(text=text, mode=mode, kinds=kinds, projects=projects, limit=limit)
    return search(workspace, query, explain=explain, projects_only=projects_only)


def places(answer: Answer[SearchData]) -> list[tuple[str, str]]:
    return [(hit.kind, hit.path.rpartition("/")[2]) for hit in answer.data.hits]


def test_meaning_alone_finds_the_very_text(workspace: Workspace) -> None:
    answer = asked(
        workspace, ".agents/memory/rate.md Rate the rate limit of a client", mode="semantic"
    )

    first = answer.data.hits[0]
    assert first.snippet == "the rate limit of a client"
    assert (first.kind, first.tier, first.confirmed, first.stale) == ("memory", 0, True, False)
    assert answer.data.coverage.embedder == "all-MiniLM-L6-v2"
    assert answer.data.coverage.surfaces["semantic"] == 2
    assert answer.omissions == ()
    assert answer.data.total >= len(answer.data.hits)


def test_all_kinds_are_in_the_index(workspace: Workspace) -> None:
    answer = asked(workspace, "anything", mode="semantic", limit=50)

    assert {hit.kind for hit in answer.data.hits} == {"memory", "vault", "code", "document"}
    assert {hit.project.rpartition("-")[0] for hit in answer.data.hits} == {"shop", "dock"}
    code = next(hit for hit in answer.data.hits if hit.kind == "code")
    assert (code.symbol, code.tier, code.lines) == ("rate_limit", 3, (1, 2))


def test_auto_asks_both_and_lexical_asks_words_alone(workspace: Workspace) -> None:
    words = asked(workspace, "alpha", mode="lexical")
    both = asked(workspace, "alpha")

    assert [path for _, path in places(words)] == ["light.md"]
    assert words.data.coverage.embedder is None
    assert both.data.coverage.embedder == "all-MiniLM-L6-v2"
    assert places(both)[0] == ("memory", "light.md")
    assert set(places(words)) < set(places(both))
    assert both.data.total >= len(both.data.hits) > 1
    assert places(asked(workspace, "alpha", mode="hybrid")) == places(both)


def test_what_both_arms_find_is_one_hit(workspace: Workspace) -> None:
    found = places(asked(workspace, "rate limit client", limit=50))

    assert len(found) == len(set(found))


def test_lines_near_in_meaning_are_quoted_where_only_some_words_stand(
    built: FleetBuilder, person: Person
) -> None:
    fact = built.project("dock", "obsidian-only").fact(
        "rate", "the limit of a client", title="Rate", description="boats stay"
    )
    build_index(person, [str(built.root)])

    with open_workspace(person, [str(built.root)]) as workspace:
        words = asked(workspace, "boats ledger", mode="lexical")
        both = asked(workspace, "boats ledger", limit=50)

    (by_words,) = (hit for hit in words.data.hits if hit.path.endswith(fact.name))
    (by_both,) = (hit for hit in both.data.hits if hit.path.endswith(fact.name))
    assert by_words.snippet == "description: boats stay"
    assert by_both.snippet == "the limit of a client"
    assert both.data.coverage.relaxed


def test_an_identifier_is_answered_by_its_words_first(workspace: Workspace) -> None:
    words = asked(workspace, "rate_limit", mode="lexical")
    both = asked(workspace, "rate_limit", limit=50)

    assert places(both)[: len(words.data.hits)] == places(words)
    assert len(both.data.hits) > len(words.data.hits)
    assert both.data.total == words.data.total + len(both.data.hits) - len(words.data.hits)


def test_projects_and_kinds_narrow_both_arms(workspace: Workspace) -> None:
    dock = workspace.fleet.find("dock", current=workspace.current).id

    of_dock = asked(workspace, "alpha", projects=frozenset({dock}), mode="semantic")
    notes = asked(workspace, "alpha", kinds=frozenset({"vault"}))
    graph = asked(workspace, "alpha", kinds=frozenset({"graph"}), mode="semantic")

    assert {hit.project for hit in of_dock.data.hits} == {dock}
    assert of_dock.data.coverage.surfaces["semantic"] == 1
    assert {hit.kind for hit in notes.data.hits} == {"vault"}
    assert graph.data.hits == ()


def test_what_opted_out_since_is_not_answered(built: FleetBuilder, person: Person) -> None:
    built.project("dock", "none")

    with open_workspace(person, [str(built.root)]) as workspace:
        answer = asked(workspace, "rate limit of a client", mode="semantic", limit=50)

    assert {hit.project.rpartition("-")[0] for hit in answer.data.hits} == {"shop"}
    assert answer.omissions == ()


def test_one_passage_is_one_hit_with_its_best_lines(workspace: Workspace) -> None:
    answer = asked(workspace, "line 50 goes", mode="semantic", limit=50)

    (hit,) = (hit for hit in answer.data.hits if hit.kind == "vault")
    assert "the line goes on" in hit.snippet


def test_no_word_of_the_question_stands_there(workspace: Workspace) -> None:
    answer = asked(workspace, "zzz", mode="semantic", kinds=frozenset({"vault"}))

    (hit,) = answer.data.hits
    note = workspace.fleet.find("dock", current=workspace.current).folder / hit.path
    first, last = hit.lines
    assert hit.snippet == "\n".join(note.read_text().split("\n")[first - 1 : last])
    assert last - first == 2


def test_ranking_projects_counts_both_arms(workspace: Workspace) -> None:
    answer = asked(workspace, "rate limit", projects_only=True)

    assert {rank.name for rank in answer.data.projects} == {"shop", "dock"}
    assert answer.data.hits == ()


def test_explain_says_what_the_index_did(workspace: Workspace) -> None:
    traces = asked(workspace, "alpha", explain=True).data.explain

    said = {
        trace.project.rpartition("-")[0]: trace for trace in traces if trace.surface == "semantic"
    }
    assert said["shop"].missing is None
    assert said["shop"].hits > 0
    assert said["shop"].milliseconds > 0
    assert said["shop"].tier == 3
    assert said["out"].missing == "opted out of retrieval"
    unasked = asked(workspace, "alpha", mode="lexical", explain=True).data.explain
    assert {trace.missing for trace in unasked if trace.surface == "semantic"} == {
        "not asked",
        "opted out of retrieval",
    }


def test_what_is_not_in_the_index_yet_is_counted(built: FleetBuilder, person: Person) -> None:
    built.project("new", "obsidian-only").fact("f", "alpha beta")
    built.project("dock", "obsidian-only").fact("rate", "other words", title="Rate")

    with open_workspace(person, [str(built.root)]) as workspace:
        answer = asked(workspace, "alpha", explain=True)

    assert answer.data.coverage.unindexed == 2
    missing = {
        trace.project.rpartition("-")[0]: trace.missing
        for trace in answer.data.explain
        if trace.surface == "semantic"
    }
    assert missing["new"] == "not in the index"
    # What is not in the index is found by its words all the same.
    assert {hit.project.rpartition("-")[0] for hit in answer.data.hits} >= {"new", "shop"}


def test_text_that_moved_is_found_again(built: FleetBuilder, person: Person) -> None:
    note = built.root / "dock/.agents/vault/n.md"
    note.write_text(f"\n\n\n# Long\n\n{LONG}\n")

    with open_workspace(person, [str(built.root)]) as workspace:
        answer = asked(workspace, "zzz", mode="semantic", kinds=frozenset({"vault"}))

    (hit,) = answer.data.hits
    first, last = hit.lines
    assert hit.snippet == "\n".join(note.read_text().split("\n")[first - 1 : last])
    assert hit.name == "Long"
    assert hit.stale


def test_text_that_changed_is_dropped_and_counted(built: FleetBuilder, person: Person) -> None:
    built.project("dock", "obsidian-only").note("n.md", "# Long\n\nother words\n")

    with open_workspace(person, [str(built.root)]) as workspace:
        gone = asked(workspace, "zzz", mode="semantic", kinds=frozenset({"vault"}))
        words = asked(workspace, "words", mode="semantic", kinds=frozenset({"vault"}))

    assert gone.data.hits == ()
    assert [(item.code, item.count) for item in gone.omissions] == [("HIT_CHANGED", 1)]
    # The same name, and it answers the question: shown, with its words of now.
    (hit,) = words.data.hits
    assert (hit.snippet, hit.stale) == ("other words", True)


def test_a_file_that_is_gone_is_dropped_and_counted(built: FleetBuilder, person: Person) -> None:
    (built.root / "shop/src/rate.py").unlink()

    with open_workspace(person, [str(built.root)]) as workspace:
        answer = asked(workspace, "zzz", mode="semantic", kinds=frozenset({"code"}))

    assert answer.data.hits == ()
    assert [item.code for item in answer.omissions] == ["HIT_UNREADABLE"]


def degraded(workspace: Workspace, code: str) -> None:
    """Words answer alone and say why; meaning alone is refused with the same code."""
    assert code in INDEX_CODES or code == "MODEL_DAMAGED"
    for mode in ("auto", "hybrid"):
        answer = asked(workspace, "alpha", mode=mode, explain=True)
        assert [path for _, path in places(answer)] == ["light.md"]
        assert [item.code for item in answer.omissions] == [code]
        assert answer.data.coverage.embedder is None
        assert not answer.incomplete
        said = {trace.missing for trace in answer.data.explain if trace.surface == "semantic"}
        assert len(said - {"opted out of retrieval"}) == 1
    with pytest.raises(SemanticIndexError) as raised:
        asked(workspace, "alpha", mode="semantic")
    assert raised.value.code == code
    assert raised.value.hint


def test_without_a_model(workspace: Workspace) -> None:
    models = workspace.places.data / "models"
    models.rename(models.with_name("away"))

    degraded(workspace, "MODEL_MISSING")


def test_with_another_model(workspace: Workspace) -> None:
    models = workspace.places.data / "models"
    models.rename(models.with_name("away"))
    lend_tiny(workspace.places.data, seed=8)

    degraded(workspace, "EMBEDDER_CHANGED")


def test_with_a_damaged_model(workspace: Workspace) -> None:
    semantic._opened.cache_clear()
    (model,) = (workspace.places.data / "models").glob("*/model.onnx")
    model.write_bytes(bytes(model.stat().st_size))

    degraded(workspace, "MODEL_DAMAGED")


def test_with_a_damaged_index(workspace: Workspace) -> None:
    for path in vectors_folder(workspace.store.space).rglob("*.manifest"):
        path.write_bytes(b"\0" * 100)

    degraded(workspace, "INDEX_DAMAGED")


def test_without_the_extra(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lance", None)

    degraded(workspace, "EXTRA_MISSING")


def test_an_empty_folder_of_vectors_is_no_index(workspace: Workspace) -> None:
    folder = vectors_folder(workspace.store.space)
    for path in folder.iterdir():
        path.rename(folder.parent / path.name)

    degraded(workspace, "SEMANTIC_UNAVAILABLE")


def test_the_router_and_the_index_mean_one_folder(tmp_path: Path) -> None:
    (tmp_path / VECTORS_FOLDER).mkdir()

    assert meaning._has_index(tmp_path)
    assert not meaning._has_index(tmp_path / VECTORS_FOLDER)


def test_without_its_state_the_index_answers_and_counts_all_as_behind(
    workspace: Workspace,
) -> None:
    drop_state(vectors_folder(workspace.store.space))

    answer = asked(workspace, "rate limit of a client", mode="semantic")

    assert answer.data.hits
    assert answer.data.coverage.unindexed == 5


def test_the_chosen_model_is_asked(workspace: Workspace) -> None:
    settings = msgspec.structs.replace(workspace.settings, embedding_model="mine")

    with pytest.raises(SemanticIndexError) as raised:
        asked(replace(workspace, settings=settings), "alpha", mode="semantic")
    assert raised.value.code == "MODEL_MISSING"
    assert "mine" in raised.value.message


def test_a_model_is_opened_once_a_process(workspace: Workspace) -> None:
    semantic._opened.cache_clear()

    for _ in range(3):
        asked(workspace, "alpha")

    assert semantic._opened.cache_info().misses == 1


def test_a_version_that_was_deleted_meanwhile_is_asked_anew(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = places(asked(workspace, "alpha", mode="semantic"))
    real = VectorTable.nearest
    failing = [True]

    def nearest(table: VectorTable, *given: Any, **named: Any) -> Any:
        if failing:
            failing.clear()
            raise SemanticIndexError("x", code="INDEX_DAMAGED")
        return real(table, *given, **named)

    monkeypatch.setattr(VectorTable, "nearest", nearest)

    assert places(asked(workspace, "alpha", mode="semantic")) == before
    assert not failing


def test_far_rows_are_no_answer(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semantic, "MIN_SIMILARITY", 0.9999)

    assert asked(workspace, "zzz", mode="semantic").data.hits == ()


def test_many_rows_are_not_all_looked_at(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(semantic, "looks_at_all", lambda _rows, _of: False)

    # Without a vector index the table is scanned all the same: same answer.
    inexact = places(asked(workspace, "alpha", mode="semantic"))
    monkeypatch.undo()
    assert inexact == places(asked(workspace, "alpha", mode="semantic"))
