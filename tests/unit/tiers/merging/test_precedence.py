"""One's own word first, in lists of every order and in real fleets."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.aggregate.cross_links import named_in
from agentic_os.aggregate.refresh.corpus import refresh_corpus
from agentic_os.aggregate.store.database import writing
from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.results import KINDS, Kind, SearchData
from agentic_os.settings.selection import command_line_roots
from agentic_os.tiers.interface import Candidate, Query
from agentic_os.tiers.merging.fusion import place_of
from agentic_os.tiers.merging.precedence import FACT_KINDS, is_common, ordered
from agentic_os.tiers.route import search
from support.fleet.builder import FleetBuilder
from support.fleet.git_repository import repository

PATHS = ("README.md", "src/app.py", "LICENSE", "CHANGELOG.md", "uv.lock", "docs/use.md", "a.md")


def candidate(kind: Kind, path: str, start: int = 1) -> Candidate:
    return Candidate(
        project="p",
        kind=kind,
        tier=None,
        path=path,
        name="n",
        start=start,
        end=start,
        score=1.0,
        sha256="",
        indexed_at="",
    )


CANDIDATES = st.lists(
    st.builds(candidate, st.sampled_from(KINDS), st.sampled_from(PATHS), st.integers(1, 3)),
    unique_by=place_of,
)


@given(CANDIDATES, st.data())
def test_nothing_is_lost_and_the_rules_hold(
    candidates: list[Candidate], data: st.DataObject
) -> None:
    def some(of: Callable[[Candidate], bool]) -> list[Candidate]:
        fitting = [one for one in candidates if of(one)]
        return data.draw(st.lists(st.sampled_from(fitting), unique_by=place_of)) if fitting else []

    own = some(lambda one: one.kind in FACT_KINDS | {"instruction"})
    whole = {place_of(one) for one in some(lambda one: one.kind in FACT_KINDS)}
    called = {place_of(one) for one in some(lambda _: True)} - {place_of(one) for one in own}
    result = ordered(candidates, own=own, whole=whole, called=called)

    assert sorted(map(place_of, result)) == sorted(map(place_of, candidates))
    assert result[: len(own)] == own
    tail = [one for one in result[len(own) :] if place_of(one) not in called]
    facts = [at for at, one in enumerate(tail) if one.kind in FACT_KINDS]
    assert all(not is_common(one) for one in tail[: facts[-1] if facts else 0])
    sure = [at for at, one in enumerate(tail) if place_of(one) in whole]
    assert all(one.kind not in {"code", "document"} for one in tail[: sure[-1] if sure else 0])
    # Within each part the order stays.
    for part in (
        [one for one in tail if one.kind in FACT_KINDS],
        [one for one in tail if is_common(one)],
        [one for one in tail if one.kind == "code" and not is_common(one)],
    ):
        assert part == [one for one in candidates if one in part]


@pytest.mark.parametrize(
    ("kind", "path", "common"),
    [
        ("document", "README.md", True),
        ("document", "pkg/README.rst", True),
        ("document", "LICENSE-MIT.txt", True),
        ("document", "CHANGELOG.md", True),
        ("document", "docs/history-of-art.md", True),
        ("document", "docs/design.md", False),
        ("code", "src/history.py", False),
        ("code", "package-lock.json", True),
        ("memory", ".agents/memory/readme.md", False),
        ("instruction", "CONVENTIONS.md", False),
    ],
)
def test_what_every_repository_has(kind: Kind, path: str, common: bool) -> None:
    assert is_common(candidate(kind, path)) is common


@pytest.fixture
def answered(person: Person, fleet: FleetBuilder) -> Callable[[str], SearchData]:
    shop = fleet.project("shop")
    shop.fact("deploys", "It deploys on Fridays, after lunch.")
    shop.write("AGENTS.md", "# Rules\n\nAsk before anything deploys on Mondays.\n")
    fleet.project("docs").fact("notes", "Pages are written in Markdown.")
    foreign = "The shop deploys by hand: who deploys the shop deploys it on Fridays.\n"
    repository(
        fleet.root / "foreign",
        {
            "AGENTS.md": "# Other\n\nUse tabs.\n",
            "README.md": f"# How deploys on Fridays go\n\n{foreign * 3}",
            "CHANGELOG.md": f"# 1.0\n\n{foreign}",
            "docs/shop.md": f"# Shop\n\n{foreign}",
        },
    )

    def ask(text: str) -> SearchData:
        roots = command_line_roots([str(fleet.root)], adopt=True)
        with open_workspace(person, roots) as workspace:
            space = workspace.store.space
            with writing(space, wait_seconds=1.0) as store:
                refresh_corpus(store, workspace.fleet, workspace.redactor)
        with open_workspace(person, roots) as workspace:
            return search(workspace, Query(text=text, limit=10)).data

    return ask


def test_the_named_project_speaks_first(answered: Callable[[str], SearchData]) -> None:
    data = answered("when are deploys of shop on fridays")
    assert (data.hits[0].kind, data.hits[0].name) == ("memory", "deploys")
    assert {hit.project.partition("-")[0] for hit in data.hits} == {"shop", "foreign"}
    assert data.hits[0].project.startswith("shop")


def test_a_readme_and_a_changelog_never_go_before_a_fact(
    answered: Callable[[str], SearchData],
) -> None:
    data = answered("fridays")
    kinds = [hit.kind for hit in data.hits]
    assert (kinds[0], set(kinds[1:])) == ("memory", {"document"})
    # By rank alone the README is first: its heading holds the word.
    assert data.hits[0].score < max(hit.score for hit in data.hits)


def test_the_answer_says_which_kinds_were_asked(answered: Callable[[str], SearchData]) -> None:
    data = answered("deploys")
    assert data.coverage.kinds == ("memory", "index", "instruction", "code", "document")


@pytest.mark.parametrize(
    ("question", "named", "rest"),
    [
        ("how does shop deploy", {"shop"}, "how does deploy"),
        ("where are the docs", set(), "where are the docs"),
        ("what does the project docs say", {"docs"}, "what does the project say"),
        ("shopping", set(), "shopping"),
        ("SHOP", {"shop"}, ""),
    ],
)
def test_a_question_names_projects_by_the_rules_of_links(
    person: Person, fleet: FleetBuilder, question: str, named: set[str], rest: str
) -> None:
    for name in ("shop", "docs"):
        fleet.project(name)
    with open_workspace(person, [str(fleet.root)]) as workspace:
        found = named_in(question, workspace.fleet.projects)
        names = {project.id: project.name for project in workspace.fleet.projects}
    assert ({names[one] for one in found.projects}, found.rest) == (named, rest)
