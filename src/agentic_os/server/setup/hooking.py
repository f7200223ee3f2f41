"""The session-start hook in a harness's file of hooks.

Claude Code, Codex and Gemini CLI share one form: ``hooks.SessionStart`` is an array of groups, each
with an array of commands that a shell runs. A group of our own is appended once; it is known by
its command.
"""

import shlex
from collections.abc import Sequence
from typing import Any, Final

from agentic_os.server.codes import ERRORS
from agentic_os.server.setup import json_edit
from agentic_os.server.setup.clients import CLIENTS, Client, Place, ServerEntry
from agentic_os.server.setup.install import Installation, Target, edit_json

PATH: Final = ("hooks", "SessionStart")
VERB: Final = ("hook", "session-start")
_MARK: Final = " ".join(VERB)


def hooks_place(client: Client) -> Place:
    """Return where a client keeps its hooks.

    Raises:
        UsageError: ``CLIENT_HOOKLESS``: it has none.
    """
    if client.hooks is None:
        having = ", ".join(one.name for one in CLIENTS.values() if one.hooks is not None)
        raise ERRORS.error(
            "CLIENT_HOOKLESS",
            f"{client.name} has no session-start hooks that are known",
            hint=f"Clients with hooks are {having}.",
        )
    return client.hooks


def shell_command(entry: ServerEntry) -> str:
    """Write the command that a shell runs, with the environment that it needs."""
    words = shlex.join(entry.command)
    if not entry.environ:
        return words
    return " ".join(["env", *(shlex.quote(f"{k}={v}") for k, v in entry.environ.items()), words])


def install_hook(target: Target, entry: ServerEntry, *, dry_run: bool) -> Installation:
    """Add the hook, or bring its command up to date; everything else stays.

    Raises:
        ServerError: ``CLIENT_FILE_INVALID``, ``CLIENT_FILE_UNREADABLE``.
        FilesError: it cannot be written.
    """
    command = shell_command(entry)

    def edit(text: str) -> str:
        text = text if text.strip() else "{}\n"
        place = _own_place(json_edit.parse(text))
        if place is None:
            group = {"hooks": [{"type": "command", "command": command}]}
            return json_edit.append_in(text, PATH, group)
        return json_edit.set_in(text, (*PATH, *place, "command"), command)

    return edit_json(target, edit, dry_run=dry_run)


def uninstall_hook(target: Target, *, dry_run: bool) -> Installation:
    """Take the hook out, and its group if that held nothing else.

    Raises:
        As ``install_hook``.
    """

    def edit(text: str) -> str:
        value = json_edit.parse(text) if text.strip() else None
        place = _own_place(value)
        if place is None:
            return text
        group, _, _ = place
        alone = len(_at(value, (*PATH, group))["hooks"]) == 1
        return json_edit.remove_in(text, (*PATH, *(place[:1] if alone else place)))

    return edit_json(target, edit, dry_run=dry_run)


def _own_place(value: object) -> tuple[int, str, int] | None:
    """Return where our command stands below ``PATH``."""
    try:
        groups = _at(value, PATH)
    except (KeyError, TypeError):
        return None
    for at, group in enumerate(groups if isinstance(groups, list) else ()):
        held = group.get("hooks") if isinstance(group, dict) else None
        for place, hook in enumerate(held if isinstance(held, list) else ()):
            said = hook.get("command") if isinstance(hook, dict) else None
            if isinstance(said, str) and _MARK in said and "agentic-os" in said:
                return at, "hooks", place
    return None


def _at(value: Any, path: Sequence[str | int]) -> Any:
    for name in path:
        value = value[name]
    return value
