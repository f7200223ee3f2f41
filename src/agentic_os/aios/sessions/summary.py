"""``capture save-summary``: an intentional summary, saved exactly once.

The request is one closed JSON object on standard input; its exact bytes are hashed. The same bytes
under the same operation id get the same answer, other bytes are refused. A document whose row a
stopped writer did not write gets it on the next try.
"""

import hashlib
import re
from dataclasses import dataclass, replace
from typing import Final

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.faults import argument_fault
from agentic_os.aios.folder.json_text import JsonObject, compact, iso_utc, parse_strict
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.sessions.capture import identified, read_session
from agentic_os.aios.sessions.codec import OPERATION, Session, parse, render, row_of, sha256
from agentic_os.aios.sessions.faults import session_fault
from agentic_os.aios.sessions.store import Index, SessionStore, document_paths
from agentic_os.aios.writing.faults import MEMORY_OFF, TEXT_REFUSED, write_fault
from agentic_os.aios.writing.opening import open_for_writing
from agentic_os.aios.writing.writer import FolderWriter

REQUEST_BYTES: Final = 65_536
SOURCE_TYPE: Final = "save-session"

_AGENT = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """A request that was checked; ``project`` is id and slug."""

    operation_id: str
    request_hash: str
    agent: str
    title: str
    summary: str
    project: tuple[str, str] | None


def read_request(data: bytes) -> SummaryRequest:
    """Check a request; the folder is not looked at.

    Raises:
        AiosError: DOTAIOS_ARGUMENT_INVALID; DOTAIOS_MEMORY_OFF.
    """
    if len(data) >= REQUEST_BYTES:
        raise argument_fault(f"the request must be smaller than {REQUEST_BYTES} bytes")
    try:
        document = parse_strict(data.decode("utf-8"))
    except ValueError:
        raise argument_fault("the request is not JSON, or repeats a key") from None
    outer = _closed(document, {"version", "operation_id", "memory", "session"})
    memory = _closed(outer["memory"], {"mode"}, {"project"})
    session = _closed(outer["session"], {"agent", "title", "summary"})
    if memory["mode"] == "off":
        raise write_fault(MEMORY_OFF)
    project = None
    if memory["mode"] == "project":
        stated = _closed(memory.get("project"), {"id", "slug"})
        project = (_line(stated["id"], 200), _line(stated["slug"], 128))
    elif memory["mode"] != "shared" or "project" in memory:
        raise argument_fault("the memory mode must be shared, or project with a project")
    operation, agent = outer["operation_id"], session["agent"]
    summary = session["summary"]
    if (
        outer["version"] != 1
        or isinstance(outer["version"], bool)
        or not (isinstance(operation, str) and OPERATION.fullmatch(operation))
        or not (isinstance(agent, str) and _AGENT.fullmatch(agent))
        or not (isinstance(summary, str) and summary.strip() and not _UNFIT.search(summary))
    ):
        raise argument_fault("a field of the request is not valid")
    return SummaryRequest(
        operation_id=operation,
        request_hash=hashlib.sha256(data).hexdigest(),
        agent=agent,
        title=_line(session["title"], 200),
        summary=summary,
        project=project,
    )


def save_summary(access: AiosAccess, asked: SummaryRequest) -> JsonObject:
    """Save a summary and read it back; the same request again gives the same answer.

    Raises:
        AiosError: DOTAIOS_SESSION_REQUEST_DIFFERS, DOTAIOS_SESSION_RECONCILIATION_REQUIRED, or a
            write fault.
    """
    rule = access.guard.secret_rule(f"{asked.title}\n{asked.summary}")
    if rule is not None:
        raise write_fault(TEXT_REFUSED, detail=rule)
    with open_for_writing(access, resolve_policy()) as writer:
        store = SessionStore(writer)
        with store.locked():
            index = store.index()
            session = _saved(access, writer, store, index, asked)
            row = next(row for row in store.index().rows if row["session_id"] == session.session_id)
            read_session(writer, row)
    return {
        "version": 1,
        "status": "verified",
        "operation_id": asked.operation_id,
        "session_id": session.session_id,
        "path": session.path,
    }


def _saved(
    access: AiosAccess,
    writer: FolderWriter,
    store: SessionStore,
    index: Index,
    asked: SummaryRequest,
) -> Session:
    rows = [row for row in index.rows if row.get("operation_id") == asked.operation_id]
    documents = _documents(writer, asked.operation_id)
    if len(rows) > 1 or len(documents) > 1 or (rows and not documents):
        raise session_fault("RECONCILIATION_REQUIRED")
    if documents:
        have = documents[0]
        if have.request_hash != asked.request_hash:
            raise session_fault("REQUEST_DIFFERS", have.path)
        if not rows:
            store.commit("reconcile", index=index, rows=[*index.rows, row_of(have)])
        elif rows[0] != row_of(have):
            raise session_fault("RECONCILIATION_REQUIRED", have.path)
        return have
    fresh = Session(
        session_id="",
        agent=asked.agent,
        captured_at=iso_utc(access.clock()),
        source_type=SOURCE_TYPE,
        project=None if asked.project is None else asked.project[1],
        project_id=None if asked.project is None else asked.project[0],
        title=asked.title,
        body=asked.summary,
        turns=0,
        operation_id=asked.operation_id,
        request_hash=asked.request_hash,
    )
    made = replace(fresh, session_id=identified(index))
    store.commit(
        "create",
        index=index,
        rows=[*index.rows, row_of(made)],
        target=made.path,
        document=render(made),
    )
    return made


def _documents(writer: FolderWriter, operation_id: str) -> list[Session]:
    suffix = f"_{sha256(operation_id)}.md"
    paths = [path for path in document_paths(writer) if path.endswith(suffix)]
    return [parse(writer.see(path).data) for path in paths]


def _closed(
    value: object, required: set[str], optional: frozenset[str] | set[str] = frozenset()
) -> dict[str, object]:
    if not isinstance(value, dict) or not required <= value.keys() <= required | optional:
        raise argument_fault("the request has other fields than those of the form")
    return value


def _line(value: object, most: int) -> str:
    if (
        not isinstance(value, str)
        or not 0 < len(value) <= most
        or _UNFIT.search(value)
        or "\n" in value
        or "\t" in value
    ):
        raise argument_fault(f"a text of the request must be one line of 1 to {most} characters")
    return value


def answer_line(answer: JsonObject) -> str:
    """Write the answer as one line."""
    return compact(answer) + "\n"
