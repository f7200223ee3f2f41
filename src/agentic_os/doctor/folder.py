"""Examine the AIOS folder: can its working context be read, and is its vault granted?

One bad file closes the working context for every project, so it is named with its line and what
mends it. Nothing of the folder's text is shown.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from agentic_os.aios.context.brief import read_brief
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.allowance import SEARCH_LIMIT, Allowance, Charges
from agentic_os.aios.folder.configuration import read_configuration, vault_place
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.folder.tree import DAILY, MEMORY, SIGNALS
from agentic_os.aios.policy import MemoryPolicy, resolve_policy
from agentic_os.doctor.identifiers import FOLDER_CHECKS, nothing_to_check
from agentic_os.errors import AgenticOSError, AiosError
from agentic_os.results import Check

CONTEXT: Final = "aios.context"
COPIES: Final = "aios.copies"
VAULT: Final = "aios.vault"
CONTEXT_CHARS: Final = 6_000
ENTRIES: Final = 10_000


def examine_folder(access: Callable[[MemoryPolicy], AiosAccess], folder: Path) -> Iterator[Check]:
    """Make the checks of ``FOLDER_CHECKS``.

    Args:
        access: how the folder is reached under a memory choice.
        folder: where it is, or would be.
    """
    if not folder.is_dir():
        for name in FOLDER_CHECKS:
            yield nothing_to_check(name, "there is no AIOS folder")
        return
    policy = resolve_policy()
    try:
        reached = access(policy)
    except AgenticOSError as fault:
        yield _failed(CONTEXT, fault)
        return
    try:
        read_brief(reached, policy, budget=CONTEXT_CHARS)
        yield Check(id=CONTEXT, status="ok", message=FOLDER_CHECKS[CONTEXT])
    except AiosError as fault:
        yield _failed(CONTEXT, fault)
    try:
        yield from _copies(reached)
    except AiosError as fault:
        yield _failed(COPIES, fault)
    try:
        yield _vault(reached)
    except AiosError as fault:
        yield _failed(VAULT, fault)


def _copies(access: AiosAccess) -> Iterator[Check]:
    """Name what a sync tool put beside a log, a day of signals or a note; nobody reads it."""
    found: list[str] = []
    with FolderReader(access.root, files=access.files) as reader:
        charges = Charges(Allowance(SEARCH_LIMIT))
        for folder, is_copy in _COPIES.items():
            entries = reader.entries(
                folder, limit_entries=ENTRIES, too_many="DOTAIOS_SEARCH_LIMIT", charges=charges
            )
            found += [f"{folder}/{one.name}" for one in entries or () if is_copy(one.name)]
    for path in found:
        yield Check(
            id=COPIES,
            status="warn",
            message="a sync tool left a second copy: two machines wrote at once",
            hint="Move what only the copy says into the file beside it, then delete the copy.",
            path=path,
        )
    if not found:
        yield Check(id=COPIES, status="ok", message=FOLDER_CHECKS[COPIES])


_LOG = re.compile(r"(?:events|(?:events|signals)-archive(?:\.\d{6})?)\.jsonl")
_LOG_LIKE = re.compile(r"(?:events|signals-archive).*\.jsonl")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_COPIES: Final[dict[str, Callable[[str], bool]]] = {
    MEMORY: lambda name: bool(_LOG_LIKE.fullmatch(name)) and not _LOG.fullmatch(name),
    SIGNALS: lambda name: _is_day_copy(name, ".jsonl"),
    DAILY: lambda name: _is_day_copy(name, ".md"),
}
"""Which names in a folder are those of a copy, whatever the sync tool calls it."""


def _is_day_copy(name: str, suffix: str) -> bool:
    stem = name.removesuffix(suffix)
    return bool(_DAY.match(name)) and _DAY.fullmatch(stem) is None


def _vault(access: AiosAccess) -> Check:
    with FolderReader(access.root, files=access.files) as reader:
        stated = read_configuration(reader, Charges(Allowance(SEARCH_LIMIT)))
        outside = vault_place(access, reader, stated).outside
    if outside is None:
        return Check(id=VAULT, status="ok", message="the vault lies inside the AIOS folder")
    if access.vault_granted(outside):
        return Check(id=VAULT, status="ok", message="the vault outside the AIOS folder is granted")
    return Check(
        id=VAULT,
        status="warn",
        message="the vault lies outside the AIOS folder and is not granted: searches leave it out",
        hint="See: agentic-os aios grant-vault",
    )


def _failed(check: str, fault: AgenticOSError) -> Check:
    return Check(
        id=check,
        status="fail",
        message=f"{fault.code}: {fault.message}",
        hint=fault.hint,
        path=fault.path or None,
        line=fault.line,
    )
