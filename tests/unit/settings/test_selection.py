from pathlib import Path

import pytest

from agentic_os.errors import SettingsError
from agentic_os.settings.selection import effective_roots
from agentic_os.settings.values import ListedProject, Root, Settings

CURRENT = Path("/now")
HOME = Path("/people/ann")
WRITTEN = Root(typed="~/code", path=HOME / "code", origin="projects.toml")


def test_the_command_line_wins() -> None:
    chosen = effective_roots(Settings(roots=(WRITTEN,)), ["x", "~/y"], current=CURRENT, home=HOME)
    assert chosen == (
        Root(typed="x", path=CURRENT / "x", origin="command line"),
        Root(typed="~/y", path=HOME / "y", origin="command line"),
    )


def test_then_the_file() -> None:
    chosen = effective_roots(Settings(roots=(WRITTEN,)), [], current=CURRENT, home=HOME)
    assert chosen == (WRITTEN,)


def test_then_the_current_directory() -> None:
    chosen = effective_roots(Settings(), [], current=CURRENT, home=HOME)
    assert chosen == (Root(typed=".", path=CURRENT, origin="current directory"),)


def test_a_file_that_lists_only_projects_has_no_roots() -> None:
    listed = Settings(projects=(ListedProject(typed="a", path=Path("/a")),))
    assert effective_roots(listed, [], current=CURRENT, home=HOME) == ()


def test_an_impossible_root_is_an_error() -> None:
    with pytest.raises(SettingsError, match="NUL"):
        effective_roots(Settings(), ["a\0"], current=CURRENT, home=HOME)
