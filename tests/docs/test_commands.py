"""The commands in the documents are run, and what they print is what the documents say.

Blocks marked ``console`` hold lines that start with ``$ `` and the output that follows them. An
ellipsis stands for any text; ids, which depend on where the checkout came from, are compared
without their hash.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_ID = re.compile(r"\b([a-z0-9][a-z0-9-]*)-[0-9a-f]{8}\b")
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    command: str
    expected: str


def steps(page: Path) -> Iterator[Step]:
    for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            yield Step(command=command, expected=expected)


def pattern(expected: str) -> str:
    """A regular expression for an expected output."""
    plain = _ID.sub(r"\1-IDENT", expected)
    return ".*".join(re.escape(part) for part in plain.split("...")) + r"\s*\Z"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(steps(page))], ids=lambda page: page.name
)
def test_the_commands_of_a_page_print_what_it_says(page: Path, places: Path) -> None:
    tools = Path(sys.executable).parent
    environ = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    for step in steps(page):
        done = subprocess.run(
            ["/bin/sh", "-c", step.command],
            cwd=ROOT,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode in {0, 3}, (step.command, done.stderr)
        printed = _ID.sub(r"\1-IDENT", done.stdout)
        assert re.match(pattern(step.expected), printed, re.DOTALL), (
            f"$ {step.command}\n{done.stdout}\n--- the page says\n{step.expected}"
        )
    assert places.is_dir()


def test_links_between_pages_lead_somewhere() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target in _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8")))
        if not (page.parent / target).exists()
    ]

    assert broken == []


def test_a_wrong_page_would_be_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo one\ntwo\n$ echo a b c\na ... c\n```\n")

    first, second = steps(page)

    assert not re.match(pattern(first.expected), "one\n", re.DOTALL)
    assert re.match(pattern(second.expected), "a b c\n", re.DOTALL)
