import pytest

from agentic_os.registry.conventions.instructions import HARNESSES
from agentic_os.registry.conventions.loading import Told, loaded
from agentic_os.registry.conventions.tables import convention_of

HARNESS = {harness.name: harness for harness in HARNESSES}


def told(path: str, activation: str = "always", *patterns: str) -> Told:
    row = convention_of(path)
    assert row is not None
    folder = path.rpartition("/")[0] if row.pattern == path.rpartition("/")[2] else ""
    return Told(path, row.form, folder, activation, patterns)  # type: ignore[arg-type]


RULES = ".claude/rules/a.md"
FILES = [
    told("AGENTS.md"),
    told("CLAUDE.md"),
    told(".claude/rules/a.md"),
    told(".claude/rules/ts.md", "paths", "**/*.ts"),
    told("CLAUDE.local.md"),
    told("GEMINI.md"),
    told(".cursor/rules/asked.mdc", "asked"),
    told(".github/copilot-instructions.md"),
    told("api/AGENTS.md"),
    told("api/AGENTS.override.md"),
    told("api/v1/CLAUDE.md"),
    told("web/AGENTS.md"),
]


@pytest.mark.parametrize(
    ("harness", "target", "files"),
    [
        ("claude-code", "", "CLAUDE.md .claude/rules/a.md CLAUDE.local.md"),
        (
            "claude-code",
            "api/v1/x.ts",
            (
                "CLAUDE.md .claude/rules/a.md .claude/rules/ts.md CLAUDE.local.md api/AGENTS.md"
                " api/v1/CLAUDE.md"
            ),
        ),
        ("codex", "api/v1/x.ts", "AGENTS.md api/AGENTS.override.md"),
        ("codex", "web/x.ts", "AGENTS.md web/AGENTS.md"),
        ("gemini-cli", "api/x", "GEMINI.md"),
        ("cursor", "", "AGENTS.md"),
        ("zed", "api/x", ".github/copilot-instructions.md"),
        ("aider", "api/x", ""),
    ],
)
def test_what_a_harness_loads_for_a_path(harness: str, target: str, files: str) -> None:
    assert [one.path for one in loaded(HARNESS[harness], FILES, target)] == files.split()
