"""The AIOS folder: a person's context, read whole, bounded and fail-closed.

One call answers one question; each takes how the folder is reached (``AiosAccess``) and
the memory choice (``resolve_policy``), and returns a frozen value that every adapter
renders: ``read_brief``, ``read_lean``, ``search_aios``, ``follow_source``,
``resolve_skill``, ``resolve_intent``. Nothing here writes. Names are loaded from their
modules when they are first asked for (start-up budget). Rules: docs/reference/aios.md.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentic_os.aios.access import AiosAccess
    from agentic_os.aios.answers import search_text, skill_text, working_context_document
    from agentic_os.aios.brief import Brief, attached_project, read_brief
    from agentic_os.aios.follow import follow_source
    from agentic_os.aios.follow_pages import SourceAnswer, SourceOff, SourcePage, SourceRefusal
    from agentic_os.aios.layer import FileLayer
    from agentic_os.aios.lean import LeanBrief, read_lean
    from agentic_os.aios.operational import Migration, inspect_migration
    from agentic_os.aios.placement import default_state_path
    from agentic_os.aios.policy import MODES, MemoryMode, MemoryPolicy, resolve_policy
    from agentic_os.aios.projection import WorkingContext, read_working_context
    from agentic_os.aios.repository import selected_repository
    from agentic_os.aios.resolution import resolve_intent
    from agentic_os.aios.resolution_values import IntentResolution
    from agentic_os.aios.search import search_aios
    from agentic_os.aios.search_values import SCOPES, SearchAnswer, SearchScope, SessionFilters
    from agentic_os.aios.skills import SkillAnswer, resolve_skill
    from agentic_os.aios.tools import ToolRequest
    from agentic_os.aios.withheld import SecretGuard

__all__ = [
    "MODES",
    "SCOPES",
    "AiosAccess",
    "Brief",
    "FileLayer",
    "IntentResolution",
    "LeanBrief",
    "MemoryMode",
    "MemoryPolicy",
    "Migration",
    "SearchAnswer",
    "SearchScope",
    "SecretGuard",
    "SessionFilters",
    "SkillAnswer",
    "SourceAnswer",
    "SourceOff",
    "SourcePage",
    "SourceRefusal",
    "ToolRequest",
    "WorkingContext",
    "attached_project",
    "default_state_path",
    "follow_source",
    "inspect_migration",
    "read_brief",
    "read_lean",
    "read_working_context",
    "resolve_intent",
    "resolve_policy",
    "resolve_skill",
    "search_aios",
    "search_text",
    "selected_repository",
    "skill_text",
    "working_context_document",
]

_MODULES: dict[str, tuple[str, ...]] = {
    "access": ("AiosAccess",),
    "answers": (
        "search_text",
        "skill_text",
        "working_context_document",
    ),
    "brief": (
        "Brief",
        "attached_project",
        "read_brief",
    ),
    "follow": ("follow_source",),
    "follow_pages": (
        "SourceAnswer",
        "SourceOff",
        "SourcePage",
        "SourceRefusal",
    ),
    "layer": ("FileLayer",),
    "lean": (
        "LeanBrief",
        "read_lean",
    ),
    "operational": (
        "Migration",
        "inspect_migration",
    ),
    "placement": ("default_state_path",),
    "policy": (
        "MODES",
        "MemoryMode",
        "MemoryPolicy",
        "resolve_policy",
    ),
    "projection": (
        "WorkingContext",
        "read_working_context",
    ),
    "repository": ("selected_repository",),
    "resolution": ("resolve_intent",),
    "resolution_values": ("IntentResolution",),
    "search": ("search_aios",),
    "search_values": (
        "SCOPES",
        "SearchAnswer",
        "SearchScope",
        "SessionFilters",
    ),
    "skills": (
        "SkillAnswer",
        "resolve_skill",
    ),
    "tools": ("ToolRequest",),
    "withheld": ("SecretGuard",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a public name from its module (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
