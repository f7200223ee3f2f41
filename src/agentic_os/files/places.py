"""Where the tool keeps its own files, and where the person's AIOS folder is.

Places come from platformdirs; each can be moved by an environment variable (design
section 8). Nothing is created here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agentic_os.errors import FilesError

APPLICATION = "agentic-os"

CONFIG_VARIABLE = "AGENTIC_OS_CONFIG_DIR"
DATA_VARIABLE = "AGENTIC_OS_DATA_DIR"
CACHE_VARIABLE = "AGENTIC_OS_CACHE_DIR"
STATE_VARIABLE = "AGENTIC_OS_STATE_DIR"
AIOS_VARIABLE = "DOTAIOS_PATH"


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The four folders of the tool and the AIOS folder; none of them need exist."""

    config: Path
    data: Path
    cache: Path
    state: Path
    aios: Path


def places_from(environ: Mapping[str, str]) -> Places:
    """Work out the places from the environment.

    An ``AGENTIC_OS_*_DIR`` variable wins, then platformdirs decides (which reads the
    process's own environment for ``XDG_*`` and the home folder). The AIOS folder is
    ``DOTAIOS_PATH``, else ``~/aios``. A leading ``~`` is the home folder; an empty
    variable counts as unset.

    Raises:
        FilesError: PLACE_INVALID, when a variable holds a relative path.
    """
    from platformdirs import PlatformDirs

    usual = PlatformDirs(APPLICATION, appauthor=False)
    return Places(
        config=_chosen(environ, CONFIG_VARIABLE) or usual.user_config_path,
        data=_chosen(environ, DATA_VARIABLE) or usual.user_data_path,
        cache=_chosen(environ, CACHE_VARIABLE) or usual.user_cache_path,
        state=_chosen(environ, STATE_VARIABLE) or usual.user_state_path,
        aios=_chosen(environ, AIOS_VARIABLE) or _home(environ) / "aios",
    )


def _chosen(environ: Mapping[str, str], variable: str) -> Path | None:
    """Return the absolute path that a variable names, or ``None`` if it is unset."""
    value = environ.get(variable, "")
    if not value:
        return None
    if value == "~" or value.startswith("~/"):
        return _home(environ) / value[2:]
    path = Path(value)
    if not path.is_absolute():
        raise FilesError(
            f"{variable} holds a relative path",
            code="PLACE_INVALID",
            hint=f"set {variable} to an absolute path",
        )
    return path


def _home(environ: Mapping[str, str]) -> Path:
    home = environ.get("HOME", "")
    if home.startswith("/"):
        return Path(home)
    try:
        return Path.home()
    except RuntimeError as fault:
        raise FilesError(
            "the home folder is unknown",
            code="PLACE_INVALID",
            hint="set HOME to an absolute path",
        ) from fault
