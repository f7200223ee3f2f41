"""What the identity's services answer: frozen values, ready for JSON, without absolute paths."""

from dataclasses import dataclass
from typing import Literal

from agentic_os.ledger.answers import Finding, VerifyData

Mode = Literal["ready", "safe_mode"]
RestoredFrom = Literal["live", "snapshot", "ledger", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InitData:
    """Answer of ``ledger init``: who was born, and which key files now exist."""

    origin: str
    identity_id: str
    head_hash: str
    root_hash: str
    checkpoint_vkey: str
    self_made_root: bool
    keys: tuple[str, ...]
    encrypted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingView:
    """Where one witness says the ledger is, or why it could not be asked."""

    witness: str
    code: str
    message: str = ""
    conflict: bool = False
    cosigned_at: str = ""
    """When the witness signed what it stands for; empty when it signed nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BootData:
    """Answer of ``ledger boot``.

    ``reason`` says why the identity is in safe mode. ``restored_from`` is what the projection
    was taken from, ``replayed`` how many lines were applied after that. ``verify`` is absent
    when the ledger was not read (a latched conflict is read all the same).
    """

    mode: Mode
    reason: Finding | None
    verify: VerifyData | None
    identity_id: str = ""
    restored_from: RestoredFrom = "none"
    replayed: int = 0
    witnesses: tuple[StandingView, ...] = ()
    receipts_settled: int = 0
    torn_aside: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessAnswer:
    """What one witness answered to a bookmark."""

    witness: str
    code: str
    message: str = ""
    receipt_seq: int | None = None
    conflict: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BookmarkData:
    """Answer of ``ledger bookmark``. ``due`` says why, or that it was not.

    ``receipts`` names the receipt files that were written, where they were asked for.
    """

    due: Literal["shutdown", "asked", "not_due"]
    ordinal: int
    ledger_hash: str
    quorum: bool
    witnesses: tuple[WitnessAnswer, ...] = ()
    receipts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportData:
    """Answer of ``ledger prove --output``: which line, in which cosigned tree, in which file."""

    seq: int
    leaf_hash: str
    tree_size: int
    root_hash: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyData:
    """Answer of ``ledger policy``: the witnesses that the ledger has accepted from now on."""

    digest: str
    epoch: int
    seq: int
    witnesses: tuple[str, ...]
    quorum: str
    replaced: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RotateData:
    """Answer of a key transition."""

    role: str
    seq: int
    old_key_id: str
    new_key_id: str
    retired: str
