"""The witness: a service that detects rollback, truncation and forks from hashes alone.

Service: ``state`` and ``cases`` are what ``rule`` decides on; ``bookmark_json`` and
``add_checkpoint`` read requests, ``claims`` verifies them, ``answers`` writes and signs inside
``store``; ``desk`` puts that in order, ``service`` speaks HTTP, ``server`` runs it. Client:
``submission`` signs, ``client`` asks, ``standing`` judges, ``rounds`` asks several,
``receipt_files`` checks offline. Nothing here knows an entry.

Re-exported is what a client needs. The service's modules (``server``, ``keyring``, ``desk``,
``store``) bring asyncio and SQLite with them and are imported by their own names.
"""

from agentic_os.witness.bookmark import BookmarkRequest, Receipt
from agentic_os.witness.bookmark_json import read_receipt
from agentic_os.witness.client import ServedKey, WitnessClient
from agentic_os.witness.memory import WitnessedState, WitnessMemory
from agentic_os.witness.policy import PolicyWitness, QuorumPolicy, parse_policy
from agentic_os.witness.receipt_files import (
    ReceiptReport,
    export_proof,
    export_receipt,
    verify_receipt,
)
from agentic_os.witness.rounds import RoundResult, Standing, WitnessOutcome, WitnessRounds
from agentic_os.witness.standing import CONFLICT_CODES
from agentic_os.witness.submission import KeyChange, WitnessedLedger, check_receipt

__all__ = [
    "CONFLICT_CODES",
    "BookmarkRequest",
    "KeyChange",
    "PolicyWitness",
    "QuorumPolicy",
    "Receipt",
    "ReceiptReport",
    "RoundResult",
    "ServedKey",
    "Standing",
    "WitnessClient",
    "WitnessMemory",
    "WitnessOutcome",
    "WitnessRounds",
    "WitnessedLedger",
    "WitnessedState",
    "check_receipt",
    "export_proof",
    "export_receipt",
    "parse_policy",
    "read_receipt",
    "verify_receipt",
]
