"""What an intent may be resolved to: one project, verified on this machine.

The catalog, the map of checkouts and the checkout's own remote must agree; whatever
cannot be verified is a refusal with a closed reason.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.allowance import SEARCH_LIMIT, Allowance, Charges
from agentic_os.aios.folder.configuration import require_folder
from agentic_os.aios.folder.faults import FOLDER_MISSING, SOURCE_CHANGED
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.intent.skills import collect_skills
from agentic_os.aios.intent.tools import Marker, read_marker
from agentic_os.aios.intent.values import RefusalReason
from agentic_os.aios.projects.catalog import read_identities, read_selected
from agentic_os.aios.projects.placement import Checkout, checkout_of, checkouts_at, read_mappings
from agentic_os.aios.projects.routing import ConventionKind, ProjectRoute, observe_route
from agentic_os.aios.projects.values import ProjectRecord
from agentic_os.errors import AiosError

if TYPE_CHECKING:
    from agentic_os.aios.intent.skill_ranking import Skill


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """What was verified of the selected project and read beside it."""

    checkout: Checkout
    location: Path
    record: ProjectRecord
    skills: "tuple[Skill, ...]"
    marker: Marker


class ResolutionRefusedError(Exception):
    """A refusal on its way out of the checks; never leaves this room."""

    def __init__(self, reason: RefusalReason) -> None:
        """Keep the closed reason."""
        super().__init__(reason)
        self.reason: RefusalReason = reason


def verify_project(access: AiosAccess, project: str | None, cwd: Path | None) -> Authority:
    """Find and verify the project that is meant.

    Raises:
        ResolutionRefusedError: it cannot be told or verified.
        AiosError: DOTAIOS_FOLDER_MISSING.
    """
    charges = Charges(Allowance(SEARCH_LIMIT))
    try:
        mappings = read_mappings(access)
        with FolderReader(access.root, files=access.files) as reader:
            require_folder(reader, hold=True)
            identities = read_identities(reader, charges)
            checkouts = [checkout_of(access, known, mappings) for known in identities]
            chosen = _chosen(access, checkouts, project, cwd)
            if chosen.path is None:
                raise ResolutionRefusedError("project_identity_unverified")
            name = chosen.identity.id or chosen.identity.slug
            record = read_selected(reader, charges, name)[1]
            skills = collect_skills(reader, charges)
            marker = read_marker(reader)
            reader.recheck()
    except AiosError as error:
        if error.code == FOLDER_MISSING:
            raise
        changed = error.code == SOURCE_CHANGED
        raise ResolutionRefusedError(
            "project_catalog_changed" if changed else "local_authority_unreadable"
        ) from error
    if not _same_remote(chosen.path, record.repo_url):
        raise ResolutionRefusedError("project_identity_unverified")
    return Authority(
        checkout=chosen, location=chosen.path, record=record, skills=skills, marker=marker
    )


def _chosen(
    access: AiosAccess, checkouts: list[Checkout], project: str | None, cwd: Path | None
) -> Checkout:
    if project is not None:
        named = [checkout for checkout in checkouts if project in checkout.identity.names]
        if not named:
            raise ResolutionRefusedError("unknown_project")
        if len(named) > 1:
            raise ResolutionRefusedError("ambiguous_project")
        return named[0]
    around = [] if cwd is None else checkouts_at(access, checkouts, cwd)
    if not around:
        raise ResolutionRefusedError("detached_directory")
    if len(around) > 1:
        raise ResolutionRefusedError("ambiguous_directory")
    return around[0]


def read_route(
    access: AiosAccess, location: Path, conventions: tuple[ConventionKind, ...]
) -> ProjectRoute:
    """Observe how a host can enter the checkout.

    Raises:
        ResolutionRefusedError: the checkout cannot be read safely.
    """
    try:
        return observe_route(access, location, conventions)
    except AiosError as error:
        raise ResolutionRefusedError("project_identity_unverified") from error


def _same_remote(location: Path, stated: str | None) -> bool:
    """Whether the checkout's own remote, where both are known, is the registered one."""
    from agentic_os.files.git.checkout import normalise_remote, read_checkout

    if stated is None:
        return True
    checkout = read_checkout(location)
    if checkout is None or checkout.remote is None:
        return True
    return normalise_remote(checkout.remote) == normalise_remote(stated)
