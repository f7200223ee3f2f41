"""Show the extras of this installation."""

from typing import Final

from agentic_os.cli.output import finish_document, table
from agentic_os.files.installation import has_extra, install_line
from agentic_os.results import Answer, Extra, ExtrasData

_USES: Final = {
    "rag": "search by meaning",
    "languages": "sources of eleven more languages, by their definitions",
    "models": "other embedding models, with torch",
    "plugins": "plugins in a sandbox",
    "postgres": "an identity's projection in PostgreSQL",
}
_BY_HAND: Final = "install agentic-os again, with the extra, as you installed it"


def show_extras(*, json: bool) -> None:
    """Print each extra, whether it is there, and how to add it."""
    found = tuple(
        Extra(name=name, use=use, installed=there, command=None if there else install_line(name))
        for name, use in _USES.items()
        for there in (has_extra(name),)
    )
    if json:
        finish_document("extras", Answer(data=ExtrasData(extras=found)))
        return
    table(
        ("extra", "use", "state"),
        [
            (one.name, one.use, "installed" if one.installed else one.command or _BY_HAND)
            for one in found
        ],
    )
