"""Print a change of the AIOS folder: what would be done, or was, and how to apply it."""

from agentic_os.aios.writing.plan import ChangeData, Proof
from agentic_os.cli.output import say, schema_name, write, write_json
from agentic_os.errors import UsageError
from agentic_os.results import Envelope
from agentic_os.text.fencing import one_line

_DONE = {"create": "created", "replace": "replaced", "remove": "removed", "keep": "unchanged"}


def show(command: str, verb: str, data: ChangeData, *, json: bool) -> None:
    """Print the answer of a verb.

    Args:
        command: the name of its document, ``aios-undo`` say.
        verb: the words that apply a preview, ``aios undo`` say; empty where none is applied so.
        data: the answer.
        json: print one document instead of text.
    """
    if json:
        write_json(Envelope(schema=schema_name(command), data=data))
        return
    for change in data.changes:
        done = _DONE[change.action]
        if change.action != "keep":
            word = f"would be {done}" if data.status == "preview" else done
            write(f"{word} {one_line(change.path)}\n")
    for note in data.notes:
        say(one_line(note))
    if data.status == "unchanged" or all(change.action == "keep" for change in data.changes):
        say("Nothing to change.")
    elif data.status == "preview" and verb:
        say(
            f"Nothing was changed. To do exactly this: agentic-os {verb} --apply"
            f" --operation-id {data.operation_id} --plan-fingerprint {data.plan_fingerprint}"
        )


def proof_of(
    *, apply: bool, operation_id: str | None, plan_fingerprint: str | None
) -> Proof | None:
    """Read the approval of a preview; all three options or none.

    Raises:
        UsageError: some are missing.
    """
    if not apply and operation_id is None and plan_fingerprint is None:
        return None
    if not apply or operation_id is None or plan_fingerprint is None:
        raise UsageError(
            "--apply, --operation-id and --plan-fingerprint go together",
            hint="Run the command without them first; it prints all three.",
        )
    return Proof(operation_id=operation_id, plan_fingerprint=plan_fingerprint)
