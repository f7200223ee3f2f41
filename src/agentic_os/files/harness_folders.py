"""Where harnesses keep the person's own files; each can be moved by its environment variable."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

_FOLDERS: Final[Mapping[str, tuple[str, str, str]]] = {
    "claude-code": ("CLAUDE_CONFIG_DIR", "", ".claude"),
    "codex": ("CODEX_HOME", "", ".codex"),
    "serena": ("SERENA_HOME", "", ".serena"),
    "gemini-cli": ("GEMINI_CLI_HOME", ".gemini", ".gemini"),
}
"""The variable, the folder below what it names, and the usual folder below the home folder."""


def harness_folder(harness: str, environ: Mapping[str, str], home: Path) -> Path:
    """Return the folder that a harness keeps its files in; a relative variable counts as unset."""
    variable, below, usual = _FOLDERS[harness]
    value = environ.get(variable, "")
    return Path(value) / below if value.startswith("/") else home / usual
