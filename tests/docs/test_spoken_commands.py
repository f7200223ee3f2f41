"""Every command line that a page writes, in a block or within a sentence, can be typed."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from agentic_os.cli.app import application

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
WHOLE = typer.main.get_command(application())
_FENCED = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(agentic-os [^`]+)`")
_END = re.compile(r"\s(?:\||&&|\|\||;|>|2>|<|#)(?:\s|\Z)|…|\)")
_STARTS = re.compile(r"(?:^|[\s(`/])agentic-os\s+(?=[a-z-])")


def spoken(text: str) -> Iterator[str]:
    """What follows ``agentic-os`` wherever it is called."""
    for info, block in _FENCED.findall(text):
        if info in {"sh", "bash", "console", ""}:
            joined = re.sub(r"\\\n\s*", " ", block)
            for line in joined.splitlines():
                if info == "console" and not line.startswith("$ "):
                    continue
                for match in _STARTS.finditer(line):
                    yield _END.split(line[match.end() :])[0]
    for command in _INLINE.findall(_FENCED.sub("", text)):
        yield _END.split(command.removeprefix("agentic-os "))[0]


def faults(line: str) -> list[str]:
    """What is wrong with one command line: a command or an option that there is not."""
    try:
        words = shlex.split(line)
    except ValueError as fault:
        return [str(fault)]
    command: Any = WHOLE
    found: list[str] = []
    for word in words:
        below = getattr(command, "commands", None)
        if below is not None and not word.startswith("-"):
            if "," in word or "|" in word or word.isupper():
                return found  # a list of commands, or a placeholder
            if word not in below:
                return [f"no command {word!r}"]
            command = below[word]
        elif word.startswith("--"):
            names = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
            if word.partition("=")[0] not in names | {"--help", "--version"}:
                found.append(f"no option {word!r}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_calls_exists(page: Path) -> None:
    wrong = {
        line: said for line in spoken(page.read_text(encoding="utf-8")) if (said := faults(line))
    }
    assert wrong == {}


def test_pages_call_commands_at_all() -> None:
    lines = [line for page in PAGES for line in spoken(page.read_text(encoding="utf-8"))]
    assert len(lines) > 60


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("scan --root x", []),
        ("scan --rot x", ["no option '--rot'"]),
        ("serch x", ["no command 'serch'"]),
        ("ledger nonsense", ["no command 'nonsense'"]),
        ('search "open', ["No closing quotation"]),
    ],
)
def test_a_wrong_command_would_be_noticed(line: str, said: list[str]) -> None:
    assert faults(line) == said
