"""Run installed plugins: verify, start a worker, call, and give up what broke a rule.

A package is verified from the bytes that are then loaded, at every start, and once more when the
policy, a root or a revocation status changed since. Rights are asked on every host call.
"""

import io
import threading
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from agentic_os.crypto.canonical.texts import sha256_text
from agentic_os.errors import PluginError
from agentic_os.files.closing import SelfClosing
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.declaration.manifest import Variant
from agentic_os.plugins.declaration.operations import Operation
from agentic_os.plugins.installing import PluginHouse, installed_bytes
from agentic_os.plugins.keeping.compiled import compiled_code
from agentic_os.plugins.messages import CallResult, call_text, read_answer
from agentic_os.plugins.package.contents import members_of
from agentic_os.plugins.package.layout import INSTALL_ROOT
from agentic_os.plugins.rights.broker import Broker
from agentic_os.plugins.rights.capabilities import Rights
from agentic_os.plugins.rights.effects import Effects
from agentic_os.plugins.rights.ports import FleetReader, HttpEgress, Proposals
from agentic_os.plugins.sandbox.limits import Limits
from agentic_os.plugins.sandbox.modules import core_module
from agentic_os.plugins.sandbox.process import Worker
from agentic_os.plugins.trust.release import VerifiedPackage
from agentic_os.plugins.trust.tiers import Tier

PLATFORM: Final = ("linux", "x86_64")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """What plugins may reach beyond themselves, once granted."""

    egress: HttpEgress
    fleet: FleetReader
    proposals: Proposals


@dataclass(slots=True)
class _Running:
    """One plugin that runs: what was verified, and the worker that holds it."""

    verified: VerifiedPackage
    variant: Variant
    worker: Worker
    effects: Effects
    stamp: object
    turn: threading.Lock = field(default_factory=threading.Lock)


class PluginHost(SelfClosing):
    """Calls plugins, each in a worker of its own, one call of a plugin at a time."""

    def __init__(self, house: PluginHouse, ports: Ports, limits: Limits | None = None) -> None:
        """Start nothing yet; workers start with the first call."""
        self._house = house
        self._ports = ports
        self._limits = limits or Limits()
        self._running: dict[str, _Running] = {}
        self._turn = threading.Lock()

    def close(self) -> None:
        """End every worker."""
        with self._turn:
            for running in self._running.values():
                running.worker.close()
            self._running.clear()

    def call(self, plugin: str, operation_id: str, arguments: Mapping[str, Any]) -> CallResult:
        """Call one operation of an installed plugin.

        Raises:
            PackageRefusedError: the package is not trusted any more.
            PluginError: ``PLUGIN_UNKNOWN``, ``PLUGIN_DISABLED``, ``PLUGIN_ARGUMENTS_INVALID``,
                ``PLUGIN_FAULT``, ``PLUGIN_MODULE_REFUSED``, ``PLUGIN_ENGINE_MISSING``.
        """
        if self._house.state.is_disabled(plugin):
            raise ERRORS.error("PLUGIN_DISABLED", f"{plugin} failed too often and is switched off")
        with self._turn:
            running = self._started(plugin)
        operation = running.verified.checked.operations.get(operation_id)
        if operation is None:
            raise ERRORS.error("PLUGIN_UNKNOWN", f"{plugin} has no operation {operation_id}")
        text = call_text(operation, arguments)
        broker = Broker(
            plugin=plugin,
            rights=lambda: self._rights(running, operation),
            effects=running.effects,
            keep=self._house.state.keep_receipt,
        )
        with running.turn:
            try:
                return read_answer(operation, running.worker.call(text, broker))
            except PluginError as fault:
                self._retire(plugin, running)
                if fault.code == "PLUGIN_FAULT":
                    self._house.state.keep_fault(plugin, fault.message)
                raise

    def _started(self, plugin: str) -> _Running:
        stamp = self._house.stamp()
        running = self._running.get(plugin)
        if running is not None:
            current = self._house.state.find(plugin).package
            if running.stamp == stamp and running.verified.checked.quartet.package_hash == current:
                return running
            self._retire(plugin, running)
        running = self._launched(plugin, stamp)
        self._running[plugin] = running
        return running

    def _launched(self, plugin: str, stamp: object) -> _Running:
        data = installed_bytes(self._house, plugin)
        verified = self._house.verify(data)
        if verified.checked.quartet.plugin_id != plugin:
            raise ERRORS.error("PLUGIN_STATE_UNUSABLE", f"the package of {plugin} is another's")
        variant = verified.checked.manifest.variant_for(*PLATFORM)
        module = core_module(module_of(data, variant), limit_bytes=self._limits.module_bytes)
        code = compiled_code(self._house.places.cache, module, self._limits)
        kept: MutableMapping[str, str] = (
            {} if verified.verdict.tier is Tier.UNSIGNED else self._house.state.values_of(plugin)
        )
        return _Running(
            verified=verified,
            variant=variant,
            worker=Worker(code, self._limits),
            effects=Effects(
                plugin=plugin,
                kept=kept,
                egress=self._ports.egress,
                fleet=self._ports.fleet,
                proposals=self._ports.proposals,
            ),
            stamp=stamp,
        )

    def _rights(self, running: _Running, operation: Operation) -> Rights:
        checked, verdict = running.verified.checked, running.verified.verdict
        return Rights(
            declared=operation.capabilities,
            envelope=frozenset(checked.manifest.capability_envelope),
            variant=frozenset(running.variant.variant_capabilities),
            reviewed=verdict.reviewed,
            granted=self._house.policy.read().granted(
                checked.quartet.plugin_id, checked.quartet.package_hash
            ),
            tier=verdict.tier,
        )

    def _retire(self, plugin: str, running: _Running) -> None:
        running.worker.close()
        if self._running.get(plugin) is running:
            with suppress(KeyError):
                del self._running[plugin]


def module_of(data: bytes, variant: Variant) -> bytes:
    """Return the module of a variant from a packed file, checked against the manifest's hash.

    Raises:
        PackageRefusedError: ``PLUGIN_VARIANT_INTEGRITY_INVALID``, and as ``members_of``.
    """
    wanted = f"{INSTALL_ROOT}/{variant.entrypoint}"
    module = b""
    for relative, _, contents in members_of(io.BytesIO(data)):
        if relative == wanted:
            module = b"".join(contents)
    if sha256_text(module) != variant.artifact_hash:
        raise ERRORS.error("PLUGIN_VARIANT_INTEGRITY_INVALID")
    return module
