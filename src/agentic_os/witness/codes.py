"""The errors of this room: what the client and the service raise, and what to do about it.

What the service answers to others is not here but in ``protocol/refusal`` and ``rule/tables``.
"""

from typing import Final

from agentic_os.errors import (
    CryptoError,
    ErrorTable,
    VerificationError,
    WitnessConflictError,
    WitnessError,
    WitnessRefusedError,
)

_NEWEST_BACKUP: Final = "Restore the newest backup; clients notice one that is too old."
_ASK_OPERATOR: Final = "Ask the witness's operator."

ERRORS: Final = ErrorTable(
    # What a witness holds against the ledger, or against itself (client/standing)
    (
        "WITNESS_AHEAD",
        WitnessConflictError,
        "The witness holds more lines than the ledger has.",
        "The ledger was rolled back. Restore the newest copy.",
    ),
    (
        "WITNESS_FORK",
        WitnessConflictError,
        "The witness holds another history at a place that the ledger has too.",
        "The ledger was forked. Restore the copy that the witness cosigned.",
    ),
    (
        "WITNESS_WENT_BACK",
        WitnessConflictError,
        "The witness holds less than it once signed for.",
        "The witness lost its memory. Ask its operator; keep your receipts.",
    ),
    (
        "WITNESS_KEY_CHANGED",
        VerificationError,
        "The receipt key of the witness is not the pinned one.",
        "Ask the witness's operator for its key before you trust it again.",
    ),
    (
        "ORIGIN_CHANGED",
        WitnessConflictError,
        "What is remembered of the witness is about another ledger.",
        "Another identity was born in this place. Restore the newest backup.",
    ),
    (
        "REFUSED_CONFLICT",
        WitnessRefusedError,
        "The witness refuses, as for a conflict, and shows nothing signed that proves one.",
        _ASK_OPERATOR,
    ),
    (
        "WITNESS_STALE",
        WitnessError,
        "The witness shows no signature that is recent enough to say where it is now.",
        "Somebody may replay an old answer. Look at both clocks, then ask again.",
    ),
    # What else an answer can be
    (
        "WITNESS_UNREACHABLE",
        WitnessError,
        "The witness cannot be reached.",
        "Look at its address in the policy, and at the network; it is asked again next time.",
    ),
    (
        "WITNESS_ANSWER_INVALID",
        WitnessError,
        "The witness answers something that it should not.",
        f"Look at its address in the policy. {_ASK_OPERATOR}",
    ),
    (
        "COSIGNATURE_INVALID",
        VerificationError,
        "The witness's cosignature does not verify.",
        f"Compare its vkey with the policy's. {_ASK_OPERATOR}",
    ),
    (
        "RECEIPT_INVALID",
        VerificationError,
        "A receipt does not verify.",
        "Ask for the receipt again; a file that was changed proves nothing.",
    ),
    (
        "MANIFEST_INVALID",
        VerificationError,
        "The manifest that should vouch for a witness's key does not.",
        "Compare the root that you trust with the operator's; ask for a renewed manifest.",
    ),
    # Policies, and what the client keeps
    (
        "POLICY_INVALID",
        WitnessError,
        "The witness policy is wrong.",
        "Mend that line; the how-to “Keep an identity” shows the form.",
    ),
    (
        "WITNESS_UNKNOWN",
        WitnessError,
        "The policy has no witness of that name.",
        "Use a name that the policy has.",
    ),
    (
        "MEMORY_INVALID",
        WitnessError,
        "What the client keeps about a witness is damaged.",
        "Restore it from a backup; without it a witness that went back goes unnoticed.",
    ),
    (
        "QUORUM_MISSING",
        VerificationError,
        "Too few witnesses have cosigned for the policy.",
        "Ask for a bookmark when more witnesses can be reached.",
    ),
    ("TRUST_MISSING", VerificationError, "What the file would be checked against was not given."),
    # A witness's own folder
    (
        "WITNESS_MISSING",
        WitnessError,
        "No witness lives in that folder.",
        "Make one with `agentic-os witness keygen`.",
    ),
    (
        "WITNESS_EXISTS",
        WitnessError,
        "A witness lives in that folder already.",
        "Keys are never replaced; choose another folder and another name.",
    ),
    (
        "CONFIG_INVALID",
        WitnessError,
        "witness.toml is wrong.",
        "Mend the key that is named; the how-to “Run a witness” lists them all.",
    ),
    (
        "VKEY_UNSUPPORTED",
        CryptoError,
        "A key of another kind is needed here.",
        "Ask the log's operator for the vkey that signs its checkpoints.",
    ),
    (
        "KEY_INVALID",
        CryptoError,
        "A key file of the root is damaged.",
        "Restore the root's folder from a backup.",
    ),
    (
        "KEY_MISMATCH",
        CryptoError,
        "Key files do not belong together.",
        "Restore them from one backup.",
    ),
    # Its memory
    (
        "DATABASE_MISSING",
        WitnessError,
        "There are keys and no memory.",
        "Restore the newest backup, or make a new witness under a new name; never an empty memory.",
    ),
    (
        "DATABASE_EXISTS",
        WitnessError,
        "There is a memory already.",
        "Choose another folder, or restore the keys that belong to it.",
    ),
    ("DATABASE_INVALID", WitnessError, "The memory of the witness is damaged.", _NEWEST_BACKUP),
    (
        "DATABASE_KEYS",
        WitnessError,
        "The memory belongs to other keys.",
        "Keys and database of a witness stay together: restore both from one backup.",
    ),
    (
        "SQLITE_TOO_OLD",
        WitnessError,
        "SQLite 3.37 or newer is needed.",
        "Install a newer Python, which brings its SQLite.",
    ),
    (
        "STORAGE_FAILED",
        WitnessError,
        "The storage of the witness failed; it signs nothing until it is restarted.",
        "Make room, look at the disk, restart.",
    ),
    ("STORE_BUSY", WitnessError, "Another process is writing.", "Ask again in a second."),
    ("STORE_CLOSED", WitnessError, "The witness is shutting down.", "Ask again in a second."),
    (
        "ROW_CHANGED",
        WitnessError,
        "A row changed since it was read; nothing was written.",
        "Ask again.",
    ),
    (
        "ORIGIN_UNKNOWN",
        WitnessError,
        "The witness knows no open origin of that name.",
        "`agentic-os witness log` lists them.",
    ),
    (
        "CLOCK_LEAPT",
        WitnessError,
        "The clock stands long after the last time that was signed.",
        "Set the clock; if it is right, start with `witness serve --clock-is-right` once.",
    ),
    (
        "LISTEN_FAILED",
        WitnessError,
        "The address cannot be listened on.",
        "Another program has the port, or it is not this machine's address: give another.",
    ),
)
