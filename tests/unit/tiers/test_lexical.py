"""The order of what words find: the very name, the whole identifier, names, bodies."""

import os
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from agentic_os.aggregate.refresh.corpus import refresh_corpus
from agentic_os.aggregate.store.database import writing
from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.tiers import lexical as lexical_module
from agentic_os.tiers.interface import Found, Query
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


@pytest.fixture
def written(person: Person, fleet: FleetBuilder) -> Iterator[Callable[..., Found]]:
    """Facts of one project, written by the test, and a way to ask for them."""
    opened = ExitStack()

    def ask(facts: dict[str, str], text: str, **named: Any) -> Found:
        project = fleet.project("p", "obsidian-only")
        for name, body in facts.items():
            project.fact(name, body, title=f"Fact {name}")
        workspace = opened.enter_context(open_workspace(person, [str(fleet.root)]))
        return Lexical(workspace.store).find(Query(text=text, **named))

    with opened:
        yield ask


def stems(found: Found) -> list[str]:
    """The facts that were found, MEMORY.md apart."""
    return [
        path.rpartition("/")[2].removesuffix(".md")
        for path in dict.fromkeys(item.path for item in found.candidates)
        if not path.endswith("MEMORY.md")
    ]


NAMES = {
    "c": "Use C for firmware. C is compiled with C99. C C C.",
    "cpp": "The client is written in C++ and nothing else.",
    "cs": "The add-in is written in C# for the office team.",
    "net": "The net is flat; net net net.",
    "dotnet": "We target .NET 8; pass --dry-run to @scope/tool.",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C++", ["cpp"]),
        ("c#", ["cs"]),
        (".NET", ["dotnet"]),
        ("--dry-run", ["dotnet"]),
        ("@scope/tool", ["dotnet"]),
        ("written in C++", ["cpp"]),
        ('"written in C++"', ["cpp"]),
        ('"written in"', ["cpp", "cs"]),
        ('"is written" office', ["cs"]),
        ('"written is"', []),
    ],
)
def test_names_with_punctuation_and_phrases(
    written: Callable[..., Found], text: str, expected: list[str]
) -> None:
    assert sorted(stems(written(NAMES, text))) == sorted(expected)


def test_a_name_that_stands_nowhere_as_it_is_falls_back_to_its_word(
    written: Callable[..., Found],
) -> None:
    found = written({"a": "the net is flat"}, ".NET")

    assert (stems(found), found.relaxed) == (["a"], True)


SCRIPTS = {
    "zh": "缓存的失效策略是十分钟。失败后重跑gen-itgc任务。",
    "ja": "データベース接続に失敗したら再試行する。",
    "ko": "연결을 먼저 종료한다.",
    "th": "การเชื่อมต่อฐานข้อมูลล้มเหลว",
    "de": "Die Datenbankverbindungszeit liegt bei dreissig Sekunden.",
}


@pytest.mark.parametrize(
    ("text", "expected", "relaxed"),
    [
        ("缓存 失效", "zh", False),
        ("gen 任务", "zh", False),
        ("务", "zh", False),
        ("如何处理缓存失效", "zh", True),
        ("データベース 接続", "ja", False),
        ("연결 종료", "ko", False),
        ("เชื่อมต่อ ฐานข้อมูล", "th", False),
        ("Datenbank Verbindungszeit", "de", False),
        ("verbindung SEKUNDEN", "de", False),
    ],
)
def test_words_inside_words_and_scripts_without_blanks(
    written: Callable[..., Found], text: str, expected: str, relaxed: bool
) -> None:
    found = written(SCRIPTS, text)

    assert (stems(found), found.relaxed) == ([expected], relaxed)


def test_one_unicode_form(written: Callable[..., Found]) -> None:
    facts = {"a": unicodedata.normalize("NFD", "Das Café am Größenwahn 데이터베이스")}

    for text in ("café", "GRÖßenwahn", "데이터", unicodedata.normalize("NFD", "Café")):
        assert stems(written(facts, text)) == ["a"]


def test_the_whole_question_goes_before_its_words(written: Callable[..., Found]) -> None:
    facts = {
        "apart": "The limit and the rate. Rate, rate, rate of the limit; limit limit.",
        "whole": "A long note about other things, which says once that the rate limit\nis 100.",
    }

    assert stems(written(facts, "rate limit")) == ["whole", "apart"]
    assert stems(written(facts, "limit is 100")) == ["whole"]


def test_capitals_and_negations_are_asked_for_and_what_is_not_is_named(
    written: Callable[..., Found],
) -> None:
    facts = {
        "can": "The CAN bus is slow.",
        "other": "A slow train can be late.",
        "not": "It does not retry.",
        "retry": "It does retry.",
    }

    assert stems(written(facts, "the CAN is slow")) == ["can", "other"]
    assert stems(written(facts, "not retry")) == ["not"]
    assert written(facts, "why is the bus slow").left_out == ("why", "is", "the")
    assert written(facts, "WHY IS THE BUS SLOW").left_out == ("WHY", "IS", "THE")


def test_a_common_word_is_cut_and_counted(
    written: Callable[..., Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical_module, "CUT_PASSAGES", 4)
    monkeypatch.setattr(lexical_module, "SPARE_CANDIDATES", 2)
    facts = {f"f{at:02}": f"the common word number {at}" for at in range(30)}
    facts["named"] = "common"

    found = written(facts, "common", limit=1, per_project=True)

    assert found.total == 31
    assert len(found.candidates) == 3
    assert [score.counts for score in found.by_project.values()] == [{"memory": 31}]
    monkeypatch.setattr(lexical_module, "RANKED_PASSAGES", 10)
    assert written(facts, "common", limit=1).total == 31
    monkeypatch.setattr(lexical_module, "RELAXED_PASSAGES", 3)
    rare = written(facts, "common 17 missing", limit=1)
    assert (rare.relaxed, stems(rare)[0]) == (True, "f17")


def test_a_run_of_two_characters_is_looked_for_in_a_bounded_number_of_passages(
    written: Callable[..., Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = {f"f{at}": f"body {at} built" for at in range(9)}

    whole = written(facts, "ui")
    assert (len(stems(whole)), whole.bounded) == (9, False)
    monkeypatch.setattr(lexical_module, "LOOKED_INTO_PASSAGES", 3)
    assert written(facts, "zq").bounded


def test_only_passages_of_files_that_changed_since(
    written: Callable[..., Found], fleet: FleetBuilder
) -> None:
    assert len(stems(written({"old": "a lamp", "new": "a lamp"}, "lamp"))) == 2
    path = next(fleet.root.rglob("old.md"))
    os.utime(path, ns=(10**18, 10**18))

    assert stems(written({"new": "a lamp"}, "lamp", changed_since_ns=10**18 + 1)) == ["new"]
