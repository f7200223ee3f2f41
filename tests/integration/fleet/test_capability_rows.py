"""``capabilities`` as text: a row for each command that differs, and none that repeats another."""

import json

from support.fleet.builder import FleetBuilder
from support.process.cli_call import call


def rows(fleet: FleetBuilder) -> list[list[str]]:
    done = call("capabilities", "--root", fleet.root)
    assert done.code == 0, done.stderr
    return [line.split("\t") for line in done.stdout.decode().splitlines()]


def serve(fleet: FleetBuilder, name: str, command: str) -> None:
    project = fleet.project(name)
    text = json.dumps({"mcpServers": {"search": {"command": command}}})
    project.write(".mcp.json", text)


def test_each_differing_command_has_its_row(fleet: FleetBuilder) -> None:
    for name, command in (("one", "npx"), ("two", "npx"), ("three", "uvx")):
        serve(fleet, name, command)

    found = [row for row in rows(fleet) if row[:2] == ["mcp", "search"]]

    assert sorted((row[2], row[5]) for row in found) == [("1", "stdio uvx"), ("2", "stdio npx")]
    assert {row[4] for row in found} == {"yes"}
    assert sum(len(row[3].split()) for row in found) == 3


def test_what_is_alike_has_one_row(fleet: FleetBuilder) -> None:
    for name in ("one", "two"):
        serve(fleet, name, "npx")

    found = [row for row in rows(fleet) if row[:2] == ["mcp", "search"]]

    assert [(row[2], row[4]) for row in found] == [("2", "")]
