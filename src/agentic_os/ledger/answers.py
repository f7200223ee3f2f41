"""What the services of the ledger answer: frozen values, ready for JSON.

One service function answers one question and every surface renders its value. ``seq``
counts from 1. Paths are names inside the identity's folder, never absolute.
"""

from dataclasses import dataclass
from typing import Literal

LedgerFormat = Literal["agentic-os", "aii-gold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Why a ledger does not verify. ``seq`` is the first line that fails, where one does."""

    code: str
    message: str
    seq: int | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyData:
    """Answer of ``ledger verify``: what was read, what was checked, what is wrong.

    ``lines``, ``head_hash`` and ``root_hash`` describe the lines that verified.
    ``signatures_skipped`` counts lines below a cosigned head (design decision 10);
    ``cosigned_size`` is that head's size, 0 without one.
    """

    format: LedgerFormat
    lines: int
    head_hash: str
    root_hash: str
    origin: str
    signatures_checked: int
    signatures_skipped: int = 0
    cosigned_size: int = 0
    torn_bytes: int = 0
    self_made_root: bool | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def verified(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryView:
    """One line as ``ledger show`` and ``ledger append`` print it; ``payload`` is canonical JSON."""

    seq: int
    type: str
    layer: str
    ring: int
    role: str
    ts: str
    hash: str
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowData:
    """Answer of ``ledger show``: the lines that match, oldest first, unverified.

    ``matched`` counts all of them, ``lines`` the whole ledger; ``entries`` holds the last ones
    up to the limit.
    """

    entries: tuple[EntryView, ...]
    matched: int
    lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedEntry:
    """One durable entry; ``rewritten_from`` and ``reason`` where the gate wrote another type."""

    entry: EntryView
    rewritten_from: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendData:
    """Answer of ``ledger append``."""

    entries: tuple[AppendedEntry, ...]
    head_hash: str
    lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProveData:
    """Answer of ``ledger prove``: one line's place in the tree.

    Hashes are hex, ``proof`` runs from the leaf's sibling upwards. ``checkpoint`` is the tree
    head, signed by the ledger's checkpoint key.
    """

    origin: str
    seq: int
    leaf_hash: str
    tree_size: int
    root_hash: str
    proof: tuple[str, ...]
    checkpoint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairData:
    """Answer of ``ledger repair``: what was done, and where the old bytes lie.

    ``findings`` says what is still wrong with the identity where nothing was done.
    """

    action: Literal[
        "none",
        "newline_restored",
        "tail_restored",
        "tail_cut",
        "prefix_restored",
        "latch_released",
    ]
    lines: int
    set_aside: str = ""
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupData:
    """Answer of ``ledger backup`` and of its restoration."""

    lines: int
    head_hash: str
    root_hash: str
    origin: str
    files: tuple[str, ...]
    bytes: int
