"""An identity's folder in which any file is something else: an answer or a code, and no waiting.

Pipes are there for what would be waited for, folders and links for what is no file, nested JSON for
what has no end.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from agentic_os.errors import AgenticOSError
from agentic_os.identity.boot import BootOptions, boot
from agentic_os.identity.health import identity_health
from agentic_os.witness.client.rounds import WitnessRounds
from agentic_os.witness.service.config import WitnessConfig
from support.ledger.actors import born, notes
from support.witness.actors import Serving, new_witness, policy_of, serving

INSTEAD: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "folder": Path.mkdir,
    "link": lambda path: path.symlink_to(path.with_name("elsewhere")),
    "nested": lambda path: path.write_bytes(b'{"x":' * 5_000),
    "nothing": str,
}


def life(folder: Path, service: Serving) -> None:
    """Boot, append, bookmark."""
    rounds = WitnessRounds(policy=policy_of(service), folder=folder / "witness", clock=time.time)
    with boot(folder, BootOptions(witnesses=rounds)) as identity, suppress(AgenticOSError):
        identity.append("agent", notes(1))
        identity.bookmark()


@pytest.fixture(scope="module")
def witnessed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Serving]]:
    home = new_witness(tmp_path_factory.mktemp("witness") / "w")
    config = WitnessConfig(folder=home, requests_per_minute=0, client_requests_per_minute=0)
    folder = born(tmp_path_factory.mktemp("identity") / "me")
    with serving(config) as service:
        life(folder, service)
        yield folder, service


@pytest.mark.parametrize("kind", INSTEAD)
def test_any_file_may_be_something_else(
    tmp_path: Path, witnessed: tuple[Path, Serving], kind: str
) -> None:
    made, service = witnessed
    files = [path.relative_to(made) for path in made.rglob("*") if path.is_file()]
    assert len(files) > 14
    for name in files:
        folder = tmp_path / name.name
        shutil.copytree(made, folder)
        (folder / name).unlink()
        INSTEAD[kind](folder / name)
        health = identity_health(folder)
        with suppress(AgenticOSError):
            life(folder, service)
        for finding in health.findings:
            assert str(tmp_path) not in finding.message
        shutil.rmtree(folder)
