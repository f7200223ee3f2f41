"""The real producer of descriptors: releases of project-init, installed and run.

Releases are installed without dependencies into a folder of the temporary directory that
later runs find again (rich, the only dependency, comes from this environment). Scaffolds
are made with an empty environment and an empty home.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

NEWEST = "1.2.2"
STACKS = ("none", "auto", "obsidian-only", "obsidian-graphify", "obsidian-graphify-rag")
# These have no --memory and no --json: their stack is their preset.
WITHOUT_MEMORY_OPTION = frozenset({"0.3.0", "0.4.0"})
INSTALL_SECONDS = 120
RUN_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Producer:
    """Installs releases below ``cache`` and runs them with ``home`` as the home folder."""

    cache: Path
    home: Path

    def release(self, version: str) -> Path:
        """Return the folder of an installed release, installing it at the first call."""
        folder = self.cache / f"project-init-{version}"
        if folder.is_dir():
            return folder
        self.cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.cache) as fresh:
            target = Path(fresh) / "site"
            subprocess.run(
                [
                    *(sys.executable, "-m", "pip", "install", "--quiet", "--no-input"),
                    *("--no-deps", "--disable-pip-version-check"),
                    *("--target", str(target), f"project-init=={version}"),
                ],
                check=True,
                timeout=INSTALL_SECONDS,
            )
            try:
                target.rename(folder)
            except OSError:
                if not folder.is_dir():  # another process was faster
                    raise
        return folder

    def run(self, version: str, *words: str, folder: Path | None = None) -> str:
        """Run a release; return what it prints. A failure is the test's failure."""
        done = subprocess.run(
            [sys.executable, "-m", "project_init", *words],
            cwd=folder or self.home,
            env={
                "HOME": str(self.home),
                "PATH": os.defpath,
                "PYTHONPATH": str(self.release(version)),
                "LC_ALL": "C.UTF-8",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=RUN_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def scaffold(
        self,
        target: Path,
        *,
        version: str = NEWEST,
        stack: str = "auto",
        language: str = "python",
        name: str = "",
        description: str = "A thing",
        extra: tuple[str, ...] = (),
    ) -> Path:
        """Scaffold a project; ``stack`` is the preset where a release has no --memory."""
        if version in WITHOUT_MEMORY_OPTION:
            choice = ["--preset", stack]
        else:
            preset = "core" if version == NEWEST else "obsidian-only"
            choice = ["--preset", preset, "--memory", stack]
        self.run(
            version,
            *choice,
            *("--language", language, "--non-interactive"),
            *("--name", name or target.name, "--description", description),
            *extra,
            str(target),
        )
        return target


def scaffolded_copy(source: Path, target: Path) -> Path:
    """Copy a scaffold that others only read, to change it."""
    shutil.copytree(source, target, symlinks=True)
    return target
