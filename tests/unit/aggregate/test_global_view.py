"""The Markdown global view: everything by project and by type, quoted as plain text."""

import re
from pathlib import Path

import pytest

from agentic_os.aggregate.global_view import SUMMARY_CHARS, global_view, source_linker
from agentic_os.aggregate.questions import capabilities, differences, memory
from agentic_os.aggregate.workspace import Person, open_workspace
from support.fleet.builder import FleetBuilder


def view(person: Person, fleet: FleetBuilder, output: Path | None = None) -> str:
    with open_workspace(person, [str(fleet.root)]) as workspace:
        return global_view(
            workspace.fleet,
            memory(workspace).data,
            differences(workspace).data,
            capabilities(workspace).data,
            source_linker(workspace.fleet, output),
        )


@pytest.fixture
def full(fleet: FleetBuilder) -> FleetBuilder:
    shop = fleet.project("shop")
    shop.fact("f", "See billing.\n\n- **Port**: 80", title="Ports", description="who listens")
    shop.fact("same", "Both say this.", title="Same")
    shop.fact("empty", "<!-- nothing yet -->", title="Template")
    shop.index("# Memory\n\nProse.\n\n- [Ports](f.md) - x\n")
    shop.capabilities(skills={"steer": "Steers"})
    billing = fleet.project("billing")
    billing.fact("f", "- **Port**: 81", title="Ports", type_="reference")
    billing.fact("same", "Both say this.", title="Same")
    billing.capabilities(skills={"steer": "Turns"})
    fleet.project("out", None)
    fleet.project("silent")
    return fleet


def test_the_whole_view(person: Person, full: FleetBuilder) -> None:
    text = re.sub(r"-[0-9a-f]{8}\b", "", view(person, full, full.root.parent / "view.md"))

    assert text == (
        "# Global view\n\n"
        "4 projects, 4 facts, 1 unfilled templates left out. What follows quotes the projects.\n\n"
        "## By project\n\n"
        "### billing\n\n`billing`, tier 0\n\n"
        "- [Ports](fleet/billing/.agents/memory/f.md#L1): - \\*\\*Port\\*\\*: 81.\n"
        "- [Same](fleet/billing/.agents/memory/same.md#L1): Both say this. Same in 1 more.\n\n"
        "### out\n\n`out`, no tier\n\nOpted out of retrieval.\n\n"
        "### shop\n\n`shop`, tier 0\n\n"
        "- [MEMORY.md: Memory](fleet/shop/.agents/memory/MEMORY.md#L1)\n"
        "- [Ports](fleet/shop/.agents/memory/f.md#L1): who listens. See `billing`.\n"
        "- [Same](fleet/shop/.agents/memory/same.md#L1): Both say this. Same in 1 more.\n\n"
        "### silent\n\n`silent`, tier 0\n\nNothing remembered yet.\n\n"
        "## By type\n\n"
        "### project\n\n"
        "- [Same](fleet/billing/.agents/memory/same.md#L1) (billing): Both say this."
        " Same in 1 more.\n"
        "- [Ports](fleet/shop/.agents/memory/f.md#L1) (shop): who listens. See `billing`.\n"
        "- [Same](fleet/shop/.agents/memory/same.md#L1) (shop): Both say this. Same in 1 more.\n\n"
        "### reference\n\n"
        "- [Ports](fleet/billing/.agents/memory/f.md#L1) (billing):"
        " - \\*\\*Port\\*\\*: 81.\n\n"
        "## Stated differently\n\n"
        "- **Port**\n"
        "  - 81 ([billing](fleet/billing/.agents/memory/f.md#L7))\n"
        "  - 80 ([shop](fleet/shop/.agents/memory/f.md#L9))\n\n"
        "## Capabilities\n\n"
        "- skill **steer** (worded differently): billing, shop\n"
    )


def test_links_are_absolute_where_there_is_no_file(person: Person, full: FleetBuilder) -> None:
    assert f"]({full.root}/shop/.agents/memory/f.md#L1)" in view(person, full)


def test_what_projects_wrote_is_no_markup(person: Person, fleet: FleetBuilder) -> None:
    project = fleet.project("p")
    project.fact(
        "f",
        "body",
        title="![x](http://evil/i.png) <script> [[w]] `c` # | ~~",
        description="[click](javascript:x)\x1b[31m\u202e",
        type_="## type",
    )
    project.write(".agents/memory/odd (name)%20#.md", "---\nname: n\n---\n\nbody\n")

    text = view(person, fleet)

    assert "![" not in text.replace("\\!\\[", "")
    assert "<script>" not in text
    assert "\x1b" not in text
    assert "[click]" not in text
    assert "### \\#\\# type" in text
    assert "odd%20%28name%29%2520%23.md#L1" in text


def test_summaries_are_short(person: Person, fleet: FleetBuilder) -> None:
    fleet.project("p").fact("f", "long " * 200, description="word " * 200)

    longest = max(view(person, fleet).split("\n"), key=len)

    assert SUMMARY_CHARS < len(longest) < SUMMARY_CHARS + 300


def test_a_fleet_of_nothing(person: Person, fleet: FleetBuilder) -> None:
    assert view(person, fleet).startswith("# Global view\n\n0 projects, 0 facts")
