"""What is read beside a graph, and what is survived there."""

import json
from pathlib import Path

import pytest

from agentic_os.aggregate.graph.intake import files as graph_files
from agentic_os.aggregate.graph.intake import listing as graph_listing
from agentic_os.aggregate.graph.intake.files import build_hashes
from agentic_os.aggregate.graph.store import stored_manifests
from agentic_os.code.manifests.reading import read_manifest
from agentic_os.code.manifests.values import MAX_MANIFEST_BYTES
from agentic_os.code.reading import MAX_SOURCE_BYTES, read_source
from agentic_os.files.reading import Folder
from support.graph.builder import GraphFleet, graph_of
from support.graph.code import pyproject

LIB = {"pyproject.toml": pyproject("fancy"), "fancy/__init__.py": "def load(): ...\n"}
APP = {"pyproject.toml": pyproject("app", "fancy"), "app.py": "import fancy\n\nfancy.load()\n"}


def fleet_of(tmp_path: Path, app: dict[str, str]) -> GraphFleet:
    fleet = GraphFleet.at(tmp_path / "fleet")
    fleet.write("lib", LIB)
    fleet.write("app", app)
    return fleet


def problems(fleet: GraphFleet) -> dict[str, tuple[str, ...]]:
    """The problems of every manifest of the consumer."""
    rid = fleet.connection.execute("SELECT rid FROM graph_repo WHERE project='app'").fetchone()[0]
    return {item.path: item.problems for item in stored_manifests(fleet.connection, rid)}


def rules(fleet: GraphFleet) -> set[str]:
    return {row[0] for row in fleet.connection.execute("SELECT rule FROM graph_cross")}


def test_sources_and_manifests_beyond_their_bounds_say_nothing(tmp_path: Path) -> None:
    large = "#" * MAX_SOURCE_BYTES
    fleet = fleet_of(tmp_path, {**APP, "app.py": APP["app.py"] + large})
    (fleet.root / "app/package.json").write_text(" " * (MAX_MANIFEST_BYTES + 1))

    fleet.refresh("lib", "app")

    assert rules(fleet) == {"R1"}
    assert problems(fleet)["package.json"] == ("MANIFEST_UNREADABLE",)
    fleet.connection.close()


def test_a_parser_that_stumbles_costs_one_file_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = fleet_of(tmp_path, {**APP, "odd.py": "x = 1\n"})

    def source(path: str, data: bytes) -> object:
        if path == "odd.py":
            raise RuntimeError(path)
        return read_source(path, data)

    def manifest(path: str, data: bytes) -> object:
        if path == "setup.cfg":
            raise RuntimeError(path)
        return read_manifest(path, data)

    monkeypatch.setattr(graph_files, "read_source", source)
    monkeypatch.setattr(graph_files, "read_manifest", manifest)
    (fleet.root / "app/setup.cfg").write_text("[metadata]\nname = app\n")

    fleet.refresh("lib", "app")

    assert rules(fleet) == {"R1", "R2", "R3"}
    assert problems(fleet)["setup.cfg"] == ("MANIFEST_INVALID",)
    fleet.connection.close()


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{", b"[" * 100_000, b"\xff", b'{"a": 1, "b": {"c": 2}}']
)
def test_a_build_record_of_another_shape_tells_nothing(data: bytes) -> None:
    assert build_hashes(data) == {}


def test_a_build_record_is_read_in_both_spellings() -> None:
    record = {"a\\b.py": {"ast_hash": "AB"}, "c.py": {"hash": "cd"}, "d.py": {"hash": 7}}
    assert build_hashes(json.dumps(record).encode()) == {"a/b.py": "ab", "c.py": "cd"}


def test_a_build_record_that_cannot_be_read_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = fleet_of(tmp_path, APP)
    (fleet.root / "app/graphify-out/manifest.json").write_text('{"app.py": {"hash": "ab"}}')
    monkeypatch.setattr(graph_files, "MAX_BUILD_RECORD_BYTES", 3)

    fleet.refresh("lib", "app")

    built = {row[1]: row[3] for row in fleet.dump()["files"] if row[0] == "app"}
    assert len(str(built["app.py"])) == 64  # our own hash stands in for the record
    fleet.connection.close()


def test_workspaces_that_cannot_be_read_or_found_are_none(tmp_path: Path) -> None:
    package = json.dumps({"name": "app", "workspaces": ["packages/*", "../out", "plain", "no/*/x"]})
    fleet = fleet_of(tmp_path, {**APP, "package.json": package})
    for place in ("packages/one", "plain"):
        folder = fleet.root / "app" / place
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(json.dumps({"name": place.replace("/", "-")}))
    (fleet.root / "out").mkdir()
    (fleet.root / "out/package.json").write_text('{"name": "outside"}')

    fleet.refresh("lib", "app")
    assert {path for path in problems(fleet) if path.endswith("package.json")} == {
        "package.json",
        "packages/one/package.json",
        "plain/package.json",
    }

    (fleet.root / "app/package.json").write_text(" " * (MAX_MANIFEST_BYTES + 1))
    fleet.refresh("lib", "app")
    assert {path for path in problems(fleet) if path.endswith("package.json")} == {"package.json"}
    fleet.connection.close()


def test_paths_relative_to_a_folder_are_found_unless_two_fit(tmp_path: Path) -> None:
    fleet = GraphFleet.at(tmp_path / "fleet")
    deep = {"a/b/c/d/app.py": "x = 1\n", "src/app.py": "x = 1\n", ".hidden/app.py": "x = 1\n"}
    fleet.write("app", deep)
    fleet.graph("app", graph_of({"app.py": "x = 1\n"}))

    fleet.refresh("app")
    found = {row[1] for row in fleet.dump()["files"]}
    assert found == {"app.py"}  # two folders have such a file: neither is taken

    (fleet.root / "app/a/b/c/d/app.py").unlink()
    fleet.graph("app", graph_of({"app.py": "def f(): ...\n"}))
    fleet.refresh("app")
    assert {row[1] for row in fleet.dump()["files"]} == {"src/app.py"}
    fleet.connection.close()


def test_a_listing_asks_for_a_folder_once_and_survives_what_it_cannot_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.py").write_text("x")
    (tmp_path / "link").symlink_to("in")
    monkeypatch.setattr(graph_listing, "MAX_FOLDERS_ENTRIES", 4)
    with Folder.open(tmp_path) as root:
        listing = graph_listing.Listing(root)
        assert listing.file("in/a.py") is not None
        (tmp_path / "in/b.py").write_text("x")
        assert listing.file("in/b.py") is None
        assert listing.file("link/a.py") is None
        assert listing.file("gone/further/a.py") is None
        assert listing.entries("in/more") == {}
