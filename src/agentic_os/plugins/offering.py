"""Operations as agents see them: tools that the person grants, each named by its plugin."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from agentic_os.errors import AgenticOSError
from agentic_os.plugins.installing import PluginHouse, installed_bytes
from agentic_os.text.fencing import one_line

NAME_CHARS: Final = 64
SUMMARY_CHARS: Final = 300
_UNFIT = re.compile(r"[^a-z0-9_]")


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """One operation that agents may call."""

    name: str
    plugin: str
    operation: str
    description: str
    input: dict[str, Any]


def tool_name(plugin: str, operation: str) -> str:
    """Return the name of an operation's tool.

    >>> tool_name("org.example.echo", "core.echo")
    'plugin_org_example_echo__core_echo'
    """
    fit = f"plugin_{_UNFIT.sub('_', plugin)}__{_UNFIT.sub('_', operation)}"
    return fit[:NAME_CHARS]


def offered_tools(house: PluginHouse) -> tuple[OfferedTool, ...]:
    """Return the operations of the plugins whose operations the person offers to agents.

    A plugin that is refused or disabled offers nothing; one that cannot be read is left out.
    """
    return tuple(_offered(house))


def _offered(house: PluginHouse) -> Iterable[OfferedTool]:
    policy = house.policy.read()
    taken = set()
    for one in house.state.installed():
        if not policy.offers_tools(one.plugin, one.package) or house.state.is_disabled(one.plugin):
            continue
        try:
            verified = house.verify(installed_bytes(house, one.plugin))
        except AgenticOSError:
            continue
        for operation in verified.checked.operations.values():
            name = tool_name(one.plugin, operation.id)
            if name in taken:
                continue
            taken.add(name)
            yield OfferedTool(
                name=name,
                plugin=one.plugin,
                operation=operation.id,
                description=one_line(
                    f"Plugin {one.plugin} ({verified.verdict.tier.label}, not part of agentic-os):"
                    f" {operation.summary}"
                )[:SUMMARY_CHARS],
                input=dict(operation.input_document or {"type": "object"}),
            )
