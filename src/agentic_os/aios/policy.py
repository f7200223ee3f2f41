"""The memory choice of a request: shared, project or off (DotAIOS convention, memory modes).

Decided from the arguments alone, before any call to the file layer, so that Off can be
proved to touch nothing. Order: an explicit off wins; else the first user message; else
the explicit mode; else project when a selector was given; else shared.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal, get_args

from agentic_os.aios.folder.faults import POLICY_INVALID, argument_fault

MemoryMode = Literal["shared", "project", "off"]

MODES: Final[tuple[MemoryMode, ...]] = get_args(MemoryMode)
RECEIPTS: Final[dict[MemoryMode, str]] = {
    "shared": "Memory: Shared",
    "project": "Memory: This project",
    "off": "Memory: Off",
}
OFF_NOTICE: Final = (
    "AIOS memory is off for this request: nothing was read, searched, saved or captured. "
    "The application you are talking to may still keep its own history."
)

_FIRST_MESSAGES: Final[tuple[tuple[re.Pattern[str], MemoryMode], ...]] = (
    (re.compile(r"private chat(?![A-Za-z0-9_])", re.IGNORECASE), "off"),
    (re.compile(r"only this project(?![A-Za-z0-9_])", re.IGNORECASE), "project"),
    (re.compile(r"use my memory(?![A-Za-z0-9_])", re.IGNORECASE), "shared"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPolicy:
    """What a request may read.

    ``selector`` names the project in project mode, else ``None``; ``notice`` is there
    only when memory is off.
    """

    mode: MemoryMode
    selector: str | None
    receipt: str
    notice: str | None


def resolve_policy(
    *,
    mode: str | None = None,
    project: str | None = None,
    first_message: str | None = None,
    deferred_project: bool = False,
) -> MemoryPolicy:
    """Decide the memory choice; reads nothing.

    Args:
        mode: ``shared``, ``project`` or ``off``, if the caller chose one.
        project: a project selector, if the caller gave one.
        first_message: the first user message of a session, if there is one.
        deferred_project: allow project mode without a selector (the caller finds the
            project from the working directory later).

    Raises:
        AiosError: DOTAIOS_MEMORY_POLICY_INVALID for an unknown mode, an empty selector,
            shared with a selector, or project without one.
    """
    if mode == "off":
        return _policy("off", None)
    if mode is not None and mode not in MODES:
        raise argument_fault(
            f"the memory mode must be one of {', '.join(MODES)}", code=POLICY_INVALID
        )
    if project is not None and not project.strip():
        raise argument_fault("the project selector is empty", code=POLICY_INVALID)
    spoken = _spoken_mode(first_message)
    if spoken is None and mode == "shared" and project is not None:
        raise argument_fault(
            "shared memory and a project selector exclude each other",
            code=POLICY_INVALID,
            hint="leave the selector out, or choose project memory",
        )
    chosen = spoken or _mode(mode) or ("shared" if project is None else "project")
    if chosen == "project" and project is None and not deferred_project:
        raise argument_fault(
            "project memory needs a project selector",
            code=POLICY_INVALID,
            hint="pass the slug or stable id of a project",
        )
    return _policy(chosen, project if chosen == "project" else None)


def _policy(mode: MemoryMode, selector: str | None) -> MemoryPolicy:
    return MemoryPolicy(
        mode=mode,
        selector=selector,
        receipt=RECEIPTS[mode],
        notice=OFF_NOTICE if mode == "off" else None,
    )


def _mode(value: str | None) -> MemoryMode | None:
    return next((mode for mode in MODES if mode == value), None)


def _spoken_mode(message: str | None) -> MemoryMode | None:
    """Find the mode that a first message asks for by how it starts."""
    if message is None:
        return None
    start = message.lstrip().removeprefix("\ufeff").lstrip()
    return next((mode for pattern, mode in _FIRST_MESSAGES if pattern.match(start)), None)
