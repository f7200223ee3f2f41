"""The documents of ``ledger`` and ``witness`` by name: what ``--json`` prints, and its schema."""

from agentic_os.identity.answers import (
    BookmarkData,
    BootData,
    ExportData,
    InitData,
    PolicyData,
    RotateData,
)
from agentic_os.ledger.answers import (
    AppendData,
    BackupData,
    ProveData,
    RepairData,
    ShowData,
    VerifyData,
)
from agentic_os.witness.client.receipt_files import ReceiptReport
from agentic_os.witness.service.journal import WitnessJournal
from agentic_os.witness.service.keyring import KeygenData

IDENTITY_DOCUMENTS: dict[str, type] = {
    "ledger-init": InitData,
    "ledger-boot": BootData,
    "ledger-append": AppendData,
    "ledger-show": ShowData,
    "ledger-verify": VerifyData,
    "ledger-prove": ProveData,
    "ledger-prove-output": ExportData,
    "ledger-bookmark": BookmarkData,
    "ledger-policy": PolicyData,
    "ledger-rotate": RotateData,
    "ledger-repair": RepairData,
    "ledger-backup": BackupData,
    "ledger-restore": BackupData,
    "witness-keygen": KeygenData,
    "witness-log": WitnessJournal,
    "witness-verify-receipt": ReceiptReport,
}
