"""Paths that a person typed: ``~`` expanded, relative ones resolved, bad ones named."""

import os
from pathlib import Path

from agentic_os.errors import SettingsError
from agentic_os.settings.values import Root, RootOrigin
from agentic_os.text.fencing import one_line

ROOT_HINT = "write an absolute path, a path relative to the file, or one that begins with ~/"
MAX_TYPED_CHARS = 4096


def root_from(typed: str, *, base: Path, home: Path, origin: RootOrigin) -> Root:
    """Turn what the person typed into a root; it need not exist.

    Raises:
        SettingsError: SETTINGS_PATH_INVALID, naming the entry as typed.
    """
    return Root(typed=typed, path=expanded(typed, base=base, home=home), origin=origin)


def expanded(typed: str, *, base: Path, home: Path) -> Path:
    """Return the absolute path that ``typed`` means; links are not resolved.

    ``~`` and ``~/x`` are below ``home``, ``~name/x`` below that user's home; a relative
    path is below ``base``.

    Raises:
        SettingsError: SETTINGS_PATH_INVALID, naming the entry as typed.
    """
    if not typed.strip():
        raise _invalid(typed, "is empty")
    if "\0" in typed:
        raise _invalid(typed, "holds a NUL character")
    if len(typed) > MAX_TYPED_CHARS:
        raise _invalid(typed[:80] + "…", f"is longer than {MAX_TYPED_CHARS} characters")
    try:
        typed.encode()
    except UnicodeEncodeError:
        raise _invalid(typed, "is not Unicode text") from None
    if typed == "~" or typed.startswith("~/"):
        typed = str(home) + typed[1:]
    elif typed.startswith("~"):
        user_path = os.path.expanduser(typed)  # noqa: PTH111 - Path.expanduser raises without naming
        if user_path == typed:
            raise _invalid(typed, "names a user that this machine does not know")
        typed = user_path
    # normpath and not resolve: what is a link stays one, and nothing is looked up.
    return Path(os.path.normpath(base / typed))


def portable(path: Path, *, home: Path) -> str:
    """Write a path with ``~/`` where it lies below the home folder.

    A settings file then survives a move to another machine or user name.
    """
    try:
        below = path.relative_to(home)
    except ValueError:
        return str(path)
    return "~" if below == Path() else f"~/{below.as_posix()}"


def _invalid(typed: str, fault: str) -> SettingsError:
    return SettingsError(
        f"the path {one_line(typed)!r} {fault}", code="SETTINGS_PATH_INVALID", hint=ROOT_HINT
    )
