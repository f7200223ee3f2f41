"""The real producer, and one scaffold of every kind, made once for all tests."""

import os
import tempfile
from pathlib import Path

import pytest

from support.fleet.producer import STACKS, Producer

OLD_RELEASES = {
    "0.3.0": "obsidian-graphify",
    "0.4.0": "obsidian-graphify",
    "0.5.0": "obsidian-graphify-rag",
    "0.5.2": "auto",
    "0.6.1": "obsidian-only",
    "1.0.0": "obsidian-graphify-rag",
    "1.0.1": "auto",
    "1.1.0": "obsidian-graphify",
    "1.1.2": "obsidian-only",
    "1.1.8": "obsidian-graphify-rag",
    "1.2.1": "none",
}


@pytest.fixture(scope="session")
def producer(tmp_path_factory: pytest.TempPathFactory) -> Producer:
    """The producer; its releases are kept between runs."""
    cache = Path(tempfile.gettempdir()) / f"agentic-os-producers-{os.getuid()}"
    return Producer(cache=cache, home=tmp_path_factory.mktemp("producer-home"))


@pytest.fixture(scope="session")
def current_scaffolds(producer: Producer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every stack of the newest release in two languages: ``STACK-LANGUAGE``. Only read it."""
    root = tmp_path_factory.mktemp("current")
    for stack in STACKS:
        for language in ("python", "rust"):
            producer.scaffold(root / f"{stack}-{language}", stack=stack, language=language)
    return root


@pytest.fixture(scope="session")
def old_scaffolds(producer: Producer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One scaffold of each older release, in a folder of its version. Only read it."""
    root = tmp_path_factory.mktemp("old")
    for version, stack in OLD_RELEASES.items():
        producer.scaffold(root / version, version=version, stack=stack)
    return root
