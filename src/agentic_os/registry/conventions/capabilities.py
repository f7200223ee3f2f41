"""Where harnesses find the servers, skills, agents, commands, hooks and plugins of a repository."""

from agentic_os.registry.conventions.matching import Convention

SKILL_FOLDERS = (
    (".claude/skills", "claude-code"),
    (".agents/skills", "agents"),
    (".cursor/skills", "cursor"),
    (".codex/skills", "codex"),
    (".github/skills", "copilot"),
    (".gemini/skills", "gemini-cli"),
    ("skills", "agents"),
)


def _row(form: str, harness: str, pattern: str, reads: str) -> Convention:
    return Convention(form, harness, "capabilities", pattern, reads)


CAPABILITIES: tuple[Convention, ...] = (
    _row("mcp", "claude-code", ".mcp.json", "mcp-servers"),
    _row("cursor-mcp", "cursor", ".cursor/mcp.json", "mcp-servers"),
    _row("roo-mcp", "roo", ".roo/mcp.json", "mcp-servers"),
    _row("gemini-settings", "gemini-cli", ".gemini/settings.json", "settings"),
    _row("claude-settings", "claude-code", ".claude/settings.json", "settings"),
    _row("vscode-mcp", "copilot", ".vscode/mcp.json", "mcp-servers"),
    _row("opencode", "opencode", "opencode.json", "settings"),
    _row("opencode-jsonc", "opencode", "opencode.jsonc", "settings"),
    _row("codex-config", "codex", ".codex/config.toml", "codex-config"),
    *(
        _row(
            f"skills-{folder.strip('.').replace('/', '-')}",
            harness,
            f"{folder}/*/SKILL.md",
            "skill",
        )
        for folder, harness in SKILL_FOLDERS
    ),
    _row("claude-agents", "claude-code", ".claude/agents/**/*.md", "agent"),
    _row("copilot-agents", "copilot", ".github/agents/*.md", "agent"),
    _row("opencode-agents", "opencode", ".opencode/agent/*.md", "agent"),
    _row("opencode-agents-plural", "opencode", ".opencode/agents/*.md", "agent"),
    _row("claude-commands", "claude-code", ".claude/commands/**/*.md", "command"),
    _row("copilot-prompts", "copilot", ".github/prompts/*.prompt.md", "command"),
    _row("gemini-commands", "gemini-cli", ".gemini/commands/**/*.toml", "toml-command"),
    _row("opencode-commands", "opencode", ".opencode/command/*.md", "command"),
    _row("opencode-commands-plural", "opencode", ".opencode/commands/*.md", "command"),
    _row("cursor-commands", "cursor", ".cursor/commands/*.md", "command"),
    _row("cursor-hooks", "cursor", ".cursor/hooks.json", "hooks"),
    _row("codex-hooks", "codex", ".codex/hooks.json", "hooks"),
    _row("plugin", "claude-code", ".claude-plugin/plugin.json", "plugin"),
    _row("marketplace", "claude-code", ".claude-plugin/marketplace.json", "marketplace"),
)
