"""Accept a witness policy: the first one at its first acknowledgement, others by the operator."""

from agentic_os.identity.answers import PolicyData
from agentic_os.identity.codes import ERRORS
from agentic_os.identity.ready import ReadyIdentity
from agentic_os.identity.witness_policy import keep_policy, kept_policy


def accept_first_policy(ready: ReadyIdentity) -> None:
    """Write down by whom the ledger is witnessed, once, and keep the file where backups see it.

    Raises:
        LedgerError: as ``Writer.submit``.
    """
    if ready.witnesses is None:
        return
    policy, accepted = ready.witnesses.policy, ready.accepted
    for entry in accepted.first_epoch(policy):
        ready.writer.submit("agent", [entry])
        accepted.accept(policy, 1)
    kept = kept_policy(ready.folder)
    if kept is None or kept.document != policy.document:
        keep_policy(ready.folder, policy)


def replace_policy(ready: ReadyIdentity, *, reason: str) -> PolicyData:
    """Write the operator's decision for the policy at hand, and accept it.

    Raises:
        IdentityError: ``NO_WITNESSES``. LedgerError: ``SIGNER_MISSING``; as ``Writer.submit``.
    """
    if ready.witnesses is None:
        raise ERRORS.error("NO_WITNESSES")
    policy, accepted = ready.witnesses.policy, ready.accepted
    replaced, epoch = accepted.digest, accepted.epoch + 1
    written = ready.writer.submit("operator", accepted.next_epoch(policy, reason))
    accepted.accept(policy, epoch)
    keep_policy(ready.folder, policy)
    return PolicyData(
        digest=policy.digest,
        epoch=epoch,
        seq=written[-1].line.seq,
        witnesses=tuple(one.name for one in policy.witnesses),
        quorum=policy.quorum,
        replaced=replaced,
    )
