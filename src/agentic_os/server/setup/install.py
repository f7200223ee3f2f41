"""Writing the server into a client's file: one key, everything else as it was.

Rules: a file that cannot be parsed is refused, not repaired; comments, order and other keys
survive, because text is inserted and nothing is printed anew; the old file is kept beside the new
one; the new text is parsed and compared before it is published. Nothing is written on a dry run.
"""

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentic_os.errors import AgenticOSError, FilesError
from agentic_os.files.publishing import publish
from agentic_os.files.reading import Folder
from agentic_os.server.codes import ERRORS
from agentic_os.server.setup.clients import Client, server_entry

MAX_FILE_BYTES = 8_388_608
BACKUP_SUFFIX = ".before-agentic-os"
ADD_SECONDS = 60
CLIENT_FILE_MODE = 0o600


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """What was, or would be, changed. ``file`` is relative to the home folder.

    ``command`` is the client's own command, where that does it; there is no diff then.
    """

    client: str
    file: str
    changed: bool
    written: bool
    diff: str
    backup: str | None = None
    command: tuple[str, ...] = ()


def install_by_client(client: Client, command: Sequence[str], *, dry_run: bool) -> Installation:
    """Let a client's own command add the server.

    Raises:
        ServerError: ``CLIENT_REFUSED``: it did not end well.
    """
    import shlex
    import subprocess

    if not dry_run:
        try:
            done = subprocess.run(
                command,
                check=False,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=ADD_SECONDS,
            )
            said = f"refused with status {done.returncode}" if done.returncode else ""
        except subprocess.TimeoutExpired:
            said = f"did not end within {ADD_SECONDS} seconds"
        except OSError:
            said = "could not be started"
        if said:
            raise ERRORS.error(
                "CLIENT_REFUSED",
                f"{command[0]} {said}",
                hint=f"Run it yourself: {shlex.join(command)}",
            )
    return Installation(
        client=client.name,
        file=client.file,
        changed=True,
        written=not dry_run,
        diff="",
        command=tuple(command),
    )


def install(
    client: Client, server: str, command: Sequence[str], *, home: Path, dry_run: bool
) -> Installation:
    """Merge one server into a client's file.

    Raises:
        ServerError: ``CLIENT_FILE_INVALID`` (it cannot be parsed, or has another form),
            ``CLIENT_FILE_UNREADABLE``.
        FilesError: it cannot be written.
    """
    path = home / client.file
    old = _read(path, client)
    entry = server_entry(client, command)
    new = (_toml if client.form == "toml" else _json)(old or "", client, server, entry)
    diff = "".join(
        difflib.unified_diff(
            (old or "").splitlines(keepends=True),
            new.splitlines(keepends=True),
            fromfile=client.file,
            tofile=client.file,
        )
    )
    if dry_run or new == old:
        return Installation(
            client=client.name, file=client.file, changed=new != old, written=False, diff=diff
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path.resolve()
    backup, mode = None, CLIENT_FILE_MODE
    if old is not None:
        mode = target.stat().st_mode & 0o777
        backup = client.file + BACKUP_SUFFIX
        publish(home / backup, old.encode("utf-8"), mode)
    publish(target, new.encode("utf-8"), mode)
    return Installation(
        client=client.name,
        file=client.file,
        changed=True,
        written=True,
        diff=diff,
        backup=backup,
    )


def _read(path: Path, client: Client) -> str | None:
    try:
        real = path.resolve()
        with Folder.open(real.parent) as folder:
            return folder.read(real.name, limit_bytes=MAX_FILE_BYTES).data.decode("utf-8")
    except FilesError as fault:
        if fault.code == "FILE_MISSING":
            return None
        raise ERRORS.error(
            "CLIENT_FILE_UNREADABLE", f"{client.file} cannot be read: {fault.message}"
        ) from None
    except UnicodeDecodeError:
        raise _invalid(client, "it is not UTF-8") from None


def _toml(old: str, client: Client, server: str, entry: dict[str, object]) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(old)
        servers = document.setdefault(client.key[0], tomlkit.table(is_super_table=True))
        table = servers.setdefault(server, tomlkit.table())
        for name, value in entry.items():
            if table.get(name) != value:
                table[name] = value
        return tomlkit.dumps(document)
    except (TOMLKitError, TypeError, AttributeError):
        raise _invalid(client, "it is not valid TOML of the expected form") from None


def _json(old: str, client: Client, server: str, entry: dict[str, object]) -> str:
    if not old.strip():
        return json.dumps({client.key[0]: {server: entry}}, indent=2) + "\n"
    before = _parsed(old, client)
    servers = before.get(client.key[0], {})
    if not isinstance(servers, dict):
        raise _invalid(client, f"{client.key[0]} is not an object")
    if servers.get(server) == entry:
        return old
    new = _inserted(old, client, server, entry, has_table=client.key[0] in before)
    wanted = {**before, client.key[0]: {**servers, server: entry}}
    if _parsed(new, client) != wanted:
        raise _invalid(client, "its form is not understood well enough to change it")
    return new


def _parsed(text: str, client: Client) -> dict[str, object]:
    try:
        value = json.loads(_without_comments(text))
    except (ValueError, RecursionError):
        raise _invalid(client, "it is not valid JSON") from None
    if not isinstance(value, dict):
        raise _invalid(client, "it is not a JSON object")
    return value


def _inserted(
    text: str, client: Client, server: str, entry: dict[str, object], *, has_table: bool
) -> str:
    plain = _without_comments(text)
    own = json.dumps(entry, indent=2).replace("\n", "\n    ")
    if has_table:
        start = _value_start(plain, 0, client.key[0])
        existing = _find_key(plain, start, server)
        if existing is not None:
            begin = _skip(plain, existing)
            end = begin + json.JSONDecoder().raw_decode(plain[begin:])[1]
            return text[:begin] + own + text[end:]
        at = plain.index("{", start) + 1
        empty = plain[_skip(plain, at)] == "}"
        piece = f"\n    {json.dumps(server)}: {own}{'' if empty else ','}"
        return text[:at] + piece + ("\n  " if empty else "") + text[at:]
    at = plain.index("{") + 1
    empty = plain[_skip(plain, at)] == "}"
    block = f"\n  {json.dumps(client.key[0])}: {{\n    {json.dumps(server)}: {own}\n  }}"
    return text[:at] + block + ("\n" if empty else ",") + text[at:]


def _value_start(plain: str, at: int, key: str) -> int:
    found = _find_key(plain, at, key)
    if found is None:
        raise ValueError(key)
    return found


def _find_key(plain: str, at: int, key: str) -> int | None:
    """Where the value of a key of the object at ``at`` begins (after the colon)."""
    decoder = json.JSONDecoder()
    at = plain.index("{", at) + 1
    while True:
        at = _skip(plain, at)
        if plain[at] == "}":
            return None
        name, used = decoder.raw_decode(plain[at:])
        at = _skip(plain, at + used)
        at += 1  # the colon
        if name == key:
            return at
        at = _skip(plain, at)
        at += decoder.raw_decode(plain[at:])[1]
        at = _skip(plain, at)
        if plain[at] == ",":
            at += 1


def _skip(plain: str, at: int) -> int:
    while at < len(plain) and plain[at] in " \t\r\n":
        at += 1
    return at


def _without_comments(text: str) -> str:
    """Replace comments and trailing commas by spaces, so that every position stays the same."""
    out = list(text)
    at, inside = 0, False
    while at < len(text):
        here = text[at]
        if inside:
            if here == "\\":
                at += 1
            elif here == '"':
                inside = False
        elif here == '"':
            inside = True
        elif text.startswith(("//", "/*"), at):
            line = text.startswith("//", at)
            end = text.find("\n" if line else "*/", at + 2)
            end = len(text) if end < 0 else end + (0 if line else 2)
            for place in range(at, end):
                if out[place] != "\n":
                    out[place] = " "
            at = end
            continue
        at += 1
    return _without_trailing_commas("".join(out))


def _without_trailing_commas(text: str) -> str:
    out = list(text)
    inside, escaped, comma = False, False, -1
    for at, here in enumerate(text):
        if inside:
            inside = escaped or here != '"'
            escaped = not escaped and here == "\\"
            continue
        if here == '"':
            inside, comma = True, -1
        elif here == ",":
            comma = at
        elif here in "}]" and comma >= 0:
            out[comma] = " "
            comma = -1
        elif not here.isspace():
            comma = -1
    return "".join(out)


def _invalid(client: Client, why: str) -> AgenticOSError:
    return ERRORS.error("CLIENT_FILE_INVALID", f"{client.file} was not changed: {why}")
