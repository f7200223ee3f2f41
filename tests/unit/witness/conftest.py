from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentic_os.witness.protocol.operator_root import OperatorRoot, generate_root
from agentic_os.witness.service.keyring import WitnessKeys, generate_witness


@dataclass(frozen=True, kw_only=True)
class Vouched:
    """A witness under a real root: its SLH-DSA signature takes seconds, so it is made once."""

    root_folder: Path
    root: OperatorRoot
    folder: Path
    keys: WitnessKeys
    made_at: datetime


@pytest.fixture(scope="session")
def vouched(tmp_path_factory: pytest.TempPathFactory) -> Vouched:
    place = tmp_path_factory.mktemp("vouched")
    now = datetime.now(UTC)
    root = generate_root(place / "root", now=now)
    keys = generate_witness(place / "w", name="witness.example/w1", root=root, now=now)
    return Vouched(
        root_folder=place / "root", root=root, folder=place / "w", keys=keys, made_at=now
    )
