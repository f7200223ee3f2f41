"""Writing the server, or the hook, into a client's file: one key, everything else as it was.

Rules: a file that cannot be parsed is refused, not repaired; comments, order and other keys
survive, also those that the person added to our own entry; the old file is kept beside the new
one; the new text is parsed and compared before it is published. Nothing is written on a dry run.
"""

import difflib
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentic_os.errors import AgenticOSError, FilesError
from agentic_os.files import processes
from agentic_os.files.publishing import publish
from agentic_os.files.reading import Folder
from agentic_os.server.codes import ERRORS
from agentic_os.server.setup import json_edit
from agentic_os.server.setup.clients import Client, ServerEntry, members_of
from agentic_os.text.fencing import one_line

MAX_FILE_BYTES = 8_388_608
BACKUP_SUFFIX = ".before-agentic-os"
ADD_SECONDS = 60
CLIENT_FILE_MODE = 0o600
REFUSAL_CHARS = 400
REFUSAL_BYTES = 65_536
_OWN_DEFAULTS = frozenset({"enabled", "type"})
"""Members that an entry gets once; what the person made of them stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """What was, or would be, changed. ``file`` is as the person is shown it.

    ``command`` is the client's own command, where that does it; there is no diff then.
    """

    client: str
    file: str
    changed: bool
    written: bool
    diff: str
    backup: str | None = None
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A client's file, and how it is shown."""

    client: Client
    path: Path
    shown: str


def install_by_client(target: Target, command: Sequence[str], *, dry_run: bool) -> Installation:
    """Let a client's own command add the server.

    Raises:
        ServerError: ``CLIENT_REFUSED``: it did not end well; its words are in the message.
    """
    if not dry_run:
        said = _run(command)
        if said:
            raise ERRORS.error(
                "CLIENT_REFUSED",
                f"{command[0]} {said}",
                hint=f"Run it yourself: {shlex.join(command)}",
            )
    return Installation(
        client=target.client.name,
        file=target.shown,
        changed=True,
        written=not dry_run,
        diff="",
        command=tuple(command),
    )


def _run(command: Sequence[str]) -> str:
    """Run a client's command; return what went wrong, in its words, or nothing."""
    try:
        done = processes.run(
            command,
            environ=os.environ,
            seconds=ADD_SECONDS,
            limit_bytes=REFUSAL_BYTES,
            with_errors=True,
        )
    except TimeoutError:
        return f"did not end within {ADD_SECONDS} seconds"
    except (OSError, ValueError):
        return "could not be started"
    if not done.status:
        return ""
    words = (done.errors.strip() or done.output.strip()).decode("utf-8", "replace")
    lines = " / ".join(line.strip() for line in words.splitlines() if line.strip())
    return f"refused with status {done.status}: {one_line(lines[-REFUSAL_CHARS:])}"


def has_entry(target: Target, server: str) -> bool:
    """Tell whether the file holds an entry of that name already."""
    return read_entry(target, server) is not None


def read_entry(target: Target, server: str) -> Mapping[str, Any] | None:
    """Read the entry of a server; ``None`` if there is none.

    Raises:
        ServerError: ``CLIENT_FILE_INVALID``, ``CLIENT_FILE_UNREADABLE``.
    """
    text = _read(target)
    if text is None or not text.strip():
        return None
    if target.client.form == "toml":
        import tomli

        try:
            whole: object = tomli.loads(text)
        except tomli.TOMLDecodeError:
            raise _invalid(target, "it is not valid TOML") from None
    else:
        whole = _parsed(text, target)
    servers = whole.get(target.client.key) if isinstance(whole, dict) else None
    found = servers.get(server) if isinstance(servers, dict) else None
    return found if isinstance(found, dict) else None


def install(target: Target, server: str, entry: ServerEntry, *, dry_run: bool) -> Installation:
    """Merge one server into a client's file.

    Raises:
        ServerError: ``CLIENT_FILE_INVALID`` (it cannot be parsed, or has another form),
            ``CLIENT_FILE_UNREADABLE``.
        FilesError: it cannot be written.
    """
    change = _toml if target.client.form == "toml" else _json
    return _changed(target, lambda old: change(old, target, server, entry), dry_run=dry_run)


def uninstall(target: Target, server: str, *, dry_run: bool) -> Installation:
    """Take one server out of a client's file.

    Raises:
        As ``install``.
    """

    def change(old: str) -> str:
        if not old.strip():
            return old
        if target.client.form == "toml":
            return _without_toml(old, target, server)
        return _edited(
            old, target, lambda text: json_edit.remove_in(text, (target.client.key, server))
        )

    return _changed(target, change, dry_run=dry_run)


def edit_json(target: Target, edit: Callable[[str], str], *, dry_run: bool) -> Installation:
    """Edit a client's JSON file by an edit of its text.

    Raises:
        As ``install``.
    """
    return _changed(target, lambda old: _edited(old, target, edit), dry_run=dry_run)


def _edited(old: str, target: Target, edit: Callable[[str], str]) -> str:
    _parsed(old, target)
    try:
        new = edit(old)
        json_edit.parse(new)
    except (ValueError, IndexError):
        raise _invalid(target, "its form is not understood well enough to change it") from None
    return new


def _changed(target: Target, change: Callable[[str], str], *, dry_run: bool) -> Installation:
    old = _read(target)
    new = change(old or "")
    name = target.shown.removeprefix("~/")
    diff = "".join(
        difflib.unified_diff(
            (old or "").splitlines(keepends=True),
            new.splitlines(keepends=True),
            fromfile=name,
            tofile=name,
        )
    )
    made = Installation(
        client=target.client.name,
        file=target.shown,
        changed=new != (old or ""),
        written=False,
        diff=diff,
    )
    if dry_run or not made.changed:
        return made
    backup = _publish(target, old, new)
    return Installation(
        client=made.client, file=made.file, changed=True, written=True, diff=diff, backup=backup
    )


def _publish(target: Target, old: str | None, new: str) -> str | None:
    target.path.parent.mkdir(parents=True, exist_ok=True)
    real = target.path.resolve()
    if old is None:
        publish(real, new.encode("utf-8"), CLIENT_FILE_MODE)
        return None
    mode = real.stat().st_mode & 0o777
    beside = target.path.with_name(target.path.name + BACKUP_SUFFIX)
    publish(beside, old.encode("utf-8"), mode)
    publish(real, new.encode("utf-8"), mode)
    return target.shown + BACKUP_SUFFIX


def _read(target: Target) -> str | None:
    try:
        real = target.path.resolve()
        with Folder.open(real.parent) as folder:
            return folder.read(real.name, limit_bytes=MAX_FILE_BYTES).data.decode("utf-8")
    except FilesError as fault:
        if fault.code == "FILE_MISSING":
            return None
        raise ERRORS.error(
            "CLIENT_FILE_UNREADABLE", f"{target.shown} cannot be read: {fault.message}"
        ) from None
    except UnicodeDecodeError:
        raise _invalid(target, "it is not UTF-8") from None


def _merged(has: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members to set: ours, without what the person may have changed."""
    return {
        name: value
        for name, value in wanted.items()
        if name not in _OWN_DEFAULTS or name not in has
    }


def _toml(old: str, target: Target, server: str, entry: ServerEntry) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    client = target.client
    try:
        document = tomlkit.parse(old)
        servers = document.setdefault(client.key, tomlkit.table(is_super_table=True))
        table = servers.setdefault(server, tomlkit.table())
        for name, value in _merged(table, members_of(client, entry)).items():
            if isinstance(value, dict):
                variables = table.setdefault(name, tomlkit.table())
                for key, one in value.items():
                    if variables.get(key) != one:
                        variables[key] = one
            elif table.get(name) != value:
                table[name] = value
        return tomlkit.dumps(document)
    except (TOMLKitError, TypeError, AttributeError):
        raise _invalid(target, "it is not valid TOML of the expected form") from None


def _without_toml(old: str, target: Target, server: str) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(old)
        servers = document.get(target.client.key)
        if servers is None or server not in servers:
            return old
        del servers[server]
        return tomlkit.dumps(document)
    except (TOMLKitError, TypeError, AttributeError):
        raise _invalid(target, "it is not valid TOML of the expected form") from None


def _json(old: str, target: Target, server: str, entry: ServerEntry) -> str:
    client, wanted = target.client, members_of(target.client, entry)
    if not old.strip():
        return json_edit.set_in("{}", (client.key, server), wanted) + "\n"
    servers = _parsed(old, target).get(client.key, {})
    has = servers.get(server) if isinstance(servers, dict) else None
    if not isinstance(has, dict):
        return _edited(
            old, target, lambda text: json_edit.set_in(text, (client.key, server), wanted)
        )

    def merge(text: str) -> str:
        for name, value in _merged(has, wanted).items():
            inner = has.get(name)
            if isinstance(value, dict) and isinstance(inner, dict):
                for key, one in value.items():
                    if inner.get(key) != one:
                        text = json_edit.set_in(text, (client.key, server, name, key), one)
            elif inner != value:
                text = json_edit.set_in(text, (client.key, server, name), value)
        return text

    return _edited(old, target, merge)


def _parsed(text: str, target: Target) -> dict[str, Any]:
    try:
        value = json_edit.parse(text or "{}")
    except ValueError:
        raise _invalid(target, "it is not valid JSON") from None
    if not isinstance(value, dict):
        raise _invalid(target, "it is not a JSON object")
    return value


def _invalid(target: Target, why: str) -> AgenticOSError:
    return ERRORS.error("CLIENT_FILE_INVALID", f"{target.shown} was not changed: {why}")
