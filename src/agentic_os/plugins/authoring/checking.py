"""Check a package as its author: what holds here, and what only a host can say."""

import io
from collections.abc import Iterator

from agentic_os.errors import AgenticOSError, PackageRefusedError
from agentic_os.plugins.answers import CheckRow
from agentic_os.plugins.installing import PluginHouse
from agentic_os.plugins.package.layout import UNVERIFIED
from agentic_os.plugins.rights.capabilities import OFFERED, family
from agentic_os.plugins.running import PLATFORM, module_of
from agentic_os.plugins.sandbox.limits import Limits
from agentic_os.plugins.sandbox.modules import core_module
from agentic_os.plugins.sandbox.process import Worker, compile_module
from agentic_os.plugins.trust.release import CheckedPackage, check_artifacts, check_package


def check_rows(data: bytes, house: PluginHouse, limits: Limits) -> Iterator[CheckRow]:
    """Yield the checks of a package, in the order in which a host makes them.

    After a failure the checks that build on it are ``not_run``.
    """
    try:
        checked = check_package(io.BytesIO(data))
        check_artifacts(checked)
    except PackageRefusedError as fault:
        yield CheckRow(check="package", result="fail", kind="local", words=_words(fault))
        for name in ("trust", "module", "smoke"):
            yield CheckRow(check=name, result="not_run", kind="host")
        return
    yield CheckRow(check="package", result="pass", kind="local", words=checked.package.package_hash)
    yield from _notes(checked)
    try:
        tier = house.verify(data).verdict.tier
        yield CheckRow(check="trust", result="pass", kind="locally_verified", words=tier.label)
    except PackageRefusedError as fault:
        unsigned = fault.reason == "T0_REFUSED"
        yield CheckRow(
            check="trust",
            result="note" if unsigned else "fail",
            kind="locally_verified",
            words=_words(fault),
        )
    yield from _runs(data, checked, limits)


def _notes(checked: CheckedPackage) -> Iterator[CheckRow]:
    for capability in checked.manifest.capability_envelope:
        if family(capability) not in OFFERED:
            yield CheckRow(
                check=capability, result="note", kind="host", words="this host does not offer it"
            )
    beside = [one for one in checked.package.others if one.startswith(UNVERIFIED)]
    if beside:
        yield CheckRow(
            check="unverified",
            result="note",
            kind="local",
            words=f"no hash covers {', '.join(beside)}",
        )


def _runs(data: bytes, checked: CheckedPackage, limits: Limits) -> Iterator[CheckRow]:
    try:
        variant = checked.manifest.variant_for(*PLATFORM)
        module = core_module(module_of(data, variant), limit_bytes=limits.module_bytes)
        code = compile_module(module, limits)
        yield CheckRow(check="module", result="pass", kind="local", words=variant.variant_id)
    except AgenticOSError as fault:
        yield CheckRow(
            check="module",
            result="incomplete" if fault.code == "PLUGIN_ENGINE_MISSING" else "fail",
            kind="local",
            words=_words(fault),
        )
        yield CheckRow(check="smoke", result="not_run", kind="local")
        return
    try:
        Worker(code, limits).close()
        yield CheckRow(check="smoke", result="pass", kind="local")
    except AgenticOSError as fault:
        yield CheckRow(check="smoke", result="fail", kind="local", words=_words(fault))


def _words(fault: AgenticOSError) -> str:
    reason = fault.reason if isinstance(fault, PackageRefusedError) else fault.code
    return f"{reason}: {fault.message}"
