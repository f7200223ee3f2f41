"""The check of the semantic index; none is made where there is no index."""

from collections.abc import Iterator

from agentic_os.aggregate.workspace import Workspace
from agentic_os.errors import SemanticIndexError
from agentic_os.results import Check
from agentic_os.tiers.index.table import tables, vectors_folder

CHECK = "index"


def examine_index(workspace: Workspace) -> Iterator[Check]:
    """Whether the index can be read, by the model chosen now, and holds what the store holds."""
    if not tables(vectors_folder(workspace.store.space)):
        return
    # Not loaded where there is no index.
    from agentic_os.tiers.embed.selection import find_model
    from agentic_os.tiers.index.status import index_status

    try:
        answer = index_status(workspace)
    except SemanticIndexError as fault:
        yield Check(
            id=CHECK, status="warn", message=f"{fault.code}: {fault.message}", hint=fault.hint
        )
        return
    data = answer.data
    if data.state != "sound":
        fault_said = answer.warnings[-1]
        yield Check(
            id=CHECK,
            status="fail" if data.state == "damaged" else "warn",
            message=f"{fault_said.code}: {fault_said.message}",
            hint=fault_said.hint,
        )
        return
    choice = workspace.settings.embedding_model
    if "/" not in (choice or "") and find_model(workspace.places.data, choice) is None:
        yield Check(
            id=CHECK,
            status="warn",
            message="MODEL_MISSING: there is an index, and its embedding model is not prepared",
            hint="Prepare it: agentic-os model prepare",
        )
        return
    if data.files_behind:
        yield Check(
            id=CHECK,
            status="warn",
            message=f"{data.files_behind} files of {len(data.projects_behind)} projects are not in"
            " the semantic index as they are",
            hint="Bring it up to date: agentic-os index build",
        )
        return
    yield Check(
        id=CHECK,
        status="ok",
        message=f"the semantic index holds {data.rows} chunks of {data.projects} projects,"
        f" by {data.model}",
    )
