"""Every diagnostic of this room: its code, how bad it is, what it means, what to do."""

from agentic_os.codes import CodeTable

WALK_BOUNDS = frozenset({"FOLDER_LIMIT", "ENTRY_LIMIT"})
"""The codes of a walk that stopped before it had seen the whole root."""
SURFACE_UNREADABLE = "SURFACE_UNREADABLE"
"""A surface that is there and that this user may not open."""
HELD_IN_NAMES = frozenset({"NAME_HOLDS_SECRET"})
"""The codes of secrets that stand in a name, not in a file."""

_LINK_HINT = "links inside a project are never followed; put the real file or folder there"

CODES = CodeTable(
    # The descriptor as a file
    (
        "DESCRIPTOR_MISSING",
        "warning",
        "A folder has .agents/ but no readable config.yaml in it: it is not a project now.",
        "if it was one, restore .agents/config.yaml; project-init writes it",
    ),
    (
        "DESCRIPTOR_REFUSED",
        "warning",
        "The descriptor, or the folder that holds it, is a link; it was not followed.",
        _LINK_HINT,
    ),
    (
        "DESCRIPTOR_UNREADABLE",
        "warning",
        "The descriptor could not be read: its mode, its kind, or it kept changing.",
        "it must be an ordinary file that you may read",
    ),
    (
        "DESCRIPTOR_TOO_LARGE",
        "warning",
        "The descriptor is larger than the cap and was not read.",
        "real descriptors have 12 to 26 KB; the cap is 256 KiB",
    ),
    (
        "DESCRIPTOR_SHADOWED",
        "info",
        "Both .agents/config.yaml and .claude/config.yaml exist; the first one counts.",
    ),
    (
        "DESCRIPTOR_FALLBACK",
        "warning",
        "The descriptor in .agents/ says nothing usable; the one in .claude/ was taken.",
        "repair or remove .agents/config.yaml",
    ),
    (
        "DESCRIPTOR_FOREIGN",
        "info",
        "A config.yaml of another tool; the folder is not a project of the fleet.",
    ),
    (
        "LAYOUT_NOT_A_FOLDER",
        "info",
        ".agents is a plain file, as links become where links are switched off.",
    ),
    # The descriptor as text
    (
        "DESCRIPTOR_EMPTY",
        "warning",
        "The descriptor holds nothing; the project is listed without memory.",
        "project-init writes it anew",
    ),
    (
        "DESCRIPTOR_UNPARSEABLE",
        "error",
        "The descriptor is not valid YAML; the project is listed without memory.",
        "look at the line that is named: merge markers, tabs, an unquoted ': '",
    ),
    (
        "DESCRIPTOR_TOO_DEEP",
        "error",
        "The descriptor is nested deeper than any real one and was not read.",
    ),
    (
        "DESCRIPTOR_NOT_UTF8",
        "warning",
        "The descriptor is not UTF-8; what could not be read stands as U+FFFD.",
        "save it as UTF-8",
    ),
    (
        "DESCRIPTOR_CONTROL_CHARACTERS",
        "warning",
        "The descriptor holds control characters; they were replaced.",
        "remove them",
    ),
    (
        "KEY_DUPLICATE",
        "warning",
        "A key stands twice in one block; the last one counts.",
        "remove one of them",
    ),
    (
        "FIELD_MALFORMED",
        "warning",
        "A field has a value of a kind that it cannot have; it was left out.",
    ),
    (
        "NAME_MISSING",
        "warning",
        "The descriptor names no project; the folder's name is used.",
        "set project.name",
    ),
    (
        "NAME_CLEANED",
        "warning",
        "The project's name was too long or held invisible characters; it was made plain.",
        "set project.name to a short line of visible text",
    ),
    (
        "CREATED_INVALID",
        "warning",
        "project.created is not a date; it is kept as text.",
        "write it as YYYY-MM-DD",
    ),
    (
        "CONTRACT_MALFORMED",
        "warning",
        "The contract version is there but is no whole number from 0 up.",
        "project-init writes 2",
    ),
    (
        "CONTRACT_NEWER",
        "warning",
        "The contract version is newer than this reader knows; it was read all the same.",
        "look for a newer release of agentic-os",
    ),
    (
        "CONTEXT_MALFORMED",
        "warning",
        "context is neither repo nor ambient; it was ignored.",
    ),
    # The memory block
    (
        "MEMORY_MALFORMED",
        "warning",
        "The memory block is not a mapping; no memory is read.",
        "project-init add memory STACK --apply writes one",
    ),
    (
        "STACK_MISSING",
        "warning",
        "The memory block names no stack; its tier, or 0, is taken.",
        "set memory.stack",
    ),
    (
        "STACK_UNKNOWN",
        "warning",
        "The memory block names a stack that nobody knows; its tier, or 0, is taken.",
        "stacks: none, auto, obsidian-only, obsidian-graphify, obsidian-graphify-rag",
    ),
    (
        "TIER_MALFORMED",
        "warning",
        "memory.tier is no whole number; it was ignored.",
        "tiers are 0, 1, 2, 3",
    ),
    (
        "TIER_OUT_OF_RANGE",
        "warning",
        "memory.tier lies outside 0 to 3; the nearest tier is taken.",
        "tiers are 0, 1, 2, 3",
    ),
    (
        "TIER_DISAGREES",
        "warning",
        "memory.tier is not the tier of the stack; the stack counts.",
        "change memory with project-init add memory STACK --apply",
    ),
    (
        "SURFACE_OUTSIDE",
        "warning",
        "A declared path leaves the project, or cannot be a path; it is never opened.",
        "declare a relative path inside the project",
    ),
    (
        "SURFACE_BELOW_TIER",
        "warning",
        "A surface is declared that the project's tier does not have; it was ignored.",
    ),
    (
        "SURFACE_UNDECLARED",
        "warning",
        "The project's tier has a surface whose path is not declared; it is not read.",
        "declare its path in the memory block",
    ),
    # The record of the scaffolder
    (
        "RECORD_ESCAPES",
        "info",
        "The scaffold record holds escapes that strict YAML readers reject; it is JSON here.",
    ),
    (
        "RECORD_UNREADABLE",
        "warning",
        "A part of the scaffold record is not what project-init writes; it was left out.",
    ),
    (
        "RECORD_DISAGREES",
        "info",
        "The scaffold record says something else than the visible block, which counts.",
        "project-init upgrade --apply brings them together",
    ),
    # Surfaces on disk
    (
        "MEMORY_MISSING",
        "warning",
        "The declared memory folder does not exist.",
        "create it, or set memory.stack to none",
    ),
    (
        "MEMORY_INDEX_MISSING",
        "warning",
        "The memory folder has no MEMORY.md.",
        "write one; it is read first",
    ),
    (
        "MEMORY_LEFT_BEHIND",
        "info",
        "The project has opted out of memory, yet a MEMORY.md lies on disk; it is not read.",
    ),
    (
        "VAULT_MISSING",
        "warning",
        "The declared vault folder does not exist.",
    ),
    (
        "SURFACE_REFUSED",
        "warning",
        "A surface is a link, or no ordinary file or folder; it is never opened.",
        _LINK_HINT,
    ),
    (
        SURFACE_UNREADABLE,
        "warning",
        "A surface exists but could not be looked at.",
    ),
    # The walk
    (
        "FOLDER_UNREADABLE",
        "warning",
        "A folder could not be listed; projects below it are not seen.",
    ),
    (
        "DEPTH_LIMIT",
        "info",
        "Folders below the depth limit were not entered.",
        "raise depth under [limits] in projects.toml, or list the project by its path",
    ),
    (
        "FOLDER_LIMIT",
        "warning",
        "The walk of a root stopped at the bound on folders.",
        "raise folders under [limits] in projects.toml, or name smaller roots",
    ),
    (
        "ENTRY_LIMIT",
        "warning",
        "A folder has more entries than are looked at; some folders in it are not seen.",
        "raise entries under [limits] in projects.toml, or exclude the folder",
    ),
    (
        "ROOT_OVERLAPS",
        "info",
        "A root lies in another one, or is one that was already walked; it counts once.",
    ),
    (
        "AIOS_FOLDER_SKIPPED",
        "info",
        "An AIOS folder is the person's own context; it is never walked as a project.",
    ),
    (
        "LISTED_PROJECT_MISSING",
        "warning",
        "A project that projects.toml lists by its path is not there, or is no project.",
        "correct or remove its [[project]] entry; adopt = true takes in one without a descriptor",
    ),
    # Identity
    (
        "CLONES_DIFFER",
        "warning",
        "Clones of one project say different things, and nothing says which one is meant.",
        "list the one you mean under [[project]] in projects.toml, or exclude the others",
    ),
    (
        "CLONES_EQUAL",
        "info",
        "Clones of one project are equal in all that is compared; one of them is read.",
    ),
    (
        "WORKTREES_DIFFER",
        "warning",
        "Worktrees of one repository say different things, and only one of them is read.",
        "list the one you mean under [[project]] in projects.toml, or exclude the others",
    ),
    (
        "HARNESS_MEMORY_AMBIGUOUS",
        "warning",
        "The name of a folder of Claude Code's memory means several projects; it was not read.",
        "rename one of the folders; Claude Code names memory by path, without its punctuation",
    ),
    (
        "NAME_HOLDS_SECRET",
        "warning",
        "A secret stands in the name of a project, its branch or its folder; it was replaced.",
        "rename it and rotate the secret, or allow it under [redaction] in projects.toml",
    ),
    (
        "NAME_SHARED",
        "warning",
        "Two projects have one name; use their ids or aliases.",
        "rename one, or give it an alias in projects.toml",
    ),
    (
        "ID_PIN_COLLIDES",
        "warning",
        "A pinned id is already the id of another project; the pin was ignored.",
        "pin another id in projects.toml",
    ),
    (
        "ID_COLLIDES",
        "warning",
        "Two projects hash to one id; one of them got a longer id.",
        "pin an id in projects.toml",
    ),
)

diagnostic = CODES.diagnostic
