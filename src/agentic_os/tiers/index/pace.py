"""How long the texts that are not embedded yet will take, from those that were.

Texts go to the model by their length, short ones first, so the texts still to come cost more than
those that are done: the time left is told from characters, not from how many texts there are.
"""

from dataclasses import dataclass

WINDOW_CHARS = 1_024
"""A model reads about so much of a text; what is longer costs no more."""
START_SECONDS = 1.0
"""Nothing is foretold before the model has worked so long."""


def cost_of(chars: int) -> int:
    """Return what a text of so many characters costs, in characters; an empty one costs one."""
    return max(1, min(chars, WINDOW_CHARS))


@dataclass(slots=True, kw_only=True)
class Pace:
    """What was embedded of what there is, and how long that took."""

    total: int
    done: int = 0
    seconds: float = 0.0

    def went_on(self, cost: int, seconds: float) -> None:
        """Note that texts of this cost took so long."""
        self.done += cost
        self.seconds += seconds

    @property
    def left_seconds(self) -> float | None:
        """Seconds that the rest will take; ``None`` while nobody can know."""
        if self.seconds < START_SECONDS or not self.done:
            return None
        return max(0, self.total - self.done) * self.seconds / self.done
