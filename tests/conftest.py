"""Fixtures of every test: redirected places, an empty home, a fleet to write."""

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from support.fleet.builder import FleetBuilder

if TYPE_CHECKING:
    from agentic_os.aggregate.workspace import Person

# A shell's background job ignores SIGINT, and so would every process that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# One commit, one verdict: the suite draws the same cases each time. `make fuzz` draws new ones.
settings.register_profile("repeatable", derandomize=True)
settings.register_profile("explore", print_blob=True)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Redirect HOME and every place of the tool below the test's own folder."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"AGENTIC_OS_{name}_DIR", str(home / name.lower()))
        monkeypatch.delenv(f"XDG_{name}_HOME", raising=False)
    monkeypatch.setenv("DOTAIOS_PATH", str(home / "aios"))
    monkeypatch.setenv("NO_COLOR", "1")
    return home


@pytest.fixture
def person(places: Path, tmp_path: Path) -> "Person":
    """The surroundings of a command: redirected places, the test's folder as current one."""
    from agentic_os.aggregate.workspace import Person

    return Person(environ=dict(os.environ), home=places, current=tmp_path)


@pytest.fixture
def fleet(tmp_path: Path) -> FleetBuilder:
    """A root to write projects below."""
    root = tmp_path / "fleet"
    root.mkdir()
    return FleetBuilder(root=root)
