"""The wheel of this checkout, built once for the tests of a module."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
STEP_SECONDS = 850
"""What one step, an installation with large packages, may take."""


def checked(*words: str | Path) -> None:
    """Run a command that must succeed."""
    done = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, check=False, timeout=STEP_SECONDS
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    folder = tmp_path_factory.mktemp("dist")
    checked(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT)
    (built,) = folder.glob("*.whl")
    return built
