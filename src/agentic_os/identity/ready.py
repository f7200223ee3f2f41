"""What only a ready identity has: the means to write, to sign and to be witnessed."""

from dataclasses import dataclass
from pathlib import Path

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.identity.folder.keyring import KeyRing
from agentic_os.identity.folder.pinned_keys import PinnedKeys
from agentic_os.identity.witness_policy import AcceptedPolicy
from agentic_os.identity.witnessing import Witnesses, witnessed_ledger
from agentic_os.ledger.file.journal import Journal
from agentic_os.ledger.projection.tables import Projection
from agentic_os.ledger.writing import Writer
from agentic_os.witness.client.submission import WitnessedLedger


@dataclass(frozen=True, kw_only=True)
class ReadyIdentity:
    """Everything about one identity that must not exist in safe mode."""

    folder: Path
    journal: Journal
    projection: Projection
    replica: Projection | None
    writer: Writer
    keys: KeyRing
    pinned: PinnedKeys
    witnesses: Witnesses | None
    envelope: PublicKeyEnvelope
    accepted: AcceptedPolicy

    def seen_by_witnesses(self) -> WitnessedLedger:
        """Return the ledger as a witness client sees it."""
        return witnessed_ledger(
            self.journal,
            envelope=self.envelope,
            identity_key=self.keys.signers["identity"],
            signer=self.keys.note_signer(self.journal.chain.origin),
        )
