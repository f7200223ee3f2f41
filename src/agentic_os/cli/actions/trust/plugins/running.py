"""Run plugins, and show what they did."""

from typing import Any

import typer

from agentic_os.aggregate.fleet import Person
from agentic_os.cli.actions.trust.plugins.opening import plugin_house
from agentic_os.cli.exit_codes import FINDINGS
from agentic_os.cli.output import finish_document, say, table, write
from agentic_os.errors import UsageError
from agentic_os.plugins import strict_json
from agentic_os.plugins.answers import CallData, CheckRow, ChecksData
from agentic_os.plugins.rights.egress import PinnedEgress
from agentic_os.plugins.running import PluginHost, Ports
from agentic_os.plugins.showing import examine_plugins, show_log, show_proposals
from agentic_os.results import Answer
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.plugins import LiveFleet

REFUSED = 1


def run(plugin: str, operation: str, arguments: str, *, json: bool) -> None:
    """Call one operation of an installed plugin."""
    given = arguments_of(arguments)
    with plugin_house() as house:
        ports = Ports(
            egress=PinnedEgress(),
            fleet=LiveFleet(ServedPerson(person=Person.here())),
            proposals=house.state,
        )
        with PluginHost(house, ports) as host:
            answer = host.call(plugin, operation, given)
    print_call(
        "plugins-run",
        CallData(
            plugin=plugin,
            operation=operation,
            status=answer.status,
            result=answer.result,
            reason=answer.reason,
            reason_code=answer.reason_code,
        ),
        json=json,
    )


def print_call(command: str, data: CallData, *, json: bool) -> None:
    """Print what came of a call; one that failed or was denied exits with 1."""
    if json:
        finish_document(command, Answer(data=data))
    elif data.status == "ok":
        write(strict_json.encode(data.result).decode() + "\n")
    if data.asked and not json:
        say(f"It asked for {', '.join(data.asked)}.")
    if data.status != "ok":
        if not json:
            say(f"{data.status}: {data.reason} {data.reason_code}".strip())
        raise typer.Exit(REFUSED)


def arguments_of(text: str) -> dict[str, Any]:
    """Read the arguments of a call as the person typed them.

    Raises:
        UsageError: they are no JSON object.
    """
    try:
        value = strict_json.decode(text.encode("utf-8", "replace"))
    except ValueError as fault:
        raise UsageError(f"the arguments are no JSON: {fault}") from None
    if not isinstance(value, dict):
        raise UsageError('the arguments are one JSON object, such as \'{"text": "a"}\'')
    return value


def log(plugin: str | None, *, limit: int, json: bool) -> None:
    """Show what the host did for plugins, and their faults."""
    with plugin_house() as house:
        data = show_log(house, plugin, limit)
    if json:
        finish_document("plugins-log", Answer(data=data))
        return
    table(
        ("at", "plugin", "operation", "target", "outcome", "detail"),
        [
            (one.at, one.plugin, one.operation, one.target, one.outcome, one.detail)
            for one in data.receipts
        ]
        + [(one.at, one.plugin, "", "", "fault", one.which) for one in data.faults],
    )


def proposals(plugin: str | None, *, drop: bool, json: bool) -> None:
    """Show, or drop, what plugins propose."""
    with plugin_house() as house:
        dropped = house.state.drop_proposals(plugin) if drop else 0
        data = show_proposals(house, dropped=dropped)
    if json:
        finish_document("plugins-proposals", Answer(data=data))
        return
    table(("at", "plugin", "proposal"), [(one.at, one.plugin, one.text) for one in data.proposals])
    if drop:
        say(f"{dropped} dropped.")


def doctor(*, json: bool) -> None:
    """Look at every plugin, root and grant."""
    with plugin_house() as house:
        data = ChecksData(rows=examine_plugins(house))
    print_checks("plugins-doctor", data, json=json, otherwise="No plugin is installed.")


def print_checks(command: str, data: ChecksData, *, json: bool, otherwise: str = "") -> None:
    """Print checks; a failed one exits with the findings' code."""
    if json:
        finish_document(command, Answer(data=data))
    else:
        table(("check", "result", "class", "words"), list(map(_row, data.rows)))
        if not data.rows:
            say(otherwise)
    if data.failed:
        raise typer.Exit(FINDINGS)


def _row(row: CheckRow) -> tuple[str, ...]:
    return row.check, row.result, row.kind, row.words
