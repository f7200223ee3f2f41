import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentic_os.files.reading import Folder
from agentic_os.registry.descriptor.values import Descriptor
from agentic_os.registry.surfaces import survey
from agentic_os.results import Surface, Surfaces

Config = Callable[..., str]
Parse = Callable[..., Descriptor]

GRAPHIFY = (
    "stack: obsidian-graphify\nmemory_path: .agents/memory\nvault_path: .agents/vault\n"
    "graph_path: graphify-out/graph.json"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project on disk in which every surface exists."""
    folder = tmp_path / "p"
    for name in (".agents/memory", ".agents/vault", "graphify-out"):
        (folder / name).mkdir(parents=True)
    (folder / ".agents/memory/MEMORY.md").touch()
    (folder / "graphify-out/graph.json").touch()
    return folder


@pytest.fixture
def look(project: Path, config: Config, parse: Parse) -> Callable[..., tuple[Surfaces, list[str]]]:
    def run(memory: str = GRAPHIFY, **options: str) -> tuple[Surfaces, list[str]]:
        descriptor = parse(config(memory, **options))
        with Folder.open(project) as folder:
            surfaces, noted = survey(folder, descriptor)
        return surfaces, [f"{one.code} {one.path}" for one in noted]

    return run


Look = Callable[..., tuple[Surfaces, list[str]]]


def test_all_surfaces_present(look: Look) -> None:
    surfaces, noted = look()
    assert surfaces == Surfaces(
        memory=Surface(path=".agents/memory", state="present"),
        vault=Surface(path=".agents/vault", state="present"),
        graph=Surface(path="graphify-out/graph.json", state="present"),
        rag=None,
    )
    assert noted == []


def test_an_endpoint_is_unset_or_declared_and_never_asked(look: Look) -> None:
    memory = GRAPHIFY.replace("graphify\n", "graphify-rag\n")
    assert look(memory + "\nrag_endpoint:")[0].rag == Surface(path="", state="unset")
    assert look(memory + "\nrag_endpoint: ccc mcp")[0].rag == Surface(
        path="ccc mcp", state="present"
    )


def test_a_missing_graph_is_the_normal_state(look: Look, project: Path) -> None:
    (project / "graphify-out/graph.json").unlink()
    surfaces, noted = look()
    assert surfaces.graph == Surface(path="graphify-out/graph.json", state="missing")
    assert noted == []
    (project / "graphify-out").rmdir()
    assert look()[0].graph == surfaces.graph


def test_the_conventional_graph_of_v0_counts_only_if_it_exists(look: Look, project: Path) -> None:
    head = 'project:\n  name: "old"\n  project_init_version: 0.4.0\n'
    memory = "stack: obsidian-graphify\nvault_path: .agents/vault"
    assert look(memory, head=head)[0].graph == Surface(
        path="graphify-out/graph.json", state="present"
    )
    (project / "graphify-out/graph.json").unlink()
    surfaces, noted = look(memory, head=head)
    assert (surfaces.graph, noted) == (None, [])


def test_a_missing_memory_folder_and_a_missing_index(look: Look, project: Path) -> None:
    (project / ".agents/memory/MEMORY.md").unlink()
    surfaces, noted = look()
    assert surfaces.memory == Surface(path=".agents/memory", state="present")
    assert noted == ["MEMORY_INDEX_MISSING .agents/memory"]
    (project / ".agents/memory").rmdir()
    surfaces, noted = look()
    assert surfaces.memory == Surface(path=".agents/memory", state="missing")
    assert noted == ["MEMORY_MISSING .agents/memory"]


def test_a_missing_vault(look: Look, project: Path) -> None:
    (project / ".agents/vault").rmdir()
    surfaces, noted = look()
    assert surfaces.vault == Surface(path=".agents/vault", state="missing")
    assert noted == ["VAULT_MISSING .agents/vault"]


@pytest.mark.parametrize("name", [".agents/memory", ".agents/vault", "graphify-out/graph.json"])
@pytest.mark.parametrize("how", ["link", "fifo", "wrong kind"])
def test_links_and_other_kinds_are_refused(
    look: Look, project: Path, tmp_path: Path, name: str, how: str
) -> None:
    target = project / name
    was_file = target.is_file()
    target.rename(tmp_path / "moved")
    if how == "link":
        target.symlink_to(tmp_path / "moved")
    elif how == "fifo":
        os.mkfifo(target)
    elif was_file:
        target.mkdir()
    else:
        target.touch()
    surfaces, noted = look()
    states = {
        surface.path: surface.state
        for surface in (surfaces.memory, surfaces.vault, surfaces.graph)
        if surface is not None
    }
    assert states.pop(name) == "refused"
    assert set(states.values()) == {"present"}
    assert noted == [f"SURFACE_REFUSED {name}"]


def test_a_link_above_a_surface_is_refused(look: Look, project: Path, tmp_path: Path) -> None:
    (project / "graphify-out").rename(tmp_path / "out")
    (project / "graphify-out").symlink_to(tmp_path / "out")
    surfaces, noted = look()
    assert surfaces.graph == Surface(path="graphify-out/graph.json", state="refused")
    assert noted == ["SURFACE_REFUSED graphify-out/graph.json"]


def test_an_index_that_is_a_link_leaves_the_folder(look: Look, project: Path) -> None:
    index = project / ".agents/memory/MEMORY.md"
    index.rename(index.with_name("real.md"))
    index.symlink_to("real.md")
    surfaces, noted = look()
    assert surfaces.memory == Surface(path=".agents/memory", state="present")
    assert noted == ["SURFACE_REFUSED .agents/memory/MEMORY.md"]


def test_what_may_not_be_looked_at_is_unreadable(
    look: Look, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert project.is_dir()
    really_open = os.open

    def refuse(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == "vault":
            raise PermissionError(13, "Permission denied")
        return really_open(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "supports_dir_fd", os.supports_dir_fd | {refuse})
    monkeypatch.setattr(os, "open", refuse)
    surfaces, noted = look()
    assert surfaces.vault == Surface(path=".agents/vault", state="refused")
    assert noted == ["SURFACE_UNREADABLE .agents/vault"]


def test_paths_that_leave_are_refused_without_a_look(look: Look) -> None:
    memory = (
        "stack: obsidian-graphify-rag\nmemory_path: ../m\nvault_path: /v\n"
        "graph_path: [g]\nrag_endpoint:"
    )
    surfaces, noted = look(memory)
    assert surfaces.memory == Surface(path="../m", state="refused")
    assert surfaces.vault == Surface(path="/v", state="refused")
    assert surfaces.graph == Surface(path="", state="refused")
    assert noted == []


def test_surfaces_that_are_not_declared_are_unset(look: Look) -> None:
    surfaces, _ = look("stack: obsidian-graphify")
    assert surfaces.vault == Surface(path="", state="unset")
    assert surfaces.graph == Surface(path="", state="unset")


@pytest.mark.parametrize("memory", ["stack: none", ""])
def test_an_opted_out_project_has_no_surface_and_what_was_left_behind_is_said(
    look: Look, project: Path, memory: str
) -> None:
    surfaces, noted = look(memory)
    assert surfaces == Surfaces()
    assert noted == ["MEMORY_LEFT_BEHIND .agents/memory/MEMORY.md"]
    (project / ".agents/memory/MEMORY.md").unlink()
    assert look(memory) == (Surfaces(), [])


def test_a_degraded_project_has_no_surface_and_nothing_is_said(project: Path, parse: Parse) -> None:
    with Folder.open(project) as folder:
        assert survey(folder, parse("")) == (Surfaces(), ())
