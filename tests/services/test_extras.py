"""Each extra installed alone: the built wheel in an empty environment, and the verbs it is for.

Design decision 16. What an extra brings works with it; without it the verbs say which to install.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.fleet.builder import FleetBuilder
from support.model.tiny import write_tiny_model
from support.process.built_wheel import checked, wheel
from support.process.cli_process import Finished, run

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]
__all__ = ["wheel"]  # a fixture
ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / ".venv-reference"
NOWHERE = "postgresql://nobody@/none?host=/nonexistent"


class Installed:
    """One environment, and a fleet to ask in it."""

    def __init__(self, environment: Path, fleet: FleetBuilder) -> None:
        self.command = (str(environment / "bin/agentic-os"),)
        self.python = environment / "bin/python"
        self.fleet = fleet

    def ask(self, *words: str | Path, fleet: bool = True) -> Finished:
        root = ("--root", self.fleet.root) if fleet else ()
        return run(*words, "--json", *root, command=self.command)

    def has(self, module: str) -> bool:
        done = subprocess.run(
            [self.python, "-c", f"import {module}"], capture_output=True, check=False
        )
        return done.returncode == 0


def installed(wheel: Path, extra: str, fleet: FleetBuilder, environment: Path) -> Installed:
    """Install one extra alone, then scan and search with it."""
    checked(sys.executable, "-m", "venv", environment)
    wanted = f"agentic-os[{extra}] @ {wheel.as_uri()}" if extra else str(wheel)
    checked(environment / "bin/python", "-m", "pip", "install", "--quiet", wanted)
    fleet.project("shop").fact("limits", "The rate limit is 40.", title="Rate limits")
    found = Installed(environment, fleet)
    assert [item["name"] for item in found.ask("scan").data["projects"]] == ["shop"]
    hits = found.ask("search", "rate limit").data["hits"]
    assert [hit["name"] for hit in hits] == ["Rate limits"]
    return found


def booted(found: Installed, folder: Path) -> Finished:
    """Boot an identity whose projection would lie in a PostgreSQL that is not there."""
    laws = folder / "laws.md"
    laws.write_text("Be kind.\n")
    born = found.ask("ledger", "init", "--domain", "example.org", "--laws", laws, fleet=False)
    assert born.code == 0, born.words
    return found.ask("ledger", "boot", "--projection-url", NOWHERE, fleet=False)


def test_no_extra_at_all(wheel: Path, fleet: FleetBuilder, tmp_path: Path, places: Path) -> None:
    found = installed(wheel, "", fleet, tmp_path / "environment")

    built = found.ask("index", "build")
    prepared = found.ask("model", "prepare", fleet=False)

    for finished in (built, prepared):
        assert finished.code == 1
        assert finished.document["error"]["code"] == "EXTRA_MISSING"
        assert "extra `rag`" in finished.document["error"]["hint"]
    assert "extra `postgres`" in booted(found, tmp_path).text
    assert not any(found.has(name) for name in ("lance", "onnxruntime", "psycopg", "torch"))
    assert places.is_dir()


def test_rag_alone(wheel: Path, fleet: FleetBuilder, tmp_path: Path, places: Path) -> None:
    found = installed(wheel, "rag", fleet, tmp_path / "environment")
    tiny = write_tiny_model(tmp_path / "tiny-model")

    prepared = found.ask("model", "prepare", "--source", "folder", "--from", tiny, fleet=False)
    (places / "config").mkdir(exist_ok=True)
    (places / "config/projects.toml").write_text('[embedding]\nmodel = "tiny-model"\n')
    built = found.ask("index", "build")
    answered = found.ask("search", "rate limit", "--mode", "semantic")

    assert prepared.code == 0, prepared.words
    assert built.code == 0, built.words
    assert built.data["chunks"] >= 1
    assert answered.code == 0, answered.words
    assert "Rate limits" in {hit["name"] for hit in answered.data["hits"]}
    assert not any(found.has(name) for name in ("lancedb", "torch", "psycopg"))


def test_postgres_alone(wheel: Path, fleet: FleetBuilder, tmp_path: Path, places: Path) -> None:
    found = installed(wheel, "postgres", fleet, tmp_path / "environment")

    finished = booted(found, tmp_path)

    assert found.has("psycopg")
    assert not found.has("lance")
    assert "extra `postgres`" not in finished.text
    assert "PROJECTION_UNUSABLE" in finished.text + finished.words
    assert places.is_dir()


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="torch is installed by .ci/services only")
def test_models_alone(wheel: Path, fleet: FleetBuilder, tmp_path: Path) -> None:
    """Torch is large: it is lent by the environment of the reference embedder."""
    environment = tmp_path / "environment"
    checked(sys.executable, "-m", "venv", environment)
    (lent,) = REFERENCE.glob("lib/python*/site-packages")
    (own,) = environment.glob("lib/python*/site-packages")
    (own / "lent.pth").write_text(f"{os.path.abspath(lent)}\n")  # noqa: PTH100 - no link is resolved

    found = installed(wheel, "models", fleet, environment)

    assert found.has("sentence_transformers")
    assert found.ask("model", "list", fleet=False).code == 0
    assert not found.has("lance")
