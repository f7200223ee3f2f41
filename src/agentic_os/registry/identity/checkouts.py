"""In which git checkout a folder lies, and what that makes its key.

``.git`` is read by ``files.git``, never by running git. One checkout may hold many
projects, so each is read once in a run.
"""

import os
from pathlib import Path
from typing import Literal

import msgspec

from agentic_os.files.git.checkout import GitCheckout, normalise_remote, read_checkout
from agentic_os.registry.identity.ids import ProjectKey
from agentic_os.registry.walk.walking import Candidate

LocationKind = Literal["main", "worktree", "submodule", "plain"]


class Location(msgspec.Struct, frozen=True, kw_only=True):
    """Where a project lies in git: its key, and the state of its checkout.

    ``kind`` is ``plain`` outside git. ``repository`` is the real path of the git folder, which
    linked worktrees share and clones do not; empty outside git. ``is_default`` says of a worktree
    that it has the branch which the repository's HEAD names.
    """

    key: ProjectKey
    kind: LocationKind = "plain"
    branch: str | None = None
    commit: str | None = None
    repository: str = ""
    is_default: bool = False

    @property
    def remote(self) -> str | None:
        """The normalised remote, if there is one."""
        return self.key.origin if self.key.remote else None


class CheckoutReader:
    """Locates many folders, reading each ``.git`` once."""

    def __init__(self) -> None:
        """Start with nothing read."""
        self._read: dict[str, GitCheckout | None] = {}

    def read(self, folder: str) -> GitCheckout | None:
        """Read the ``.git`` of one folder; ``None`` where it makes no checkout."""
        if folder not in self._read:
            self._read[folder] = read_checkout(Path(folder))
        return self._read[folder]

    def locate(self, candidate: Candidate) -> Location:
        """Work out the key of a candidate: by the nearest checkout, else by its own path."""
        for folder in candidate.checkouts:
            found = self.read(folder)
            if found is not None:
                return _location(found, candidate.folder[len(folder) :].lstrip("/"))
        return Location(key=ProjectKey(remote=False, origin=candidate.folder))


def _location(checkout: GitCheckout, subpath: str) -> Location:
    """Key a checkout by its remote; without one by the folder its git folder lies in.

    Linked worktrees share that folder with their main checkout.
    """
    remote = normalise_remote(checkout.remote) if checkout.remote else None
    repository = os.path.realpath(checkout.common_dir)
    origin = remote or repository.removesuffix("/.git")
    return Location(
        key=ProjectKey(remote=remote is not None, origin=origin, subpath=subpath),
        kind=checkout.kind,
        branch=checkout.branch,
        commit=checkout.commit,
        repository=repository,
        is_default=checkout.branch is not None and checkout.branch == checkout.default_branch,
    )
