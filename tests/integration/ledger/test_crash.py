"""The journal under SIGKILL and under power cuts: nothing acknowledged is lost, all reopens."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.errors import LedgerError
from agentic_os.files.publishing import ExclusiveLock
from agentic_os.identity.services import verify_ledger
from agentic_os.ledger.file.journal import Journal, SignedDraft
from agentic_os.ledger.file.opening import LOCK_NAME, start_journal
from agentic_os.ledger.file.storage import LEDGER_NAME, LineReader
from agentic_os.ledger.file.tail import mend_tail
from agentic_os.ledger.line.entry import draft
from support.ledger import appender as ledger_appender
from support.ledger.actors import abandon, booted, born, notes
from support.ledger.builder import KEYS, Builder, MemoryStorage

LONGEST_SECONDS = {8: 1.5, 15: 5.0}
"""How long an appender lives at most, by the number of kills that are wanted."""
MOST_KILLS = 200


def _killed_after(folder: Path, seconds: float, batch: int, number: int) -> int:
    """Start an appender, kill it after a while; the last seq that it acknowledged."""
    process = subprocess.Popen(
        [sys.executable, ledger_appender.__file__, str(folder), str(batch), str(number)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        told = process.stdout.read().splitlines()
    # The last word may be cut in the middle of its digits: only whole lines were said.
    return max((int(word) for word in told[:-1] if word), default=0)


@pytest.mark.parametrize(
    ("wanted", "kills"),
    [
        pytest.param(1_000, 8, id="a-thousand"),
        pytest.param(
            3_000, 15, id="thousands", marks=[pytest.mark.services, pytest.mark.timeout(1_800)]
        ),
    ],
)
def test_sigkill_at_random_moments_loses_nothing(tmp_path: Path, wanted: int, kills: int) -> None:
    folder = born(tmp_path / "me")
    rng = random.Random(20260601)
    acknowledged, done = 0, 0
    while done < kills or acknowledged < wanted:
        moment, batch = rng.uniform(0.02, LONGEST_SECONDS[kills]), rng.choice([1, 8, 32])
        acknowledged = max(acknowledged, _killed_after(folder, moment, batch, done))
        done += 1
        found = verify_ledger(folder)
        assert [one for one in found.findings if one.code != "LEDGER_TAIL_TORN"] == []
        assert found.lines >= acknowledged
        assert done < MOST_KILLS
    with booted(folder) as identity:
        assert identity.report.mode == "ready"
        assert identity.report.verify is not None
        assert identity.report.verify.lines >= acknowledged
        rows = identity.projection.db.execute("SELECT COUNT(*), MAX(seq) FROM mirror")
        assert rows == [(identity.report.verify.lines, identity.report.verify.lines)]
        identity.append("agent", notes(1))
    print(f"{done} kills, {acknowledged} acknowledged, 0 lost, 0 rolled back")  # noqa: T201 - for -rP


def test_a_kill_between_ledger_and_projection_is_caught_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentic_os.ledger.projection.tables import Projection

    folder = born(tmp_path / "me")
    identity = booted(folder)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Projection, "apply", die)
        with pytest.raises(KeyboardInterrupt):
            identity.append("agent", notes(1))
    with pytest.raises(LedgerError):
        identity.append("agent", notes(2))
    abandon(identity)
    with booted(folder) as again:
        assert again.projection.cursor.seq == 2
        again.append("agent", notes(2))


class PowerCutStorage(MemoryStorage):
    """A disk that keeps what was synced, and of the rest whatever it likes."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.durable = len(data)
        self.cut_after: int | None = None
        self.calls = 0

    def _tick(self) -> None:
        self.calls += 1
        if self.cut_after is not None and self.calls > self.cut_after:
            raise PowerCutError

    def append(self, data: bytes) -> None:
        self._tick()
        super().append(data)

    def sync(self) -> None:
        self._tick()
        self.durable = len(self.data)

    def after_power_cut(self, kept: int, *, noise: bytes) -> bytes:
        """The durable bytes, ``kept`` of the others, and what the disk made of the next."""
        unsynced = bytes(self.data[self.durable :])
        return bytes(self.data[: self.durable]) + unsynced[:kept] + noise


class PowerCutError(BaseException):
    """The machine stops here."""


BASE = Builder().genesis().data


def _write(journal: Journal, first: int, count: int) -> None:
    drafts = [
        draft("experience.create", {"id": f"e{number}", "content": "x"})
        for number in range(first, first + count)
    ]
    journal.append([SignedDraft(one, "identity") for one in drafts], {"identity": KEYS["identity"]})


@given(
    batches=st.lists(st.integers(1, 3), min_size=1, max_size=5),
    cut_after=st.integers(0, 10),
    kept=st.integers(0, 20_000),
    noise=st.sampled_from([b"", b"\x00" * 40, b'{"entry":', b"\xff"]),
)
@settings(max_examples=60, deadline=None)
def test_a_power_cut_at_any_call_loses_nothing_acknowledged(
    tmp_path_factory: pytest.TempPathFactory,
    batches: list[int],
    cut_after: int,
    kept: int,
    noise: bytes,
) -> None:
    folder = tmp_path_factory.mktemp("power")
    storage = PowerCutStorage(BASE)
    journal = start_journal(storage, ExclusiveLock(folder / LOCK_NAME))
    storage.cut_after = cut_after
    acknowledged = journal.chain.size
    try:
        for batch in batches:
            _write(journal, acknowledged, batch)
            acknowledged = journal.chain.size
    except PowerCutError:
        pass
    disk = MemoryStorage(storage.after_power_cut(kept, noise=noise))
    mend_tail(disk, folder)
    again = start_journal(disk, ExclusiveLock(folder / LOCK_NAME))
    assert again.chain.size >= acknowledged
    assert again.chain.size <= acknowledged + max(batches)
    _write(again, 1_000, 1)
    assert sum(1 for _ in LineReader(disk)) == again.chain.size


def test_a_disk_that_reorders_is_noticed(tmp_path: Path) -> None:
    """Zeros where a line was to be: damage inside is fatal, never repaired in silence."""
    folder = born(tmp_path / "me")
    with booted(folder) as identity:
        identity.append("agent", notes(1, 2, 3))
    path = folder / LEDGER_NAME
    data = bytearray(path.read_bytes())
    lines = data.split(b"\n")
    start = len(lines[0]) + 1
    data[start : start + len(lines[1])] = b"\x00" * len(lines[1])
    path.write_bytes(data)
    with booted(folder) as identity:
        assert identity.report.reason is not None
        assert identity.report.reason.code == "LEDGER_LINE_INVALID"
    assert path.read_bytes() == data
