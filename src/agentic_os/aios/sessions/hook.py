"""The automatic capture of Claude Code: a Stop hook in its settings, added and removed by preview.

The entry is recognised by ``capture hook claude-code`` in its command; every other entry, and the
order and indentation of the file, stay as they are as far as JSON can say them.
"""

import json
import re
from typing import Final

from agentic_os.aios.folder.json_text import parse_strict
from agentic_os.aios.writing.changes import Journal
from agentic_os.aios.writing.faults import HOOK_SETTINGS, write_fault
from agentic_os.aios.writing.plan import ChangeData, Plan, Proof, Target, carry_out
from agentic_os.aios.writing.writer import FolderWriter

SETTINGS: Final = "settings.json"
MARK: Final = "capture hook claude-code"
TIMEOUT_SECONDS: Final = 10

_INDENT = re.compile(r'\{\s*?\n([ \t]+)"')


def change_hook(
    writer: FolderWriter, journal: Journal | None, proof: Proof | None, *, command: str | None
) -> ChangeData:
    """Preview or apply the hook: add it with ``command``, remove it without.

    Args:
        writer: the folder of the settings, open.
        journal: where the change is recorded; a preview needs none.
        proof: the approval of a preview.
        command: what the hook runs.

    Raises:
        AiosError: DOTAIOS_HOOK_SETTINGS_INVALID, DOTAIOS_PLAN_STALE, or a write fault.
    """
    seen = writer.see(SETTINGS)
    text = _text(seen.data) if seen.exists else "{}\n"
    after: bytes | None = changed(text, command).encode("utf-8")
    if not seen.exists and command is None:
        after = None
    operation = "capture-disable" if command is None else "capture-enable"
    plan = Plan(operation=operation, targets=(Target(path=SETTINGS, before=seen, after=after),))
    return carry_out(writer, plan, proof, journal)


def changed(text: str, command: str | None) -> str:
    """Return settings with the hook set to ``command``, or without it.

    Raises:
        AiosError: DOTAIOS_HOOK_SETTINGS_INVALID.
    """
    try:
        settings = parse_strict(text)
    except ValueError:
        raise write_fault(HOOK_SETTINGS, SETTINGS) from None
    if not isinstance(settings, dict):
        raise write_fault(HOOK_SETTINGS, SETTINGS)
    before = json.dumps(settings)
    hooks = settings.get("hooks", {})
    stops = hooks.get("Stop", []) if isinstance(hooks, dict) else None
    if not isinstance(stops, list) or not all(isinstance(entry, dict) for entry in stops):
        raise write_fault(HOOK_SETTINGS, SETTINGS)
    have = [_commands(entry) for entry in stops]
    if command is not None and have.count([command]) == 1 and sum(map(_ours, have)) == 1:
        return text
    kept = [entry for entry in (_without(entry) for entry in stops) if entry is not None]
    if command is not None:
        hook = {"type": "command", "command": command, "timeout": TIMEOUT_SECONDS}
        kept.append({"hooks": [hook]})
    if kept:
        settings.setdefault("hooks", {})["Stop"] = kept
    elif isinstance(hooks, dict) and "Stop" in hooks:
        del hooks["Stop"]
        if not hooks:
            del settings["hooks"]
    if json.dumps(settings) == before:
        return text
    found = _INDENT.match(text)
    indent: str | int = found[1] if found else 2
    return json.dumps(settings, ensure_ascii=False, indent=indent) + "\n"


def is_enabled(text: str) -> bool:
    """Whether settings hold the hook."""
    return MARK in text


def _without(entry: dict[str, object]) -> dict[str, object] | None:
    """Take our command out of an entry; ``None`` when nothing is left of it."""
    hooks = entry.get("hooks")
    if not isinstance(hooks, list):
        return entry
    kept = [hook for hook in hooks if MARK not in _command(hook)]
    if len(kept) == len(hooks):
        return entry
    return {**entry, "hooks": kept} if kept else None


def _commands(entry: dict[str, object]) -> list[str]:
    hooks = entry.get("hooks")
    return [_command(hook) for hook in hooks] if isinstance(hooks, list) else []


def _command(hook: object) -> str:
    command = hook.get("command") if isinstance(hook, dict) else None
    return command if isinstance(command, str) else ""


def _ours(commands: list[str]) -> bool:
    return any(MARK in command for command in commands)


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise write_fault(HOOK_SETTINGS, SETTINGS) from None
