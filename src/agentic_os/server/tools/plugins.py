"""Operations of plugins as tools: only those that the person grants, named by their plugin.

The server holds no keys, so it accepts no new epoch of a root where an identity would have to
write it down: such a status is taken over on the command line first.
"""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from agentic_os.errors import AgenticOSError, PluginError
from agentic_os.files.closing import SelfClosing
from agentic_os.files.places import places_from
from agentic_os.plugins.installing import PluginHouse
from agentic_os.plugins.keeping.house import plugin_places
from agentic_os.plugins.keeping.policy import FILE_NAME, PolicyFile
from agentic_os.plugins.keeping.state import PluginState
from agentic_os.plugins.offering import OfferedTool, offered_tools
from agentic_os.plugins.rights.egress import PinnedEgress
from agentic_os.plugins.rights.ports import OperationFailed
from agentic_os.plugins.running import PluginHost, Ports
from agentic_os.plugins.trust.revocation import KnownEpochs
from agentic_os.server.privacy import last_redaction
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.calls import INVALID_PARAMS, ToolAnswer, ToolFailureError, call

PREFIX = "plugin_"
_IDENTITY_LEDGER = "identity/ledger.jsonl"


class LiveFleet:
    """The fleet's answers for plugins, through the very tools that the server offers."""

    def __init__(self, served: ServedPerson) -> None:
        """Answer for one person."""
        self._served = served

    def search(self, query: str, limit: int) -> Sequence[Mapping[str, Any]]:
        """Search all projects; hits as the server gives them."""
        hits: list[dict[str, Any]] = self._asked({"query": query, "limit": limit})
        return hits

    def read_memory(self, project: str, fact: str) -> Mapping[str, Any] | None:
        """Return the hit of one fact, by its name or the file that holds it."""
        hits = self._asked({"query": fact, "projects": [project], "kinds": ["memory"], "limit": 5})
        return next((hit for hit in hits if fact in {hit["name"], hit["path"]}), None)

    def _asked(self, arguments: dict[str, Any]) -> list[dict[str, Any]]:
        answer = call(self._served, "full", "search_fleet", arguments)
        if answer.failed:
            raise OperationFailed("OPERATION_TARGET_INVALID", answer.document["error"]["message"])
        hits: list[dict[str, Any]] = answer.document["data"]["hits"]
        return hits


class ServedPlugins(SelfClosing):
    """The plugins of one server; opened when the person has any policy of plugins."""

    def __init__(self, served: ServedPerson) -> None:
        """Open nothing yet."""
        self._served = served
        self._turn = threading.Lock()
        self._opened: tuple[PluginHouse, PluginHost] | None = None

    def offered(self) -> tuple[OfferedTool, ...]:
        """Return the tools that the person grants now; none where something is wrong with them."""
        try:
            opened = self._open()
            return offered_tools(opened[0]) if opened else ()
        except AgenticOSError:
            return ()  # `plugins doctor` says what; the server's own tools must not suffer

    def call(self, name: str, arguments: Mapping[str, object] | None) -> ToolAnswer:
        """Call one operation; what a plugin says is redacted as all else is.

        Raises:
            ToolFailureError: no such tool is offered.
        """
        tool = next((one for one in self.offered() if one.name == name), None)
        opened = self._open()
        if tool is None or opened is None:
            raise ToolFailureError(INVALID_PARAMS, "unknown tool")
        redaction = last_redaction(self._served.person)
        try:
            answer = opened[1].call(tool.plugin, tool.operation, arguments or {})
        except PluginError as fault:
            document: dict[str, Any] = {
                "error": {"code": fault.code, "message": fault.message, "hint": fault.hint}
            }
            text = f"{fault.code}: {fault.message}"
            return ToolAnswer(
                text=redaction.text(text), document=redaction.value(document), failed=True
            )
        document = {
            "plugin": tool.plugin,
            "status": answer.status,
            "result": answer.result,
            "reason": answer.reason,
            "reason_code": answer.reason_code,
        }
        clean = redaction.value(document)
        return ToolAnswer(text=_text(clean), document=clean, failed=answer.status != "ok")

    def close(self) -> None:
        """End every plugin."""
        with self._turn:
            if self._opened is not None:
                self._opened[1].close()
                self._opened[0].state.close()
                self._opened = None

    def _open(self) -> tuple[PluginHouse, PluginHost] | None:
        with self._turn:
            if self._opened is None:
                found = places_from(self._served.person.environ)
                if not (found.config / FILE_NAME).is_file():
                    return None
                places = plugin_places(found)
                state = PluginState(places.data)
                identity = (found.data / _IDENTITY_LEDGER).is_file()
                house = PluginHouse(
                    places=places,
                    policy=PolicyFile(places.config),
                    state=state,
                    epochs=KnownEpochs(state) if identity else state,
                )
                ports = Ports(egress=PinnedEgress(), fleet=LiveFleet(self._served), proposals=state)
                self._opened = (house, PluginHost(house, ports))
            return self._opened


def _text(document: dict[str, Any]) -> str:
    import json

    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))
