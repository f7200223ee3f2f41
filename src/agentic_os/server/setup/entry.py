"""What a harness must be told so that the server sees what the person's command line sees.

Harnesses start servers with a short environment and in a folder of their own. Whatever moves our
places goes into the entry, and so do the roots where none are configured: without them the
folder that the command runs in is the root.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agentic_os.files.places import (
    AIOS_VARIABLE,
    CACHE_VARIABLE,
    CONFIG_VARIABLE,
    DATA_VARIABLE,
    STATE_VARIABLE,
    places_from,
)
from agentic_os.server.setup.clients import ServerEntry
from agentic_os.settings.location import load_settings

KEPT_VARIABLES: Final = (
    "HOME",
    "LOGNAME",
    "PATH",
    "SHELL",
    "USER",
    "LANG",
    "LC_ALL",
    "TERM",
    "TMPDIR",
    "TZ",
)
"""What Codex, and every client of the official SDKs by default, hands on to a server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the person asked to be installed, and from where."""

    program: str
    environ: Mapping[str, str]
    home: Path
    current: Path
    roots: Sequence[str] = ()
    profile_words: tuple[str, ...] = ()


def needed_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the server needs; empty if it finds everything by itself."""
    places = places_from(environ)
    moved = (
        (CONFIG_VARIABLE, "XDG_CONFIG_HOME", places.config),
        (DATA_VARIABLE, "XDG_DATA_HOME", places.data),
        (CACHE_VARIABLE, "XDG_CACHE_HOME", places.cache),
        (STATE_VARIABLE, "XDG_STATE_HOME", places.state),
        (AIOS_VARIABLE, AIOS_VARIABLE, places.aios),
    )
    return {
        own: str(place) for own, usual, place in moved if environ.get(own) or environ.get(usual)
    }


def needed_roots(asked: Asked) -> tuple[str, ...]:
    """Return the roots that the command line must name; none where they are configured.

    Raises:
        SettingsError: projects.toml cannot be read.
    """
    if asked.roots:
        return tuple(str(asked.current / Path(one).expanduser()) for one in asked.roots)
    settings = load_settings(places_from(asked.environ), home=asked.home)
    return () if settings.roots else (str(asked.current),)


def server_entry(asked: Asked, *, verb: Sequence[str] = ("serve",)) -> ServerEntry:
    """Make the entry of the server, or of a hook that is called the same way."""
    roots = [word for root in needed_roots(asked) for word in ("--root", root)]
    return ServerEntry(
        command=(asked.program, *verb, *roots, *asked.profile_words),
        environ=needed_environ(asked.environ),
    )
