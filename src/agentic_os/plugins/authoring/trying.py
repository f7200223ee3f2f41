"""Run one operation of a package that is not installed, in a world that grants and records."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentic_os.errors import PluginError
from agentic_os.plugins.answers import CallData
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.messages import call_text, read_answer
from agentic_os.plugins.rights.broker import Broker, Receipt
from agentic_os.plugins.rights.capabilities import OFFERED, Rights, family
from agentic_os.plugins.rights.effects import Effects
from agentic_os.plugins.rights.ports import Incoming, OperationFailed, Outgoing
from agentic_os.plugins.running import PLATFORM, module_of
from agentic_os.plugins.sandbox.limits import Limits
from agentic_os.plugins.sandbox.modules import core_module
from agentic_os.plugins.sandbox.process import Worker, compile_module
from agentic_os.plugins.trust.release import CheckedPackage

_SIGNED_TIER = 1


class RecordingWorld:
    """A world in which nothing is: every host is down, the fleet empty, proposals are kept."""

    def __init__(self) -> None:
        """Begin with nothing proposed."""
        self.proposed: list[str] = []

    def fetch(self, request: Outgoing) -> Incoming:
        """Answer that nobody is there."""
        raise OperationFailed("NET_REMOTE_OUTCOME_FAILED", f"{request.host} is not asked here")

    def search(self, query: str, limit: int) -> Sequence[Mapping[str, Any]]:
        """Find nothing."""
        del query, limit
        return ()

    def read_memory(self, project: str, fact: str) -> Mapping[str, Any] | None:
        """Know nothing."""
        del project, fact
        return None

    def propose(self, plugin: str, texts: Sequence[str]) -> int:
        """Keep what is proposed."""
        del plugin
        self.proposed += texts
        return len(texts)


def try_operation(
    data: bytes,
    checked: CheckedPackage,
    operation_id: str,
    arguments: Mapping[str, Any],
    *,
    limits: Limits,
    world: RecordingWorld,
) -> CallData:
    """Run one operation with everything granted that the package asks for; nothing is kept.

    Raises:
        PluginError: as ``PluginHost.call``.
    """
    operation = checked.operations.get(operation_id)
    if operation is None:
        raise ERRORS.error(
            "PLUGIN_UNKNOWN",
            f"{checked.manifest.id} has no operation {operation_id};"
            f" it has {', '.join(sorted(checked.operations))}",
        )
    variant = checked.manifest.variant_for(*PLATFORM)
    module = core_module(module_of(data, variant), limit_bytes=limits.module_bytes)
    envelope = frozenset(checked.manifest.capability_envelope)
    rights = Rights(
        declared=operation.capabilities,
        envelope=envelope,
        variant=frozenset(variant.variant_capabilities),
        reviewed=None,
        granted=frozenset(one for one in envelope if family(one) in OFFERED),
        tier=_SIGNED_TIER,
    )
    receipts: list[Receipt] = []
    effects = Effects(
        plugin=checked.manifest.id, kept={}, egress=world, fleet=world, proposals=world
    )
    broker = Broker(
        plugin=checked.manifest.id, rights=lambda: rights, effects=effects, keep=receipts.append
    )
    with Worker(compile_module(module, limits), limits) as worker:
        try:
            answer = read_answer(operation, worker.call(call_text(operation, arguments), broker))
        except PluginError as fault:
            if broker.asked:
                fault.hint = f"it asked for {', '.join(broker.asked)} before that"
            raise
    return CallData(
        plugin=checked.manifest.id,
        operation=operation_id,
        status=answer.status,
        result=answer.result,
        reason=answer.reason,
        reason_code=answer.reason_code,
        asked=tuple(broker.asked),
    )
