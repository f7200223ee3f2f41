"""Keep the AIOS folder bounded, up to date and learning."""

import os
import shlex
from pathlib import Path

from agentic_os.aios.archives.maintenance import cleanup, is_due
from agentic_os.aios.birth.migration import migrate
from agentic_os.aios.birth.migration import recover as take_back
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.faults import argument_fault
from agentic_os.aios.knowledge.audit import QUEUE, apply_skills, audit
from agentic_os.aios.knowledge.memories import import_memories
from agentic_os.aios.knowledge.promotion import PromotionRequest, promote
from agentic_os.aios.policy import MemoryPolicy, resolve_policy
from agentic_os.aios.writing.plan import Status
from agentic_os.cli.actions.person.changes import proof_of, show
from agentic_os.cli.actions.person.reach import folder_access
from agentic_os.cli.output import say, schema_name, table, write, write_json
from agentic_os.errors import AiosError
from agentic_os.results import Envelope
from agentic_os.text.fencing import one_line


def clean_up(*, dry_run: bool, path: str | None, json: bool) -> None:
    """Move old events and stale signals to their archives."""
    policy = resolve_policy()
    data = cleanup(folder_access(policy, path), policy, dry_run=dry_run)
    if json:
        write_json(Envelope(schema=schema_name("aios-cleanup"), data=data))
        return
    table(
        ("what", "count"),
        [
            ("events archived", str(data.archived)),
            ("events kept", str(data.kept)),
            ("signal files removed", str(data.signal_files_removed)),
            ("signals archived", str(data.signal_lines_archived)),
        ],
    )
    if dry_run:
        say("Nothing was changed.")


def migrate_folder(
    *, apply: str | None, recover: bool, plan: str | None, path: str | None, json: bool
) -> None:
    """Show, carry out or take back a migration."""
    if (apply is not None and recover) or (plan is not None and not recover):
        raise argument_fault("choose --apply PLAN, or --recover with or without a plan")
    access = folder_access(resolve_policy(), path)
    data = take_back(access, plan) if recover else migrate(access, apply)
    if json:
        write_json(Envelope(schema=schema_name("aios-migrate"), data=data))
        return
    say(f"Schema {data.folder_schema_version}; the newest is {data.supported_schema_version}.")
    if data.state == "outdated":
        for changed in data.changes:
            write(f"would be replaced {changed}\n")
        say(f"To do exactly this: agentic-os aios migrate --apply {data.plan_id}")
    else:
        say(data.state.replace("_", " ").capitalize() + ".")


def audit_memory(
    *,
    all_memory: bool,
    line_budget: int,
    most: int,
    write_queue: bool,
    path: str | None,
    json: bool,
) -> None:
    """Print how large the hot memory is and what could be learnt from it."""
    policy = resolve_policy()
    data = audit(
        folder_access(policy, path),
        policy,
        all_memory=all_memory,
        line_budget=line_budget,
        most=most,
        write_queue=write_queue,
    )
    if json:
        write_json(Envelope(schema=schema_name("aios-memory"), data=data))
        return
    table(
        ("file", "lines", "words", "tokens"),
        [
            (one.path, str(one.lines), str(one.words), str(one.approx_tokens))
            for one in data.hot_files
        ],
    )
    for finding in data.findings:
        say(one_line(f"{finding.severity}: {finding.path}: {finding.message}"))
    for one in data.candidates:
        write(f"{one.id}\t{one.skill or '-'}\t{one_line(one.text)}\n")
    if write_queue:
        say(f"{data.queued} added to {QUEUE}.")


def patch_skills(
    *,
    all_memory: bool,
    apply: bool,
    operation_id: str | None,
    plan_fingerprint: str | None,
    path: str | None,
    json: bool,
) -> None:
    """Preview or apply the lessons that name a skill."""
    proof = proof_of(apply=apply, operation_id=operation_id, plan_fingerprint=plan_fingerprint)
    policy = resolve_policy()
    data = apply_skills(folder_access(policy, path), policy, proof, all_memory=all_memory)
    show("aios-memory-skills", "aios memory apply-skills", data, json=json)


def promote_session(
    session: str,
    *,
    to: str,
    summary: str,
    destination: str | None,
    project: str | None,
    operation: str,
    match: str | None,
    apply: bool,
    operation_id: str | None,
    plan_fingerprint: str | None,
    memory: str | None,
    path: str | None,
    json: bool,
) -> None:
    """Preview or apply a promotion."""
    proof = proof_of(apply=apply, operation_id=operation_id, plan_fingerprint=plan_fingerprint)
    policy = resolve_policy(mode=memory)
    asked = PromotionRequest(
        session=session,
        to=to,
        summary=summary,
        destination=destination,
        project=project,
        operation=operation,
        match=match,
    )
    access = folder_access(policy, path)
    data = promote(access, policy, asked, proof)
    given = {
        "--destination": destination,
        "--project": project,
        "--operation": None if operation == "add" else operation,
        "--match": match,
        "--memory": memory,
        "--path": path,
        "--summary": summary,
    }
    words = ["aios", "memory", "promote", session, "--to", to]
    words += [word for name, text in given.items() if text is not None for word in (name, text)]
    show("aios-memory-promote", shlex.join(words), data, json=json)
    if data.status == "preview" and not any(one.action != "keep" for one in data.changes):
        say(
            f"Only the event would be recorded: --apply --operation-id {data.operation_id}"
            f" --plan-fingerprint {data.plan_fingerprint}"
        )
    maintain(access, policy, data.status)


def import_facts(
    *,
    source: str | None,
    apply: bool,
    operation_id: str | None,
    plan_fingerprint: str | None,
    memory: str | None,
    path: str | None,
    json: bool,
) -> None:
    """Preview or apply the import of what other agents remember."""
    proof = proof_of(apply=apply, operation_id=operation_id, plan_fingerprint=plan_fingerprint)
    policy = resolve_policy(mode=memory)
    access = folder_access(policy, path)
    data = import_memories(
        access,
        policy,
        proof,
        environ=os.environ,
        home=Path.home(),
        folder=None if source is None else Path(source).expanduser().absolute(),
    )
    show("aios-import", "aios import memories", data, json=json)
    maintain(access, policy, data.status)


def maintain(access: AiosAccess, policy: MemoryPolicy, status: Status = "applied") -> None:
    """Clean up where it is due after an event; a failure of it is said and fails nobody."""
    if status != "applied":
        return
    try:
        if is_due(access, policy):
            cleanup(access, policy)
    except AiosError as error:
        say(f"The memory could not be tidied: {error.message} [{error.code}]")
