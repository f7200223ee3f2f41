"""Show where the tool keeps its files."""

from agentic_os.aggregate.workspace import Person
from agentic_os.cli.output import finish_document, table
from agentic_os.files.places import places_from
from agentic_os.results import Answer, PathsData, Place


def show_places(*, json: bool) -> None:
    """Print each place, the variable that moves it, and whether it exists."""
    places = places_from(Person.here().environ)
    rows = tuple(
        Place(name=name, path=str(path), variable=variable, exists=path.exists())
        for name, path, variable in (
            ("config", places.config, "AGENTIC_OS_CONFIG_DIR"),
            ("data", places.data, "AGENTIC_OS_DATA_DIR"),
            ("cache", places.cache, "AGENTIC_OS_CACHE_DIR"),
            ("state", places.state, "AGENTIC_OS_STATE_DIR"),
            ("aios", places.aios, "DOTAIOS_PATH"),
        )
    )
    if json:
        finish_document("paths", Answer(data=PathsData(places=rows)))
        return
    table(
        ("place", "path", "variable", "exists"),
        [(row.name, row.path, row.variable, "yes" if row.exists else "no") for row in rows],
    )
