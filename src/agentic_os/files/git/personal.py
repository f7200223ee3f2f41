"""The person's own ignore file: what git passes over in every repository of theirs.

``core.excludesFile`` of their configuration, else ``git/ignore`` in the configuration home, as
gitignore(5) says. git is not run; a file that cannot be read hides nothing, as in git.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from agentic_os.files.git.config import parse_git_config
from agentic_os.files.git.ignore import MAX_IGNORE_BYTES
from agentic_os.text.decoding import decode

_LONGEST_CONFIG_BYTES = 1_048_576


def personal_excludes(home: Path, environ: Mapping[str, str]) -> str:
    """Return the text of the person's ignore file; empty if there is none."""
    above = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    named = None
    # The last value counts, and ~/.gitconfig is read after the one in the configuration home.
    for config in (above / "git/config", home / ".gitconfig"):
        found = parse_git_config(_text(config, _LONGEST_CONFIG_BYTES))
        named = found.last("core", "excludesfile") or named
    path = above / "git/ignore" if named is None else _expanded(named, home)
    return _text(path, MAX_IGNORE_BYTES)


def _expanded(named: str, home: Path) -> Path:
    return home / named[2:] if named.startswith("~/") else home / named


def _text(path: Path, limit_bytes: int) -> str:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        with os.fdopen(fd, "rb") as file:
            return decode(file.read(limit_bytes)).text
    except OSError:
        return ""
