"""Where harnesses and their users keep a repository's memory, beside what a descriptor declares."""

from agentic_os.registry.conventions.matching import Convention


def _row(form: str, harness: str, pattern: str, reads: str) -> Convention:
    return Convention(form, harness, "memory", pattern, reads)


LAYOUT_MEMORIES: tuple[Convention, ...] = (
    _row("agents-memory-index", "project-init", ".agents/memory/MEMORY.md", "index"),
    _row("agents-memory", "project-init", ".agents/memory/**/*.md", "fact"),
    _row("claude-memory-index", "claude-code", ".claude/memory/MEMORY.md", "index"),
    _row("claude-memory", "claude-code", ".claude/memory/**/*.md", "fact"),
)
"""The two folders that a descriptor speaks for: read of a project that has none."""
OTHER_MEMORIES: tuple[Convention, ...] = (
    _row("claude-agent-index", "claude-code", ".claude/agent-memory/*/MEMORY.md", "index"),
    _row("claude-agent", "claude-code", ".claude/agent-memory/*/**/*.md", "agent-fact"),
    _row("serena", "serena", ".serena/memories/**/*.md", "serena"),
    _row("memory-bank", "memory-bank", "memory-bank/**/*.md", "bank"),
    _row("memory-bank-dotted", "memory-bank", ".memory-bank/**/*.md", "bank"),
    _row("memory-bank-kilo", "kilo", ".kilocode/rules/memory-bank/*.md", "bank"),
)
