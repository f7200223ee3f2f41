"""What a command line really starts."""

import pytest

from agentic_os.code.programs import program


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["a", "b"], ("a", "command")),
        (["python", "-m", "x.y", "z"], ("x.y", "module")),
        (["python3", "script.py"], ("", "command")),
        (["npx", "-y", "@s/p@1.2", "x"], ("@s/p", "package")),
        (["uvx", "--from", "p", "cmd"], ("cmd", "command")),
        (["uv", "run", "python", "-m", "m"], ("m", "module")),
        (["uv", "tool", "run", "p[x]==1"], ("p", "package")),
        (["uv", "sync"], ("uv", "command")),
        (["pnpm", "dlx", "p"], ("p", "package")),
        (["npx", "-y"], ("", "package")),
        (["./bin/x"], ("", "command")),
        (["x" * 300], ("x" * 200, "command")),
    ],
)
def test_what_a_command_line_really_starts(words: list[str], expected: tuple[str, str]) -> None:
    assert program(words) == expected
