"""One fixture for each row of the tables of conventions: the file, and what is taken from it."""

from dataclasses import dataclass

FRONT = "---\nname: {name}\ndescription: {text}\n---\n\n{text}\n"
SERVER = (
    '{{\n  // ours\n  "{key}": {{"{name}": {{"command": "npx", "args": ["--key", "s3"],}},}},\n}}\n'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixture:
    """A file, the names of the passages or capabilities that it comes to, and its scope."""

    path: str
    text: str
    names: tuple[str, ...]
    scope: tuple[str, tuple[str, ...], str] = ("", (), "always")
    """The folder it governs, its globs, when it is loaded."""


def plain(path: str, title: str, scope: tuple[str, tuple[str, ...], str] | None = None) -> Fixture:
    """An instruction file with one heading."""
    return Fixture(
        path=path,
        text=f"# {title}\n\nAlways say please to {title}.\n",
        names=(title,),
        scope=scope or ("", (), "always"),
    )


def scoped(path: str, key: str, value: str, globs: tuple[str, ...], when: str = "paths") -> Fixture:
    """An instruction file whose front matter scopes it."""
    text = f"---\ndescription: for some\n{key}: {value}\n---\n# Scoped\n\nUse the linter.\n"
    return Fixture(path=path, text=text, names=("Scoped",), scope=("", globs, when))


def fact(path: str, name: str) -> Fixture:
    """A fact with front matter."""
    return Fixture(path=path, text=FRONT.format(name=name, text="It rains."), names=(name,))


def tool(path: str, name: str) -> Fixture:
    """A skill, agent or command with front matter."""
    return Fixture(path=path, text=FRONT.format(name=name, text="Does it."), names=(name,))


def servers(path: str, key: str, name: str) -> Fixture:
    """A list of servers with a comment and trailing commas."""
    return Fixture(path=path, text=SERVER.format(key=key, name=name), names=(name,))


FIXTURES: dict[str, Fixture] = {
    # instructions
    "agents-override": plain("AGENTS.override.md", "Override"),
    "agents": plain("AGENTS.md", "Agents"),
    "agents-lower": plain("agents.md", "Lower"),
    "agent": plain("AGENT.md", "Agent"),
    "claude": plain("CLAUDE.md", "Claude"),
    "claude-folder": plain(".claude/CLAUDE.md", "Folder"),
    "claude-rules": scoped(
        ".claude/rules/web/ts.md",
        "paths",
        '\n  - "src/**/*.ts"\n  - lib/**',
        ("src/**/*.ts", "lib/**"),
    ),
    "claude-local": plain("CLAUDE.local.md", "Local"),
    "gemini": Fixture(
        path="GEMINI.md",
        text="# Gemini\n\nTabs.\n\n## Gemini Added Memories\n- The port is 8080.\n",
        names=("Gemini", "Gemini Added Memories"),
    ),
    "copilot": plain(".github/copilot-instructions.md", "Copilot"),
    "copilot-scoped": scoped(
        ".github/instructions/py/x.instructions.md",
        "applyTo",
        '"**/*.py,**/*.pyi"',
        ("**/*.py", "**/*.pyi"),
    ),
    "cursor-rules": scoped(
        ".cursor/rules/a/b.mdc",
        "globs",
        "*.{ts,tsx},src/**",
        ("*.{ts,tsx}", "src/**"),
    ),
    "cursor-rules-md": scoped(".cursor/rules/asked.md", "alwaysApply", "false", (), "asked"),
    "cursorrules": plain(".cursorrules", "Cursor"),
    "devin-rules": scoped(".devin/rules/x.md", "trigger", "model_decision", (), "asked"),
    "windsurf-rules": scoped(".windsurf/rules/x.md", "trigger", "manual", (), "manual"),
    "windsurfrules": plain(".windsurfrules", "Windsurf"),
    "cline-file": plain(".clinerules", "Cline"),
    "cline-rules": scoped(".clinerules/01-x.md", "paths", '["src/**"]', ("src/**",)),
    "cline-rules-txt": plain(".clinerules/plain.txt", "Text"),
    "roo-rules": plain(".roo/rules-code/x.md", "Roo", ("", (), "asked")),
    "roo-rules-txt": plain(".roo/rules/x.txt", "RooText"),
    "roorules": plain(".roorules", "RooFile"),
    "kiro-steering": Fixture(
        path=".kiro/steering/api.md",
        text="---\ninclusion: fileMatch\nfileMatchPattern: 'api/**'\n---\n# Api\n\nREST.\n",
        names=("Api",),
        scope=("", ("api/**",), "paths"),
    ),
    "amazonq-rules": plain(".amazonq/rules/a/b.md", "AmazonQ"),
    "junie": plain(".junie/guidelines.md", "Junie"),
    "junie-agents": plain(".junie/AGENTS.md", "JunieAgents"),
    "zed-rules": plain(".rules", "Zed"),
    "aider": plain("CONVENTIONS.md", "Aider"),
    "continue-rules": scoped(".continue/rules/x.md", "globs", '"**/*.go"', ("**/*.go",)),
    # memories
    "agents-memory-index": Fixture(
        path=".agents/memory/MEMORY.md", text="# Memory\n\nThe port is 8080.\n", names=("Memory",)
    ),
    "agents-memory": fact(".agents/memory/a.md", "fact-a"),
    "claude-memory-index": Fixture(
        path=".claude/memory/MEMORY.md", text="# Index\n\nThe port is 8080.\n", names=("Index",)
    ),
    "claude-memory": fact(".claude/memory/b.md", "fact-b"),
    "claude-agent-index": Fixture(
        path=".claude/agent-memory/reviewer/MEMORY.md",
        text="# Reviewer\n\nNits.\n",
        names=("Reviewer",),
    ),
    "claude-agent": Fixture(
        path=".claude/agent-memory/reviewer/style.md",
        text="Prefers small diffs.\n",
        names=("style",),
    ),
    "serena": Fixture(
        path=".serena/memories/core/overview.md", text="A tool.\n", names=("core/overview",)
    ),
    "memory-bank": Fixture(
        path="memory-bank/activeContext.md",
        text="# Active Context\n\nNow.\n\n## Next Steps\n\n- Ship.\n",
        names=("Active Context", "Next Steps"),
    ),
    "memory-bank-dotted": Fixture(
        path=".memory-bank/progress.md", text="# Progress\n\nHalf.\n", names=("Progress",)
    ),
    "memory-bank-kilo": Fixture(
        path=".kilocode/rules/memory-bank/brief.md", text="# Brief\n\nA shop.\n", names=("Brief",)
    ),
    # capabilities
    "mcp": servers(".mcp.json", "mcpServers", "ctx"),
    "cursor-mcp": servers(".cursor/mcp.json", "mcpServers", "cur"),
    "roo-mcp": servers(".roo/mcp.json", "mcpServers", "roo"),
    "gemini-settings": servers(".gemini/settings.json", "mcpServers", "gem"),
    "claude-settings": Fixture(
        path=".claude/settings.json",
        text='{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command",'
        ' "command": "bash $CLAUDE_PROJECT_DIR/.claude/hooks/guard.sh --key s3"}]}]}}',
        names=("PreToolUse guard.sh",),
    ),
    "vscode-mcp": servers(".vscode/mcp.json", "servers", "code"),
    "opencode": Fixture(
        path="opencode.json",
        text='{"mcp": {"oc": {"type": "local", "command": ["bun", "x", "s3"]}}}',
        names=("oc",),
    ),
    "opencode-jsonc": servers("opencode.jsonc", "mcp", "occ"),
    "codex-config": Fixture(
        path=".codex/config.toml",
        text='[mcp_servers.docs]\ncommand = "npx"\nargs = ["s3"]\nenabled = false\n',
        names=("docs",),
    ),
    "skills-claude-skills": tool(".claude/skills/deploy/SKILL.md", "deploy"),
    "skills-agents-skills": tool(".agents/skills/tidy/SKILL.md", "tidy"),
    "skills-cursor-skills": tool(".cursor/skills/c/SKILL.md", "cskill"),
    "skills-codex-skills": tool(".codex/skills/x/SKILL.md", "xskill"),
    "skills-github-skills": tool(".github/skills/g/SKILL.md", "gskill"),
    "skills-gemini-skills": tool(".gemini/skills/m/SKILL.md", "mskill"),
    "skills-skills": Fixture(path="skills/top/SKILL.md", text="# Top\n\nDoes.\n", names=("top",)),
    "claude-agents": tool(".claude/agents/reviewer.md", "reviewer"),
    "copilot-agents": tool(".github/agents/planner.md", "planner"),
    "opencode-agents": tool(".opencode/agent/o.md", "oagent"),
    "opencode-agents-plural": tool(".opencode/agents/p.md", "pagent"),
    "claude-commands": Fixture(
        path=".claude/commands/git/land.md", text="Land it.\n", names=("git:land",)
    ),
    "copilot-prompts": Fixture(
        path=".github/prompts/fix.prompt.md", text="Fix it.\n", names=("fix",)
    ),
    "gemini-commands": Fixture(
        path=".gemini/commands/git/sum.toml",
        text='description = "Sum"\nprompt = "x"\n',
        names=("git:sum",),
    ),
    "opencode-commands": tool(".opencode/command/c.md", "ocommand"),
    "opencode-commands-plural": tool(".opencode/commands/d.md", "dcommand"),
    "cursor-commands": Fixture(path=".cursor/commands/ask.md", text="Ask.\n", names=("ask",)),
    "cursor-hooks": Fixture(
        path=".cursor/hooks.json",
        text='{"version": 1, "hooks": {"stop": [{"command": "./hooks/end.sh s3"}]}}',
        names=("stop end.sh",),
    ),
    "codex-hooks": Fixture(
        path=".codex/hooks.json",
        text='{"hooks": {"Stop": [{"hooks": [{"command": "python3 end.py s3"}]}]}}',
        names=("Stop end.py",),
    ),
    "plugin": Fixture(
        path=".claude-plugin/plugin.json",
        text='{"name": "plug", "version": "1.2"}',
        names=("plug",),
    ),
    "marketplace": Fixture(
        path=".claude-plugin/marketplace.json",
        text='{"name": "m", "plugins": [{"name": "one"}, {"name": "two"}]}',
        names=("one", "two"),
    ),
}
