"""When the fleet changed: one thread that sweeps while somebody looks, and the streams that say so.

No question of the page sweeps the fleet; each is answered from the last generation, and confirms
its hits. While a browser listens, the watcher looks for changes again and again, so that an edit
is on the page within two seconds, and says the number of the new generation to each stream; the
page then asks again for what it shows. Nobody listening costs nothing.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Final

from agentic_os.errors import AgenticOSError

SWEEP_SECONDS: Final = 1.0
"""The pause between two looks; a look that takes longer than a third of it earns a longer pause."""
SHARE: Final = 3
"""A look may take one part in four of the time: the pause is at least three times as long."""
MOST_PAUSE_SECONDS: Final = 10.0
"""However long a look took, for a first one or a large change: the next is usually short."""
KEEP_ALIVE_SECONDS: Final = 15.0
MAX_STREAMS: Final = 8


class Watcher:
    """Sweep while somebody listens, and tell every listener of a new generation."""

    def __init__(
        self,
        sweep: Callable[[], int],
        *,
        pause: float = SWEEP_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``sweep`` takes in what changed and returns the store's generation."""
        self._sweep = sweep
        self._pause = pause
        self._clock = clock
        self._streams: set[_Stream] = set()
        self._changed = threading.Condition()
        self._is_over = False
        self._thread = threading.Thread(target=self._run, name="page-watcher", daemon=True)
        self.generation = 0

    def start(self) -> None:
        """Look once, then go on while somebody listens."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread and every stream."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
            streams = tuple(self._streams)
        for stream in streams:
            stream.tell(None)
        self._thread.join(timeout=5)

    def _run(self) -> None:
        # The first look reads everything; how long it took says nothing of those that follow.
        looked = False
        while True:
            started = self._clock()
            # A look that fails has its reason; each question that is asked meets and says it.
            with suppress(AgenticOSError):
                self._tell(self._sweep())
            took = self._clock() - started
            with self._changed:
                pause = max(self._pause, min(SHARE * took, MOST_PAUSE_SECONDS) if looked else 0.0)
                looked = True
                self._changed.wait_for(lambda: self._is_over, pause)
                self._changed.wait_for(lambda: self._is_over or bool(self._streams))
                if self._is_over:
                    return

    def _tell(self, generation: int) -> None:
        with self._changed:
            is_new = generation != self.generation
            self.generation = generation
            streams = tuple(self._streams) if is_new else ()
        for stream in streams:
            stream.tell(generation)

    async def events(self) -> AsyncIterator[bytes]:
        """Yield the lines of one event stream; at most eight streams are open at once.

        The oldest stream is ended for a ninth: a browser opens it again when its page is seen.
        """
        stream = _Stream(asyncio.get_running_loop())
        with self._changed:
            oldest = min(self._streams, key=_Stream.age, default=None)
            if oldest is not None and len(self._streams) >= MAX_STREAMS:
                oldest.tell(None)
            self._streams.add(stream)
            generation = self.generation
            self._changed.notify_all()
        try:
            yield _event(generation)
            while True:
                try:
                    told = await asyncio.wait_for(stream.queue.get(), KEEP_ALIVE_SECONDS)
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                if told is None:
                    return
                yield _event(told)
        finally:
            with self._changed:
                self._streams.discard(stream)


class _Stream:
    """One listener: its loop, and what it is to be told."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._opened = time.monotonic()
        self.queue: asyncio.Queue[int | None] = asyncio.Queue(maxsize=16)

    def age(self) -> float:
        return self._opened

    def tell(self, generation: int | None) -> None:
        """Put a message from any thread; a stream that reads nothing loses the older ones."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._put, generation)

    def _put(self, generation: int | None) -> None:
        if self.queue.full():
            self.queue.get_nowait()
        self.queue.put_nowait(generation)


def _event(generation: int) -> bytes:
    return f"id: {generation}\nevent: generation\nretry: 2000\ndata: {generation}\n\n".encode()
