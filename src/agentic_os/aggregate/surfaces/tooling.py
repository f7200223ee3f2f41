"""Servers, skills, agents, commands, hooks and plugins, read from the harnesses' own files.

Pure functions over redacted text. Of a server the name, the transport and the first word of its
command are kept; never arguments, environment, headers or addresses: that is where secrets live.
What is wrong with a file is said and takes nothing else with it. Nothing is ever run.
"""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

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
from agentic_os.results import CapabilitySection
from agentic_os.text.front_matter import split_front_matter
from agentic_os.text.jsonc import plain_json
from agentic_os.text.tokens import index_extra

MAX_ROWS = 2_000
"""Rows taken of one file."""
MAX_NESTED = 64
"""JSON nested deeper is not of any form that is read here."""

_SERVER_KEYS = ("mcpServers", "servers", "mcp", "mcp_servers")
_ADDRESS_KEYS = ("url", "httpUrl", "serverUrl")
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
    if not isinstance(loaded, dict) or any(
        not isinstance(loaded.get(key, {}), dict) for key in (*_SERVER_KEYS, "hooks")
    ):
        return _broken(path)
    place = _Lines(text)
    rows = [row for _, row in zip(range(MAX_ROWS), parse(loaded, place, path), strict=False)]
    return ParsedFile(capabilities=tuple(rows))


class _Lines:
    """Finds the line on which a name stands."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")

    def of(self, name: str) -> int:
        """Return the first line with the name as a key, else with the name at all, else 1."""
        quoted = json.dumps(name, ensure_ascii=False)
        for needle in (quoted, name):
            for number, line in enumerate(self._lines, 1):
                if needle in line:
                    return number
        return 1


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


def _servers(loaded: Mapping[str, object], place: _Lines, path: str) -> _Rows:
    for key in _SERVER_KEYS:
        for name, server in sorted(_table(loaded.get(key)).items()):
            if isinstance(server, dict):
                yield _row("mcp", name, _transport(server), place.of(name))
    yield from _hooks(loaded, place, path)


def _transport(server: Mapping[str, object]) -> str:
    """Say how a server is reached, and by which program; nothing that follows it."""
    off = " (off)" if server.get("enabled") is False or server.get("disabled") is True else ""
    command = server.get("command")
    words = command if isinstance(command, list) else _split(_word(command))
    if words and isinstance(words[0], str):
        return f"stdio {PurePosixPath(words[0]).name}{off}"
    if any(_word(server.get(key)) for key in _ADDRESS_KEYS):
        kind = _word(server.get("type")) or _word(server.get("transport"))
        return f"{'sse' if kind == 'sse' else 'http'}{off}"
    return f"unknown transport{off}"


def _hooks(loaded: Mapping[str, object], place: _Lines, _path: str) -> _Rows:
    """Yield event, script and matcher of each hook, of both forms that harnesses write."""
    for event, groups in sorted(_table(loaded.get("hooks")).items()):
        for group in groups if isinstance(groups, list) else ():
            matcher = _word(_table(group).get("matcher"))
            inner = _table(group).get("hooks", [group])
            for hook in inner if isinstance(inner, list) else ():
                script = _script(_word(_table(hook).get("command")))
                if script:
                    detail = f"for {matcher}" if matcher else ""
                    yield _row("hook", f"{event} {script}", detail, place.of(event))


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


def _plugin(loaded: Mapping[str, object], place: _Lines, _path: str) -> _Rows:
    name = _word(loaded.get("name"))
    if name:
        yield _row("plugin", name, _version(loaded), place.of(name))


def _marketplace(loaded: Mapping[str, object], place: _Lines, _path: str) -> _Rows:
    plugins = loaded.get("plugins")
    for plugin in plugins if isinstance(plugins, list) else ():
        name = _word(_table(plugin).get("name"))
        if name:
            yield _row("plugin", name, _version(_table(plugin)), place.of(name))


def _version(plugin: Mapping[str, object]) -> str:
    version = _word(plugin.get("version"))
    described = _word(plugin.get("description"))
    return " ".join(part for part in (version, described) if part)


def _command(loaded: Mapping[str, object], _place: _Lines, path: str) -> _Rows:
    yield _row("command", _tool_name(path), _word(loaded.get("description")), 1)


def _nothing(_loaded: Mapping[str, object], _place: _Lines, _path: str) -> _Rows:
    yield from ()


_Parse = Callable[[Mapping[str, object], _Lines, str], _Rows]
_STRUCTURED: Mapping[str, tuple[_Parse, bool]] = {
    "mcp-servers": (_servers, False),
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
