"""Plan a seam, and add it where its plan was approved."""

import shlex
from collections.abc import Sequence

from agentic_os.aggregate.fleet import Person, find_fleet
from agentic_os.aggregate.seam import apply, plan
from agentic_os.cli.output import finish_document, say, table
from agentic_os.results import Answer
from agentic_os.text.fencing import one_line


def add(
    *, project: str, stack: str | None, fingerprint: str | None, root: Sequence[str], json: bool
) -> None:
    """Show the plan; with its fingerprint start project-init."""
    person = Person.here()
    chosen = find_fleet(person, root).fleet.find(project, current=person.current)
    data = plan(chosen, person.environ, stack=stack)
    if fingerprint is not None:
        data = apply(data, fingerprint, person.environ)
    if json:
        finish_document("seam-add", Answer(data=data))
        return
    table(("name", "what becomes of it"), [(name.path, name.state) for name in data.writes])
    say(f"  runs      {one_line(shlex.join(data.words))}")
    say(f"  program   {one_line(data.program or 'not installed here')}")
    say(f"  in        {one_line(data.folder)}")
    if data.applied:
        say("Done: the project has a descriptor now.")
    else:
        say(f"Nothing was started. To do it: --apply {data.fingerprint}")
