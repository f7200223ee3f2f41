"""How relevant a hit is, and that nothing is an answer."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from agentic_os.aggregate.workspace import Person, Workspace, open_workspace
from agentic_os.tiers.index.build import build_index
from agentic_os.tiers.interface import Query
from agentic_os.tiers.lexical import Lexical
from agentic_os.tiers.meaning import SemanticAnswer, ask_index, nearness
from agentic_os.tiers.merging.fusion import place_of
from agentic_os.tiers.relevance import ANSWERS, FLOORS, NOISE, relevance
from agentic_os.tiers.route import search
from support.fleet.builder import FleetBuilder
from support.model.prepared import lend_minilm

FLOOR = FLOORS["all-MiniLM-L6-v2"]


def test_more_evidence_is_more_relevant() -> None:
    cosines = [relevance(at / 10, 0.3, floor=FLOOR) for at in range(11)]
    shares = [relevance(0.3, at / 10, floor=FLOOR) for at in range(11)]

    assert cosines == sorted(cosines)
    assert shares[:-1] == sorted(shares[:-1])
    assert cosines[0] < NOISE < ANSWERS < cosines[-1]


def test_a_passage_that_holds_every_term_is_an_answer() -> None:
    assert relevance(None, 1.0, floor=FLOOR) >= ANSWERS
    assert relevance(0.0, 1.0, floor=FLOOR) >= ANSWERS
    assert relevance(None, 1.0, floor=None) >= ANSWERS


def test_similarities_that_nobody_measured_are_not_judged() -> None:
    assert relevance(0.01, 0.0, floor=None) >= ANSWERS


@pytest.fixture
def workspace(fleet: FleetBuilder, places: Path, person: Person) -> Iterator[Workspace]:
    lend_minilm(places / "data")
    project = fleet.project("shop", "obsidian-only")
    project.fact("retry", "Failed payments are tried again after ten seconds, five times at most.")
    project.fact("cache", "The cache of product pages expires after an hour.")
    project.fact("login", "People sign in with a one-time code that comes by mail.")
    build_index(person, [str(fleet.root)])
    with open_workspace(person, [str(fleet.root)]) as opened:
        yield opened


@pytest.mark.parametrize(
    "text",
    [
        "how do I descale an espresso machine with citric acid",
        "which vaccinations are needed for a trip to Kenya",
        "blorptastic quuxification of the frobnicated zanzibar",
        "zxcvbn qwertz uiopas",
    ],
)
def test_nothing_found_is_an_answer(workspace: Workspace, text: str) -> None:
    data = search(workspace, Query(text=text)).data

    assert (data.nothing_found, data.hits, data.total) == (True, (), 0)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("how often do we retry a payment that did not go through", "retry.md"),
        ("when do product pages leave the cache", "cache.md"),
        ("authentication by e-mail", "login.md"),
        ("one-time", "login.md"),
    ],
)
def test_what_answers_says_how_relevant_it_is(workspace: Workspace, text: str, path: str) -> None:
    data = search(workspace, Query(text=text)).data

    assert not data.nothing_found
    assert data.hits[0].path.endswith(path)
    assert data.hits[0].relevance >= ANSWERS
    assert all(NOISE <= hit.relevance <= 1.0 for hit in data.hits)


def test_what_words_found_is_as_near_as_what_meaning_found(workspace: Workspace) -> None:
    query = Query(text="payments tried after an hour")
    semantic = ask_index(workspace, query, alone=True)
    assert semantic.found is not None
    near = {place_of(item): item.score for item in semantic.found.candidates}
    words = Lexical(workspace.store).find(query)
    nothing = replace(semantic.found, candidates=[])
    index = dataclasses.replace(semantic.index, found=nothing) if semantic.index else None
    alone = nearness(workspace, SemanticAnswer(index=index), words.candidates)

    assert len(words.candidates) >= 2
    assert alone == pytest.approx(
        {place_of(item): near[place_of(item)] for item in words.candidates}
    )


def test_words_alone_can_find_nothing_too(workspace: Workspace) -> None:
    asked = Query(text="espresso citric acid descaling machine after kettle", mode="lexical")

    assert search(workspace, asked).data.nothing_found
