from pathlib import Path

import pytest

from agentic_os.aggregate.workspace import Person
from agentic_os.server.served import ServedPerson
from support.fleet.builder import FleetBuilder


@pytest.fixture
def served(fleet: FleetBuilder, person: Person) -> ServedPerson:
    """A small fleet: a shop with memory, vault, inventory and a graph; a bare second project."""
    shop = fleet.project("shop", "obsidian-graphify")
    shop.index("# Memory\n\nProse about invoices.\n\n- [Retry](retry.md) — how often\n")
    shop.fact("retry", "Four tries, then dunning.", title="Retry", description="How often")
    shop.fact("empty", "<!-- fill in -->")
    shop.note("note.md", "# Night\n\nLook at the pager.\n")
    shop.capabilities(skills={"plan": "Plan first"}, servers={"ctx": "npx ctx"})
    shop.write("app.py", "def load():\n    return 1\n\n\ndef main():\n    return load()\n")
    shop.write(
        "graphify-out/graph.json",
        '{"directed": false, "nodes": ['
        '{"id": "l", "label": "load()", "file_type": "code", "source_file": "app.py",'
        ' "source_location": "L1"},'
        '{"id": "m", "label": "main()", "file_type": "code", "source_file": "app.py",'
        ' "source_location": "L5"}], "links": [{"source": "m", "target": "l",'
        ' "relation": "calls", "confidence": "EXTRACTED", "source_file": "app.py",'
        ' "source_location": "L6"}]}',
    )
    other = fleet.project("other")
    other.fact("note", "The shop retries, too.")
    return ServedPerson(person=person, roots=(str(fleet.root),))


@pytest.fixture
def root(fleet: FleetBuilder) -> Path:
    return fleet.root
