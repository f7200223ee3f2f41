"""The configuration syntax, compared with the real git, and without it."""

import os
import subprocess
from pathlib import Path

import pytest

from agentic_os.files.git.config import parse_git_config

CASES = [
    '[remote "origin"]\n\turl = https://example.org/x\n',
    '[remote "origin"]\nurl=https://example.org/x',
    '[remote "origin"] url = https://example.org/x\n',
    '[REMOTE "origin"]\n URL = a\n',
    '[remote "origin"]\nurl = a # comment\n',
    '[remote "origin"]\nurl = a ; comment\n',
    '[remote "origin"]\nurl = "a # b"\n',
    '[remote "origin"]\nurl = " a "  \n',
    '[remote "origin"]\nurl = a" b "c # d\n',
    '[remote "origin"]\nurl = a\\\n  b\n',
    '[remote "origin"]\nurl = a\\tb\\\\c\\"d\n',
    '[remote "origin"]\nurl = a   \n',
    '[remote "origin"]\nurl = a\r\n',
    '[remote "origin"]\nurl = first\nurl = second\n',
    '[remote "a\\"b\\\\c"]\nurl = quoted-name\n',
    '[remote "one"]\nurl = a\n[remote "two"]\nurl = b\n',
    '[remote "Origin"]\nurl = a\n',
    '# [remote "origin"]\n; url = b\n[core]\n\turl = c\n',
    "[remote]\nurl = a\n",
    '[remote "x"]\nfetch = +refs/*\npushurl = p\nurl = u\n',
    '[remote "origin"]\nurl = a\n[core]\nbare\n[remote "origin"]\nurl = b\n',
    '[remote "with space"]\nurl = a b\n',
]


@pytest.mark.parametrize("text", CASES)
def test_values_are_read_as_git_reads_them(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_bytes(text.encode())
    done = subprocess.run(
        ["git", "config", "--file", str(path), "--list", "-z"],  # noqa: S607 - the person's git
        env={"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null"},
        check=True,
        capture_output=True,
        text=True,
    )
    expected = []
    for entry in filter(None, done.stdout.split("\0")):
        name, _, value = entry.partition("\n")
        expected.append((name, value))
    found = [
        (f"{section}.{name}.{key}" if name else f"{section}.{key}", value)
        for section, name, key, value in parse_git_config(text).values
    ]
    assert found == expected


def test_the_old_form_of_subsections() -> None:
    assert parse_git_config("[remote.origin]\nurl = a\n").remote() == "a"


@pytest.mark.parametrize(
    "text",
    [
        "[remote",
        '[remote "origin"\nurl = a\n',
        "= b\n",
        '[remote "origin"]\nurl\n',
        '[remote "origin"]\nurl =\n',
        "[]\nurl = a\n",
        '[remote ""]\nurl = a\n',
        "\\\\\\",
        "url = a\n",
    ],
)
def test_broken_text_gives_no_remote(text: str) -> None:
    assert parse_git_config(text).remote() is None


def test_what_is_broken_does_not_hide_what_follows() -> None:
    text = '[core\nx = y\n!!\n[remote "origin"]\nurl = "open\n[remote "o"]\n\turl = a\n'
    assert ("remote", "o", "url", "a") in parse_git_config(text).values


def test_a_backslash_at_the_end_is_no_trap() -> None:
    assert parse_git_config('[remote "origin"]\nurl = a\\').remote() == "a"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[core]\nworktree = a\nworktree = b\n", "a"),
        ("[core]\nother = a\n", None),
        ("[other]\nworktree = a\n", None),
        ('[core "x"]\nworktree = a\n', None),
        ("", None),
    ],
)
def test_the_first_value_of_a_plain_section(text: str, value: str | None) -> None:
    assert parse_git_config(text).first("core", "worktree") == value
