"""Projects that name an engine of their own, and engines for them to name."""

import json
import shlex
import sys
from pathlib import Path

from fleet_builder import FleetBuilder, ProjectBuilder, descriptor

ENGINE = Path(__file__).parent / "engine_server.py"


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
