"""A command's module is loaded for its help: it holds signatures, and one lazy import a command."""

import ast
from pathlib import Path

import pytest

import agentic_os

COMMANDS = Path(agentic_os.__file__).parent / "cli" / "commands"
LIGHT = {
    "collections.abc",
    "enum",
    "pathlib",
    "typer",
    "typing",
    "agentic_os.cli.completion",
    "agentic_os.cli.options",
}
"""What such a module may import at its top, and other signatures."""
SIGNATURES = "agentic_os.cli.commands."
NOT_SPLIT_YET = {"ask/graph", "trust/witness.py"}


def is_split(path: Path) -> bool:
    """Whether a module keeps the rule already."""
    return not any(path.is_relative_to(COMMANDS / name) for name in NOT_SPLIT_YET)


def heavy_imports(tree: ast.Module) -> list[str]:
    """The modules that are imported at the top and are not light."""
    names = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.If):
            names.append("TYPE_CHECKING")
    return [name for name in names if name not in LIGHT and not name.startswith(SIGNATURES)]


def lazy_imports(function: ast.FunctionDef) -> int:
    """How many import statements a function holds."""
    return sum(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(function))


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(COMMANDS.rglob("*.py")) if is_split(path)],
    ids=lambda path: str(path.relative_to(COMMANDS)),
)
def test_a_commands_module_is_its_signature(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]

    assert heavy_imports(tree) == []
    assert [one.name for one in functions if lazy_imports(one) > 1] == []


def test_the_rule_sees_what_breaks_it() -> None:
    tree = ast.parse("import httpx\ndef f():\n    import json\n    import re\n")
    function = tree.body[1]

    assert heavy_imports(tree) == ["httpx"]
    assert isinstance(function, ast.FunctionDef)
    assert lazy_imports(function) == 2
