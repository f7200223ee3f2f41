"""The witness's clock, watched: a time far ahead, once signed, would block for as long.

No time is given that lies below one given before, so a clock that stood a year ahead for a
minute would silence the witness for a year. Two things are noticed before anything is signed:

- while it runs, the wall clock leaps against the clock that counts from the machine's start;
- when it starts, the wall clock stands more than ``START_DAYS`` after the newest time it gave.

The first is refused until the clock is set right, the second until the operator says that the
clock is right.
"""

import time
from collections.abc import Callable
from typing import Final

from agentic_os.witness.codes import ERRORS
from agentic_os.witness.protocol.refusal import Refusal, RequestRefusedError

LEAP_SECONDS: Final = 600
START_DAYS: Final = 30

_DAY_SECONDS: Final = 86_400


class WatchedClock:
    """POSIX seconds, refused while they leap."""

    __slots__ = ("_ahead", "_steady", "_wall")

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] | None = None,
    ) -> None:
        """Compare ``wall`` with ``steady``, a clock that nobody sets and that counts sleep too."""
        self._wall = wall
        self._steady = steady or _since_start
        self._ahead = wall() - self._steady()

    def __call__(self) -> float:
        """Return the time.

        Raises:
            RequestRefusedError: 503 while the clock stands elsewhere than it should.
        """
        now = self._wall()
        leapt = now - self._steady() - self._ahead
        if abs(leapt) > LEAP_SECONDS:
            raise RequestRefusedError(
                Refusal(status=503, code="CLOCK_LEAPT", message="the clock of the witness leapt")
            )
        # Both clocks drift apart, slowly; a leap in small steps is somebody who may set the clock.
        self._ahead += leapt
        return now


def require_plausible(now: float, newest: int) -> None:
    """Refuse to start with a clock that stands long after the newest time given.

    Raises:
        WitnessError: ``CLOCK_LEAPT``.
    """
    if newest and now - newest > START_DAYS * _DAY_SECONDS:
        days = int((now - newest) / _DAY_SECONDS)
        raise ERRORS.error(
            "CLOCK_LEAPT", f"the clock stands {days} days after the last time that was signed"
        )


def _since_start() -> float:
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
