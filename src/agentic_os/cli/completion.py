"""What the shell completes: names of projects, kinds, modes, clients."""

from collections.abc import Sequence
from typing import Final

CLIENTS: Final = ("claude-code", "codex", "cursor", "gemini", "opencode", "vscode")
HOOK_CLIENTS: Final = ("claude-code", "codex", "gemini")
PROFILES: Final = ("full", "aios")
MODEL_SOURCES: Final = ("auto", "hub", "package", "folder")
MAX_PROJECTS: Final = 200


def client_names(begun: str) -> list[str]:
    """Complete a harness."""
    return _beginning(CLIENTS, begun)


def hook_client_names(begun: str) -> list[str]:
    """Complete a harness with hooks."""
    return _beginning(HOOK_CLIENTS, begun)


def profile_names(begun: str) -> list[str]:
    """Complete a profile."""
    return _beginning(PROFILES, begun)


def source_names(begun: str) -> list[str]:
    """Complete where a model is taken from."""
    return _beginning(MODEL_SOURCES, begun)


def stack_names(begun: str) -> list[str]:
    """Complete what a project's memory is made of."""
    from agentic_os.aggregate.seam import STACKS

    return _beginning(tuple(STACKS), begun)


def kind_names(begun: str) -> list[str]:
    """Complete a kind of passage."""
    from agentic_os.results import KINDS

    return _beginning(KINDS, begun)


def mode_names(begun: str) -> list[str]:
    """Complete how is searched."""
    from agentic_os.results import MODES

    return _beginning(MODES, begun)


def project_names(begun: str) -> list[str]:
    """Complete a project below the configured roots, by name or id."""
    from agentic_os.aggregate.fleet import Person, find_fleet
    from agentic_os.errors import AgenticOSError

    try:
        fleet = find_fleet(Person.here(), ()).fleet
    except AgenticOSError:
        return []
    names = [word for one in fleet.projects for word in (one.name, one.id)]
    safe = [name for name in names if name.isprintable() and " " not in name]
    return _beginning(tuple(dict.fromkeys(safe)), begun)[:MAX_PROJECTS]


def _beginning(words: Sequence[str], begun: str) -> list[str]:
    return [word for word in words if word.startswith(begun)]
