import pytest

from agentic_os.registry.walk.pruning import PRUNED_NAMES, Pruning, enters, is_closed


@pytest.mark.parametrize(
    "name",
    [
        "node_modules",
        "venv",
        ".venv",
        "site-packages",
        "target",
        "dist",
        "build",
        "__pycache__",
        "vendor",
        ".tox",
        ".git",
        ".agents",
        ".claude",
        ".cache",
    ],
)
def test_dependency_build_cache_and_dotted_folders_are_not_entered(name: str) -> None:
    assert not enters(name)


@pytest.mark.parametrize("name", ["src", "Build", "packages", "env", "docs", "vendors", "a.b"])
def test_ordinary_folders_are_entered(name: str) -> None:
    assert enters(name)


def test_no_dotted_name_stands_in_the_table_for_nothing() -> None:
    assert not any(name.startswith(".") for name in PRUNED_NAMES)


@pytest.mark.parametrize(
    ("glob", "name", "relative", "excluded"),
    [
        ("archive", "archive", "a/archive", True),
        ("archive", "archive2", "archive2", False),
        ("old/*", "x", "old/x", True),
        ("old/*", "old", "old", False),
        ("old/**", "old", "old", True),
        ("old/", "old", "old", True),
        ("./old", "old", "old", True),
        ("*-tmp", "x-tmp", "deep/x-tmp", True),
        ("a/*/c", "c", "a/b/c", True),
        ("a/*/c", "c", "c", False),
        ("[ab]c", "bc", "bc", True),
        ("Archive", "archive", "archive", False),
    ],
)
def test_globs_over_names_and_paths(glob: str, name: str, relative: str, excluded: bool) -> None:
    assert Pruning(exclude=("nothing", glob)).excludes(name, relative) is excluded


def test_without_globs_nothing_is_excluded() -> None:
    assert not Pruning().excludes("a", "a")
    assert not Pruning(exclude=("/", "/**")).excludes("a", "a")


@pytest.mark.parametrize(
    ("markers", "folders", "closed"),
    [
        (set(), ["objects", "refs"], False),
        ({"pyvenv.cfg"}, [], True),
        ({"CACHEDIR.TAG"}, ["a"], True),
        ({"HEAD"}, ["objects", "refs", "hooks"], True),
        ({"HEAD"}, ["objects"], False),
    ],
)
def test_what_a_folder_holds_can_close_it(
    markers: set[str], folders: list[str], closed: bool
) -> None:
    assert is_closed(markers, folders) is closed
