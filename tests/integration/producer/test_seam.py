"""``seam add``: the plan starts nothing; with its fingerprint the real project-init runs."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.fleet.git_repository import repository
from support.fleet.producer import NEWEST, Producer
from support.process.cli_call import call

FILES = {"AGENTS.md": "# Rules\n", "pyproject.toml": "[project]\nname = 'x'\n", "a.py": "A = 1\n"}


@pytest.fixture(scope="module")
def program(producer: Producer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds project-init as a program."""
    site = producer.release(NEWEST)
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "project-init"
    script.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(site)!r})\n"
        "from project_init.__main__ import main\nsys.exit(main())\n"
    )
    script.chmod(0o755)
    return folder


def seam(root: Path, environ: Mapping[str, str], *words: str) -> tuple[int, dict[str, object]]:
    done = call("seam", "add", "shop", "--root", root, "--json", *words, environ=environ)
    return done.code, json.loads(done.stdout)


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.usefixtures("places")
def test_a_plan_and_what_it_comes_to(program: Path, tmp_path: Path) -> None:
    root = tmp_path / "fleet"
    shop = repository(root / "shop", FILES)
    environ = {"PATH": f"{program}:{os.environ['PATH']}"}
    before = tree(shop)

    code, planned = seam(root, environ)
    assert code == 0
    data = planned["data"]
    assert isinstance(data, dict)
    assert tree(shop) == before
    assert data["applied"] is False
    assert data["words"][:6] == ["project-init", str(shop), "--preset", "core", "--memory", "auto"]
    assert "python" in data["words"]
    states = {name["path"]: name["state"] for name in data["writes"]}
    assert states["AGENTS.md"] == "kept, the new one beside it"
    assert states[".agents"] == "new"

    code, refused = seam(root, environ, "--apply", "0" * 16)
    assert (code, refused["error"]["code"]) == (1, "SEAM_CHANGED")  # type: ignore[index]
    assert tree(shop) == before

    code, done = seam(root, environ, "--apply", data["fingerprint"])
    assert code == 0, done
    tops = {path.name for path in shop.iterdir()} - {".git", *FILES}
    planned_tops = {path for path, state in states.items() if state == "new"}
    assert planned_tops <= tops
    assert {name for name in tops - planned_tops if not name.endswith(".new")} == set()
    assert (shop / "AGENTS.md").read_text() == "# Rules\n"

    code, again = seam(root, environ)
    assert (code, again["error"]["code"]) == (1, "SEAM_EXISTS")  # type: ignore[index]


@pytest.mark.usefixtures("places")
def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    repository(tmp_path / "fleet/shop", FILES)
    environ = {"PATH": str(tmp_path)}
    _, planned = seam(tmp_path / "fleet", environ)
    data = planned["data"]
    assert isinstance(data, dict)
    assert data["program"] is None
    code, refused = seam(tmp_path / "fleet", environ, "--apply", data["fingerprint"])
    assert (code, refused["error"]["code"]) == (1, "SEAM_PROGRAM_MISSING")  # type: ignore[index]


@pytest.mark.usefixtures("places")
def test_another_commit_is_another_plan(program: Path, tmp_path: Path) -> None:
    shop = repository(tmp_path / "fleet/shop", FILES)
    environ = {"PATH": f"{program}:{os.environ['PATH']}"}
    _, planned = seam(tmp_path / "fleet", environ)
    (shop / "CLAUDE.md").write_text("# New\n")
    code, refused = seam(
        tmp_path / "fleet",
        environ,
        "--apply",
        planned["data"]["fingerprint"],  # type: ignore[index]
    )
    assert (code, refused["error"]["code"]) == (1, "SEAM_CHANGED")  # type: ignore[index]
