"""A change as a value: previewed, then applied exactly as it was previewed.

``plan_fingerprint`` is the SHA-256 of the key-sorted compact JSON of the plan: the verb, the
operation id, the identity of the root, and each target with the hashes of its bytes before and
after. To apply is to compute the plan again and to find the same fingerprint; anything else is
DOTAIOS_PLAN_STALE and changes nothing. A preview writes nothing.
"""

import hashlib
from dataclasses import dataclass, field
from typing import Final, Literal
from uuid import uuid4

import msgspec

from agentic_os.aios.folder.json_text import JsonObject, stable
from agentic_os.aios.writing.changes import Journal, Record, RecordedTarget
from agentic_os.aios.writing.faults import PLAN_STALE, write_fault
from agentic_os.aios.writing.writer import FolderWriter, Seen

Action = Literal["create", "replace", "remove", "keep"]
Status = Literal["preview", "applied", "unchanged"]

PLAN_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One file of a change: what it was, and its new bytes; ``None`` removes it."""

    path: str
    before: Seen
    after: bytes | None
    mode: int | None = None

    @property
    def action(self) -> Action:
        """What happens to the file."""
        if self.after is None:
            return "remove" if self.before.exists else "keep"
        if not self.before.exists:
            return "create"
        return "keep" if self.before.data == self.after else "replace"

    def as_json(self) -> JsonObject:
        """Return the form that the fingerprint binds."""
        return {
            "path": self.path,
            "before_sha256": sha256(self.before.data) if self.before.exists else None,
            "after_sha256": None if self.after is None else sha256(self.after),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A verb's whole change; ``subject`` is what else the fingerprint binds."""

    operation: str
    targets: tuple[Target, ...]
    subject: JsonObject = field(default_factory=dict)

    @property
    def changing(self) -> tuple[Target, ...]:
        """The targets that would not stay as they are."""
        return tuple(target for target in self.targets if target.action != "keep")

    def fingerprint(self, operation_id: str, root: tuple[int, int]) -> str:
        """Hash the plan under an operation id for one root folder."""
        document: JsonObject = {
            "version": PLAN_VERSION,
            "operation": self.operation,
            "operation_id": operation_id,
            "root_identity": {"type": "directory", "dev": str(root[0]), "ino": str(root[1])},
            "targets": [target.as_json() for target in self.targets],
            "subject": self.subject,
        }
        return sha256(stable(document).encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What a person approves: the operation and the fingerprint that a preview showed."""

    operation_id: str
    plan_fingerprint: str


class ChangedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a change; sizes are bytes, ``None`` where there is no file."""

    action: Action
    path: str
    before: int | None
    after: int | None


class ChangeData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of the verbs that change the AIOS folder.

    A ``preview`` is applied with its ``operation_id`` and ``plan_fingerprint``.
    """

    operation: str
    status: Status
    operation_id: str
    plan_fingerprint: str
    changes: tuple[ChangedFile, ...]
    notes: tuple[str, ...] = ()


def carry_out(
    writer: FolderWriter,
    plan: Plan,
    proof: Proof | None,
    journal: Journal | None,
    *,
    notes: tuple[str, ...] = (),
) -> ChangeData:
    """Preview a plan, or apply it if it is exactly the approved one.

    Raises:
        AiosError: DOTAIOS_PLAN_STALE; a write fault.
    """
    operation_id = str(uuid4()) if proof is None else proof.operation_id
    fingerprint = plan.fingerprint(operation_id, writer.identity)
    status: Status = "preview" if proof is None else "applied"
    if proof is not None and proof.plan_fingerprint != fingerprint:
        raise write_fault(PLAN_STALE)
    if not plan.changing:
        status = "unchanged"
    elif proof is not None and journal is not None:
        _apply(writer, plan, operation_id, journal)
    proven = Proof(operation_id=operation_id, plan_fingerprint=fingerprint)
    return described(plan, proven, status, notes)


def described(plan: Plan, proof: Proof, status: Status, notes: tuple[str, ...]) -> ChangeData:
    """Make the answer about a plan."""
    return ChangeData(
        operation=plan.operation,
        status=status,
        operation_id=proof.operation_id,
        plan_fingerprint=proof.plan_fingerprint,
        changes=tuple(
            ChangedFile(
                action=target.action,
                path=target.path,
                before=len(target.before.data) if target.before.exists else None,
                after=None if target.after is None else len(target.after),
            )
            for target in plan.targets
        ),
        notes=notes,
    )


def carry_out_now(
    writer: FolderWriter, plan: Plan, journal: Journal, *, notes: tuple[str, ...] = ()
) -> ChangeData:
    """Apply a plan of a verb that the person typed in full."""
    operation_id = str(uuid4())
    proof = Proof(
        operation_id=operation_id,
        plan_fingerprint=plan.fingerprint(operation_id, writer.identity),
    )
    return carry_out(writer, plan, proof, journal, notes=notes)


def sha256(data: bytes) -> str:
    """Return the lower-case hex SHA-256."""
    return hashlib.sha256(data).hexdigest()


def _apply(writer: FolderWriter, plan: Plan, operation_id: str, journal: Journal) -> None:
    with journal.locked():
        for target in plan.targets:
            seen = writer.see(target.path)
            if (seen.exists, seen.data) != (target.before.exists, target.before.data):
                raise write_fault(PLAN_STALE, target.path)
        journal.add(
            Record(
                operation=plan.operation,
                op=operation_id,
                targets=tuple(
                    RecordedTarget.of(
                        target.path,
                        target.before,
                        None if target.after is None else sha256(target.after),
                    )
                    for target in plan.changing
                ),
            )
        )
        for target in plan.changing:
            put(writer, target)


def put(writer: FolderWriter, target: Target) -> None:
    """Give one target its new bytes, or remove it.

    Raises:
        AiosError: a write fault; the target as it was.
    """
    if target.after is None:
        writer.remove(target.path, expected=target.before)
    else:
        writer.put(target.path, target.after, expected=target.before, mode=target.mode)
