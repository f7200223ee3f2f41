"""Projects that name an engine of their own, and engines for them to name."""

import json
import shlex
import sys
from pathlib import Path

from support.fleet.builder import FleetBuilder, ProjectBuilder, descriptor

ENGINE = Path(__file__).parent / "server.py"


def engine_project(fleet: FleetBuilder, name: str, endpoint: str) -> ProjectBuilder:
    """A tier-3 project whose descriptor names an endpoint."""
    project = fleet.project(name, "obsidian-graphify-rag")
    name_endpoint(project, name, endpoint)
    return project


def name_endpoint(project: ProjectBuilder, name: str, endpoint: str) -> None:
    """Let an existing project name another endpoint."""
    text = descriptor(name, "obsidian-graphify-rag")
    quoted = json.dumps(endpoint)  # a JSON string is a YAML one
    project.write(
        ".agents/config.yaml", text.replace("  rag_endpoint:\n", f"  rag_endpoint: {quoted}\n")
    )


def engine_command(*words: str | Path) -> str:
    """The endpoint of the test engine with these arguments."""
    return shlex.join([sys.executable, str(ENGINE), *map(str, words)])


HOSTILE = ENGINE.with_name("hostile.py")


def hostile_command(way: str, mark: str | Path = "") -> str:
    """The endpoint of an engine that misbehaves."""
    return shlex.join([sys.executable, str(HOSTILE), way, *([str(mark)] if mark else [])])


def row(
    path: str, content: str, start: int = 1, end: int = 1, score: float = 0.5
) -> dict[str, object]:
    """One passage as the test engine answers it."""
    return {
        "file_path": path,
        "content": content,
        "start_line": start,
        "end_line": end,
        "score": score,
    }
