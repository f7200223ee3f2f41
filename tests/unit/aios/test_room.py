import subprocess
import sys
from datetime import UTC, datetime

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
