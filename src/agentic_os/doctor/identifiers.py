"""The ids of the checks and what each looks at; the reference page is made from this table."""

from agentic_os.results import Check

CHECKS: dict[str, str] = {
    "sqlite.version": "This machine's SQLite has what the store needs.",
    "store.health": "The derived store is readable and whole.",
    "index": "The semantic index, where there is one, is whole and up to date.",
    "roots.walk": "Every root was walked to its end.",
    "fleet.names": "No two projects share a name or an id.",
    "fleet.clones": "Clones and worktrees of one project say the same, or one of them is listed.",
    "engine.grants": "Projects still name the engines that they were granted.",
    "contract": "The descriptor can be read, keeps the contract and agrees with its record.",
    "surface.missing": "The surfaces a descriptor declares exist and may be opened.",
    "graph": "Code graphs can be read.",
    "evidence.unread": "Every file that counts could be read.",
    "text.form": "Files are UTF-8 with plain front matter, inventories of the known form.",
    "memory.index": "MEMORY.md lists the facts that exist, and all of them.",
    "memory.length": "MEMORY.md stays below what harnesses load.",
    "instructions.drift": "AGENTS.md and CLAUDE.md do not drift apart.",
    "instructions.imports": "Imports of instruction files lead to files of the project.",
    "instructions.length": "Harnesses read the instruction files to their end.",
    "instructions.rules": "Repositories state the same rule with the same value.",
    "capabilities.agree": "CAPABILITIES.md names the servers and skills that are there.",
    "secrets": "No secrets stand in memory, vault or inventory.",
}

IDENTITY_CHECKS: dict[str, str] = {
    "identity.ledger": "The identity's ledger verifies and agrees with what lies beside it.",
    "identity.witnessed": "A witness has acknowledged the ledger lately.",
    "witness.health": "The witness run here has its memory, and its manifest holds.",
}
"""The checks of the ledger's side of this machine; made when no project is named."""

FOLDER_CHECKS: dict[str, str] = {
    "aios.context": "The working context of the AIOS folder can be read.",
    "aios.copies": "No sync tool left a second copy of what two machines wrote.",
    "aios.vault": "The vault of the AIOS folder lies inside it, or is granted.",
}
"""The checks of the AIOS folder; made when no project is named."""

PLUGIN_CHECKS: dict[str, str] = {
    "plugins": "Installed plugins verify, and the roots and grants of plugins count.",
}
"""The check of plugins; made when no project is named."""


def nothing_to_check(check: str, why: str) -> Check:
    """Say that a check looked at nothing; an "ok" would claim what nobody saw."""
    return Check(id=check, status="none", message=f"nothing to check: {why}")
