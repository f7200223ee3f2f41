"""The built wheel: what is in it, and that it runs without the source tree."""

import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder

import agentic_os
from support.fleet.builder import FleetBuilder
from support.process.built_wheel import checked, wheel
from support.process.cli_process import Finished, run

__all__ = ["wheel"]  # a fixture
ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "src/agentic_os"


def test_the_wheel_holds_everything_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    source = {
        str(path.relative_to(ROOT / "src"))
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {name for name in names if not name.startswith("agentic_os-")}

    assert {"agentic_os/py.typed", "agentic_os/aggregate/store/schema.sql"} <= packed
    assert packed == source


def test_the_metadata_is_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        folder = f"agentic_os-{agentic_os.__version__}.dist-info"
        metadata = message_from_bytes(archive.read(f"{folder}/METADATA"))
        scripts = archive.read(f"{folder}/entry_points.txt").decode()
        assert f"{folder}/licenses/LICENSE" in archive.namelist()
        data = f"agentic_os-{agentic_os.__version__}.data/data"
        assert f"{data}/share/man/man1/agentic-os.1" in archive.namelist()

    assert metadata["Name"] == "agentic-os"
    assert metadata["Version"] == agentic_os.__version__
    assert metadata["Requires-Python"] == ">=3.11"
    assert {"rag", "models", "postgres", "dev"} <= set(metadata.get_all("Provides-Extra") or ())
    assert "agentic-os = agentic_os.cli.entry:main" in scripts


def test_the_source_archive_holds_all_that_a_contributor_needs(tmp_path: Path) -> None:
    (built,) = SdistBuilder(str(ROOT)).build(directory=str(tmp_path))
    with tarfile.open(built) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    wanted = {"Makefile", ".ci/run", ".ci/services", "README.md", "CHANGELOG.md", "LICENSE"}
    for folder in ("benchmarks", "docs", "examples", "src", "tests"):
        kept = [path for path in (ROOT / folder).rglob("*.py") if "node_modules" not in path.parts]
        wanted |= {path.relative_to(ROOT).as_posix() for path in kept}
    wanted |= {f"web/{name}" for name in ("package.json", "package-lock.json", "tsconfig.json")}
    assert wanted - names == set()
    assert [name for name in names if "node_modules" in name or name.startswith(".venv")] == []


def use(fleet: FleetBuilder, *command: str | Path) -> None:
    """Scan, aggregate and search with one installation."""
    fleet.project("shop").fact("limits", "The rate limit is 40.", title="Rate limits")

    def ask(*words: str | Path) -> Finished:
        finished = run(*words, "--json", "--root", fleet.root, command=tuple(map(str, command)))
        assert finished.code == 0, finished.words
        return finished

    assert [item["name"] for item in ask("scan").data["projects"]] == ["shop"]
    assert ask("aggregate").data["facts"] == 1
    assert [hit["name"] for hit in ask("search", "rate limit").data["hits"]] == ["Rate limits"]


def test_the_wheel_runs_away_from_its_source(
    wheel: Path, fleet: FleetBuilder, tmp_path: Path
) -> None:
    target = tmp_path / "installed"
    checked(
        sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", target, wheel
    )
    # The first entry of the path is the installed copy; the source tree comes later or not at all.
    start = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import agentic_os;"
        "assert agentic_os.__file__.startswith(sys.path[0]), agentic_os.__file__;"
        "from agentic_os.cli.entry import main; sys.exit(main())"
    )

    use(fleet, sys.executable, "-c", start, target)


@pytest.mark.services
def test_the_wheel_runs_in_an_empty_environment(
    wheel: Path, fleet: FleetBuilder, tmp_path: Path
) -> None:
    """With the dependencies that it names and no others; needs the package index."""
    environment = tmp_path / "environment"
    checked(sys.executable, "-m", "venv", environment)
    checked(environment / "bin/python", "-m", "pip", "install", "--quiet", wheel)

    version = run("--version", command=(str(environment / "bin/agentic-os"),))
    assert version.text == f"agentic-os {agentic_os.__version__}\n"
    use(fleet, environment / "bin/agentic-os")
    use(fleet, environment / "bin/python", "-m", "agentic_os")
