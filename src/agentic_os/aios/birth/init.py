"""``aios init``: make a folder that any agent can read.

Everything is planned in memory; every file is published new, ``aios.json`` last, so that a process
that stops leaves no AIOS folder yet and a second run completes it. A folder that holds something
else is refused, unless missing files are to be added (``force``) or generated files replaced
(``overwrite``); what belongs to the person is never replaced.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agentic_os.aios.birth.answers import Answers
from agentic_os.aios.birth.texts import (
    FOLDERS,
    PERSONAL,
    VAULT_FOLDERS,
    configuration,
    new_files,
)
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.configuration import CONFIGURATION, SCHEMA_VERSION
from agentic_os.aios.folder.faults import argument_fault
from agentic_os.aios.folder.json_text import iso_utc, parse_object
from agentic_os.aios.folder.tree import TRANSACTIONS
from agentic_os.aios.writing.faults import (
    INIT_NOT_EMPTY,
    INIT_OLD_SCHEMA,
    RECOVERY_REQUIRED,
    WRITE_FAILED,
    write_fault,
)
from agentic_os.aios.writing.opening import journal_of
from agentic_os.aios.writing.plan import (
    ChangeData,
    Plan,
    Proof,
    Status,
    Target,
    carry_out_now,
    described,
)
from agentic_os.aios.writing.writer import MISSING, FolderWriter, is_partial

_MOVED: Final = "edit vault_path in aios.json to move it"
_OUTSIDE: Final = "the vault lies outside; searches read it after: agentic-os aios grant-vault DIR"


@dataclass(frozen=True, slots=True, kw_only=True)
class InitRequest:
    """How a folder is to be made; ``vault`` is an absolute folder outside it."""

    answers: Answers
    vault: Path | None = None
    force: bool = False
    overwrite: bool = False
    dry_run: bool = False


def init(access: AiosAccess, asked: InitRequest) -> ChangeData:
    """Make the folder, or complete one that a stopped run left.

    Raises:
        AiosError: DOTAIOS_INIT_NOT_EMPTY, DOTAIOS_INIT_OLD_SCHEMA,
            DOTAIOS_MIGRATION_RECOVERY_REQUIRED, DOTAIOS_ARGUMENT_INVALID or a write fault.
    """
    root = access.root
    if not root.parent.is_dir():
        raise argument_fault("the folder above the new one does not exist")
    if asked.vault is not None:
        _check_vault(root, asked.vault)
    if not root.exists() and not root.is_symlink():
        if asked.dry_run:
            return _shown(_plan(None, access, asked))
        if not os.access(root.parent, os.W_OK):
            raise write_fault(WRITE_FAILED, root.name)
    with FolderWriter.making(root, system=access.system) as writer:
        plan = _plan(writer, access, asked)
        if asked.dry_run:
            return _shown(plan)
        _make(writer, access, plan)
        return _applied(plan)


def _plan(writer: FolderWriter | None, access: AiosAccess, asked: InitRequest) -> Plan:
    vault = None if asked.vault is None else str(asked.vault)
    files = new_files(asked.answers)
    targets: list[Target] = []
    strangers: list[str] = []
    for path, data in files.items():
        seen = MISSING if writer is None else writer.see(path)
        replace = asked.overwrite and not path.startswith(PERSONAL)
        kept = seen.exists and seen.data != data and not replace
        strangers += [path] if kept else []
        targets.append(Target(path=path, before=seen, after=seen.data if kept else data))
    stated = MISSING if writer is None else writer.see(CONFIGURATION)
    document = parse_object(stated.data.decode("utf-8", "replace")) if stated.exists else None
    if writer is not None and stated.exists:
        _check_schema(writer, None if document is None else document.get("schema_version"))
        if vault is not None and (document or {}).get("vault_path") != vault:
            raise argument_fault("the folder has another vault already", hint=_MOVED)
    made = configuration(iso_utc(access.clock()), asked.answers.ai_tools, vault)
    after = stated.data if stated.exists else made
    targets.append(Target(path=CONFIGURATION, before=stated, after=after))
    if writer is not None and not (asked.force or asked.overwrite):
        known = {path.split("/")[0] for path in (*files, *FOLDERS, "vault/x", ".dotaios/x")}
        strangers += [
            name
            for name in writer.names("")
            if name not in known and name != CONFIGURATION and not is_partial(name)
        ]
        if strangers:
            raise write_fault(INIT_NOT_EMPTY, strangers[0])
    return Plan(operation="init", targets=tuple(targets))


def _check_schema(writer: FolderWriter, version: object) -> None:
    if writer.names(TRANSACTIONS):
        raise write_fault(RECOVERY_REQUIRED)
    if version != SCHEMA_VERSION:
        raise write_fault(INIT_OLD_SCHEMA)


def _make(writer: FolderWriter, access: AiosAccess, plan: Plan) -> None:
    for folder in FOLDERS:
        writer.make_folder(folder)
    for folder in {target.path.rpartition("/")[0] for target in plan.changing}:
        writer.drop_partials(folder)
    stated = _stated_vault(plan)
    if stated is None:
        for folder in VAULT_FOLDERS:
            writer.make_folder(f"vault/{folder}")
    elif (vault := Path(stated)).is_absolute() and vault.parent.is_dir():
        with FolderWriter(vault.parent, system=access.system) as outside:
            for folder in VAULT_FOLDERS:
                outside.make_folder(f"{vault.name}/{folder}")
    replaced = tuple(target for target in plan.changing if target.before.exists)
    if replaced:
        carry_out_now(writer, Plan(operation="init", targets=replaced), journal_of(writer, access))
    for target in plan.changing:
        if not target.before.exists and target.after is not None:
            writer.put(target.path, target.after, expected=MISSING)


def _stated_vault(plan: Plan) -> str | None:
    """Read where the configuration that is kept or made says that the vault is."""
    stated = parse_object((plan.targets[-1].after or b"").decode("utf-8", "replace")) or {}
    vault = stated.get("vault_path")
    return vault if isinstance(vault, str) and vault else None


def _check_vault(root: Path, vault: Path) -> None:
    real = Path(os.path.realpath(root))
    if Path(os.path.realpath(vault)).is_relative_to(real) or vault.is_relative_to(root):
        raise argument_fault("the vault must lie outside the folder, or be left out")
    if not vault.parent.is_dir() or not os.access(vault.parent, os.W_OK):
        raise argument_fault("the folder above the vault does not exist or cannot be written")
    if vault.is_symlink() or (vault.exists() and not vault.is_dir()):
        raise argument_fault("the vault is a link or a file")


def _shown(plan: Plan) -> ChangeData:
    return _described(plan, "preview")


def _applied(plan: Plan) -> ChangeData:
    return _described(plan, "applied" if plan.changing else "unchanged")


def _described(plan: Plan, status: Status) -> ChangeData:
    notes = () if _stated_vault(plan) is None else (_OUTSIDE,)
    return described(plan, Proof(operation_id="", plan_fingerprint=""), status, notes)
