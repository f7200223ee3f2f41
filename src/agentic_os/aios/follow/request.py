"""Following a source behind an excerpt: checked again, read whole, answered by pages.

Order (DotAIOS convention, follow): memory choice; reference; scope; budget; root
identity; ``aios.json``; the project's identity; the file's generation, compared before
its body is read; the read; digest, generation, root and project once more. Any doubt is
a refusal with a closed reason and no text. Whole compact JSON answers fit the budget.
"""

from typing import Final

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.allowance import SEARCH_LIMIT, Allowance, Charges
from agentic_os.aios.folder.configuration import require_folder
from agentic_os.aios.folder.faults import (
    CATALOG_INVALID,
    FOLDER_MISSING,
    INVALID_UTF8,
    SELECTOR_AMBIGUOUS,
    SELECTOR_INVALID,
    SELECTOR_UNKNOWN,
    SOURCE_CHANGED,
    SOURCE_TOO_LARGE,
)
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.follow.pages import (
    DEFAULT_PAGE_CHARS,
    MAX_PAGE_CHARS,
    MIN_PAGE_CHARS,
    FollowRefusedError,
    RefusalReason,
    SourceAnswer,
    SourceOff,
    SourceRefusal,
    make_page,
)
from agentic_os.aios.follow.references import (
    Reference,
    byte_limit,
    decode,
    digest_of,
    file_hash,
    root_hash,
)
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.projects.selection import resolve_identity
from agentic_os.errors import AiosError

_REASONS: Final[dict[str, RefusalReason]] = {
    SOURCE_TOO_LARGE: "source_too_large",
    INVALID_UTF8: "unsupported_text",
    SOURCE_CHANGED: "source_changed",
    FOLDER_MISSING: "source_unavailable",
    SELECTOR_INVALID: "project_unavailable",
    SELECTOR_UNKNOWN: "project_unavailable",
    SELECTOR_AMBIGUOUS: "project_unavailable",
    CATALOG_INVALID: "project_unavailable",
}


def follow_source(
    access: AiosAccess,
    policy: MemoryPolicy,
    *,
    reference: str,
    budget: int = DEFAULT_PAGE_CHARS,
) -> SourceAnswer:
    """Read the page that ``reference`` points to; a refusal is an answer, not an error.

    Args:
        access: the folder and what is handed in with it.
        policy: the memory choice of this request.
        reference: a ``ds1.`` reference as it was offered.
        budget: UTF-16 units of the whole answer.
    """
    if policy.mode == "off":
        return SourceOff(receipt=policy.receipt, notice=policy.notice or "")
    try:
        wanted = _accepted(policy, reference, budget)
        data = _checked_read(access, policy, wanted)
        return make_page(data, wanted, policy.receipt, budget, access.guard)
    except FollowRefusedError as refusal:
        return SourceRefusal(receipt=policy.receipt, reason=refusal.reason, minimum=refusal.minimum)
    except AiosError as error:
        reason = _REASONS.get(error.code, "unsafe_source")
        return SourceRefusal(receipt=policy.receipt, reason=reason)


def _accepted(policy: MemoryPolicy, reference: str, budget: int) -> Reference:
    try:
        wanted = decode(reference)
    except ValueError:
        raise FollowRefusedError("invalid_reference") from None
    if wanted.scope != policy.mode:
        raise FollowRefusedError("scope_mismatch")
    if not MIN_PAGE_CHARS <= budget <= MAX_PAGE_CHARS:
        raise FollowRefusedError("insufficient_budget", MIN_PAGE_CHARS)
    return wanted


def _checked_read(access: AiosAccess, policy: MemoryPolicy, wanted: Reference) -> bytes:
    charges = Charges(Allowance(SEARCH_LIMIT))
    with FolderReader(access.root, files=access.files) as reader:
        if root_hash(reader.root_stamp) != wanted.root:
            raise FollowRefusedError("source_changed")
        require_folder(reader, hold=True)
        if policy.mode == "project":
            _admit_project(reader, charges, policy, wanted)
        found = reader.inspect(wanted.source, hold=True)
        if found is None:
            raise FollowRefusedError("source_unavailable")
        if not found.is_file:
            raise FollowRefusedError("unsafe_source")
        if file_hash(found) != wanted.file:
            raise FollowRefusedError("source_changed")
        read = reader.read_seen(
            wanted.source, found, limit_bytes=byte_limit(wanted.source), charges=charges
        )
        if digest_of(read.data) != wanted.digest:
            raise FollowRefusedError("source_changed")
        # The held observations are those of the project's identity, too.
        reader.recheck()
        return read.data


def _admit_project(
    reader: FolderReader, charges: Charges, policy: MemoryPolicy, wanted: Reference
) -> None:
    identity = resolve_identity(reader, charges, policy.selector)
    if identity.id != wanted.project or not wanted.source.startswith(identity.prefix):
        raise FollowRefusedError("scope_mismatch")
