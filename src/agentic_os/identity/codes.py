"""The errors of this room, and the ways out of safe mode for what other rooms find.

Boot meets codes of the ledger, of keys and of witnesses. What their own rooms say of them holds
anywhere; ``WAYS_OUT`` says what somebody does whose identity has just stopped.
"""

from typing import Final

from agentic_os.errors import (
    ErrorTable,
    IdentityError,
    LedgerError,
    UsageError,
    VerificationError,
)
from agentic_os.ledger.answers import Finding
from agentic_os.witness.codes import ERRORS as WITNESS_ERRORS

ERRORS: Final = ErrorTable(
    # Birth
    (
        "BIRTH_INVALID",
        UsageError,
        "An identity cannot be made from what was given.",
        "Give --domain NAME with --laws FILE, or with --ring0 FILE and --root-key FILE.",
    ),
    (
        "BIRTH_REFUSED",
        IdentityError,
        "The folder is not empty, or cannot be used.",
        "Choose an empty folder; nothing is ever born over something else.",
    ),
    (
        "BIRTH_UNFINISHED",
        IdentityError,
        "A birth or a restoration was killed, and left a folder that may hold private keys.",
        "Any `agentic-os ledger` command about that place deletes .NAME.unfinished beside it.",
    ),
    # Boot and safe mode
    (
        "IDENTITY_MISSING",
        IdentityError,
        "No identity lives in the folder.",
        "Make one with `agentic-os ledger init`, or bring one with `agentic-os ledger restore`.",
    ),
    ("BOOT_HALTED", IdentityError, "Ledger or keys cannot be read at all."),
    ("SAFE_MODE", IdentityError, "The identity can be read, and nothing can be written."),
    (
        "SAFE_MODE_LATCHED",
        IdentityError,
        "A conflict is latched, and the file that says which one is damaged.",
        "`agentic-os ledger repair --conflict` asks the witnesses again.",
    ),
    (
        "IDENTITY_CLOSED",
        IdentityError,
        "The identity was closed in this process.",
        "Boot it again.",
    ),
    (
        "LEDGER_TRUNCATED",
        IdentityError,
        "Lines are missing that a witness, the projection or a snapshot knows of.",
        "The end of the ledger is missing. Restore a newer copy.",
    ),
    (
        "LEDGER_REPLACED",
        IdentityError,
        "Other lines stand where the projection or a snapshot knew the first ones.",
        "Lines were replaced by others. Restore the copy that has the first ones.",
    ),
    (
        "LEDGER_CHANGED",
        VerificationError,
        "The ledger changed after it was verified.",
        "Another program writes to it. End that, then boot again.",
    ),
    (
        "REPLAY_FAILED",
        LedgerError,
        "A signed entry cannot be applied.",
        "The ledger says something that cannot be applied. Report it.",
    ),
    (
        "WITNESS_POLICY_MISSING",
        IdentityError,
        "The ledger was witnessed, and no witness policy is at hand.",
        "Give the policy that it was witnessed by: --witnesses FILE, or a backup's copy.",
    ),
    (
        "WITNESS_POLICY_CHANGED",
        IdentityError,
        "The witness policy is not the one that the ledger has accepted.",
        "Give the accepted one, or let the operator decide: agentic-os ledger policy FILE.",
    ),
    (
        "WITNESS_FORK",
        IdentityError,
        "Another line stands where a witness acknowledged one.",
        "The ledger was forked. Restore the copy that the witness cosigned.",
    ),
    # Keys and what lies beside the ledger
    (
        "KEY_MISMATCH",
        IdentityError,
        "Ledger and keys belong to different identities.",
        "Restore both from one backup.",
    ),
    (
        "ENVELOPE_INVALID",
        IdentityError,
        "The identity's public key envelope is damaged, or of a key that it never had.",
        "Restore identity-envelope.json from a backup.",
    ),
    (
        "WITNESS_KEY_INVALID",
        IdentityError,
        "A pinned witness key cannot be read.",
        "Restore witness-keys from a backup.",
    ),
    (
        "WITNESS_KEY_CHANGED",
        IdentityError,
        "Another witness key of the same id is pinned.",
        "Ask the witness's operator for its key before you trust it again.",
    ),
    (
        "WITNESS_TAIL_INVALID",
        IdentityError,
        "The file with the newest acknowledged point is damaged.",
        "Restore witness-tail.json from a backup.",
    ),
    # Verbs
    (
        "SIGNER_MISSING",
        LedgerError,
        "The key of that role is not open.",
        "Give --level with that role, and its password.",
    ),
    ("RING_DENIED", LedgerError, "Entries of that type are written by a verb of their own."),
    (
        "LEDGER_SEQ_UNKNOWN",
        LedgerError,
        "The ledger has no line of that number.",
        "`agentic-os ledger show` lists the lines.",
    ),
    (
        "NOT_COSIGNED",
        IdentityError,
        "No witness has cosigned a tree that holds the line.",
        "Run `agentic-os ledger bookmark` first.",
    ),
    (
        "NO_WITNESSES",
        IdentityError,
        "No witnesses are configured.",
        "Write witnesses.policy in the config folder, or give --witnesses FILE.",
    ),
    (
        "NOTHING_LATCHED",
        IdentityError,
        "No conflict is latched.",
        "There is nothing to repair: boot.",
    ),
    (
        "CONFLICT_REMAINS",
        IdentityError,
        "A witness still sees the conflict.",
        "Restore the newest copy first; ask the witness's operator if it lost its memory.",
    ),
)

_DAMAGED: Final = "Restore a copy: agentic-os ledger repair."

WAYS_OUT: Final[dict[str, str]] = {
    "KEY_INVALID": "The key file is damaged. Restore it from a backup.",
    "KEY_MISSING": "Restore the newest backup: agentic-os ledger restore.",
    "KEY_PASSWORD_REQUIRED": "Set AGENTIC_OS_KEY_PASSWORD for this command.",
    "KEY_PASSWORD_WRONG": "Set AGENTIC_OS_KEY_PASSWORD to the password of the keys.",
    "KEY_UNREADABLE": "Give yourself the right to read the key file, or restore the backup.",
    "LEDGER_CHAIN_BROKEN": f"Lines were changed or swapped. {_DAMAGED}",
    "LEDGER_EMPTY": f"The ledger was emptied. {_DAMAGED}",
    "LEDGER_GENESIS_INVALID": f"Line 1 is not a genesis that holds. {_DAMAGED}",
    "LEDGER_HASH_WRONG": f"An entry was changed. {_DAMAGED}",
    "LEDGER_HEAD_MISMATCH": f"The ledger is not the one that was cosigned. {_DAMAGED}",
    "LEDGER_KEY_WRONG": f"A line was signed with another key. {_DAMAGED}",
    "LEDGER_LINE_INVALID": f"The file is damaged. {_DAMAGED}",
    "LEDGER_MISSING": "Restore the newest backup (agentic-os ledger restore), then boot.",
    "LEDGER_RECEIPT_INVALID": f"A receipt was replayed or forged. {_DAMAGED}",
    "LEDGER_SEQ_BROKEN": f"Lines are missing, doubled or swapped. {_DAMAGED}",
    "LEDGER_SIGNATURE_INVALID": f"A line was not written by this identity. {_DAMAGED}",
    "LEDGER_UNREADABLE": "See to the disk and the file's mode, then boot again.",
    "LEDGER_WITNESS_KEY_UNKNOWN": "Put the witness's key back into witness-keys.",
    "POSTGRES_MISSING": "Install the extra `postgres`: `agentic-os extras` says how.",
    "PROJECTION_UNUSABLE": "See to the database; the projection is rebuilt from the ledger.",
    "PROJECTION_URL": "Give sqlite:///PATH or postgresql://…, or nothing.",
}
"""What to do about what other rooms find at boot; doctor shows the same words."""


def finding(code: str, message: str = "", *, hint: str = "") -> Finding:
    """Build a finding of this room; its hint comes from the table."""
    error = ERRORS.error(code, message, hint=hint)
    return Finding(code=code, message=error.message, hint=error.hint)


def with_way_out(found: Finding) -> Finding:
    """Return a finding that says what to do, where its own room left that open."""
    if found.hint:
        return found
    row = ERRORS.get(found.code) or WITNESS_ERRORS.get(found.code)
    hint = (row.hint if row else "") or WAYS_OUT.get(found.code, _DAMAGED)
    return Finding(code=found.code, message=found.message, seq=found.seq, hint=hint)
