"""The files that tell agents how to work in a repository, and which harness reads which of them.

``INSTRUCTIONS`` says where they lie, ``HARNESSES`` in which order a harness loads them. Nested
files (``NESTED_NAMES``) govern the folder that they lie in.
"""

from typing import NamedTuple

from agentic_os.registry.conventions.matching import Convention

IMPORT_HOPS = 5
"""Claude Code follows ``@path`` imports this far."""
CODEX_CHAIN_BYTES = 32_768
"""Codex joins all files from the root to the folder and drops what lies beyond."""
WINDSURF_RULE_CHARS = 12_000
"""Windsurf and Devin drop what a rule file has beyond."""
COPILOT_REVIEW_CHARS = 4_000
"""Copilot's code review reads so much of an instruction file."""


def _row(form: str, harness: str, pattern: str) -> Convention:
    return Convention(form, harness, "instructions", pattern, "instructions")


INSTRUCTIONS: tuple[Convention, ...] = (
    _row("agents-override", "codex", "AGENTS.override.md"),
    _row("agents", "agents.md", "AGENTS.md"),
    _row("agents-lower", "agents.md", "agents.md"),
    _row("agent", "agents.md", "AGENT.md"),
    _row("claude", "claude-code", "CLAUDE.md"),
    _row("claude-folder", "claude-code", ".claude/CLAUDE.md"),
    _row("claude-rules", "claude-code", ".claude/rules/**/*.md"),
    _row("claude-local", "claude-code", "CLAUDE.local.md"),
    _row("gemini", "gemini-cli", "GEMINI.md"),
    _row("copilot", "copilot", ".github/copilot-instructions.md"),
    _row("copilot-scoped", "copilot", ".github/instructions/**/*.instructions.md"),
    _row("cursor-rules", "cursor", ".cursor/rules/**/*.mdc"),
    _row("cursor-rules-md", "cursor", ".cursor/rules/**/*.md"),
    _row("cursorrules", "cursor", ".cursorrules"),
    _row("devin-rules", "windsurf", ".devin/rules/*.md"),
    _row("windsurf-rules", "windsurf", ".windsurf/rules/**/*.md"),
    _row("windsurfrules", "windsurf", ".windsurfrules"),
    _row("cline-file", "cline", ".clinerules"),
    _row("cline-rules", "cline", ".clinerules/**/*.md"),
    _row("cline-rules-txt", "cline", ".clinerules/**/*.txt"),
    _row("roo-rules", "roo", ".roo/rules*/**/*.md"),
    _row("roo-rules-txt", "roo", ".roo/rules*/**/*.txt"),
    _row("roorules", "roo", ".roorules"),
    _row("kiro-steering", "kiro", ".kiro/steering/**/*.md"),
    _row("amazonq-rules", "amazon-q", ".amazonq/rules/**/*.md"),
    _row("junie", "junie", ".junie/guidelines.md"),
    _row("junie-agents", "junie", ".junie/AGENTS.md"),
    _row("zed-rules", "zed", ".rules"),
    _row("aider", "aider", "CONVENTIONS.md"),
    _row("continue-rules", "continue", ".continue/rules/**/*.md"),
)

NESTED_NAMES = frozenset(
    {
        "AGENTS.override.md",
        "AGENTS.md",
        "agents.md",
        "AGENT.md",
        "CLAUDE.md",
        "CLAUDE.local.md",
        "GEMINI.md",
    }
)
"""Files that govern the folder that they lie in, wherever in the project."""
PRIVATE_FORMS = frozenset({"claude-local"})
"""One person's own words: read, and shown only when asked for."""


class Harness(NamedTuple):
    """How one harness chooses among the files: the forms it loads, in order.

    ``first`` names forms of which only the first that is there counts, in each folder.
    """

    name: str
    forms: tuple[str, ...]
    first: tuple[tuple[str, ...], ...] = ()
    nested: bool = True


_AGENTS = ("agents", "agents-lower")
HARNESSES: tuple[Harness, ...] = (
    Harness(
        "claude-code",
        (
            "personal-claude",
            "personal-claude-rules",
            "claude",
            "claude-folder",
            *_AGENTS,
            "claude-rules",
            "claude-local",
        ),
        (("claude", "claude-folder", *_AGENTS),),  # AGENTS.md only where no CLAUDE.md stands
    ),
    Harness(
        "codex",
        ("personal-codex-override", "personal-codex", "agents-override", *_AGENTS),
        (("personal-codex-override", "personal-codex"), ("agents-override", *_AGENTS)),
    ),
    Harness("gemini-cli", ("personal-gemini", "gemini")),
    Harness("copilot", ("copilot", "copilot-scoped", *_AGENTS, "claude", "gemini")),
    Harness("cursor", ("cursor-rules", "cursor-rules-md", "cursorrules", *_AGENTS)),
    Harness("windsurf", ("devin-rules", "windsurf-rules", "windsurfrules", *_AGENTS)),
    Harness("cline", ("cline-file", "cline-rules", "cline-rules-txt", *_AGENTS), nested=False),
    Harness("roo", ("roo-rules", "roo-rules-txt", "roorules", *_AGENTS), nested=False),
    Harness("kiro", ("kiro-steering", *_AGENTS), nested=False),
    Harness("amazon-q", ("amazonq-rules", *_AGENTS), nested=False),
    Harness("junie", ("junie-agents", "junie", *_AGENTS), (("junie-agents", "junie", *_AGENTS),)),
    Harness(
        "zed",
        (
            "zed-rules",
            "cursorrules",
            "windsurfrules",
            "cline-file",
            "copilot",
            "agent",
            *_AGENTS,
            "claude",
            "gemini",
        ),
        (
            (
                "zed-rules",
                "cursorrules",
                "windsurfrules",
                "cline-file",
                "copilot",
                "agent",
                *_AGENTS,
                "claude",
                "gemini",
            ),
        ),
        nested=False,
    ),
    Harness("aider", ("aider",), nested=False),
    Harness("continue", ("continue-rules", *_AGENTS), nested=False),
)
