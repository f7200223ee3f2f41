"""The rules of the house that a reader can count (docs/explanation/architecture.md)."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import agentic_os

SOURCE = Path(agentic_os.__file__).parent
TESTS = Path(__file__).parents[2]
MOST_MODULES = 18
MOST_OF_ONE_PREFIX = 2


def modules(folder: Path) -> list[str]:
    """The names of a folder's modules."""
    return [path.stem for path in sorted(folder.glob("*.py")) if path.stem != "__init__"]


def folders(top: Path) -> list[Path]:
    """The folders that hold modules, the top included."""
    return sorted({path.parent for path in top.rglob("*.py")})


def crowded_prefixes(names: list[str]) -> list[str]:
    """Prefixes that more modules share than may stand side by side."""
    counted = Counter(name.split("_")[0] for name in names)
    return [prefix for prefix, number in counted.items() if number > MOST_OF_ONE_PREFIX]


def repeats_its_folder(folder: str, module: str) -> bool:
    """Whether a module's name says the folder's name again."""
    words = {folder, folder.removesuffix("s")}
    return module in words or any(module.startswith(f"{word}_") for word in words)


@pytest.mark.parametrize("folder", folders(SOURCE), ids=lambda one: str(one.relative_to(SOURCE)))
def test_folder_of_the_source(folder: Path) -> None:
    names = modules(folder)
    assert len(names) <= MOST_MODULES
    assert crowded_prefixes(names) == []
    if folder != SOURCE:
        assert [name for name in names if repeats_its_folder(folder.name, name)] == []
    document = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8")))
    assert document is not None
    assert len(document) > 30


@pytest.mark.parametrize("folder", folders(TESTS), ids=lambda one: str(one.relative_to(TESTS)))
def test_no_folder_of_the_tests_is_crowded(folder: Path) -> None:
    assert len(modules(folder)) <= MOST_MODULES


def test_the_unit_tests_mirror_the_source() -> None:
    mirrored = [folder.relative_to(TESTS / "unit") for folder in folders(TESTS / "unit")]
    assert [str(folder) for folder in mirrored if not (SOURCE / folder).is_dir()] == []


def test_no_room_has_a_face() -> None:
    """A package's ``__init__`` is its docstring: names are imported from where they are defined."""
    faces = [
        path
        for path in SOURCE.rglob("__init__.py")
        if path.parent != SOURCE and len(ast.parse(path.read_text("utf-8")).body) > 1
    ]
    assert [str(path.relative_to(SOURCE)) for path in faces] == []


def test_the_rules_see_what_breaks_them() -> None:
    assert crowded_prefixes(["graph", "graph_find", "graph_walk", "route"]) == ["graph"]
    assert repeats_its_folder("engines", "engine_client")
    assert repeats_its_folder("search", "search")
    assert not repeats_its_folder("search", "request")
