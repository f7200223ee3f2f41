"""The identity ledger: an append-only file that cannot be altered unnoticed.

``chain`` is the rule of a line at its place, ``opening`` and ``journal`` the one writer, ``gate``
who may write what, ``writing`` the way from a request to a durable line, ``verify`` the reading
of it all, ``projection`` and ``snapshot`` the cache, ``repair`` and ``backup`` the way back,
``gold`` the original's format. Formats: ledger format, version 1.
"""

from agentic_os.ledger.answers import (
    AppendData,
    AppendedEntry,
    BackupData,
    EntryView,
    Finding,
    ProveData,
    RepairData,
    ShowData,
    VerifyData,
)
from agentic_os.ledger.backup import write_backup
from agentic_os.ledger.backup_restore import restore_backup
from agentic_os.ledger.chain import Chain, KeyTenure, Step
from agentic_os.ledger.entry import LINE_BYTES, Draft, Line, draft
from agentic_os.ledger.frame import read_line
from agentic_os.ledger.genesis import genesis_draft, ledger_origin, self_made_bundle
from agentic_os.ledger.gold import verify_gold
from agentic_os.ledger.journal import Journal, SignedDraft
from agentic_os.ledger.opening import begin_journal, lock_folder, open_journal
from agentic_os.ledger.projection import Projection
from agentic_os.ledger.prove import prove_line, signed_head
from agentic_os.ledger.repair import cut_torn_tail, restore_prefix
from agentic_os.ledger.show import LineFilter, show_lines, view_of
from agentic_os.ledger.storage import FileStorage, LineReader, Storage
from agentic_os.ledger.verify import verify_storage
from agentic_os.ledger.vocabulary import ENTRY_TYPES, EntryType, Level, entry_type
from agentic_os.ledger.writing import Request, Writer, Written, request

__all__ = [
    "ENTRY_TYPES",
    "LINE_BYTES",
    "AppendData",
    "AppendedEntry",
    "BackupData",
    "Chain",
    "Draft",
    "EntryType",
    "EntryView",
    "FileStorage",
    "Finding",
    "Journal",
    "KeyTenure",
    "Level",
    "Line",
    "LineFilter",
    "LineReader",
    "Projection",
    "ProveData",
    "RepairData",
    "Request",
    "ShowData",
    "SignedDraft",
    "Step",
    "Storage",
    "VerifyData",
    "Writer",
    "Written",
    "begin_journal",
    "cut_torn_tail",
    "draft",
    "entry_type",
    "genesis_draft",
    "ledger_origin",
    "lock_folder",
    "open_journal",
    "prove_line",
    "read_line",
    "request",
    "restore_backup",
    "restore_prefix",
    "self_made_bundle",
    "show_lines",
    "signed_head",
    "verify_gold",
    "verify_storage",
    "view_of",
    "write_backup",
]
