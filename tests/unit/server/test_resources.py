import json
from pathlib import Path

import pytest

from agentic_os.errors import AgenticOSError, ServerError
from agentic_os.files.reading import Folder
from agentic_os.server.arguments import SearchFleet
from agentic_os.server.resources import read_resource
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.fleet import search_fleet
from agentic_os.server.tools.links import source_uri
from support.fleet.builder import FleetBuilder, ProjectBuilder

TOKEN = "ghp_" + "aB3" * 12


def project_id(served: ServedPerson, name: str = "shop") -> str:
    with served.workspace() as workspace:
        return workspace.fleet.find(name, current=workspace.current).id


def test_projects_and_capabilities_are_lists(served: ServedPerson) -> None:
    projects = json.loads(read_resource(served, "fleet://projects", fleet=True).text)
    capabilities = json.loads(read_resource(served, "fleet://capabilities", fleet=True).text)

    assert {row["name"] for row in projects["data"]["rows"]} == {"shop", "other"}
    assert {row["name"] for row in capabilities["data"]["rows"]} == {"plan", "ctx"}


def test_memory_of_one_project(served: ServedPerson) -> None:
    found = read_resource(served, f"fleet://memory/{project_id(served)}", fleet=True)

    assert "Four tries" in found.text
    assert "retries, too" not in found.text
    document = json.loads(found.text)
    assert (document["truncated"], document["total"]) == (False, len(document["facts"]))


def test_a_long_memory_is_cut_visibly(served: ServedPerson, fleet: FleetBuilder) -> None:
    memory = fleet.root / "shop/.agents/memory"
    for number in range(60):
        (memory / f"fact-{number}.md").write_text(f"---\nname: n{number}\n---\n\n" + "word " * 200)
    (memory / "aaa.md").write_text("---\nname: long\n---\n\n" + "word " * 20_000)

    found = read_resource(served, f"fleet://memory/{project_id(served)}", fleet=True)

    document = json.loads(found.text)
    assert len(found.text) <= 33_000
    assert document["truncated"]
    assert 0 < len(document["facts"]) < document["total"]
    cut = [fact for fact in document["facts"] if fact["text"].endswith("8000 characters]")]
    assert [fact["title"] for fact in cut] == ["long"]


def test_a_cited_source_is_read_redacted_and_made_visible(
    served: ServedPerson, fleet: FleetBuilder
) -> None:
    secret = "ghp_" + "a1B2" * 9
    fact = fleet.root / "shop/.agents/memory/retry.md"
    fact.write_text(f"Token {secret} and \u202ehidden\u202c.\n", encoding="utf-8")

    found = read_resource(
        served, source_uri(project_id(served), ".agents/memory/retry.md"), fleet=True
    )

    assert secret not in found.text
    assert "<U+202E>" in found.text


@pytest.mark.parametrize(
    "path",
    [
        "other.py",
        ".env",
        "graphify-out/graph.json",
        "../other/.agents/memory/note.md",
        "/etc/passwd",
        ".agents/config.yaml",
        "",
    ],
)
def test_what_no_answer_may_cite_is_not_served(
    served: ServedPerson, fleet: FleetBuilder, path: str
) -> None:
    # The graph is made to name a file of settings, too.
    shop = fleet.root / "shop"
    shop.joinpath("other.py").write_text("x = 1\n")
    shop.joinpath(".env").write_text("PASSWORD=plain\n")
    graph = shop / "graphify-out/graph.json"
    graph.write_text(graph.read_text().replace('"app.py", "source_location": "L5"', '".env"'))
    with pytest.raises(AgenticOSError) as fault:
        read_resource(served, source_uri(project_id(served), path), fleet=True)

    assert fault.value.code == "RESOURCE_UNKNOWN"


def test_a_source_that_the_graph_names_is_served(served: ServedPerson, fleet: FleetBuilder) -> None:
    token = "ghp_" + "a1B2" * 9
    source = fleet.root / "shop/app.py"
    source.write_text(f"{source.read_text()}TOKEN = '{token}'\n")

    (hit,) = search_fleet(served, SearchFleet(query="load", kinds=("graph",)))["data"]["hits"]
    found = read_resource(served, source_uri(hit["project"], hit["path"]), fleet=True)

    assert hit["path"] == "app.py"
    assert "def load():" in found.text
    assert token not in found.text


@pytest.mark.parametrize(
    "uri", ["fleet://nothing", "file:///etc/passwd", "fleet://memory/nobody", "x"]
)
def test_unknown_resources(served: ServedPerson, uri: str) -> None:
    with pytest.raises(AgenticOSError):
        read_resource(served, uri, fleet=True)


def test_the_aios_profile_has_no_fleet(served: ServedPerson) -> None:
    with pytest.raises(AgenticOSError):
        read_resource(served, "fleet://projects", fleet=False)


def test_a_long_source_is_cut_visibly(served: ServedPerson, fleet: FleetBuilder) -> None:
    fleet.root.joinpath("shop/.agents/memory/retry.md").write_text("word " * 20_000)

    found = read_resource(
        served, source_uri(project_id(served), ".agents/memory/retry.md"), fleet=True
    )

    assert found.text.endswith("[cut after 32000 characters]")


@pytest.mark.parametrize("how", ["gone", "a link"])
def test_a_source_that_cannot_be_read_safely_is_not_there(
    served: ServedPerson, fleet: FleetBuilder, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The file changes after the store was brought up to date, before it is read."""
    path = fleet.root / "shop/.agents/memory/retry.md"
    uri = source_uri(project_id(served), ".agents/memory/retry.md")

    class Changing:
        @staticmethod
        def open(where: Path) -> Folder:
            path.unlink()
            if how == "a link":
                path.symlink_to(fleet.root / "shop/app.py")
            return Folder.open(where)

    monkeypatch.setattr("agentic_os.tiers.place.Folder", Changing)

    with pytest.raises(AgenticOSError) as fault:
        read_resource(served, uri, fleet=True)

    assert fault.value.code == "RESOURCE_UNKNOWN"


def test_the_lines_around_a_place_are_read(served: ServedPerson, fleet: FleetBuilder) -> None:
    body = "\n".join(f"line {number}" for number in range(1, 201))
    ProjectBuilder(folder=fleet.root / "shop").write(
        ".agents/memory/retry.md", f"---\nname: R\n---\n{body}\n"
    )
    uri = source_uri(project_id(served), ".agents/memory/retry.md", (103, 104))

    text = read_resource(served, uri, fleet=True).text

    first, *lines = text.split("\n")
    assert first == "[lines 63-144 of 204]"
    assert (lines[0], lines[-1]) == ("line 60", "line 141")
    beyond = source_uri(project_id(served), ".agents/memory/retry.md", (900, 901))
    assert read_resource(served, beyond, fleet=True).text.startswith("[lines 164-204 of 204]")


@pytest.mark.parametrize("folder", [".agents/skills", ".claude/skills", "skills"])
def test_the_body_of_a_skill_is_a_resource(
    served: ServedPerson, fleet: FleetBuilder, folder: str
) -> None:
    ProjectBuilder(folder=fleet.root / "shop").write(
        f"{folder}/release/SKILL.md", f"# Release\n\ntoken {TOKEN}\n"
    )

    text = read_resource(served, "fleet://skill/shop/release", fleet=True).text

    assert text.startswith("# Release")
    assert TOKEN not in text


@pytest.mark.parametrize("skill", ["nothing", "..", "../memory", "a/b", ""])
def test_what_is_no_skill_is_not_served(served: ServedPerson, skill: str) -> None:
    with pytest.raises(ServerError):
        read_resource(served, f"fleet://skill/shop/{skill}", fleet=True)
    with pytest.raises(ServerError):
        read_resource(served, "fleet://skill/nobody/release", fleet=True)
