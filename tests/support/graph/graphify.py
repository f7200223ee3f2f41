"""The real Graphify: installed once into a folder of its own, run over small projects."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

VERSION = "0.9.96"
OLD_VERSIONS = ("0.7.9", "0.8.28", "0.9.27")
_MINUTES = 600


@dataclass(frozen=True)
class Graphify:
    """One release of the tool; ``home`` takes whatever it writes outside its output."""

    python: Path
    home: Path

    @classmethod
    def installed(cls, cache: Path, home: Path, version: str = VERSION) -> "Graphify":
        """Install a release below ``cache`` unless it is there."""
        folder = cache / f"graphifyy-{version}-py{sys.version_info[0]}{sys.version_info[1]}"
        python = folder / "bin" / "python"
        done = folder / "installed"
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            venv.create(folder, with_pip=True)
            subprocess.run(
                [python, "-m", "pip", "install", "-qq", f"graphifyy=={version}"],
                check=True,
                timeout=_MINUTES,
            )
            done.touch()
        return cls(python=python, home=home)

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run ``graphify`` with HOME redirected and no keys in the environment."""
        return subprocess.run(
            [self.python.parent / "graphify", *map(str, words)],
            check=False,
            capture_output=True,
            text=True,
            timeout=_MINUTES,
            cwd=self.home,
            env={"HOME": str(self.home), "PATH": os.environ["PATH"]},
        )

    def build(self, project: Path, *options: str) -> Path:
        """Build ``project/graphify-out/graph.json`` from the project's code."""
        done = self.run(
            "extract", project, "--code-only", "--max-workers", "1", "--out", project, *options
        )
        graph = project / "graphify-out" / "graph.json"
        assert done.returncode == 0, done.stderr
        assert json.loads(graph.read_text())["nodes"]
        shutil.rmtree(project / "graphify-out" / "cache", ignore_errors=True)
        return graph


def installed_graphify(home: Path, version: str = VERSION) -> Graphify:
    """Return a release that later runs find again in the temporary folder."""
    cache = Path(tempfile.gettempdir()) / f"agentic-os-graphify-{os.getuid()}"
    return Graphify.installed(cache, home, version)


def package_project(
    root: Path, name: str, package: str, *, dependencies: tuple[str, ...] = ()
) -> Path:
    """Make a project of an installed distribution's own package, sources and all."""
    project = root / name
    for file in distribution(name).files or ():
        source = Path(str(file.locate()))
        if file.parts[0] == package and source.suffix in {".py", ".pyi"}:
            target = project / "src" / Path(*file.parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    listed = json.dumps(list(dependencies))
    (project / "pyproject.toml").write_text(
        f'[project]\nname = "{name}"\nversion = "1"\ndependencies = {listed}\n'
    )
    return project
