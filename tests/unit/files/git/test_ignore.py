"""Ignore rules, judged by the real git."""

from pathlib import Path

import pytest

from agentic_os.files.git import ignore as git_ignore
from agentic_os.files.git.ignore import IgnoreRules
from support.fleet.git_repository import git, listed, repository

NAMES = (
    (
        "a.py a.pyc b.txt build/x.py build.py src/build/y.py src/a.py src/doc/n.txt doc/n.txt"
        " doc/sub/n.txt foo/bar foo/a/b/bar foo/a/b/c.txt baz/q x/baz/q keep/this.log keep/that.log"
        " deep/a/b/c/d.e [x].py x.py -1.py #hash !bang name with space.txt tail\\ .txt ä.txt Ä.TXT"
        " .hidden .config/x abc/d/e abcd file1 file2 filea filez"
    )
    .replace("name with space.txt", "name_with_space.txt")
    .split(" ")
)

RULES = [
    "*.pyc",
    "*.py\n!a.py",
    "/*.py",
    "build",
    "build/",
    "/build",
    "build/*\n!build/x.py",
    "doc/*.txt",
    "doc/**",
    "**/doc",
    "doc/**/n.txt",
    "/**/n.txt",
    "foo/**/bar",
    "foo/*/bar",
    "**/baz/q",
    "/*\n!/src\n!/foo",
    "*\n!*/\n!*.txt",
    "*.log\n!that.log",
    "keep/\n!keep/this.log",
    "[[]x].py",
    "[!x].py",
    "[^x].py",
    "[a-c].txt",
    "[]-]*.py",
    "file[[:digit:]]",
    "file[[:alpha:]]",
    "file[[:wrong:]]",
    "file[1-",
    "file[z-a]",
    "file[\\1]",
    "file[1-\\",
    "file[\\",
    "x[[:digit:]-]",
    "\\#hash",
    "\\!bang",
    "#hash",
    "!bang",
    "a.py   ",
    "a.py\\ ",
    "tail\\\\*",
    "?.py",
    "a?c*",
    "abc*",
    "**",
    "abc**d",
    "abc/**/**/e",
    "deep/**/d.e",
    "deep/*/d.e",
    "d.e",
    "*.*",
    "ä.txt",
    "*.TXT",
    ".*",
    ".config/",
    "//",
    "/",
    "!",
    "\\",
    "x\\",
    "src/",
    "src//a.py",
    "./a.py",
    "a.py\r",
]


def walked(folder: Path) -> set[str]:
    """Files that the rules let through, as a walk asks them."""
    found = set()
    pending = [(folder, "", IgnoreRules())]
    while pending:
        here, prefix, rules = pending.pop()
        own = here / ".gitignore"
        if own.exists():
            rules = rules.below(prefix.rstrip("/"), own.read_text(encoding="utf-8"))
        for item in here.iterdir():
            path = prefix + item.name
            if item.name == ".git" or rules.ignores(path, folder=item.is_dir()):
                continue
            if item.is_dir():
                pending.append((item, f"{path}/", rules))
            else:
                found.add(path)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = repository(tmp_path_factory.mktemp("rules") / "r", {})
    for name in NAMES:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("x")
    return top


@pytest.mark.parametrize("text", RULES)
def test_rules_mean_what_git_means(folder: Path, text: str) -> None:
    own = folder / ".gitignore"
    own.write_text(text + "\n", encoding="utf-8", newline="")

    assert walked(folder) == listed(folder)


def test_deeper_files_come_first(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {})
    for name in ("a.log", "sub/a.log", "sub/b.log", "sub/deep/a.log", "sub/deep/c/x.tmp", "x.tmp"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    (folder / ".gitignore").write_text("*.log\n/x.tmp\n")
    (folder / "sub/.gitignore").write_text("!a.log\n")
    (folder / "sub/deep/.gitignore").write_text("a.log\nc/x.tmp\n")

    assert walked(folder) == listed(folder)
    assert "sub/a.log" in walked(folder)


def test_no_pattern_takes_long() -> None:
    hostile = "*a" * 400 + "*b\n" + "**/a/" * 190 + "b\n" + "[" * 900 + "\n"
    rules = IgnoreRules().below("", hostile)

    assert not rules.ignores("a" * 255, folder=False)
    assert not rules.ignores("a/" * 120 + "c", folder=False)


def test_rules_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_ignore, "MAX_RULES_ENTRIES", 2)
    rules = IgnoreRules().below("", "a\nb\nc\n" + "d" * 2000)

    assert [rules.ignores(name, folder=False) for name in "abc"] == [True, True, False]


def test_a_file_without_rules_changes_nothing() -> None:
    rules = IgnoreRules()

    assert rules.below("x", "# nothing\n\n") is rules


def test_git_is_there_to_judge(tmp_path: Path) -> None:
    assert git(tmp_path, "--version").startswith("git version")
