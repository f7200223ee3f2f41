"""``projects.toml`` changed in place: comments, order and everything else are kept.

Every change happens under a lock, is parsed again before it is published, and is
published whole or not at all. A change that is already there writes nothing.
"""

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentic_os.errors import RootMissingError, SettingsError
from agentic_os.files.places import Places
from agentic_os.files.publishing import ExclusiveLock, private_folder, publish
from agentic_os.settings.location import FILE_NAME, read_text, settings_file
from agentic_os.settings.parsing import parse_settings
from agentic_os.settings.paths import expanded, portable
from agentic_os.settings.values import Grant, Root, Settings
from agentic_os.text.fencing import one_line

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from tomlkit.items import AoT, Array

NEW_FILE_MODE = 0o600
LOCK_WAIT_SECONDS = 10.0

_Change = Callable[["TOMLDocument", Settings], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What a change came to: the file, whether it was written, and what it says now."""

    file: Path
    changed: bool
    settings: Settings


def add_root(places: Places, typed: str, *, current: Path, home: Path, adopt: bool = False) -> Edit:
    """Add a folder to the roots, written with ``~/`` where it lies below the home folder.

    With ``adopt`` it gets a table of its own, ``[[root]]``; one that is listed already is changed.

    Raises:
        RootMissingError: there is no such folder.
        SettingsError: the path, or the file as it stands, is wrong.
        FilesError: the file could not be locked or written.
    """
    path = expanded(typed, base=current, home=home)
    if not path.is_dir():
        raise RootMissingError(
            f"the root {one_line(typed)} does not exist or is not a folder",
            hint="name a folder that holds projects",
        )
    entry = typed if typed.startswith("~") else portable(path, home=home)

    def change(document: "TOMLDocument", settings: Settings) -> bool:
        import tomlkit
        from tomlkit.items import AoT

        real = os.path.realpath(path)
        same = [root for root in settings.roots if os.path.realpath(root.path) == real]
        if any(root.adopt or not adopt for root in same):
            return False
        if not adopt:
            document.setdefault("roots", tomlkit.array()).append(entry)
            return True
        _drop_roots(document, settings, same)
        rows = document.setdefault("root", tomlkit.aot())
        row = tomlkit.table() if isinstance(rows, AoT) else tomlkit.inline_table()
        row.add("path", entry)
        row.add("adopt", value=True)
        rows.append(row)
        return True

    return _edit(places, home, change)


def remove_root(places: Places, typed: str, *, current: Path, home: Path) -> Edit:
    """Take a folder out of ``roots``, by what is written there or by where it is.

    A root that is not listed changes nothing; it need not exist any more.

    Raises:
        SettingsError: the path, or the file as it stands, is wrong.
        FilesError: the file could not be locked or written.
    """
    real = os.path.realpath(expanded(typed, base=current, home=home))

    def change(document: "TOMLDocument", settings: Settings) -> bool:
        gone = [
            root
            for root in settings.roots
            if root.typed == typed or os.path.realpath(root.path) == real
        ]
        _drop_roots(document, settings, gone)
        return bool(gone)

    return _edit(places, home, change)


def _drop_roots(document: "TOMLDocument", settings: Settings, gone: Sequence[Root]) -> None:
    """Take roots out of the list, and those with a table of their own out of the tables."""
    listed = len(document.get("roots", ()))
    for position in reversed(range(len(settings.roots))):
        if settings.roots[position] not in gone:
            continue
        if position < listed:
            _rows(document, "roots").pop(position)
        else:
            _rows(document, "root").pop(position - listed)
    if "root" in document and not document["root"]:
        document.remove("root")


def add_grant(places: Places, grant: Grant, *, home: Path) -> Edit:
    """Let the engine of one project be asked at exactly this endpoint.

    A grant of the same project for another endpoint is replaced: it was void anyway.

    Raises:
        SettingsError: an empty project or endpoint, or the file as it stands is wrong.
        FilesError: the file could not be locked or written.
    """
    if not grant.project.strip() or not grant.endpoint.strip():
        raise SettingsError(
            "a grant names a project id and an endpoint", code="SETTINGS_VALUE_INVALID"
        )

    def change(document: "TOMLDocument", settings: Settings) -> bool:
        import tomlkit
        from tomlkit.items import AoT

        if [have for have in settings.grants if have.project == grant.project] == [grant]:
            return False
        _drop_grants(document, settings, grant.project)
        rows = document.setdefault("grant", tomlkit.aot())
        row = tomlkit.table() if isinstance(rows, AoT) else tomlkit.inline_table()
        row.add("project", grant.project)
        row.add("endpoint", grant.endpoint)
        rows.append(row)
        return True

    return _edit(places, home, change)


def remove_grant(places: Places, project: str, *, home: Path) -> Edit:
    """Take back every grant of one project id.

    Raises:
        SettingsError: the file as it stands is wrong.
        FilesError: the file could not be locked or written.
    """

    def change(document: "TOMLDocument", settings: Settings) -> bool:
        return _drop_grants(document, settings, project)

    return _edit(places, home, change)


def _drop_grants(document: "TOMLDocument", settings: Settings, project: str) -> bool:
    gone = [position for position, have in enumerate(settings.grants) if have.project == project]
    for position in reversed(gone):
        _rows(document, "grant").pop(position)
    if gone and len(gone) == len(settings.grants):
        document.remove("grant")
    return bool(gone)


def _rows(document: "TOMLDocument", key: str) -> "AoT | Array":
    """Return the list under ``key``, written as an array or as ``[[key]]`` tables."""
    return cast("AoT | Array", document[key])  # parse_settings has seen that it is a list


def _edit(places: Places, home: Path, change: _Change) -> Edit:
    """Read, change, check and publish, one writer at a time."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    lock = private_folder(places.state) / f"{FILE_NAME}.lock"
    with ExclusiveLock(lock, timeout_s=LOCK_WAIT_SECONDS):
        file = settings_file(places, home=home)
        text = read_text(file) or ""
        before = parse_settings(text, file=file, home=home)
        try:
            document = tomlkit.parse(text)
        except TOMLKitError as fault:
            raise SettingsError(
                f"{file.name} can be read but not edited: {one_line(str(fault))}",
                code="SETTINGS_SYNTAX",
                hint="edit it by hand",
            ) from fault
        if not change(document, before):
            return Edit(file=file, changed=False, settings=before)
        written = tomlkit.dumps(document)
        after = parse_settings(written, file=file, home=home)
        _publish(places, file, written.encode())
    return Edit(file=file, changed=True, settings=after)


def _publish(places: Places, file: Path, data: bytes) -> None:
    """Write the file, through a link if the person's file is one, keeping its mode."""
    if file.parent == places.config:
        private_folder(places.config)
    target = Path(os.path.realpath(file))
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mode = NEW_FILE_MODE
    publish(target, data, mode)
