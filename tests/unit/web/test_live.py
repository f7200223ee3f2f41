"""The watcher sweeps while somebody listens, and tells every listener of a new generation."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable

import pytest

from agentic_os.errors import StoreError
from agentic_os.web.live import MAX_STREAMS, Watcher

WAIT_SECONDS = 20.0


class Sweeps:
    """A fleet whose generation the test sets."""

    def __init__(self) -> None:
        self.generation = 1
        self.fails = False
        self.count = 0
        self.done = threading.Condition()

    def __call__(self) -> int:
        with self.done:
            self.count += 1
            self.done.notify_all()
        if self.fails:
            raise StoreError("no room")
        return self.generation

    def wait(self, wanted: Callable[[], bool]) -> bool:
        with self.done:
            return self.done.wait_for(wanted, WAIT_SECONDS)


@pytest.fixture
def sweeps() -> Sweeps:
    return Sweeps()


async def told(events: AsyncIterator[bytes]) -> str:
    return (await asyncio.wait_for(anext(events), WAIT_SECONDS)).decode()


def test_a_first_look_that_took_long_does_not_delay_the_next(sweeps: Sweeps) -> None:
    clock = [0.0]

    def slow_at_first() -> int:
        clock[0] += 1_000.0 if sweeps.count == 0 else 0.0
        return sweeps()

    watcher = Watcher(slow_at_first, pause=0.01, clock=lambda: clock[0])
    watcher.start()

    async def listen() -> str:
        events = watcher.events()
        while "data: 1" not in await told(events):
            pass
        sweeps.generation = 2
        heard = await told(events)
        await events.aclose()  # type: ignore[attr-defined]
        return heard

    try:
        assert "data: 2" in asyncio.run(listen())
    finally:
        watcher.stop()


def test_a_listener_hears_of_each_new_generation(sweeps: Sweeps) -> None:
    watcher = Watcher(sweeps, pause=0.01)
    watcher.start()

    async def listen() -> list[str]:
        events = watcher.events()
        heard = [await told(events)]
        if "data: 0" in heard[0]:
            heard = [await told(events)]
        sweeps.generation = 2
        heard.append(await told(events))
        await events.aclose()  # type: ignore[attr-defined]
        return heard

    try:
        first, second = asyncio.run(listen())
    finally:
        watcher.stop()
    assert "event: generation\n" in first
    assert "data: 1\n" in first
    assert "data: 2\n" in second


def test_nobody_listening_costs_nothing(sweeps: Sweeps) -> None:
    watcher = Watcher(sweeps, pause=0.001)
    watcher.start()
    try:
        assert sweeps.wait(lambda: sweeps.count == 1)
        with sweeps.done:
            assert not sweeps.done.wait_for(lambda: sweeps.count > 1, 0.2)
    finally:
        watcher.stop()


def test_a_look_that_fails_is_tried_again(sweeps: Sweeps) -> None:
    sweeps.fails = True
    watcher = Watcher(sweeps, pause=0.001)
    watcher.start()

    async def listen() -> str:
        events = watcher.events()
        assert "data: 0" in await told(events)
        assert sweeps.wait(lambda: sweeps.count > 3)
        sweeps.fails = False
        heard = await told(events)
        await events.aclose()  # type: ignore[attr-defined]
        return heard

    try:
        assert "data: 1" in asyncio.run(listen())
    finally:
        watcher.stop()


def test_a_ninth_stream_ends_the_oldest(sweeps: Sweeps) -> None:
    watcher = Watcher(sweeps, pause=0.01)
    watcher.start()

    async def listen() -> bool:
        streams = [watcher.events() for _ in range(MAX_STREAMS + 1)]
        for stream in streams:
            await told(stream)
        rest = [item async for item in streams[0]]
        alive = await asyncio.wait_for(anext(streams[0], b"end"), WAIT_SECONDS)
        return all(b"data" in item for item in rest) and alive == b"end"

    try:
        assert asyncio.run(listen())
    finally:
        watcher.stop()


def test_stopping_ends_every_stream(sweeps: Sweeps) -> None:
    watcher = Watcher(sweeps, pause=0.01)
    watcher.start()

    async def listen() -> bytes:
        events = watcher.events()
        await told(events)
        await asyncio.to_thread(watcher.stop)
        last = b""
        async for item in events:
            last = item
        return last

    asyncio.run(asyncio.wait_for(listen(), WAIT_SECONDS))
