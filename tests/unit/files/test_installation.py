"""The line that adds an extra, by how the program was installed."""

import json
import sys
from typing import Any

import pytest

from agentic_os.files import installation
from agentic_os.files.installation import has_extra, install_line


class Noted:
    """What an installer noted of where a package came from."""

    def __init__(self, value: object) -> None:
        self.value = value

    def read_text(self, _name: str) -> Any:
        return self.value


def noted(monkeypatch: pytest.MonkeyPatch, value: object, prefix: str = "/venv") -> None:
    monkeypatch.setattr(installation, "distribution", lambda _name: Noted(value))
    monkeypatch.setattr(sys, "prefix", prefix)


CHECKOUT = json.dumps({"url": "file:///my%20code/agentic-os", "dir_info": {}})
EDITABLE = json.dumps({"url": "file:///code", "dir_info": {"editable": True}})


@pytest.mark.parametrize(
    ("value", "prefix", "expected"),
    [
        (
            CHECKOUT,
            "/home/a/.local/share/uv/tools/agentic-os",
            "uv tool install --force '/my code/agentic-os[rag]'",
        ),
        (
            CHECKOUT,
            "/home/a/.local/pipx/venvs/agentic-os",
            "pipx install --force '/my code/agentic-os[rag]'",
        ),
        (EDITABLE, "/venv", f"{sys.executable} -m pip install --editable '/code[rag]'"),
        (json.dumps({"url": "https://example.org/a.whl"}), "/venv", ""),
        (None, "/venv", ""),
        ("{", "/venv", ""),
        ("[]", "/venv", ""),
    ],
)
def test_the_line_fits_how_it_was_installed(
    monkeypatch: pytest.MonkeyPatch, value: object, prefix: str, expected: str
) -> None:
    noted(monkeypatch, value, prefix)

    assert install_line("rag") == expected


def test_an_extra_is_looked_for() -> None:
    assert has_extra("rag") in (True, False)
