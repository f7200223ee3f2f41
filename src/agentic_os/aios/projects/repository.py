"""The repository of the selected project: how an AIOS project and a fleet project meet."""

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.allowance import SEARCH_LIMIT, Allowance, Charges
from agentic_os.aios.folder.configuration import require_folder
from agentic_os.aios.folder.faults import as_evidence
from agentic_os.aios.folder.front_matter import FRONT_MATTER_BYTES, read_front_matter
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.folder.tree import README
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.projects.catalog import README_BYTES
from agentic_os.aios.projects.selection import resolve_identity
from agentic_os.aios.projects.values import safe_remote
from agentic_os.errors import AiosError


def selected_repository(access: AiosAccess, policy: MemoryPolicy) -> str | None:
    """Return the normalised repository of the project that project memory selects.

    ``None`` outside project memory, and where the project names no safe remote.

    Raises:
        AiosError: DOTAIOS_FOLDER_MISSING, DOTAIOS_PROJECT_SELECTOR_* or an evidence fault.
    """
    if policy.mode != "project":
        return None
    from agentic_os.files.git.checkout import normalise_remote

    charges = Charges(Allowance(SEARCH_LIMIT))
    try:
        with FolderReader(access.root, files=access.files) as reader:
            require_folder(reader, hold=True)
            identity = resolve_identity(reader, charges, policy.selector)
            read = reader.read(
                identity.prefix + README,
                limit_bytes=README_BYTES,
                prefix_bytes=FRONT_MATTER_BYTES,
                charges=charges,
            )
            reader.recheck()
            front = None if read is None else read_front_matter(read.data)
    except AiosError as error:
        raise as_evidence(error) from error
    remote = None if front is None else safe_remote(front.text("repo_url", "repo"))
    return None if remote is None else normalise_remote(remote)
