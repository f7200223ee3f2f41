"""``aios migrate``: bring an older folder to the schema that this program knows, resumably.

The inspector reads ``aios.json``, the root ``.gitignore`` and its own transaction data, nothing of
the person's. Order: owner; transaction folder; journal *preparing*; backups and staged files;
*prepared*; look again; *applying*; *committing*: ``aios.json`` last; receipt; transaction away.
Recovery goes back: each file that is as the migration left it is restored from its checked backup;
one that is neither before nor after stops it (CONCURRENT_EDIT).
"""

import json
import re
import stat
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.configuration import CONFIGURATION, CONFIGURATION_BYTES, SCHEMA_VERSION
from agentic_os.aios.folder.faults import FOLDER_MISSING, fault
from agentic_os.aios.folder.json_text import JsonObject, iso_utc, parse_object, pretty
from agentic_os.aios.folder.tree import MIGRATIONS, TRANSACTIONS
from agentic_os.aios.writing import staging
from agentic_os.aios.writing.locks import CHANGES_LOCK, holding
from agentic_os.aios.writing.plan import sha256
from agentic_os.aios.writing.writer import MISSING, PRIVATE, FolderWriter, Seen
from agentic_os.errors import AiosError

MigrationState = Literal["current", "outdated", "applied", "recovered", "nothing_to_recover"]

OWNER: Final = b'{\n  "schema": "dotaios.migrations.v1"\n}\n'
JOURNAL_SCHEMA: Final = "dotaios.migration-journal.v1"
RECEIPT_SCHEMA: Final = "dotaios.migration-receipt.v1"
TRANSACTION_LIMIT: Final = 16
IGNORE: Final = ".gitignore"
IGNORED: Final = "/workspaces/"
CHAIN: Final = ("1.0.0", "1.1.0", SCHEMA_VERSION)

_KEYS: Final = ("schema_version", "created_at", "ai_tools", "vault_path")
PREFIX: Final = "DOTAIOS_MIGRATION_"
_PLAN_ID = re.compile(r"migrate-[0-9_]+-to-[0-9_]+-[0-9a-f]{16}")
MESSAGES: Final = {
    "MISSING_FILE": ("aios.json is missing", ""),
    "UNSAFE_FILE": ("aios.json is not a regular file", ""),
    "UNSAFE_IGNORE_FILE": (".gitignore is not a regular file of its own", ""),
    "CONFIG_TOO_LARGE": ("aios.json is larger than 1 MiB", ""),
    "INVALID_CONFIG": ("aios.json is not valid", "restore it from a copy, or correct the JSON"),
    "INVALID_CONFIG_ENCODING": ("aios.json is not UTF-8", "save it as UTF-8"),
    "INVALID_CONFIG_IDENTITY": ("aios.json lacks one of its four fields", ""),
    "UNSAFE_CONFIG_LAYOUT": (
        "schema_version does not stand in aios.json exactly once",
        "write it once, as a plain text",
    ),
    "UNSUPPORTED_SCHEMA": ("the folder has a schema that this program does not know", ""),
    "RECOVERY_REQUIRED": (
        "a migration was started and not finished",
        "see: agentic-os aios migrate --recover",
    ),
    "PLAN_CHANGED": ("the plan is not the one that was shown", "look at it again"),
    "NO_MIGRATION_NEEDED": ("the folder has the newest schema", ""),
    "INVALID_PLAN_ID": ("this is not the id of a plan", "see: agentic-os aios migrate"),
    "STATE_CHANGED": ("the folder changed meanwhile; nothing was migrated", "look at it again"),
    "TOO_MANY_TRANSACTIONS": ("there are more unfinished migrations than can be", ""),
    "CONCURRENT_EDIT": (
        "a file is neither as it was nor as the migration left it; it stays as it is",
        "decide by hand which of the two you want, then recover again",
    ),
    "INVALID_JOURNAL": ("the journal of the migration is not valid", ""),
    "INVALID_BACKUP": ("a backup of the migration is not what its journal says", ""),
    "UNSAFE_RECOVERY_RESIDUE": ("something that is no migration lies in its place", ""),
    "TRANSACTION_NOT_FOUND": ("no unfinished migration has this id", ""),
    "AMBIGUOUS_RECOVERY": ("several migrations are unfinished", "name the one to recover"),
}


class MigrationData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``migrate``: the folder's schema, and the plan or what was done."""

    state: MigrationState
    folder_schema_version: str
    supported_schema_version: str
    plan_id: str | None = None
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    path: str
    before: Seen
    after: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    id: str
    versions: tuple[str, ...]
    steps: tuple[_Step, ...]


def migrate(access: AiosAccess, plan_id: str | None = None) -> MigrationData:
    """Show what a migration would change, or with a plan's id carry exactly that out.

    Raises:
        AiosError: DOTAIOS_MIGRATION_* and a word of the convention; a write fault.
    """
    if plan_id is not None and not _PLAN_ID.fullmatch(plan_id):
        raise _fault("INVALID_PLAN_ID")
    with FolderWriter(access.root, system=access.system, files=access.files) as writer:
        if writer.names(TRANSACTIONS):
            raise _fault("RECOVERY_REQUIRED")
        plan = _plan(writer)
        if plan_id is None:
            return _shown(plan, "outdated" if plan.steps else "current")
        if not plan.steps:
            raise _fault("NO_MIGRATION_NEEDED")
        if plan.id != plan_id:
            raise _fault("PLAN_CHANGED")
        with holding(writer, CHANGES_LOCK):
            _apply(writer, access, plan)
        return _shown(plan, "applied")


def recover(access: AiosAccess, plan_id: str | None = None) -> MigrationData:
    """Take an unfinished migration back.

    Raises:
        AiosError: DOTAIOS_MIGRATION_* and a word of the convention; a write fault.
    """
    with FolderWriter(access.root, system=access.system, files=access.files) as writer:
        found = writer.names(TRANSACTIONS)
        if not found:
            return _shown(_plan(writer), "nothing_to_recover")
        if len(found) > TRANSACTION_LIMIT:
            raise _fault("TOO_MANY_TRANSACTIONS")
        if plan_id is None and len(found) > 1:
            raise _fault("AMBIGUOUS_RECOVERY")
        chosen = found[0] if plan_id is None else plan_id
        if chosen not in found:
            raise _fault("TRANSACTION_NOT_FOUND")
        with holding(writer, CHANGES_LOCK):
            _recover(writer, chosen)
        return _shown(_plan(writer), "recovered")


def _plan(writer: FolderWriter) -> _Plan:
    configuration = _configuration(writer)
    text = configuration.data.decode("utf-8")
    document = parse_object(text) or {}
    version = str(document["schema_version"])
    if version not in CHAIN:
        raise _fault("UNSUPPORTED_SCHEMA")
    versions = CHAIN[CHAIN.index(version) :]
    if len(versions) == 1:
        return _Plan(id="", versions=versions, steps=())
    steps = [
        _Step(
            path=CONFIGURATION,
            before=configuration,
            after=_reversioned(text, version).encode("utf-8"),
        )
    ]
    ignore = _seen(writer, IGNORE, "UNSAFE_IGNORE_FILE")
    ignored = _ignoring(ignore.data)
    if ignored != ignore.data or not ignore.exists:
        steps.insert(0, _Step(path=IGNORE, before=ignore, after=ignored))
    digest = sha256(
        json.dumps(
            [[s.path, _hash(s.before), sha256(s.after)] for s in steps], separators=(",", ":")
        ).encode()
    )[:16]
    named = "-to-".join(one.replace(".", "_") for one in (versions[0], versions[-1]))
    return _Plan(id=f"migrate-{named}-{digest}", versions=versions, steps=tuple(steps))


def _configuration(writer: FolderWriter) -> Seen:
    stamp = writer.stamp(CONFIGURATION)
    if stamp is None:
        raise fault(FOLDER_MISSING)
    if stamp.size > CONFIGURATION_BYTES:
        raise _fault("CONFIG_TOO_LARGE")
    seen = _seen(writer, CONFIGURATION, "UNSAFE_FILE")
    try:
        text = seen.data.decode("utf-8")
    except UnicodeDecodeError:
        raise _fault("INVALID_CONFIG_ENCODING") from None
    document = parse_object(text)
    if document is None:
        raise _fault("INVALID_CONFIG")
    if any(name not in document for name in _KEYS) or not isinstance(
        document["schema_version"], str
    ):
        raise _fault("INVALID_CONFIG_IDENTITY")
    return seen


def _seen(writer: FolderWriter, path: str, word: str) -> Seen:
    stamp = writer.stamp(path)
    if stamp is not None and not (stamp.is_file and stamp.links == 1):
        raise _fault(word)
    return writer.see(path)


def _reversioned(text: str, version: str) -> str:
    """Replace the version in place, where it stands exactly once."""
    found = list(re.finditer(r'"schema_version"\s*:\s*"([^"\\]*)"', text))
    if len(found) != 1 or text.count('"schema_version"') != 1 or found[0][1] != version:
        raise _fault("UNSAFE_CONFIG_LAYOUT")
    return text[: found[0].start(1)] + SCHEMA_VERSION + text[found[0].end(1) :]


def _ignoring(data: bytes) -> bytes:
    """Add the line for workspaces, with the file's own line end, unless it is the last one."""
    end = b"\r\n" if b"\r\n" in data else b"\n"
    lines = [line.strip() for line in data.split(b"\n")]
    said = [line for line in lines if line and not line.startswith(b"#")]
    if said and said[-1] == IGNORED.encode():
        return data
    gap = end if data and not data.endswith(b"\n") else b""
    return data + gap + IGNORED.encode() + end


def _apply(writer: FolderWriter, access: AiosAccess, plan: _Plan) -> None:
    owner = f"{MIGRATIONS}/owner.json"
    seen = writer.see(owner)
    if seen.exists and seen.data != OWNER:
        raise _fault("UNSAFE_RECOVERY_RESIDUE")
    if not seen.exists:
        writer.put(owner, OWNER, expected=MISSING, mode=PRIVATE)
    place = f"{TRANSACTIONS}/{plan.id}"
    writer.make_folder(place)
    journal: JsonObject = {
        "schema": JOURNAL_SCHEMA,
        "plan_id": plan.id,
        "status": "preparing",
        "created_at": iso_utc(access.clock()),
        "from_schema_version": plan.versions[0],
        "to_schema_version": plan.versions[-1],
        "migrations": [
            f"{one}-to-{other}"
            for one, other in zip(plan.versions, plan.versions[1:], strict=False)
        ],
        "operations": [_operation(at, step) for at, step in enumerate(plan.steps)],
    }
    _note(writer, place, journal, "preparing")
    for at, step in enumerate(plan.steps):
        if step.before.exists:
            staging.create(writer, f"{place}/backups/{at}", step.before.data)
        staging.create(writer, f"{place}/staged/{at}", step.after)
    _note(writer, place, journal, "prepared")
    for step in plan.steps:
        if writer.see(step.path) != step.before:
            _discard(writer, place)
            raise _fault("STATE_CHANGED")
    _note(writer, place, journal, "applying")
    for step in plan.steps[:-1]:
        writer.put(step.path, step.after, expected=step.before)
    _note(writer, place, journal, "committing")
    writer.put(plan.steps[-1].path, plan.steps[-1].after, expected=plan.steps[-1].before)
    receipt = journal | {
        "schema": RECEIPT_SCHEMA,
        "preserved_paths": ["context", "projects", "memory", "vault"],
        "applied_at": iso_utc(access.clock()),
    }
    receipt.pop("status")
    path = f"{MIGRATIONS}/receipts/{plan.id}.json"
    if not writer.see(path).exists:
        writer.put(path, (pretty(receipt) + "\n").encode(), expected=MISSING, mode=PRIVATE)
    _discard(writer, place)


def _operation(at: int, step: _Step) -> JsonObject:
    mode = 0o644 if step.before.stamp is None else stat.S_IMODE(step.before.stamp.mode)
    return {
        "path": step.path,
        "action": "replace" if step.before.exists else "create",
        "before_sha256": _hash(step.before),
        "after_sha256": sha256(step.after),
        "before_mode": mode,
        "after_mode": mode,
        "backup_path": f"backups/{at}" if step.before.exists else None,
    }


def _recover(writer: FolderWriter, plan_id: str) -> None:
    place = f"{TRANSACTIONS}/{plan_id}"
    stamp = writer.stamp(place)
    if stamp is None or not stamp.is_folder:
        raise _fault("UNSAFE_RECOVERY_RESIDUE")
    if writer.see(f"{MIGRATIONS}/receipts/{plan_id}.json").exists:
        _discard(writer, place)
        return
    seen = writer.see(f"{place}/journal.json")
    if not seen.exists:
        known = {"backups", "staged"}
        if not {n for n in writer.names(place) if not n.startswith(".journal")} <= known:
            raise _fault("UNSAFE_RECOVERY_RESIDUE")
        _discard(writer, place)
        return
    journal = parse_object(seen.data.decode("utf-8", "replace"))
    operations = None if journal is None else journal.get("operations")
    if (
        journal is None
        or journal.get("schema") != JOURNAL_SCHEMA
        or not isinstance(operations, list)
    ):
        raise _fault("INVALID_JOURNAL")
    if journal.get("status") in ("applying", "committing"):
        for operation in reversed(operations):
            if not isinstance(operation, dict) or operation.get("path") not in (
                IGNORE,
                CONFIGURATION,
            ):
                raise _fault("INVALID_JOURNAL")
            _take_back(writer, place, operation)
    elif journal.get("status") not in ("preparing", "prepared"):
        raise _fault("INVALID_JOURNAL")
    _discard(writer, place)


def _take_back(writer: FolderWriter, place: str, operation: JsonObject) -> None:
    path = str(operation["path"])
    seen = writer.see(path)
    now = _hash(seen)
    if now == operation.get("before_sha256"):
        return
    if now != operation.get("after_sha256"):
        raise _fault("CONCURRENT_EDIT", path)
    backup = operation.get("backup_path")
    if backup is None:
        writer.remove(path, expected=seen)
        return
    kept = writer.see(f"{place}/{backup}")
    if _hash(kept) != operation.get("before_sha256"):
        raise _fault("INVALID_BACKUP")
    mode = operation.get("before_mode")
    writer.put(path, kept.data, expected=seen, mode=mode if isinstance(mode, int) else None)


def _note(writer: FolderWriter, place: str, journal: JsonObject, status: str) -> None:
    journal["status"] = status
    path = f"{place}/journal.json"
    data = (pretty(journal) + "\n").encode()
    writer.put(path, data, expected=writer.see(path), mode=PRIVATE)


def _discard(writer: FolderWriter, place: str) -> None:
    """Remove a transaction: the journal last, so that a stopped removal is recognised."""
    for folder in ("staged", "backups"):
        staging.remove_tree(writer, f"{place}/{folder}")
    staging.remove_tree(writer, place)


def _shown(plan: _Plan, state: MigrationState) -> MigrationData:
    version = plan.versions[-1] if state == "applied" else plan.versions[0]
    return MigrationData(
        state=state,
        folder_schema_version=version,
        supported_schema_version=SCHEMA_VERSION,
        plan_id=plan.id or None,
        changes=tuple(step.path for step in plan.steps),
    )


def _hash(seen: Seen) -> str | None:
    return sha256(seen.data) if seen.exists else None


def _fault(word: str, path: str = "") -> AiosError:
    message, hint = MESSAGES[word]
    made = AiosError(message, code=PREFIX + word, hint=hint)
    made.locate(path)
    return made
