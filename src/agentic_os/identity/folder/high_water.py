"""The high-water mark: how far the derived tables and snapshots say that the ledger went.

The ledger is durable before anything is derived from it, so nothing derived is ever ahead of
it: neither after a crash nor after a power cut. Tables or a snapshot that know a later line, or
another line in the same place, therefore say that lines were cut off or replaced
(AII OS formats, section 5). It is no proof: whoever can cut the ledger can delete what is
derived, too. The question to a witness is.

What counts: the cursor of the tables, if their first line is this ledger's; a seal, in the
tables or in a snapshot, if this identity signed it for this origin. Anything else is of another
ledger or of nobody, and is ignored as before.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from agentic_os.crypto.canonical.texts import SHA256_PREFIX
from agentic_os.identity.codes import ERRORS
from agentic_os.identity.restoring import Milestones, live_seal, seal_is_ours
from agentic_os.ledger.file.journal import Journal
from agentic_os.ledger.projection.snapshot import list_snapshots, peek_seal
from agentic_os.ledger.projection.tables import EMPTY_CURSOR, Cursor, Projection
from agentic_os.ledger.rule.chain import Chain


def require_high_water(
    projection: Projection, folder: Path, chain: Chain, milestones: Milestones
) -> None:
    """Refuse a ledger that is behind, or beside, what was derived from it.

    Args:
        projection: the tables as they lie, before anything is restored.
        folder: the identity's, with its snapshots.
        chain: the verified ledger.
        milestones: watched ``candidate_lines`` while it was verified.

    Raises:
        IdentityError: ``LEDGER_TRUNCATED``, ``LEDGER_REPLACED``.
    """
    for known in _known(projection, folder, chain, milestones):
        if known.seq > chain.size:
            raise ERRORS.error(
                "LEDGER_TRUNCATED", f"line {known.seq} was written once, {chain.size} are left"
            )
        if milestones.hash_at(known.seq) != known.hash:
            raise ERRORS.error(
                "LEDGER_REPLACED", f"line {known.seq} is not the one that was written first"
            )


def require_replica_behind(replica: Projection, journal: Journal) -> None:
    """Refuse a ledger that is behind, or beside, what a replica elsewhere was told of it.

    A replica says nothing that is believed; it only remembers, as an alarm does.

    Raises:
        IdentityError: ``LEDGER_TRUNCATED``, ``LEDGER_REPLACED``.
    """
    known, size = replica.cursor, journal.chain.size
    if known == EMPTY_CURSOR or replica.first_hash != f"{SHA256_PREFIX}{journal.hash_at(1)}":
        return
    if known.seq > size:
        raise ERRORS.error(
            "LEDGER_TRUNCATED", f"line {known.seq} was written once, {size} are left"
        )
    if known.hash != f"{SHA256_PREFIX}{journal.hash_at(known.seq)}":
        raise ERRORS.error(
            "LEDGER_REPLACED", f"line {known.seq} is not the one that was written first"
        )


def forget_derived(projection: Projection, folder: Path) -> None:
    """Drop everything that was derived, after a repair that shortened the ledger on purpose."""
    projection.reset()
    for path in list_snapshots(folder):
        with suppress(FileNotFoundError):
            path.unlink()


def _known(
    projection: Projection, folder: Path, chain: Chain, milestones: Milestones
) -> Iterator[Cursor]:
    cursor = projection.cursor
    if cursor != EMPTY_CURSOR and projection.first_hash == milestones.hash_at(1):
        yield cursor
    for seal in (live_seal(projection), *map(peek_seal, list_snapshots(folder))):
        if seal is not None and seal_is_ours(seal, chain):
            yield seal.cursor
