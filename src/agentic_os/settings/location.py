"""Where ``projects.toml`` lies, and reading it."""

import os
import stat
from pathlib import Path

from agentic_os.errors import SettingsError
from agentic_os.files.places import Places
from agentic_os.settings.values import Settings

FILE_NAME = "projects.toml"
LEGACY_FOLDER = ".agents"
MAX_SETTINGS_BYTES = 1_048_576


def settings_file(places: Places, *, home: Path) -> Path:
    """Return the file that is read and written.

    The one in the configuration folder, if it is there; else ``~/.agents/projects.toml``
    if that is there; else the first, which does not exist yet.
    """
    preferred = places.config / FILE_NAME
    other = home / LEGACY_FOLDER / FILE_NAME
    if not os.path.lexists(preferred) and os.path.lexists(other):
        return other
    return preferred


def load_settings(places: Places, *, home: Path) -> Settings:
    """Read ``projects.toml``; without one, everything is at its default.

    Raises:
        SettingsError: the file cannot be read (SETTINGS_UNREADABLE), or as
            ``parse_settings``.
    """
    file = settings_file(places, home=home)
    text = read_text(file)
    if text is None:
        return Settings()
    # Most commands of most people find no such file: they need no TOML reader.
    from agentic_os.settings.parsing import parse_settings

    return parse_settings(text, file=file, home=home)


def read_text(file: Path) -> str | None:
    """Read the person's own file; ``None`` if it does not exist.

    It may be reached through a link, as dotfile managers make them; it must be a
    regular file of at most ``MAX_SETTINGS_BYTES``.

    Raises:
        SettingsError: SETTINGS_UNREADABLE.
    """
    try:
        fd = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        if file.is_symlink():
            raise _unreadable(file, "is a link to a file that does not exist") from None
        return None
    except OSError as fault:
        raise _unreadable(file, f"cannot be read: {fault.strerror}") from fault
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise _unreadable(file, "is not a regular file")
        with os.fdopen(fd, "rb", closefd=False) as handle:
            data = handle.read(MAX_SETTINGS_BYTES + 1)
    finally:
        os.close(fd)
    if len(data) > MAX_SETTINGS_BYTES:
        raise _unreadable(file, f"is larger than {MAX_SETTINGS_BYTES} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        raise _unreadable(file, f"line {line} is not UTF-8 text") from fault


def _unreadable(file: Path, fault: str) -> SettingsError:
    return SettingsError(f"{file.name} {fault}", code="SETTINGS_UNREADABLE")
