import ast
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import agentic_os
from agentic_os.aios.folder.access import AiosAccess, grants_nothing, local_now
from agentic_os.aios.folder.withheld import SecretGuard, hidden_characters


def test_the_room_loads_nothing_heavy_and_little_at_once() -> None:
    code = (
        "import sys, agentic_os.aios.policy;"
        "print(sorted(n for n in sys.modules if n.startswith('agentic_os.aios')"
        " or n.split('.')[0] in {'numpy', 'yaml', 'mcp', 'cryptography', 'networkx'}))"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == str(
        [
            "agentic_os.aios",
            "agentic_os.aios.folder",
            "agentic_os.aios.folder.faults",
            "agentic_os.aios.policy",
        ]
    )


def test_what_an_access_has_unless_told_otherwise() -> None:
    assert local_now().tzinfo is not None
    assert abs((local_now() - datetime.now(UTC)).total_seconds()) < 60
    assert grants_nothing is AiosAccess.__dataclass_fields__["vault_granted"].default


def test_hidden_characters() -> None:
    assert hidden_characters("a\u200bb <U+200B> \x1b") == 2
    assert hidden_characters("plain 😀 text\n") == 0


def test_secret_lines() -> None:
    guard = SecretGuard()
    assert guard.secret_lines("clean\ntext") == frozenset()
    key = "ghp_" + "k7Qz2Vb9Xn4Lm8Rt6Yw3Pd5Hs1Jc0Fa2Gu7E"
    assert guard.secret_lines(f"a\n{key}\nb") == {2}
    assert not guard.holds_secret("", "clean")
    from agentic_os.text.secrets.redaction import Redactor

    assert not SecretGuard(Redactor(frozenset({key}))).holds_secret(key)


CHANGING = {
    "chmod", "fchmod", "ftruncate", "hardlink_to", "link", "makedirs", "mkdir", "mkfifo", "remove",
    "rename", "rmdir", "rmtree", "symlink", "symlink_to", "touch", "truncate", "unlink", "utime",
    "write_bytes", "write_text",
}  # fmt: skip
WRITERS = ("folder/system.py", "writing/")
HANDED = {"writer", "staging"}
"""What verbs are handed to change the folder with."""


def changing_calls(text: str) -> set[str]:
    """The calls of a module that would change the disk: of ``os``, ``shutil`` or a path."""
    return {
        node.func.attr
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CHANGING
        and not (
            isinstance(node.func.value, ast.Name) and node.func.value.id in {"writer", "staging"}
        )
    }


def test_only_the_writers_change_the_disk() -> None:
    room = Path(agentic_os.__file__).parent / "aios"
    found = {
        str(path.relative_to(room)): calls
        for path in room.rglob("*.py")
        if (calls := changing_calls(path.read_text("utf-8")))
    }
    assert {place for place in found if not place.startswith(WRITERS)} == set()
    assert found["folder/system.py"] >= {"rename", "link", "unlink", "mkdir"}
    assert changing_calls("import os\nos.unlink('x')\npath.write_text('x')") == {
        "unlink",
        "write_text",
    }
