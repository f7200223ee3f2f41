"""The identity: birth, boot, safe mode, witnessing, and what lies apart from the ledger.

``boot`` is the only way to an ``Identity``; ``birth`` makes a new one; ``session`` holds its verbs;
``safe_mode`` says what happens when something does not verify; ``witnessing`` talks to the
witnesses; ``restoring`` brings the projection to the head; ``audit`` keeps what the ledger
forbids; ``health`` looks without booting; ``services`` answers one question a function.
"""

from agentic_os.identity.answers import (
    BookmarkData,
    BootData,
    InitData,
    RotateData,
    StandingView,
    WitnessAnswer,
)
from agentic_os.identity.audit import AuditRecord, AuditStore
from agentic_os.identity.birth import Ring0Source, give_birth
from agentic_os.identity.boot import BootOptions, boot
from agentic_os.identity.health import HealthData, identity_health
from agentic_os.identity.services import (
    backup_identity,
    repair_conflict,
    repair_from_copy,
    repair_tail,
    restore_identity,
    show_ledger,
    verify_ledger,
)
from agentic_os.identity.session import Identity
from agentic_os.identity.witnessing import KeptReceipt, PolicyWitnesses, Witnesses

__all__ = [
    "AuditRecord",
    "AuditStore",
    "BookmarkData",
    "BootData",
    "BootOptions",
    "HealthData",
    "Identity",
    "InitData",
    "KeptReceipt",
    "PolicyWitnesses",
    "Ring0Source",
    "RotateData",
    "StandingView",
    "WitnessAnswer",
    "Witnesses",
    "backup_identity",
    "boot",
    "give_birth",
    "identity_health",
    "repair_conflict",
    "repair_from_copy",
    "repair_tail",
    "restore_identity",
    "show_ledger",
    "verify_ledger",
]
