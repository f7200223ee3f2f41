"""Which folders a walk enters. Pure.

Dependency, build and cache folders hold other people's files, or copies of files; what
lies in dotted folders is no project of its own (worktrees of coding agents lie in
``.claude/worktrees``). The person's globs come on top.
"""

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from agentic_os.text.unicode_form import composed

PRUNED_NAMES = frozenset(
    {
        # dependencies
        "node_modules",
        "bower_components",
        "jspm_packages",
        "site-packages",
        "vendor",
        "venv",
        "virtualenv",
        "Pods",
        "Carthage",
        # build output
        "build",
        "dist",
        "target",
        "_build",
        "bazel-bin",
        "bazel-out",
        "bazel-testlogs",
        "cmake-build-debug",
        "cmake-build-release",
        "DerivedData",
        "htmlcov",
        "graphify-out",
        # caches
        "__pycache__",
        "__pypackages__",
        "lost+found",
    }
)
"""Names of folders that are not entered, beside every dotted one (``.venv``, ``.tox``…).

The walk for projects enters one that is a checkout or holds a descriptor all the same.
"""

# A file of this name says what the folder that holds it is.
VENV_FILE = "pyvenv.cfg"
CACHE_FILE = "CACHEDIR.TAG"
AIOS_FILE = "aios.json"
BARE_FILE = "HEAD"
MARKER_FILES = frozenset({VENV_FILE, CACHE_FILE, AIOS_FILE, BARE_FILE})
_BARE_FOLDERS = frozenset({"objects", "refs"})


@dataclass(frozen=True, kw_only=True)
class Pruning:
    """The person's globs, over a folder's name and over its path below the root.

    ``*`` and ``?`` also match a slash; case counts. A glob that ends in ``/`` or ``/**``
    means the folder itself.
    """

    exclude: tuple[str, ...] = ()

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        globs = [glob.removesuffix("/**").rstrip("/").removeprefix("./") for glob in self.exclude]
        parts = [fnmatch.translate(composed(glob)) for glob in globs if glob]
        return re.compile("|".join(parts)) if parts else None

    def excludes(self, name: str, relative: str) -> bool:
        """Whether the person excludes this folder."""
        pattern = self._pattern
        if pattern is None:
            return False
        return any(pattern.match(composed(text)) for text in (name, relative))


def enters(name: str) -> bool:
    """Whether a folder of this name is entered, the person's globs aside."""
    return not name.startswith(".") and name not in PRUNED_NAMES


def is_closed(markers: set[str], folders: Sequence[str]) -> bool:
    """Whether what a folder holds says that nothing below it is a project.

    A virtual environment, a tagged cache folder, or a bare git repository.

    Args:
        markers: which of ``MARKER_FILES`` lie in it.
        folders: the names of the folders in it.
    """
    if not markers:
        return False
    if VENV_FILE in markers or CACHE_FILE in markers:
        return True
    return BARE_FILE in markers and _BARE_FOLDERS.issubset(folders)
