"""Undoing the last applied change, by preview and exact apply like any other."""

import hashlib
from pathlib import Path

from agentic_os.aios.writing.changes import Journal, Record, RecordedTarget
from agentic_os.aios.writing.faults import PLAN_STALE, UNDO_REFUSED, write_fault
from agentic_os.aios.writing.plan import (
    ChangeData,
    Plan,
    Proof,
    Target,
    carry_out,
    described,
    put,
)
from agentic_os.aios.writing.writer import FolderWriter


def undo(journal: Journal, proof: Proof | None, *, operation: str | None = None) -> ChangeData:
    """Preview or apply the undoing of a change, the newest unless another is named.

    A change of files outside the folder is undone where it was made.

    Raises:
        AiosError: DOTAIOS_NOTHING_TO_UNDO; DOTAIOS_UNDO_REFUSED; DOTAIOS_PLAN_STALE; a write
            fault.
    """
    path, record = journal.find(operation)
    if record.root is None:
        return _undone(journal.writer, journal, proof, path, record)
    with FolderWriter(Path(record.root), system=journal.writer.system) as outside:
        return _undone(outside, journal, proof, path, record)


def _undone(
    writer: FolderWriter, journal: Journal, proof: Proof | None, path: str, record: Record
) -> ChangeData:
    plan = Plan(
        operation="undo",
        targets=tuple(_restored(writer, target) for target in record.targets),
        subject={"undoes": record.op, "operation": record.operation},
    )
    notes = (f"undoes {record.operation} {record.op}",)
    if proof is None:
        return carry_out(writer, plan, None, journal, notes=notes)
    if plan.fingerprint(proof.operation_id, writer.identity) != proof.plan_fingerprint:
        raise write_fault(PLAN_STALE)
    with journal.locked():
        for target in plan.changing:
            put(writer, target)
        journal.drop(path)
    return described(plan, proof, "applied" if plan.changing else "unchanged", notes)


def _restored(writer: FolderWriter, target: RecordedTarget) -> Target:
    seen = writer.see(target.path)
    now = hashlib.sha256(seen.data).hexdigest() if seen.exists else None
    if now not in (target.after_sha256, target.before_sha256):
        raise write_fault(UNDO_REFUSED, target.path)
    return Target(path=target.path, before=seen, after=target.before())
