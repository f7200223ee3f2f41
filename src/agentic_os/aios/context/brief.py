"""The compact brief: the unchanged projection in its read-only envelope.

The same projection goes to a terminal, to a session-start hook and through MCP; the
migration notice and the coverage notice stand before it and spend none of its budget
(DotAIOS convention, brief output forms).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agentic_os.aios.context.operational import NOT_READ, Migration, inspect_migration
from agentic_os.aios.context.selection import (
    DEFAULT_BUDGET_CHARS,
    DEFAULT_SESSIONS,
    WorkingContext,
    read_working_context,
)
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.allowance import SEARCH_LIMIT, Allowance, Charges
from agentic_os.aios.folder.configuration import require_folder
from agentic_os.aios.folder.faults import (
    FOLDER_MISSING,
    WORKING_CONTEXT_FAILED,
    argument_fault,
    fault,
)
from agentic_os.aios.folder.json_text import JsonObject, compact, pretty
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.projects.catalog import read_identities
from agentic_os.aios.projects.placement import checkout_of, checkouts_at, read_mappings
from agentic_os.errors import AiosError

HOOK_EVENT: Final = "BeforeAgent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """A projection, the migration state beside it, and the requested selector."""

    context: WorkingContext
    migration: Migration
    selector: str | None

    def text(self) -> str:
        """Return notices and projection as one text."""
        coverage = self.context.coverage
        notices = (self.migration.notice, None if coverage is None else coverage.notice)
        return "\n\n".join([*(notice for notice in notices if notice), self.context.markdown])

    def hook_json(self) -> str:
        """Return the one line of JSON for a host's hook."""
        context = self.context
        said = (
            context.receipt if context.notice is None else f"{context.receipt} — {context.notice}"
        )
        value: JsonObject = {
            "systemMessage": said,
            "hookSpecificOutput": {
                "hookEventName": HOOK_EVENT,
                "additionalContext": self.text(),
            },
            "dotaiosMemory": {"mode": context.mode, "project": self.selector},
            "contextBudget": context.budget.as_json(),
        }
        if context.coverage is not None:
            value["contextCoverage"] = context.coverage.as_json()
        if context.sources:
            value["contextSources"] = [source.as_json() for source in context.sources]
        trust = trust_json(context)
        if trust is not None:
            value["contextTrust"] = trust
        return compact(value)

    def project_json(self) -> str:
        """Return the document of ``aios context``."""
        return pretty(
            {
                "project": self.context.project,
                "generated_at": self.context.generated_at,
                "context_budget": self.context.budget.as_json(),
                "context": self.context.markdown,
            }
        )


def trust_json(context: WorkingContext) -> JsonObject | None:
    """Return what was withheld and counted; ``None`` for a clean projection."""
    if not context.withheld and not context.hidden_characters:
        return None
    return {"withheld": context.withheld, "hiddenCharacters": context.hidden_characters}


def read_brief(
    access: AiosAccess,
    policy: MemoryPolicy,
    *,
    sessions: int = DEFAULT_SESSIONS,
    budget: int = DEFAULT_BUDGET_CHARS,
) -> Brief:
    """Read the projection and, unless memory is off, the migration state.

    Raises:
        AiosError: as ``read_working_context``.
    """
    context = read_working_context(access, policy, sessions=sessions, budget=budget)
    migration = NOT_READ if policy.mode == "off" else inspect_migration(access)
    return Brief(context=context, migration=migration, selector=policy.selector)


def attached_project(access: AiosAccess, cwd: Path) -> str | None:
    """Return the id of the project whose verified checkout contains ``cwd``, the innermost.

    Raises:
        AiosError: DOTAIOS_ARGUMENT_INVALID for a path that is not absolute;
            DOTAIOS_FOLDER_MISSING; DOTAIOS_WORKING_CONTEXT_READ_FAILED;
            DOTAIOS_PROJECT_STATE_INVALID.
    """
    text = str(cwd)
    if not cwd.is_absolute() or not text.isprintable():
        raise argument_fault("the working directory must be an absolute path")
    mappings = read_mappings(access)
    try:
        with FolderReader(access.root, files=access.files) as reader:
            require_folder(reader, hold=True)
            identities = read_identities(reader, Charges(Allowance(SEARCH_LIMIT)))
            reader.recheck()
    except AiosError as error:
        if error.code == FOLDER_MISSING:
            raise
        raise fault(WORKING_CONTEXT_FAILED, cause=error) from error
    checkouts = [checkout_of(access, identity, mappings) for identity in identities]
    around = checkouts_at(access, checkouts, cwd)
    around.sort(key=lambda checkout: len(str(checkout.path)))
    return around[-1].identity.id if around else None
