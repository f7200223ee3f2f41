"""Add a seam: let project-init make a descriptor in a project that has none.

It is one of the few verbs that write outside our own folders. The plan names the exact command, the
folder it runs in and the names that it would write there; only with the plan's fingerprint is the
program started, and only if the plan is still the same. Nothing else starts it.
"""

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec

from agentic_os.errors import RegistryError, UsageError
from agentic_os.files import processes
from agentic_os.files.reading import Folder
from agentic_os.registry.project import Project
from agentic_os.results import SeamData, SeamName
from agentic_os.text.fencing import visible

PROGRAM = "project-init"
STACKS = ("none", "auto", "obsidian-only", "obsidian-graphify", "obsidian-graphify-rag")
SEAM_SECONDS = 120
SAID_BYTES = 262_144
FINGERPRINT_CHARS = 16

_STACK_OF_TIER = {0: "auto", 1: "obsidian-only", 2: "obsidian-graphify"}
_MANIFESTS = {
    "pyproject.toml": "python",
    "setup.py": "python",
    "package.json": "node",
    "go.mod": "go",
    "Cargo.toml": "rust",
}
_WRITTEN = (
    ".agents",
    ".claude",
    ".env.example",
    ".gitattributes",
    ".github",
    ".gitignore",
    ".gitleaks.toml",
    "AGENTS.md",
    "CLAUDE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
)
_WRITTEN_FOR = {
    "none": (),
    "python": ("justfile", "mypy.ini", "ruff.toml", ".python-version"),
    "node": ("justfile", "biome.json", "bunfig.toml", "eslint.config.mjs", "tsconfig.json"),
    "go": ("justfile", ".golangci.yml"),
    "rust": ("justfile", ".cargo", "clippy.toml", "deny.toml", "rustfmt.toml"),
}
"""What release 1.2.2 was seen to write with these arguments, at the top of a project."""


def plan(project: Project, environ: Mapping[str, str], *, stack: str | None = None) -> SeamData:
    """Return the command, and what it would write; nothing is started.

    Raises:
        RegistryError: the project has a descriptor already (SEAM_EXISTS).
        UsageError: the stack is none that the program knows.
    """
    if project.described:
        raise RegistryError(
            f"{project.id} has a descriptor already",
            code="SEAM_EXISTS",
            hint="project-init itself changes what a descriptor says.",
        )
    chosen = stack or _STACK_OF_TIER.get(project.tier or 0, "auto")
    if chosen not in STACKS:
        raise UsageError(f"unknown stack {chosen!r}; stacks are {', '.join(STACKS)}")
    with Folder.open(project.folder) as folder:
        entries, _ = folder.entries(limit_entries=10_000)
    present = {entry.name for entry in entries}
    language = next((_MANIFESTS[name] for name in _MANIFESTS if name in present), "none")
    name = " ".join(project.name.replace('"', " ").replace("\\", " ").split()) or "project"
    words = (
        PROGRAM,
        str(project.folder),
        *("--preset", "core", "--memory", chosen, "--language", language),
        *("--name", name, "--description", name),
        *("--lifecycle", "none", "--no-docs", "--no-renovate", "--non-interactive", "--json"),
    )
    writes = tuple(
        SeamName(path=path, state=_state(path, path in present))
        for path in sorted({*_WRITTEN, *_WRITTEN_FOR[language]})
    )
    stamp = msgspec.json.encode((words, writes, project.commit))
    return SeamData(
        project=project.id,
        folder=str(project.folder),
        words=words,
        program=shutil.which(PROGRAM, path=environ.get("PATH")),
        writes=writes,
        fingerprint=hashlib.sha256(stamp).hexdigest()[:FINGERPRINT_CHARS],
        applied=False,
    )


def _state(path: str, present: bool) -> str:
    """Say what becomes of a name: project-init keeps what is there, and moves ``.claude`` aside."""
    if not present:
        return "new"
    if path == ".claude":
        return "moved to .claude.pre-project-init"
    return "added to" if path in {".agents", ".github"} else "kept, the new one beside it"


def apply(planned: SeamData, fingerprint: str, environ: Mapping[str, str]) -> SeamData:
    """Start the program, in the project, if the plan is the one that was approved.

    Raises:
        RegistryError: the plan has changed (SEAM_CHANGED), the program is not installed
            (SEAM_PROGRAM_MISSING), or it failed (SEAM_FAILED).
    """
    if fingerprint != planned.fingerprint:
        raise RegistryError(
            "the plan is not the one that was approved; nothing was started",
            code="SEAM_CHANGED",
            hint="Look at it again, and approve its new fingerprint.",
        )
    if planned.program is None:
        raise RegistryError(
            f"{PROGRAM} is not installed",
            code="SEAM_PROGRAM_MISSING",
            hint="pipx install project-init, then try again.",
        )
    try:
        done = processes.run(
            (planned.program, *planned.words[1:]),
            environ={name: environ[name] for name in ("PATH", "HOME", "LANG") if name in environ},
            seconds=SEAM_SECONDS,
            limit_bytes=SAID_BYTES,
            folder=Path(planned.folder),
            with_errors=True,
        )
    except (OSError, TimeoutError) as fault:
        raise _failed(type(fault).__name__) from None
    if done.status != 0:
        raise _failed(visible(done.errors.decode("utf-8", "replace"))[-400:])
    return msgspec.structs.replace(planned, applied=True)


def _failed(why: str) -> RegistryError:
    return RegistryError(
        f"{PROGRAM} failed: {' '.join(why.split())}",
        code="SEAM_FAILED",
        hint="Run the command of the plan by hand to see more.",
    )
