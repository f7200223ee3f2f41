"""Repositories as the real git makes them, in folders of a test's own."""

import os
import subprocess
from pathlib import Path


def git(folder: Path, *arguments: str, check: bool = True) -> str:
    """Run git without anybody's configuration; returns what it prints."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.org",
        "GIT_ALLOW_PROTOCOL": "file",
        "LC_ALL": "C",
    }
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", "-c", "core.quotePath=false", *arguments],  # noqa: S607 - the person's git
        cwd=folder,
        env=environment,
        check=check,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def repository(folder: Path, files: dict[str, str], *arguments: str) -> Path:
    """Make a repository that tracks some files."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", *arguments)
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    if files:
        git(folder, "add", "-f", "--", *files)
        git(folder, "commit", "-q", "-m", "one")
    return folder


def listed(folder: Path) -> set[str]:
    """What git itself would take: tracked files, and files that no rule ignores."""
    text = git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return {name for name in text.split("\0") if name}
