"""The texts of one call: what the host sends a guest, and what it makes of the answer (section 15).

Everything a guest says is checked before it is passed on; what breaks the form is a fault, and
costs the guest its instance.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from agentic_os.plugins import strict_json
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.declaration.operations import Operation
from agentic_os.plugins.declaration.schema import faults
from agentic_os.plugins.sandbox.limits import MESSAGE_BYTES

CALL_ID: Final = "h1"
_HOST_PREFIX: Final = "_host"
REASON_CHARS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """What came of a call. ``reason`` and ``reason_code`` are the guest's, where it did not do."""

    status: Literal["ok", "failed", "denied"]
    result: Any = None
    reason: str = ""
    reason_code: str = ""


def call_text(operation: Operation, arguments: Mapping[str, Any]) -> bytes:
    """Return the text of a call; members that begin with ``_host`` are the host's alone.

    Raises:
        PluginError: ``PLUGIN_ARGUMENTS_INVALID``.
    """
    own = {key: value for key, value in arguments.items() if not key.startswith(_HOST_PREFIX)}
    if operation.input is not None:
        wrong = next(faults(operation.input, own), None)
        if wrong is not None:
            raise ERRORS.error("PLUGIN_ARGUMENTS_INVALID", f"{operation.id}: {wrong}")
    own["_host_now_ms"] = time.time_ns() // 1_000_000
    request = {
        "jsonrpc": "2.0",
        "id": CALL_ID,
        "method": "invoke.call",
        "params": {"operation": operation.id, "arguments": own},
    }
    try:
        text = strict_json.encode(request)
    except (TypeError, ValueError, UnicodeEncodeError) as fault:
        raise ERRORS.error("PLUGIN_ARGUMENTS_INVALID", f"{operation.id}: {fault}") from None
    if len(text) > MESSAGE_BYTES:
        raise ERRORS.error("PLUGIN_ARGUMENTS_INVALID", f"{operation.id}: more than 1 MiB")
    return text


def read_answer(operation: Operation, text: bytes) -> CallResult:
    """Read a guest's answer.

    Raises:
        PluginError: ``PLUGIN_FAULT``; the answer breaks the form.
    """
    try:
        answer = strict_json.decode(text)
    except ValueError as fault:
        raise _fault("json", str(fault)) from None
    if not isinstance(answer, dict) or answer.get("id") != CALL_ID or "method" in answer:
        raise _fault("answer", "it is none to this call")
    if ("result" in answer) == ("error" in answer):
        raise _fault("answer", "it has a result and an error, or neither")
    if "error" in answer:
        return _refusal(answer["error"])
    result = answer["result"]
    if not isinstance(result, dict) or "external_receipt" in result:
        raise _fault("answer", "its result is none, or brings a receipt of its own")
    status = result.get("status")
    if status in {"failed", "denied"}:
        return CallResult(
            status=status,
            reason=str(result.get("reason", ""))[:REASON_CHARS],
            reason_code=str(result.get("reasonCode", ""))[:REASON_CHARS],
        )
    if status != "ok":
        raise _fault("answer", "its status is none")
    return _done(operation, result.get("operation_result"))


def _done(operation: Operation, value: Any) -> CallResult:
    if len(strict_json.encode(value)) > operation.max_result_bytes:
        raise _fault("size", f"more than {operation.max_result_bytes} bytes")
    if operation.output is not None:
        wrong = next(faults(operation.output, value), None)
        if wrong is not None:
            raise _fault("output", wrong)
    return CallResult(status="ok", result=value)


def _refusal(error: object) -> CallResult:
    if not isinstance(error, dict):
        raise _fault("answer", "its error is none")
    data = error.get("data")
    code = data.get("reasonCode", "") if isinstance(data, dict) else ""
    return CallResult(
        status="failed",
        reason=str(error.get("message", ""))[:REASON_CHARS],
        reason_code=str(code or error.get("code", ""))[:REASON_CHARS],
    )


def _fault(which: str, detail: str) -> Exception:
    return ERRORS.error("PLUGIN_FAULT", f"{which}: {detail}")
