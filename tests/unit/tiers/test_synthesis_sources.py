"""Hits with the lines around them, as they are now and redacted."""

import hashlib
from collections.abc import Iterator

import pytest

from agentic_os.aggregate.workspace import Person, Workspace, open_workspace
from agentic_os.results import Hit
from agentic_os.settings.values import Synthesis
from agentic_os.tiers.synthesis import MAX_PASSAGE_CHARS, MAX_PASSAGES_ENTRIES
from agentic_os.tiers.synthesis_sources import AROUND_LINES, passages_of, provider_of
from support.fleet.builder import FleetBuilder, ProjectBuilder

TEXT = "\n".join(f"line {number}" for number in range(1, 101))


@pytest.fixture
def shop(fleet: FleetBuilder) -> ProjectBuilder:
    project = fleet.project("shop")
    project.write("a.txt", TEXT)
    return project


@pytest.fixture
def workspace(fleet: FleetBuilder, shop: ProjectBuilder, person: Person) -> Iterator[Workspace]:
    assert shop.folder.is_dir()
    with open_workspace(person, [str(fleet.root)]) as opened:
        yield opened


def hit(
    workspace: Workspace, first: int, last: int, path: str = "a.txt", *, confirmed: bool = True
) -> Hit:
    (project,) = workspace.fleet.projects
    file = project.folder / path
    return Hit(
        project=project.id,
        name="n",
        kind="document",
        tier=0,
        path=path,
        lines=(first, last),
        snippet="snippet",
        score=1.0,
        sha256=hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else "",
        confirmed=confirmed,
        indexed_at="",
        stale=False,
    )


@pytest.mark.parametrize(
    ("first", "last", "lines"),
    [
        (50, 50, (50 - AROUND_LINES, 50 + AROUND_LINES)),
        (1, 2, (1, 2 + AROUND_LINES)),
        (99, 100, (99 - AROUND_LINES, 100)),
    ],
)
def test_a_hit_brings_the_lines_around_it(
    workspace: Workspace, first: int, last: int, lines: tuple[int, int]
) -> None:
    (passage,) = passages_of(workspace, [hit(workspace, first, last)])

    assert passage.lines == lines
    assert passage.text == "\n".join(TEXT.split("\n")[lines[0] - 1 : lines[1]])


def test_secrets_around_a_hit_are_redacted(workspace: Workspace, shop: ProjectBuilder) -> None:
    shop.write("a.txt", "one\nAKIAQYLPMN5HHHFPZAM2\nthree\n")

    (passage,) = passages_of(workspace, [hit(workspace, 1, 1)])

    assert passage.text is not None
    assert "AKIA" not in passage.text
    assert "three" in passage.text


def test_a_hit_stands_alone_where_its_file_changed_or_is_gone(
    workspace: Workspace, shop: ProjectBuilder
) -> None:
    changed = hit(workspace, 50, 50)
    shop.write("a.txt", TEXT + "\nmore")
    gone = hit(workspace, 1, 1, "gone.txt")
    beyond = hit(workspace, 500, 500)

    for one in (changed, gone, beyond):
        (passage,) = passages_of(workspace, [one])
        assert (passage.text, passage.hit) == (None, one)


def test_surroundings_stay_within_their_bound(workspace: Workspace, shop: ProjectBuilder) -> None:
    shop.write("a.txt", "\n".join("x" * 1_000 for _ in range(50)))
    (passage,) = passages_of(workspace, [hit(workspace, 25, 25)])
    assert passage.text is not None
    assert len(passage.text) <= MAX_PASSAGE_CHARS
    (whole,) = passages_of(workspace, [hit(workspace, 1, 50)])
    assert whole.text is None


def test_what_is_around_a_better_hit_is_not_sent_twice(workspace: Workspace) -> None:
    hits = [hit(workspace, 50, 50), hit(workspace, 52, 53), hit(workspace, 90, 90)]
    unsure = hit(workspace, 5, 5, confirmed=False)

    passages = passages_of(workspace, [unsure, *hits])

    assert [one.lines[0] for one in passages] == [50 - AROUND_LINES, 90 - AROUND_LINES]


def test_there_are_never_too_many(workspace: Workspace, shop: ProjectBuilder) -> None:
    for number in range(MAX_PASSAGES_ENTRIES + 5):
        shop.write(f"{number}.txt", "x\n")
    hits = [hit(workspace, 1, 1, f"{number}.txt") for number in range(MAX_PASSAGES_ENTRIES + 5)]

    assert len(passages_of(workspace, hits)) == MAX_PASSAGES_ENTRIES


def test_the_provider_is_what_the_settings_name() -> None:
    assert provider_of(None, {}) is None
    command = provider_of(Synthesis(command=("/bin/llm", "-m"), seconds=3), {})
    assert command is not None
    assert command.name == "command llm"
    chosen = Synthesis(url="http://127.0.0.1:1/v1", model="m", key_variable="K")
    address = provider_of(chosen, {"K": "k"})
    assert address is not None
    assert address.name == "m at 127.0.0.1:1"
