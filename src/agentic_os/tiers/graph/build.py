"""Make graphs of our own, with no other tool installed."""

from collections.abc import Sequence

from agentic_os.aggregate.refresh.own_graphs import build_own_graphs
from agentic_os.aggregate.store.database import writing
from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.results import Answer
from agentic_os.tiers.graph.answers import GraphBuildData, GraphBuilt


def build_graphs(
    person: Person, roots: Sequence[str], *, everything: bool = False
) -> Answer[GraphBuildData]:
    """Make the graph of every project that has none, from its sources.

    Args:
        person: the surroundings.
        roots: ``--root`` values; empty for the person's own roots.
        everything: every project with retrieval, not only those of tier 2 and above.

    Raises:
        StoreLockedError: another process writes.
        SettingsError: projects.toml is wrong.
    """
    with open_workspace(person, roots, freshness="wait") as workspace:
        with writing(workspace.store.space) as store:
            built = build_own_graphs(
                store,
                workspace.fleet,
                workspace.redactor,
                everyone=everything,
                home=person.home,
                sources=True,
            )
            rows = store.connection.execute(
                "SELECT project, nodes, edges, (SELECT count(*) FROM graph_file"
                " WHERE graph_file.rid = graph_repo.rid AND length(facts) > 0)"
                " FROM graph_repo WHERE status='own' ORDER BY project"
            ).fetchall()
        warnings = workspace.warnings
    return Answer(
        data=GraphBuildData(
            projects=tuple(
                GraphBuilt(project=project, nodes=nodes, edges=edges, sources=sources)
                for project, nodes, edges, sources in rows
                if project in built
            )
        ),
        warnings=tuple(warnings),
    )
