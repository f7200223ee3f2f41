"""Serve the page in a browser."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentic_os.aggregate.refresh.layout import lay_out
from agentic_os.aggregate.standing import StandingFleet
from agentic_os.aggregate.workspace import Person
from agentic_os.cli.actions.trust.ledger.opening import IDENTITY_FOLDER
from agentic_os.cli.output import say
from agentic_os.files.places import places_from
from agentic_os.server.privacy import last_redaction
from agentic_os.server.scope.aios import person_access
from agentic_os.web.served import Served
from agentic_os.web.serving import serve_page


def serve(*, root: Sequence[str], port: int, open_browser: bool) -> None:
    """Serve the page until the person ends it."""
    person = Person.here()
    roots = tuple(str(Path(one).expanduser().absolute()) for one in root)
    redaction = last_redaction(person)

    fleet = StandingFleet(person, roots)

    def sweep() -> int:
        found = fleet.look()
        lay_out(found.space)
        with found.opened() as workspace:
            return workspace.store.generation

    def clean(value: Any) -> Any:
        return redaction.value(value)

    served = Served(
        workspace=fleet.workspace,
        sweep=sweep,
        aios=person_access(person.environ, person.home),
        identity=places_from(person.environ).data / IDENTITY_FOLDER,
        clean=clean,
    )
    serve_page(served, port=port, open_browser=open_browser, say=say)
