"""Processes that are killed while they install: afterwards it is the old release or the new one."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from agentic_os.plugins.installing import installed_bytes, tidy
from agentic_os.plugins.rights.broker import Receipt
from support.plugins.hosting import allow, open_house
from support.plugins.packages import ECHO_ID, Recipe

RELEASES = 30
ALONE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from agentic_os.plugins.installing import install
from support.plugins.hosting import open_house
house = open_house(Path(sys.argv[1]))
print("open", flush=True)
for path in sorted(Path(sys.argv[2]).iterdir()):
    install(house, path.read_bytes())
    print(path.stem, flush=True)
"""


def release(number: int) -> Recipe:
    return Recipe(version=f"1.0.{number}", extra={"README.md": os.urandom(200_000)})


def test_a_killed_installation_leaves_one_whole_release(tmp_path: Path) -> None:
    house = open_house(tmp_path / "house")
    allow(house, release(0))
    packages = tmp_path / "packages"
    packages.mkdir()
    for number in range(RELEASES):
        (packages / f"{number:03}.aiiospkg").write_bytes(release(number).packed())
    dice = random.Random(7)
    support = Path(__file__).parents[2]
    for _ in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", ALONE, str(tmp_path / "house"), str(packages), str(support)],
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        time.sleep(dice.random() * 0.2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()

        fresh = open_house(tmp_path / "house")
        for one in fresh.state.installed():
            assert fresh.verify(installed_bytes(fresh, one.plugin)).checked.manifest.id == ECHO_ID
        tidy(fresh)
        assert len(list(fresh.places.packages.iterdir())) == len(fresh.state.installed())
        fresh.state.close()


def test_receipts_are_bounded_and_outlive_the_plugin(tmp_path: Path) -> None:
    house = open_house(tmp_path)
    now = time.time_ns()
    old = now - 91 * 86_400 * 10**9
    for at, operation in ((old, "old"), (now, "new")):
        house.state.keep_receipt(
            Receipt(
                plugin=ECHO_ID,
                operation=operation,
                target="t",
                outcome="ok",
                detail="",
                at_ns=at,
            )
        )
    house.state.forget(ECHO_ID)

    assert [one.operation for one in house.state.receipts(None, 10)] == ["new"]
