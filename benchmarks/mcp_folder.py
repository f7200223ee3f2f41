"""A lived-in AIOS folder for measurements, written with the builder of the tests."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.aios.builder import TODAY, AiosBuilder  # noqa: E402 - after the path is set

LIVE_EVENTS = 100
SHELVES = ("vault/wiki", "vault/raw", "context/domains", "references")


def write_folder(folder: Path, *, notes: int) -> None:
    """Write every kind of record, and ``notes`` Markdown files beside them.

    Events are as many as the convention keeps live before it moves them to the archive.
    """
    folder.mkdir(parents=True)
    aios = AiosBuilder(folder).complete()
    for number in range(notes):
        aios.write(
            f"{SHELVES[number % len(SHELVES)]}/{number % 40}/note-{number}.md",
            f"# Note {number}\n\nAbout migrations and meetings, part {number}.\n"
            + "Plain words that say nothing.\n" * 20,
        )
    if notes:
        rows = ({"ts": f"{TODAY}T00:00:00Z", "summary": f"event {at}"} for at in range(LIVE_EVENTS))
        aios.jsonl("memory/events.jsonl", *rows)
