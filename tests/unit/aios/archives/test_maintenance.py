"""Archives: bytes move, none is lost or doubled, wherever a run is stopped."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from agentic_os.aios.archives.maintenance import cleanup, is_due
from agentic_os.aios.archives.rotation import LINE_BYTES, SHARD_BYTES, WITNESS
from agentic_os.aios.folder.system import System
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.search.request import search_aios
from agentic_os.errors import AiosError
from support.aios.builder import AiosBuilder, tree
from support.aios.stopping import side_by_side, stopped_at_every_step

SHARED = resolve_policy()
ACTIVE = "memory/events-archive.jsonl"


def event(at: int, size: int = 0) -> str:
    record = {"ts": f"2026-11-{1 + at % 28:02d}T00:00:00Z", "type": "update", "summary": f"n{at}"}
    return json.dumps(record | ({"pad": "x" * size} if size else {})) + "\n"


def fill(aios: AiosBuilder, lines: Iterable[str]) -> None:
    aios.write("memory/events.jsonl", "".join(lines))


def kept_lines(aios: AiosBuilder) -> Counter[bytes]:
    """Every line of the log, the archive and its shards, but what maintenance says itself."""
    found: Counter[bytes] = Counter()
    for path in (aios.root / "memory").glob("events*.jsonl"):
        found.update(path.read_bytes().split(b"\n"))
    return Counter({k: v for k, v in found.items() if k and b"memory.maintenance" not in k})


def snapshot(aios: AiosBuilder) -> Path:
    kept = aios.root.parent / "kept"
    shutil.copytree(aios.root, kept)
    return kept


def restore(aios: AiosBuilder, kept: Path) -> None:
    shutil.rmtree(aios.root)
    shutil.copytree(kept, aios.root)


def test_the_newest_fifty_stay_and_bytes_are_kept(aios: AiosBuilder) -> None:
    odd = [
        '{"n":9007199254740993}\n',
        "not json\n",
        '{ "b":1,  "a":2 }\n',
        "\n",
        '{"é":"\\u00e9"}\n',
    ]
    fill(aios, [*odd, *map(event, range(80))])
    before = kept_lines(aios)
    shown = tree(aios.root)
    assert cleanup(aios.access(), SHARED, dry_run=True).archived == 34
    assert tree(aios.root) == shown
    done = cleanup(aios.access(), SHARED)
    assert (done.archived, done.kept) == (34, 50)
    assert kept_lines(aios) == before
    archive = aios.root / ACTIVE
    assert archive.read_bytes().startswith(b'{"n":9007199254740993}\nnot json\n{ "b":1,  "a":2 }\n')
    assert archive.stat().st_mode & 0o777 == 0o600
    live = (aios.root / "memory/events.jsonl").read_text().splitlines()
    assert len(live) == 51
    assert json.loads(live[-1])["archived"] == 34
    assert not list((aios.root / "memory").glob("*.pending*"))
    assert cleanup(aios.access(), SHARED).archived == 1
    assert search_aios(aios.access(), SHARED, query="n12", scope="memory").total == 1


@pytest.mark.parametrize("shards", [False, True])
def test_stopped_at_every_step(aios: AiosBuilder, *, shards: bool) -> None:
    size = 1_500_000 if shards else 0
    lines = [event(0)] * 51 + [event(at, size if at < 4 else 0) for at in range(69)]
    fill(aios, lines)
    before = kept_lines(aios)
    kept = snapshot(aios)

    def act(system: System) -> None:
        cleanup(aios.access(system=system), SHARED)

    for _ in stopped_at_every_step(lambda: restore(aios, kept), act):
        if not shards:
            found = search_aios(aios.access(), SHARED, query="n60", scope="memory", limit=5)
            assert found.total == 1
        cleanup(aios.access(), SHARED)
        assert kept_lines(aios) == before
        assert not list((aios.root / "memory").glob("*.pending*"))
        assert not list((aios.root / "memory").glob("*.rotation"))
    numbers = sorted(path.name for path in (aios.root / "memory").glob("events-archive.0*.jsonl"))
    assert len(numbers) == (3 if shards else 0)


def test_a_shard_is_made_before_two_mebibytes(aios: AiosBuilder) -> None:
    old = b"y" * (SHARD_BYTES - 11) + b"\n"
    aios.write(ACTIVE, old)
    fill(aios, ['{"a":"0123456789ab"}\n', *map(event, range(50))])
    cleanup(aios.access(), SHARED)
    shard = aios.root / "memory/events-archive.000001.jsonl"
    assert shard.read_bytes() == old
    assert (aios.root / ACTIVE).read_bytes() == b'{"a":"0123456789ab"}\n'
    assert (aios.root / f"{ACTIVE}.rotation-format").read_bytes() == WITNESS
    assert not (aios.root / f"{ACTIVE}.rotation").exists()


def test_long_lines(aios: AiosBuilder) -> None:
    big = "z" * (3 * 1024 * 1024) + "\n"
    fill(aios, ["{}\n", big, *map(event, range(50))])
    cleanup(aios.access(), SHARED)
    shards = sorted((aios.root / "memory").glob("events-archive.0*.jsonl"))
    assert [path.read_text() for path in shards] == ["{}\n", big]
    fill(aios, ["w" * LINE_BYTES + "\n", *map(event, range(50))])
    before = tree(aios.root / "memory")
    with pytest.raises(AiosError) as caught:
        cleanup(aios.access(), SHARED)
    assert caught.value.code == "DOTAIOS_ARCHIVE_LINE_TOO_LARGE"
    assert tree(aios.root / "memory").keys() == before.keys()
    assert (aios.root / "memory/events.jsonl").read_text().startswith("www")


def test_what_an_original_left(aios: AiosBuilder) -> None:
    fill(aios, map(event, range(10)))
    staged = event(100) + event(101)
    pending = aios.write(f"{ACTIVE}.pending", staged)
    pending.chmod(0o666)
    with pytest.raises(AiosError) as caught:
        cleanup(aios.access(), SHARED)
    assert (caught.value.code, caught.value.path) == (
        "DOTAIOS_ARCHIVE_STATE_INVALID",
        f"{ACTIVE}.pending",
    )
    pending.chmod(0o644)
    cleanup(aios.access(), SHARED)
    assert (aios.root / ACTIVE).read_text() == staged
    aios.write(f"{ACTIVE}.pending", event(3) + event(4)).chmod(0o600)
    cleanup(aios.access(), SHARED)
    assert (aios.root / ACTIVE).read_text() == staged
    assert not pending.exists()


def test_states_that_maintenance_cannot_have_left(aios: AiosBuilder) -> None:
    fill(aios, map(event, range(60)))
    aios.write("memory/events-archive.000001.jsonl", event(1)).chmod(0o600)
    aios.write(ACTIVE, event(1) + event(2)).chmod(0o600)
    before = tree(aios.root / "memory")
    with pytest.raises(AiosError) as caught:
        cleanup(aios.access(), SHARED)
    assert caught.value.code == "DOTAIOS_ARCHIVE_LEGACY_RECOVERY_REQUIRED"
    assert tree(aios.root / "memory").keys() == before.keys()
    aios.write(f"{ACTIVE}.rotation-format", b"something else").chmod(0o600)
    with pytest.raises(AiosError) as caught:
        cleanup(aios.access(), SHARED)
    assert caught.value.code == "DOTAIOS_ARCHIVE_STATE_INVALID"
    aios.write(f"{ACTIVE}.rotation-format", WITNESS).chmod(0o600)
    aios.write(f"{ACTIVE}.rotation", "{}").chmod(0o600)
    with pytest.raises(AiosError) as caught:
        cleanup(aios.access(), SHARED)
    assert caught.value.code == "DOTAIOS_ARCHIVE_STATE_INVALID"
    (aios.root / ACTIVE).unlink()
    os.link(aios.root / "memory/events.jsonl", aios.root / ACTIVE)
    with pytest.raises(AiosError):
        cleanup(aios.access(), SHARED)
    assert len((aios.root / "memory/events.jsonl").read_text().splitlines()) == 60


def test_stale_signals_stopped_at_every_step(aios: AiosBuilder) -> None:
    old = {"2026-10-01": 3, "pc-2026-10-15": 2, "2026-10-30": 1}
    for name, count in old.items():
        text = "".join(f'{{"summary":"{name} {at}"}}\n' for at in range(count))
        aios.write(f"memory/signals/{name}.jsonl", text.rstrip("\n"))
    aios.write("memory/signals/2026-10-31.jsonl", '{"summary":"young"}\n')
    aios.write("memory/signals/notes.jsonl", "undated\n")
    kept = snapshot(aios)

    def signals() -> list[str]:
        texts = [path.read_text() for path in (aios.root / "memory/signals").iterdir()]
        archive = aios.root / "memory/signals-archive.jsonl"
        return "\n".join([*texts, archive.read_text() if archive.exists() else ""]).split("\n")

    before = Counter(line for line in signals() if line)

    def act(system: System) -> None:
        cleanup(aios.access(system=system), SHARED)

    for _ in stopped_at_every_step(lambda: restore(aios, kept), act):
        seen = Counter(line for line in signals() if line)
        assert set(seen) == set(before)
        found = search_aios(aios.access(), SHARED, query="2026-10-01", scope="memory")
        assert found.total == 3
        cleanup(aios.access(), SHARED)
        assert Counter(line for line in signals() if line) == before
        left = sorted(path.name for path in (aios.root / "memory/signals").iterdir())
        assert left == ["2026-10-31.jsonl", "notes.jsonl"]


def test_two_runs_and_appends_side_by_side(aios: AiosBuilder) -> None:
    fill(aios, map(event, range(300)))
    before = kept_lines(aios)
    side_by_side(*[lambda: cleanup(aios.access(), SHARED)] * 4)
    assert kept_lines(aios) == before


def test_when_it_is_due(aios: AiosBuilder) -> None:
    assert not is_due(aios.access(), SHARED)
    clock = aios.root / "memory/.maintenance.json"
    assert json.loads(clock.read_text())["lastRun"] == 1796040000000
    assert not is_due(aios.access(), SHARED)
    clock.write_text('{"lastRun": 1795950000000}')
    assert is_due(aios.access(), SHARED)
    clock.write_text('{"lastRun": 1796040000000}')
    fill(aios, map(event, range(101)))
    assert is_due(aios.access(), SHARED)
