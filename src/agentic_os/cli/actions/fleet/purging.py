"""Delete derived state and say what went."""

from collections.abc import Sequence

from agentic_os.aggregate.purging import purge_spaces
from agentic_os.aggregate.workspace import Person
from agentic_os.cli.output import finish_document, say, write


def delete_derived(*, root: Sequence[str], everything: bool, json: bool) -> None:
    """Delete derived state. Everything in it is made anew from the projects."""
    answer = purge_spaces(Person.here(), root, everything=everything)
    if json:
        finish_document("purge", answer)
        return
    for space in answer.data.spaces:
        write(f"{space}\n")
    say(f"{len(answer.data.spaces)} deleted, {answer.data.bytes} bytes freed")
