"""Records of scopes that a search left out: closed reasons, bounded counts, no paths.

A scope is left out whole, so that ranking over a part is never shown as ranking over all
of it (DotAIOS convention, omissions).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from agentic_os.aios.folder.allowance import NOTHING, Amount, exceeded
from agentic_os.aios.folder.faults import (
    EVIDENCE_BYTES,
    EVIDENCE_ENTRIES,
    EVIDENCE_FILE_TOO_LARGE,
    EVIDENCE_FILES,
    EVIDENCE_FOLDER_TOO_LARGE,
)
from agentic_os.aios.folder.json_text import JsonObject

OmissionReason = Literal[
    "file_too_large",
    "directory_entries_exceeded",
    "aggregate_bytes_exceeded",
    "file_count_exceeded",
    "entry_count_exceeded",
    "omissions_truncated",
    "scope_forbidden_by_memory_policy",
    "scope_not_granted",
]

OMISSIONS: Final = 32
"""Omissions of one answer, before one more that counts the rest."""

REASONS: Final[Mapping[str, OmissionReason]] = {
    EVIDENCE_FILE_TOO_LARGE: "file_too_large",
    EVIDENCE_FOLDER_TOO_LARGE: "directory_entries_exceeded",
    EVIDENCE_BYTES: "aggregate_bytes_exceeded",
    EVIDENCE_FILES: "file_count_exceeded",
    EVIDENCE_ENTRIES: "entry_count_exceeded",
}
"""The faults that leave one scope out; any other fails the whole request."""

_DIMENSIONS: Final[Mapping[str, str]] = {
    "files": "file_count_exceeded",
    "bytes": "aggregate_bytes_exceeded",
    "entries": "entry_count_exceeded",
}
_RECOVERY: Final[Mapping[OmissionReason, tuple[str, str]]] = {
    "file_too_large": (
        "split_or_move_file",
        "Split the file that is too large, or move it out of this scope.",
    ),
    "directory_entries_exceeded": (
        "reduce_directory_entries",
        "Move some entries of the crowded folder elsewhere and search again.",
    ),
    "aggregate_bytes_exceeded": (
        "narrow_or_reduce_scope",
        "Search a narrower scope, or move older material out of this one.",
    ),
    "file_count_exceeded": (
        "narrow_or_reduce_scope",
        "Search a narrower scope, or move some files out of this one.",
    ),
    "entry_count_exceeded": (
        "narrow_or_reduce_scope",
        "Search a narrower scope, or archive some entries of this one.",
    ),
    "omissions_truncated": (
        "narrow_scope",
        "Search one scope at a time to see everything that was left out.",
    ),
    "scope_not_granted": (
        "grant_vault",
        "The vault lies outside the AIOS folder: see `agentic-os aios grant-vault`.",
    ),
    "scope_forbidden_by_memory_policy": (
        "choose_project_scope_or_shared_memory",
        "Search a scope of the project (sessions, memory, projects), or choose shared memory.",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeOmission:
    """One scope that was left out, why, and what to do about it."""

    scope: str
    reason: OmissionReason
    observed: Amount

    @property
    def inspection(self) -> str:
        """How far the scope was looked at."""
        crowded = self.reason == "directory_entries_exceeded"
        return "partially_enumerated" if crowded else "not_searched"

    @property
    def recovery_code(self) -> str:
        """The stable code of what to do."""
        return _RECOVERY[self.reason][0]

    @property
    def recovery(self) -> str:
        """What to do, in words."""
        return _RECOVERY[self.reason][1]

    def as_json(self) -> JsonObject:
        """Return the JSON form."""
        return {
            "scope": self.scope,
            "reason": self.reason,
            "observed": {
                "files": self.observed.files,
                "bytes": self.observed.bytes,
                "entries": self.observed.entries,
            },
            "inspection": self.inspection,
            "recovery": {"code": self.recovery_code, "message": self.recovery},
        }


def forbidden(scope: str) -> ScopeOmission:
    """Make the omission of a scope that project memory does not search."""
    return ScopeOmission(scope=scope, reason="scope_forbidden_by_memory_policy", observed=NOTHING)


def ungranted(scope: str) -> ScopeOmission:
    """Make the omission of a scope that lies outside the folder without a grant."""
    return ScopeOmission(scope=scope, reason="scope_not_granted", observed=NOTHING)


def failed(scope: str, code: str, demand: Amount, limit: Amount) -> ScopeOmission:
    """Make the omission of a scope that met a limit while it was looked at."""
    return _omission(scope, REASONS[code], demand, limit)


def refused(
    scope: str, remaining: Amount, room: Amount, demand: Amount, limit: Amount
) -> ScopeOmission:
    """Make the omission of a scope whose remaining demand did not fit into the room."""
    dimension = exceeded(remaining, room, _DIMENSIONS) or _DIMENSIONS["entries"]
    reason = next(reason for reason in REASONS.values() if reason == dimension)
    return _omission(scope, reason, demand, limit)


def bounded(omissions: Sequence[ScopeOmission]) -> tuple[ScopeOmission, ...]:
    """Keep the first omissions and count the rest in one more."""
    kept = tuple(omissions[:OMISSIONS])
    rest = len(omissions) - len(kept)
    if rest == 0:
        return kept
    more = ScopeOmission(scope="all", reason="omissions_truncated", observed=Amount(entries=rest))
    return (*kept, more)


def _omission(scope: str, reason: OmissionReason, demand: Amount, limit: Amount) -> ScopeOmission:
    over = Amount(bytes=limit.bytes + 1, files=limit.files + 1, entries=limit.entries + 1)
    seen = demand.least(over)
    return ScopeOmission(
        scope=scope,
        reason=reason,
        observed=Amount(
            bytes=over.bytes if reason == "aggregate_bytes_exceeded" else seen.bytes,
            files=over.files if reason == "file_count_exceeded" else seen.files,
            entries=over.entries if reason == "entry_count_exceeded" else seen.entries,
        ),
    )
