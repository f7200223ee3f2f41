"""A new key in the place of a role's, from the next line on; a new checkpoint key, at once.

The new key lies on disk before the line is written and gets the role's name after; the old one
stays beside it under a retired name. A crash in between is finished by ``KeyRing.settle``.

A checkpoint key signs tree heads and no line, so no line tells of its change: the identity's key
binds the new one at each witness with the next bookmark, and the witness retires the old one for
good. It accepts that while the origin stands where the ledger does; where a thief has had a
longer tree cosigned, its operator closes the origin (how-to "Run a witness").
"""

from typing import Final

from agentic_os.crypto.canonical.texts import encode_base64
from agentic_os.crypto.keys.transition import transition_text
from agentic_os.errors import AgenticOSError
from agentic_os.identity.answers import RotateData
from agentic_os.identity.codes import ERRORS
from agentic_os.identity.ready import ReadyIdentity
from agentic_os.ledger.layout import KEY_SUFFIX
from agentic_os.ledger.line.payloads import Role
from agentic_os.ledger.line.vocabulary import Level
from agentic_os.ledger.writing import request

_LEVELS: Final[dict[Role, Level]] = {
    "identity": "agent",
    "operator": "operator",
    "platform": "platform",
}
_MAY_BE_WRITTEN: Final = frozenset({"APPEND_UNCERTAIN", "PROJECTION_BEHIND"})


def rotate_key(ready: ReadyIdentity, role: Role, *, reason: str = "") -> RotateData:
    """Change a role's key.

    Raises:
        LedgerError: ``SIGNER_MISSING`` when the role is locked; as ``Writer.submit``.
        CryptoError: ``KEY_EXISTS`` when a next key waits already.
    """
    old = ready.keys.signers.get(role)
    if old is None:
        raise ERRORS.error("SIGNER_MISSING", f"the {role} key is not at hand")
    new = ready.keys.prepare_next(role)
    text = transition_text(role=role, old_key_id=old.key_id, new_key_id=new.key_id)
    payload: dict[str, str] = {
        "role": role,
        "new_public_key_b64": encode_base64(new.public.raw),
        "new_sig_b64": encode_base64(new.sign(text)),
    }
    if reason:
        payload["reason"] = reason
    try:
        written = ready.writer.submit(_LEVELS[role], [request("key.transition", payload)])
    except AgenticOSError as error:
        if error.code not in _MAY_BE_WRITTEN:
            ready.keys.drop_next(role)
        raise
    retired = ready.keys.settle(role, ready.journal.chain)
    return RotateData(
        role=role,
        seq=written[0].line.seq,
        old_key_id=old.key_id,
        new_key_id=new.key_id,
        retired=f"{retired}{KEY_SUFFIX}" if retired else "",
    )


def rotate_checkpoint_key(ready: ReadyIdentity) -> RotateData:
    """Put a new checkpoint key in the place of the one at hand.

    Raises:
        CryptoError: ``KEY_UNWRITABLE``.
    """
    origin = ready.journal.chain.origin
    old = ready.keys.note_signer(origin).key.vkey
    retired = ready.keys.replace_checkpoint()
    return RotateData(
        role="checkpoint",
        seq=ready.journal.chain.size,
        old_key_id=old,
        new_key_id=ready.keys.note_signer(origin).key.vkey,
        retired=f"{retired}{KEY_SUFFIX}",
    )
