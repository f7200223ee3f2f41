"""The migration state of the folder: read beside the projection, never inside it.

The inspector reads only ``aios.json`` and the names of owned transaction metadata
(``.dotaios/migrations``); it never fails a projection, it reports. The states and their
JSON are those of the DotAIOS convention, the commands are its program's.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.allowance import Allowance, Amount, Charges
from agentic_os.aios.folder.configuration import SCHEMA_VERSION, read_configuration
from agentic_os.aios.folder.faults import EVIDENCE_FOLDER_TOO_LARGE
from agentic_os.aios.folder.json_text import JsonObject
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.folder.tree import MIGRATIONS
from agentic_os.errors import AiosError

MigrationStatus = Literal[
    "current", "schema_outdated", "transaction_present", "inspection_failed", "not_read"
]

NOTICE_CHARS: Final = 1024
"""UTF-16 units that a notice may add outside the projection's budget."""
TRANSACTION_ENTRIES: Final = 16
OWNER_BYTES: Final = 4096

_OWNER: Final = '{\n  "schema": "dotaios.migrations.v1"\n}\n'
_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})")
_CODE = re.compile(r"[A-Z][A-Z0-9_]{1,63}")
_MIGRATE: Final = "dotaios migrate"
_DOCTOR: Final = "dotaios doctor"
_LIMIT: Final = Amount(bytes=2 * 1024 * 1024, files=4, entries=64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """The state of the folder's schema.

    ``folder_version`` is there when it is outdated, ``code`` when inspection failed.
    """

    status: MigrationStatus
    folder_version: str | None = None
    code: str | None = None

    def as_json(self) -> JsonObject:
        """Return the JSON form, with severity and action."""
        value: JsonObject = {"status": self.status}
        if self.status == "schema_outdated":
            value["folder_schema_version"] = self.folder_version
            value["supported_schema_version"] = SCHEMA_VERSION
        if self.status == "inspection_failed":
            value["code"] = self.code
        command = {"schema_outdated": _MIGRATE, "current": None, "not_read": None}.get(
            self.status, _DOCTOR
        )
        value["severity"] = {_MIGRATE: "notice", _DOCTOR: "warning"}.get(command or "", "none")
        value["action"] = (
            None if command is None else {"command": command, "path_scope": "configured_aios"}
        )
        return value

    @property
    def notice(self) -> str | None:
        """The notice before a compact brief, or ``None``."""
        said = {
            "schema_outdated": (
                f"The folder has schema {self.folder_version}; this reader knows "
                f"{SCHEMA_VERSION}. Preview the change with `{_MIGRATE}` before writing to it."
            ),
            "transaction_present": (
                "A migration of this folder was started and not finished. Tell the person "
                f"before anything is written to it; look at it with `{_DOCTOR}`."
            ),
            "inspection_failed": (
                f"The state of this folder's schema could not be verified ({self.code}). "
                f"Do not take it for current; look at it with `{_DOCTOR}`."
            ),
        }.get(self.status)
        return None if said is None else f"> [AIOS] {said}"


NOT_READ: Final = Migration(status="not_read")


def inspect_migration(access: AiosAccess) -> Migration:
    """Inspect the folder; every failure is a state, never an error."""
    try:
        with FolderReader(access.root, files=access.files) as reader:
            return _inspect(reader)
    except AiosError as error:
        return _failed(error.code)


def _inspect(reader: FolderReader) -> Migration:
    charges = Charges(Allowance(_LIMIT))
    version = read_configuration(reader, charges).schema_version
    folder = _numbers(version)
    if folder is None:
        return _failed("INVALID_SCHEMA")
    supported = _numbers(SCHEMA_VERSION)
    if supported is not None and folder > supported:
        return _failed("FUTURE_SCHEMA")
    transactions = _transactions(reader, charges)
    if transactions is not None:
        return transactions
    if folder != supported:
        return Migration(status="schema_outdated", folder_version=version)
    return Migration(status="current")


def _transactions(reader: FolderReader, charges: Charges) -> Migration | None:
    """Look for owned transactions; their content is not read."""
    names = _entries(reader, MIGRATIONS, charges)
    if not names:
        return None
    owner = reader.read(f"{MIGRATIONS}/owner.json", limit_bytes=OWNER_BYTES, charges=charges)
    if owner is None or owner.text != _OWNER:
        return _failed("UNOWNED_METADATA")
    found = _entries(reader, f"{MIGRATIONS}/transactions", charges)
    if not found:
        return None
    if any(kind != "folder" for kind in found):
        return _failed("UNSAFE_METADATA")
    return Migration(status="transaction_present")


def _entries(reader: FolderReader, relative: str, charges: Charges) -> list[str]:
    entries = reader.entries(
        relative,
        limit_entries=TRANSACTION_ENTRIES,
        too_many=EVIDENCE_FOLDER_TOO_LARGE,
        charges=charges,
    )
    return [entry.kind for entry in entries or ()]


def _failed(code: str) -> Migration:
    safe = code if _CODE.fullmatch(code) else "INSPECTION_FAILED"
    return Migration(status="inspection_failed", code=safe)


def _numbers(version: str | None) -> tuple[int, ...] | None:
    found = _VERSION.fullmatch(version or "")
    return None if found is None else tuple(int(part) for part in found.groups())
