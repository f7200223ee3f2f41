"""Answer what a guest asks of the host: check the right, do it, note it (sections 15, 16).

A denial is a JSON-RPC error, so that no guest can take it for a result; an operation that was
allowed and failed is a result with a reason. Receipts are the host's: what a guest says of its own
effects is no evidence.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agentic_os.plugins import strict_json
from agentic_os.plugins.rights.capabilities import (
    FLEET,
    KEY_VALUE,
    OUTBOUND,
    PROPOSE,
    Denial,
    Rights,
    family,
)
from agentic_os.plugins.rights.effects import Effects, target_of
from agentic_os.plugins.rights.ports import OperationFailed
from agentic_os.plugins.sandbox.limits import MESSAGE_BYTES

PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMETERS = -32700, -32600, -32601, -32602
POLICY: Final = -32000
INVOKE: Final = "invoke.call"
_IMPORT: Final = "invoke-call"

NEEDS: Final[Mapping[str, str]] = {
    "kv.get": KEY_VALUE,
    "kv.put": KEY_VALUE,
    "kv.delete": KEY_VALUE,
    "kv.list": KEY_VALUE,
    "web.fetch": OUTBOUND,
    "network.request": OUTBOUND,
    "agent.observe": PROPOSE,
    "fleet.search": FLEET,
    "fleet.read_memory": FLEET,
}
"""Each operation of the host with the family of the capability that it needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What the host did for a guest, or refused to do."""

    plugin: str
    operation: str
    target: str
    outcome: str
    detail: str
    at_ns: int


@dataclass(slots=True)
class Broker:
    """Serves the host calls of one call of a plugin.

    Attributes:
        plugin: whose call it is.
        rights: asked anew for each host call, so that a grant that is withdrawn meanwhile counts.
        effects: what does the work.
        keep: writes a receipt down.
        asked: the capabilities that were asked for, in order; for those who only try a plugin.
    """

    plugin: str
    rights: Callable[[], Rights]
    effects: Effects
    keep: Callable[[Receipt], None]
    asked: list[str] = field(default_factory=list)

    def __call__(self, name: str, text: bytes) -> bytes:
        """Answer one host call with a JSON-RPC text."""
        try:
            request = strict_json.decode(text)
        except ValueError as fault:
            return _error(None, PARSE_ERROR, str(fault))
        if not isinstance(request, dict) or request.get("jsonrpc") != "2.0":
            return _error(None, INVALID_REQUEST, "no JSON-RPC request")
        identity = request.get("id")
        if isinstance(identity, bool) or not isinstance(identity, str | int):
            return _error(None, INVALID_REQUEST, "a request has an id")
        if name != _IMPORT or request.get("method") != INVOKE:
            return _error(identity, UNKNOWN_METHOD, "this host answers invoke.call alone")
        return self._invoke(identity, request.get("params"))

    def _invoke(self, identity: str | int, given: object) -> bytes:
        parameters = given if isinstance(given, dict) else {}
        operation = parameters.get("operation")
        if not isinstance(operation, str) or "grant" in parameters:
            return _error(identity, INVALID_PARAMETERS, "it names one operation, and no grant")
        need = NEEDS.get(operation)
        if need is None:
            return _error(identity, INVALID_PARAMETERS, "this host has no such operation")
        target, arguments = parameters.get("target"), parameters.get("arguments")
        capability = _capability(need, target, arguments)
        self.asked.append(capability)
        denial = self._denial(need, capability)
        if denial is not None:
            return self._denied(identity, operation, denial)
        try:
            done = self.effects.perform(operation, target, arguments)
        except OperationFailed as failure:
            return self._answer(
                identity,
                {"status": "failed", "reason": str(failure), "reasonCode": failure.reason},
                self._receipt(operation, capability, failure.reason, str(failure)),
            )
        return self._answer(
            identity,
            {"status": "ok", "operation_result": done},
            self._receipt(operation, capability, "ok", ""),
        )

    def _denial(self, need: str, capability: str) -> Denial | None:
        rights = self.rights()
        if need == OUTBOUND and family(capability) == capability:
            # No host could be read from what was sent. Whoever has no grant learns no more.
            held = next((one for one in sorted(rights.granted) if family(one) == need), capability)
            return rights.denial(held)
        return rights.denial(capability)

    def _denied(self, identity: str | int, operation: str, denial: Denial) -> bytes:
        receipt = self._receipt(operation, denial.capability, denial.reason, denial.how)
        data = {
            "reasonCode": denial.reason,
            "denied_at": denial.denied_at,
            "capability": denial.capability,
            "how": denial.how,
            "external_receipt": receipt,
        }
        return _error(identity, POLICY, f"{denial.capability} is denied", data)

    def _answer(
        self, identity: str | int, result: dict[str, Any], receipt: dict[str, Any]
    ) -> bytes:
        succeeded = result["status"] == "ok"
        result |= {"success": succeeded, "ok": succeeded, "external_receipt": receipt}
        text = strict_json.encode({"jsonrpc": "2.0", "id": identity, "result": result})
        if len(text) > MESSAGE_BYTES:
            return _error(identity, POLICY, "the answer is too large")
        return text

    def _receipt(self, operation: str, target: str, outcome: str, detail: str) -> dict[str, Any]:
        at = time.time_ns()
        self.keep(
            Receipt(
                plugin=self.plugin,
                operation=operation,
                target=target,
                outcome=outcome,
                detail=detail,
                at_ns=at,
            )
        )
        return {
            "success": outcome == "ok",
            "operation_outcome": outcome,
            "audit_persisted": True,
            "host_authored": True,
            "timestamp": at // 1_000_000,
            "plugin_id": self.plugin,
            "operation": operation,
            "target": target,
            "detail": detail,
        }


def _capability(need: str, target: object, arguments: object) -> str:
    if need != OUTBOUND:
        return need
    place = target_of(target, arguments)
    return need if place is None else f"{need}:{place[0]}:{place[1]}"


def _error(
    identity: str | int | None, code: int, message: str, data: dict[str, Any] | None = None
) -> bytes:
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return strict_json.encode({"jsonrpc": "2.0", "id": identity, "error": error})
