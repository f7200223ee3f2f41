"""Servers, skills, agents, commands, hooks and plugins, read from the harnesses' own files.

Pure functions over redacted text. Of a server the name, the transport and the first word of its
command are kept, or scheme, host and port of its address; never arguments, environment, headers,
nor user, path and query of an address: that is where secrets live. What is wrong with a file or
with an entry of it is said and takes nothing else with it. Nothing is ever run.
"""

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from urllib.parse import urlsplit

import msgspec
import tomli

from agentic_os.aggregate.codes import CODES
from agentic_os.aggregate.surfaces.documents import (
    LABEL_CHARS,
    Capability,
    Document,
    ParsedFile,
    short,
)
from agentic_os.aggregate.surfaces.memory import group_hash
from agentic_os.registry.conventions.capabilities import SKILL_FOLDERS
from agentic_os.registry.conventions.tables import convention_of
from agentic_os.results import CapabilitySection, Diagnostic
from agentic_os.text.fencing import one_line
from agentic_os.text.front_matter import split_front_matter
from agentic_os.text.jsonc import plain_json
from agentic_os.text.tokens import index_extra

MAX_ROWS = 2_000
"""Rows taken of one file."""
MAX_PROBLEMS = 20
"""Entries of one file that are named because they are not of its form."""

_SERVER_KEYS = ("mcpServers", "servers", "mcp", "mcp_servers")
_ADDRESS_KEYS = ("url", "httpUrl", "serverUrl")
_SWITCH_KEYS = ("enabled", "disabled")
_BESIDE_SERVERS = frozenset({"$schema", "inputs", "hooks"})
"""Keys that may stand beside the servers, or alone, in a file that lists them."""
_SCHEMES = frozenset({"http", "https", "ws", "wss"})
_HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")
_RUNNERS = frozenset({"bash", "sh", "zsh", "python", "python3", "node", "bun", "deno", "uv", "run"})
_TOOL_FOLDERS = tuple(
    f"{folder}/"
    for folder in (
        ".claude/agents",
        ".claude/commands",
        ".github/agents",
        ".github/prompts",
        ".gemini/commands",
        ".opencode/agent",
        ".opencode/agents",
        ".opencode/command",
        ".opencode/commands",
        ".cursor/commands",
    )
)

_ADDRESSES = ", ".join(_ADDRESS_KEYS)

_Rows = Iterator[Capability]


def parse_tooling(text: str, *, path: str) -> ParsedFile:
    """Read one of the harnesses' own files.

    Args:
        text: the decoded, redacted file.
        path: its path relative to the project; its convention says how it is read.
    """
    row = convention_of(path)
    reads = row.reads if row else ""
    if reads in {"skill", "agent", "command"}:
        return _described(text, path, "skill" if reads == "skill" else reads)  # type: ignore[arg-type]
    parse, toml = _STRUCTURED.get(reads, (_nothing, False))
    try:
        loaded = (
            tomli.loads(text)
            if toml
            else msgspec.json.decode(plain_json(text).encode("utf-8", "replace"))
        )
    except (ValueError, RecursionError) as fault:  # msgspec's and tomli's errors are ValueErrors
        return _broken(path, "nested too deeply" if isinstance(fault, RecursionError) else "")
    if not isinstance(loaded, dict):
        return _broken(path)
    source = _Source(text, path)
    rows = [row for _, row in zip(range(MAX_ROWS), parse(loaded, source), strict=False)]
    return ParsedFile(capabilities=tuple(rows), diagnostics=tuple(source.problems))


class _Source:
    """The file that is read: finds the line of a name, and keeps what is wrong with entries."""

    def __init__(self, text: str, path: str) -> None:
        self._lines = text.split("\n")
        self.path = path
        self.problems: list[Diagnostic] = []

    def line(self, name: str) -> int:
        """Return the first line with the name as a key, else with the name at all, else 1."""
        quoted = json.dumps(name, ensure_ascii=False)
        for needle in (quoted, name):
            for number, line in enumerate(self._lines, 1):
                if needle in line:
                    return number
        return 1

    def refuse(self, name: str, why: str) -> None:
        """Note that an entry was not taken; its value may hold anything and is not shown."""
        self._note("TOOLING_ENTRY_INVALID", f"{short(one_line(name))} {why}", self.line(name))

    def nothing_known(self) -> None:
        """Note that no key of the file is one that is read."""
        keys = ", ".join(_SERVER_KEYS)
        self._note("TOOLING_UNKNOWN", f"{self.path} has none of the keys {keys}, and no server", 1)

    def _note(self, code: str, message: str, line: int) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(CODES.diagnostic(code, message, path=self.path, line=line))


def _broken(path: str, why: str = "") -> ParsedFile:
    return ParsedFile(
        diagnostics=(
            CODES.diagnostic(
                "TOOLING_INVALID",
                f"{path} is {why or 'not of its form'}; nothing was taken from it",
                path=path,
            ),
        )
    )


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _word(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _server_list(loaded: Mapping[str, object], source: _Source) -> _Rows:
    """Yield the servers of a file that lists nothing else; they may stand at its top."""
    flat = {
        name: server
        for name, server in loaded.items()
        if _is_server(server) or name not in {*_SERVER_KEYS, *_BESIDE_SERVERS}
    }
    grouped = any(key in loaded and key not in flat for key in _SERVER_KEYS)
    if flat and not grouped:
        if any(map(_is_server, flat.values())):
            yield from _group(flat, source)
        else:
            source.nothing_known()
    yield from _servers({name: loaded[name] for name in loaded if name not in flat}, source)


def _servers(loaded: Mapping[str, object], source: _Source) -> _Rows:
    for key in _SERVER_KEYS:
        group = loaded.get(key)
        if isinstance(group, dict):
            inner = group.get("servers")
            if key == "mcp" and isinstance(inner, dict) and not _is_server(inner):
                group = {**inner, **{name: group[name] for name in group if name != "servers"}}
                group = {name: group[name] for name in group if name not in _BESIDE_SERVERS}
            yield from _group(group, source)
        elif group is not None:
            source.refuse(key, "is no table of servers")
    yield from _hooks(loaded, source)


def _group(group: Mapping[str, object], source: _Source) -> _Rows:
    """Yield each server of a table; an entry that is none is named and loses no other."""
    for name, server in sorted(group.items()):
        if not isinstance(server, dict):
            source.refuse(name, "is no table, as a server is")
            continue
        if not _is_server(server) and not any(key in server for key in _SWITCH_KEYS):
            source.refuse(name, f"has neither a command nor an address ({_ADDRESSES})")
        yield _row("mcp", name, _transport(server), source.line(name))


def _is_server(value: object) -> bool:
    """Whether a value says how a server is reached."""
    return isinstance(value, dict) and bool(_words(value) or _address(value))


def _words(server: Mapping[str, object]) -> list[str]:
    """Return the words of a server's command, which is a text or a list."""
    command = server.get("command")
    if isinstance(command, list):
        return [word for word in command if isinstance(word, str) and word]
    return _split(_word(command))


def _address(server: Mapping[str, object]) -> str:
    return next((word for key in _ADDRESS_KEYS if (word := _word(server.get(key)))), "")


def _transport(server: Mapping[str, object]) -> str:
    """Say how a server is reached, by which program or at which host; nothing that follows it."""
    off = " (off)" if server.get("enabled") is False or server.get("disabled") is True else ""
    if words := _words(server):
        return f"stdio {PurePosixPath(words[0]).name}{off}"
    if address := _address(server):
        kind = _word(server.get("type")) or _word(server.get("transport"))
        said = " ".join(
            part for part in ("sse" if kind == "sse" else "http", _host(address)) if part
        )
        return f"{said}{off}"
    return f"unknown transport{off}"


def _host(address: str) -> str:
    """Return scheme, host and port of an address; nothing where a password might be taken for one.

    >>> _host("https://me:secret@example.org:8443/mcp?key=secret")
    'https://example.org:8443'
    >>> _host("https://me:12/34@example.org/")
    ''
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    after = f"{parts.path}{parts.query}{parts.fragment}"
    if parts.scheme not in _SCHEMES or "@" in after or not _HOST.fullmatch(host):
        return ""
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{'' if port is None else f':{port}'}"


def _hooks(loaded: Mapping[str, object], source: _Source) -> _Rows:
    """Yield event, script and matcher of each hook, of both forms that harnesses write."""
    events = loaded.get("hooks")
    if events is not None and not isinstance(events, dict):
        source.refuse("hooks", "is no table of events")
    for event, groups in sorted(_table(events).items()):
        if not isinstance(groups, list):
            source.refuse(event, "is no list of hooks")
            continue
        for group in groups:
            matcher = _word(_table(group).get("matcher"))
            inner = _table(group).get("hooks", [group])
            if not isinstance(group, dict) or not isinstance(inner, list):
                source.refuse(event, "has a hook that is none")
                continue
            for hook in inner:
                script = _script(_word(_table(hook).get("command")))
                if script:
                    detail = f"for {matcher}" if matcher else ""
                    yield _row("hook", f"{event} {script}", detail, source.line(event))


def _script(command: str) -> str:
    """Return the name of the script that a hook runs: no argument of it, and no folder."""
    words = [word for word in _split(command) if not word.startswith("-")]
    while len(words) > 1 and PurePosixPath(words[0]).name in _RUNNERS:
        words = words[1:]
    return PurePosixPath(words[0]).name if words else ""


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _plugin(loaded: Mapping[str, object], source: _Source) -> _Rows:
    name = _word(loaded.get("name"))
    if name:
        yield _row("plugin", name, _version(loaded), source.line(name))


def _marketplace(loaded: Mapping[str, object], source: _Source) -> _Rows:
    plugins = loaded.get("plugins")
    if plugins is not None and not isinstance(plugins, list):
        source.refuse("plugins", "is no list")
    for plugin in plugins if isinstance(plugins, list) else ():
        name = _word(_table(plugin).get("name"))
        if name:
            yield _row("plugin", name, _version(_table(plugin)), source.line(name))
        else:
            source.refuse("plugins", "has an entry without a name")


def _version(plugin: Mapping[str, object]) -> str:
    version = _word(plugin.get("version"))
    described = _word(plugin.get("description"))
    return " ".join(part for part in (version, described) if part)


def _command(loaded: Mapping[str, object], source: _Source) -> _Rows:
    yield _row("command", _tool_name(source.path), _word(loaded.get("description")), 1)


def _nothing(_loaded: Mapping[str, object], _source: _Source) -> _Rows:
    yield from ()


_Parse = Callable[[Mapping[str, object], _Source], _Rows]
_STRUCTURED: Mapping[str, tuple[_Parse, bool]] = {
    "mcp-servers": (_server_list, False),
    "settings": (_servers, False),
    "codex-config": (_servers, True),
    "hooks": (_hooks, False),
    "plugin": (_plugin, False),
    "marketplace": (_marketplace, False),
    "toml-command": (_command, True),
}
"""How each form is read, and whether it is TOML."""


def _described(text: str, path: str, section: CapabilitySection) -> ParsedFile:
    """Read a Markdown file whose front matter says what it is called and for."""
    front = split_front_matter(text)
    name = front.fields.get("name") or _tool_name(path)
    detail = front.fields.get("description") or _first_line(front.body)
    end = max(1, front.body_line - 1) if front.closed else 1
    body = "\n".join(text.split("\n")[:end])
    document = Document(
        kind="capability",
        name=short(name),
        label=short(detail, LABEL_CHARS),
        type=section,
        start=1,
        end=end,
        body=body,
        extra=f"{section} {index_extra(path)} {index_extra(body)}".strip(),
        template=False,
        group=group_hash(body),
    )
    return ParsedFile(
        documents=(document,) if body.strip() else (),
        capabilities=(_row(section, name, detail, 1),),
    )


def _tool_name(path: str) -> str:
    """Return the name of a file's tool: a skill's folder, or the path below the tools' folder."""
    if path.endswith("/SKILL.md") and path.startswith(tuple(folder for folder, _ in SKILL_FOLDERS)):
        return path.split("/")[-2]
    below = next((path[len(top) :] for top in _TOOL_FOLDERS if path.startswith(top)), path)
    return below.rpartition(".")[0].removesuffix(".prompt").replace("/", ":")


def _first_line(body: str) -> str:
    lines = (line.strip("# \t") for line in body.splitlines())
    return next((line for line in lines if line), "")


def _row(section: CapabilitySection, name: str, detail: str, line: int) -> Capability:
    return Capability(
        section=section,
        name=short(" ".join(name.split())),
        detail=short(" ".join(detail.split()), LABEL_CHARS),
        line=line,
        declared=False,
    )
