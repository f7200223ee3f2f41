"""``aios update``: note what happened, in the event log and in the day's signals.

Both lines carry one ``record_id``, so that readers show the update once. The event is written
first: a process that stops in between leaves an update that lasts; a retry under the same id
adds only the channel that lacks it.
"""

import re
from datetime import datetime
from uuid import uuid4

from agentic_os.aios.context.timeline import UPDATE_SOURCE, UPDATE_TYPE
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.allowance import SEARCH_LIMIT, Allowance, Charges
from agentic_os.aios.folder.faults import argument_fault
from agentic_os.aios.folder.json_text import Json, JsonObject, object_lines
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.folder.tree import EVENTS
from agentic_os.aios.notes.records import (
    line_of,
    one_line_summary,
    record_of,
    signal_file,
)
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.projects.catalog import read_identities
from agentic_os.aios.projects.values import clean_selector, select_project
from agentic_os.aios.writing.faults import TEXT_REFUSED, write_fault
from agentic_os.aios.writing.locks import EVENTS_LOCK, holding
from agentic_os.aios.writing.opening import open_for_writing, require_memory
from agentic_os.aios.writing.writer import FolderWriter

_TYPE = re.compile(r"[a-z][a-z0-9._-]{0,63}")
_RECORD_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def update(
    access: AiosAccess,
    policy: MemoryPolicy,
    text: str,
    *,
    kind: str = UPDATE_TYPE,
    record_id: str | None = None,
    allow_secret: bool = False,
) -> JsonObject:
    """Write an update into both channels and return its record.

    Args:
        access: the folder.
        policy: the memory choice; project memory attributes the update.
        text: what happened; white space is collapsed.
        kind: the record's type.
        record_id: the id of an earlier attempt, to complete it.
        allow_secret: write a text that looks like it holds a secret.

    Raises:
        AiosError: DOTAIOS_MEMORY_OFF, DOTAIOS_ARGUMENT_INVALID, DOTAIOS_SECRET_FOUND,
            DOTAIOS_AMBIGUOUS_PROJECT, DOTAIOS_PROJECT_SELECTOR_UNKNOWN,
            DOTAIOS_EVENT_STORE_LOCKED, or a read or write fault.
    """
    require_memory(policy)
    summary = one_line_summary(text)
    if _TYPE.fullmatch(kind) is None:
        raise argument_fault("the type must be a short lower-case word")
    if record_id is not None and _RECORD_ID.fullmatch(record_id) is None:
        raise argument_fault("the record id must be letters, digits, dots and dashes")
    rule = None if allow_secret else access.guard.secret_rule(summary)
    if rule is not None:
        raise write_fault(TEXT_REFUSED, detail=rule)
    fields: JsonObject = {"summary": summary, "source": UPDATE_SOURCE}
    fields["record_id"] = record_id or str(uuid4())
    fields.update(_attribution(access, policy))
    record = record_of(access.clock(), kind, fields)
    with open_for_writing(access, policy) as writer, holding(writer, EVENTS_LOCK):
        return _written(writer, access, record, retry=record_id is not None)


def _written(
    writer: FolderWriter, access: AiosAccess, record: JsonObject, *, retry: bool
) -> JsonObject:
    noted = _noted(writer, EVENTS, record["record_id"]) if retry else None
    record = noted or record
    if noted is None:
        writer.append(EVENTS, line_of(record))
    moment = datetime.fromisoformat(str(record["ts"])).astimezone(access.clock().tzinfo)
    signals = signal_file(moment.date().isoformat())
    if not retry or _noted(writer, signals, record["record_id"]) is None:
        writer.append(signals, line_of(record))
    return record


def _noted(writer: FolderWriter, path: str, record_id: Json) -> JsonObject | None:
    """Find a record by its id in one channel."""
    text = writer.see(path).data.decode("utf-8", "replace")
    found = (row for row in object_lines(text) if row is not None)
    return next((row for row in found if row.get("record_id") == record_id), None)


def _attribution(access: AiosAccess, policy: MemoryPolicy) -> JsonObject:
    if policy.selector is None:
        return {}
    with FolderReader(access.root, files=access.files) as reader:
        identities = read_identities(reader, Charges(Allowance(SEARCH_LIMIT)))
        identity = select_project(clean_selector(policy.selector), identities).identity
    return {"project": identity.slug, "project_id": identity.id}
