"""What harnesses keep in the person's own folders: for one project, or for the person.

Paths begin with ``@harness``: no folder of a project is meant.
"""

from agentic_os.registry.conventions.matching import Convention, Surface


def _row(form: str, harness: str, surface: Surface, pattern: str, reads: str) -> Convention:
    return Convention(form, harness, surface, pattern, reads)


PERSONAL: tuple[Convention, ...] = (
    _row("claude-auto-index", "claude-code", "memory", "@claude-code/memory*/MEMORY.md", "index"),
    _row("claude-auto", "claude-code", "memory", "@claude-code/memory*/**/*.md", "fact"),
    _row("codex-memory", "codex", "memory", "@codex/memories/*.md", "bank"),
    _row("codex-rollouts", "codex", "memory", "@codex/memories/rollout_summaries/*.md", "fact"),
    _row("serena-global", "serena", "memory", "@serena/memories/global/**/*.md", "serena"),
    _row(
        "personal-claude", "claude-code", "instructions", "@claude-code/CLAUDE.md", "instructions"
    ),
    _row(
        "personal-claude-rules",
        "claude-code",
        "instructions",
        "@claude-code/rules/**/*.md",
        "instructions",
    ),
    _row(
        "personal-codex-override",
        "codex",
        "instructions",
        "@codex/AGENTS.override.md",
        "instructions",
    ),
    _row("personal-codex", "codex", "instructions", "@codex/AGENTS.md", "instructions"),
    _row("personal-gemini", "gemini-cli", "instructions", "@gemini-cli/GEMINI.md", "instructions"),
)
