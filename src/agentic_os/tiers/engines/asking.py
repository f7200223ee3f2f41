"""Granted engines, asked side by side: a bound for each, a bound for all, nothing left behind."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from agentic_os.registry.project import Project
from agentic_os.tiers.engines.answer import read_answer
from agentic_os.tiers.engines.endpoint import Address, Command, find_program
from agentic_os.tiers.engines.hits import Placed, place_hits
from agentic_os.tiers.engines.values import EngineFault, EngineHit, Meter
from agentic_os.tiers.interface import Query

if TYPE_CHECKING:
    import anyio

AT_ONCE_ENTRIES = 4
"""Engines that are asked side by side."""
ALL_ENGINES_FACTOR = 2
"""All engines together may take so many times the limit of one."""
SPARE_HITS = 10
"""Passages asked for beyond the limit, in case some are not confirmed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineAnswer:
    """What one project's engine said, or the fault that it cost."""

    project: str
    placed: Placed = field(default_factory=Placed)
    fault: EngineFault | None = None
    milliseconds: float = 0.0


def ask_all(
    asked: Sequence[tuple[Project, Command | Address]],
    query: Query,
    seconds: int,
    environ: Mapping[str, str],
) -> dict[str, EngineAnswer]:
    """Ask engines side by side; every one of them has an answer or a fault afterwards.

    Args:
        asked: projects and what of theirs was granted.
        query: the question.
        seconds: how long one engine may take.
        environ: the person's surroundings, of which engines get little.
    """
    import anyio

    from agentic_os.tiers.engines.http import keep_quiet

    _load()
    keep_quiet()
    answers: dict[str, EngineAnswer] = {}

    async def all_of_them() -> None:
        places = anyio.Semaphore(AT_ONCE_ENTRIES)
        with anyio.move_on_after(seconds * ALL_ENGINES_FACTOR):
            async with anyio.create_task_group() as tasks:
                for project, endpoint in asked:
                    tasks.start_soon(one_of_them, places, project, endpoint)

    async def one_of_them(
        places: "anyio.Semaphore", project: Project, endpoint: Command | Address
    ) -> None:
        async with places:
            started = time.perf_counter()
            said = await _ask_one(project, endpoint, query, seconds, environ)
            answers[project.id] = replace(
                said, milliseconds=(time.perf_counter() - started) * 1_000
            )

    anyio.run(all_of_them)
    late = EngineFault("ENGINE_TIMED_OUT", "its turn did not come in time")
    return {
        project.id: answers.get(project.id, EngineAnswer(project=project.id, fault=late))
        for project, _ in asked
    }


def _load() -> None:
    """Load what a conversation needs before its clock runs: that is none of the engine's time."""
    for name in ("mcp", "mcp_types", "mcp.client.streamable_http"):
        import_module(name)


async def _ask_one(
    project: Project,
    endpoint: Command | Address,
    query: Query,
    seconds: int,
    environ: Mapping[str, str],
) -> EngineAnswer:
    import anyio

    meter = Meter()
    try:
        with anyio.fail_after(seconds):
            hits = await _hits(project.folder, endpoint, query, seconds, environ, meter)
    except TimeoutError:
        fault = EngineFault("ENGINE_TIMED_OUT", f"it did not answer within {seconds} seconds")
        return EngineAnswer(project=project.id, fault=meter.fault or fault)
    except Exception as raised:  # noqa: BLE001 - an engine may fail in any way: it costs only itself
        return EngineAnswer(project=project.id, fault=meter.fault or _fault(raised, endpoint))
    placed = place_hits(project, hits, query.kinds)
    return EngineAnswer(project=project.id, placed=placed)


async def _hits(
    folder: Path,
    endpoint: Command | Address,
    query: Query,
    seconds: int,
    environ: Mapping[str, str],
    meter: Meter,
) -> tuple[EngineHit, ...]:
    from agentic_os.tiers.engines.client import converse
    from agentic_os.tiers.engines.http import engine_http
    from agentic_os.tiers.engines.process import engine_process

    limit = query.limit + SPARE_HITS
    if isinstance(endpoint, Address):
        async with engine_http(endpoint, seconds=seconds, meter=meter) as (read, write):
            return read_answer(await converse(read, write, query.text, limit))
    program = find_program(endpoint.words, environ, folder)
    if program is None:
        raise EngineFault("ENGINE_NOT_STARTED", "its program is not installed")
    async with engine_process(
        endpoint.words, program=program, folder=folder, environ=environ, meter=meter
    ) as (read, write):
        return read_answer(await converse(read, write, query.text, limit))


def _fault(raised: Exception, endpoint: Command | Address) -> EngineFault:
    """Classify a failure; of a group, the first fault that we raised ourselves counts."""
    flat = _flat(raised)
    own = next((one for one in flat if isinstance(one, EngineFault)), None)
    if own is not None:
        return own
    if any(isinstance(one, ValueError) for one in flat):
        return EngineFault("ENGINE_ANSWER_INVALID", "its answer is not of the protocol")
    if isinstance(endpoint, Address):
        return EngineFault("ENGINE_UNREACHABLE", "its address did not answer as an MCP server")
    return EngineFault("ENGINE_FAILED", "it ended, or answered with an error")


def _flat(raised: BaseException) -> list[BaseException]:
    if isinstance(raised, BaseExceptionGroup):
        return [one for inner in raised.exceptions for one in _flat(inner)]
    return [raised]
