"""The order of what words find: the very name, the whole identifier, names, bodies."""

from collections.abc import Iterator

import pytest

from agentic_os.aggregate.refresh.corpus import refresh_corpus
from agentic_os.aggregate.store.database import writing
from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.tiers.interface import Query
from agentic_os.tiers.lexical import SURE_SCORE, WORD_BONUS_SCORE, Lexical, same_name
from support.fleet.builder import FleetBuilder

SOURCE = """\
def dispatch_helper(): pass


def dispatch(): pass


def Dispatch(): pass


class Map:
    def dispatch(self): pass


def uses():
    return load_user(1) + dispatch


def other_load_user_now(): pass


def part():
    reload_user_all()
"""


@pytest.fixture
def lexical(person: Person, fleet: FleetBuilder) -> Iterator[Lexical]:
    project = fleet.project("p", "obsidian-graphify-rag")
    project.write("a.py", SOURCE)
    project.fact("f", "the keeper of the tower lights the lamp", title="keeper")
    project.fact("g", "a lamp for the tower", title="lamp of the tower")
    with open_workspace(person, [str(fleet.root)]) as workspace:
        space, found, redactor = workspace.store.space, workspace.fleet, workspace.redactor
    with writing(space) as store:
        refresh_corpus(store, found, redactor)
    with open_workspace(person, [str(fleet.root)]) as workspace:
        yield Lexical(workspace.store)


def names(lexical: Lexical, text: str) -> list[str]:
    return [item.name for item in lexical.find(Query(text=text)).candidates]


def test_the_very_name_goes_first_and_case_counts(lexical: Lexical) -> None:
    found = lexical.find(Query(text="dispatch")).candidates

    assert {item.name for item in found[:2]} == {"dispatch", "Map.dispatch"}
    assert [item.name for item in found[2:]] == ["Dispatch", "dispatch_helper", "uses"]
    assert [item.score >= SURE_SCORE for item in found] == [True, True, True, False, False]


def test_an_identifier_that_stands_whole_goes_before_longer_ones(lexical: Lexical) -> None:
    assert names(lexical, "load_user") == ["uses", "other_load_user_now", "part"]
    assert names(lexical, "load_user()")[0] == "uses"


def test_a_word_that_stands_as_it_is_goes_with_names_that_hold_its_stem(
    lexical: Lexical,
) -> None:
    found = lexical.find(Query(text="lights")).candidates

    assert found[0].name == "keeper"
    assert found[0].score > WORD_BONUS_SCORE


def test_words_that_say_nothing_are_not_asked_for(lexical: Lexical) -> None:
    assert names(lexical, "where is the lamp") == ["lamp of the tower", "keeper"]
    assert names(lexical, "the") != []


@pytest.mark.parametrize(
    ("name", "text", "bonus"),
    [
        ("Map.dispatch", "dispatch", 400.0),
        ("Map.dispatch", "Map.dispatch", 400.0),
        ("Getting Started", "getting started", 350.0),
        ("dispatcher", "dispatch", 0.0),
    ],
)
def test_when_a_name_is_the_same(name: str, text: str, bonus: float) -> None:
    assert same_name(name, text) == bonus


def test_where_some_words_are_enough_a_name_with_one_of_them_goes_not_before_all(
    lexical: Lexical,
) -> None:
    found = lexical.find(Query(text="the keeper of seven ships lights a lamp in the tower"))

    assert found.relaxed
    assert [item.name for item in found.candidates][:2] == ["keeper", "lamp of the tower"]
    assert all(item.score < 100.0 for item in found.candidates)
