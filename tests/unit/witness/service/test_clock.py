"""A clock that leaps is noticed before a time of it is signed."""

from pathlib import Path

import pytest

from agentic_os.errors import WitnessError
from agentic_os.witness.protocol.refusal import RequestRefusedError
from agentic_os.witness.service.clock import START_DAYS, WatchedClock, require_plausible
from agentic_os.witness.service.config import WitnessConfig
from agentic_os.witness.service.server import open_desk
from support.witness.actors import new_witness

DAY = 86_400


class Hands:
    """A clock that the test sets."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def test_time_that_passes_is_given() -> None:
    wall, steady = Hands(1_000_000.0), Hands(50.0)
    clock = WatchedClock(wall, steady)
    for seconds in (1, 3600, 400 * DAY):
        wall.now += seconds
        steady.now += seconds
        assert clock() == wall.now


@pytest.mark.parametrize("leap", [400 * DAY, -400 * DAY, 601])
def test_a_leap_is_refused_until_the_clock_is_set_right(leap: float) -> None:
    wall, steady = Hands(1_000_000.0), Hands(50.0)
    clock = WatchedClock(wall, steady)
    wall.now += leap
    for _ in range(3):
        with pytest.raises(RequestRefusedError) as caught:
            clock()
        assert (caught.value.refusal.status, caught.value.refusal.code) == (503, "CLOCK_LEAPT")
    wall.now -= leap
    assert clock() == wall.now


def test_clocks_may_drift_apart_slowly() -> None:
    wall, steady = Hands(1_000_000.0), Hands(50.0)
    clock = WatchedClock(wall, steady)
    for _ in range(100):
        wall.now += 500
        assert clock() == wall.now


def test_a_witness_does_not_start_long_after_its_newest_time() -> None:
    require_plausible(1_000_000.0, 0)
    require_plausible(START_DAYS * DAY + 1000.0, 1000)
    with pytest.raises(WitnessError) as caught:
        require_plausible(400 * DAY, 1000)
    assert caught.value.code == "CLOCK_LEAPT"
    assert "--clock-is-right" in caught.value.hint


def test_the_operator_may_say_that_the_clock_is_right(tmp_path: Path) -> None:
    config = WitnessConfig(folder=new_witness(tmp_path / "w"))
    desk = open_desk(config)
    desk.store.submit(lambda rows: rows.add_origin("log.example")).result()
    desk.store.submit(
        lambda rows: rows._connection.execute(
            "UPDATE origin SET size = 0, root = zeroblob(32), note = x'00', cosigned_at = 1000"
        )
    ).result()
    desk.store.close()
    with pytest.raises(WitnessError) as caught:
        open_desk(config)
    assert caught.value.code == "CLOCK_LEAPT"
    open_desk(config, trusts_clock=True).store.close()
