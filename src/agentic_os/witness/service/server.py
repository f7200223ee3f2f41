"""Runs a witness in the foreground: opens keys and database, listens, stops gracefully.

On SIGTERM or SIGINT the server stops listening, answers what is in flight, and closes the
database; an answer that was not sent was perhaps stored, which its client finds out by asking
again.
"""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Final

from agentic_os.witness.codes import ERRORS
from agentic_os.witness.service.clock import WatchedClock, require_plausible
from agentic_os.witness.service.config import WitnessConfig
from agentic_os.witness.service.desk import WitnessDesk, sync_listed_logs
from agentic_os.witness.service.http import WitnessService
from agentic_os.witness.service.keyring import DATABASE_FILE, read_witness_keys
from agentic_os.witness.service.logs import log_event, start_logging
from agentic_os.witness.service.store import WitnessStore

if TYPE_CHECKING:
    import uvicorn

SHUTDOWN_SECONDS: Final = 10
KEEP_ALIVE_SECONDS: Final = 30
SWITCH_SECONDS: Final = 0.0005


def open_desk(
    config: WitnessConfig,
    *,
    clock: Callable[[], float] | None = None,
    trusts_clock: bool = False,
) -> WitnessDesk:
    """Open a witness without a server; close its ``store`` afterwards.

    Args:
        config: its settings.
        clock: POSIX seconds; the machine's, watched, by default.
        trusts_clock: the operator says that the clock is right.

    Raises:
        WitnessError: ``WITNESS_MISSING``, ``DATABASE_MISSING`` (keys without memory),
            ``DATABASE_KEYS``, ``DATABASE_INVALID``, ``CLOCK_LEAPT``; CryptoError as
            ``read_witness_keys``.
    """
    keys = read_witness_keys(config.folder, password=config.password)
    store = WitnessStore(config.folder / DATABASE_FILE, meta=keys.meta)
    try:
        if clock is None:
            clock = WatchedClock()
            if not trusts_clock:
                require_plausible(clock(), store.read.newest_time())
        sync_listed_logs(store, config, now=int(clock()))
    except BaseException:
        store.close()
        raise
    return WitnessDesk(keys=keys, store=store, config=config, clock=clock)


def serve_witness(
    config: WitnessConfig,
    *,
    started: Callable[[str, int], None] | None = None,
    trusts_clock: bool = False,
) -> None:
    """Serve until SIGTERM or SIGINT.

    Args:
        config: the settings; port 0 takes a free port.
        started: called once with the host and the port that are listened on.
        trusts_clock: as for ``open_desk``.

    Raises:
        WitnessError: as ``open_desk``, and ``LISTEN_FAILED``.
    """
    start_logging()
    # Event loop and writer hand the interpreter to each other at every commit; the default of
    # 5 ms would stand in front of each answer.
    sys.setswitchinterval(SWITCH_SECONDS)
    desk = open_desk(config, trusts_clock=trusts_clock)
    try:
        with asyncio.Runner(loop_factory=_fast_loop()) as runner:
            runner.run(_serve(WitnessService(desk), started))
    finally:
        desk.store.close()
        log_event("stopped")


@asynccontextmanager
async def running(service: WitnessService, config: WitnessConfig) -> AsyncIterator[int]:
    """Serve in the running event loop; yields the port. Used by tests and benchmarks."""
    server = _server(service, config)
    task = asyncio.create_task(server.serve())
    try:
        await _wait_started(server, task)
        yield _port(server)
    finally:
        server.should_exit = True
        await task


async def _serve(service: WitnessService, started: Callable[[str, int], None] | None) -> None:
    config = service.config
    server = _server(service, config)

    async def announce() -> None:
        await _wait_started(server, None)
        log_event("listening", f"{config.host}:{_port(server)}")
        if started:
            started(config.host, _port(server))

    def stop() -> None:
        server.force_exit = server.should_exit  # asked twice: do not wait for anybody
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    announcing = asyncio.create_task(announce())
    try:
        await server.serve()
    except SystemExit:
        # uvicorn exits the process when it cannot bind; a person gets a reason instead.
        raise ERRORS.error(
            "LISTEN_FAILED", f"cannot listen on {config.host}:{config.port}"
        ) from None
    finally:
        announcing.cancel()


async def _wait_started(server: "uvicorn.Server", task: asyncio.Task[None] | None) -> None:
    while not server.started:
        if task and task.done():
            raise ERRORS.error("LISTEN_FAILED", "cannot listen on that address")
        await asyncio.sleep(0.01)


def _server(service: WitnessService, config: WitnessConfig) -> "uvicorn.Server":
    import uvicorn

    from agentic_os.witness.service.connections import ConnectionBounds, bounded_protocol

    class _Server(uvicorn.Server):
        """uvicorn ends by raising the signal again, before the database could be closed."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    bounds = ConnectionBounds(
        most=config.connections,
        most_of_one=config.client_connections,
        trusted=config.trusted_proxies,
        account=service.account,
    )
    return _Server(
        uvicorn.Config(
            service.app,
            host=config.host,
            port=config.port,
            http=bounded_protocol(bounds),
            ws="none",  # or whatever library is installed would take connections past the bounds
            proxy_headers=False,  # whose word counts is our own rule: network.addresses
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
    )


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Uvloop where it is there (it has no build for some platforms), else the default."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _port(server: "uvicorn.Server") -> int:
    port: int = server.servers[0].sockets[0].getsockname()[1]
    return port
