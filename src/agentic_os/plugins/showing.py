"""What a person sees of plugins: each as it stands now, and what is wrong with it."""

from datetime import UTC, datetime

from agentic_os.errors import AgenticOSError
from agentic_os.plugins.answers import (
    CheckRow,
    FaultView,
    LogData,
    OperationView,
    PluginsData,
    PluginView,
    ProposalsData,
    ProposalView,
    ReceiptView,
    RootView,
    TrustData,
)
from agentic_os.plugins.installing import PluginHouse, installed_bytes
from agentic_os.plugins.keeping.house import pinned_roots, read_pinned
from agentic_os.plugins.keeping.state import Installed
from agentic_os.plugins.offering import tool_name


def list_plugins(house: PluginHouse) -> PluginsData:
    """Verify every installed plugin anew and show it."""
    return PluginsData(plugins=tuple(_view(house, one) for one in house.state.installed()))


def examine_plugins(house: PluginHouse) -> tuple[CheckRow, ...]:
    """Return a row for each installed plugin, root and grant that needs looking at, or is well."""
    rows = []
    for view in list_plugins(house).plugins:
        ready = view.state == "ready"
        rows.append(
            CheckRow(
                check=view.plugin,
                result="pass" if ready else "fail",
                kind="host",
                words=view.tier if ready else f"{view.reason} {view.hint}".strip(),
            )
        )
    installed = {(one.plugin, one.package) for one in house.state.installed()}
    policy = house.policy.read()
    rows += [
        CheckRow(
            check=f"grant {grant.plugin}",
            result="note",
            kind="host",
            words="it is for a package that is not installed",
        )
        for grant in policy.grant
        if (grant.plugin, grant.package) not in installed
    ]
    rows += [
        CheckRow(
            check=f"root {root.key_id or root.key}",
            result="pass" if root.counts and root.trust_epoch else "note",
            kind="host",
            words=_root_words(root),
        )
        for root in list_trust(house).roots
    ]
    return tuple(rows)


def list_trust(house: PluginHouse) -> TrustData:
    """Show the pinned roots."""
    policy = house.policy.read()
    counting = {root.sha256 for root in pinned_roots(house.places, policy)}
    views = []
    for pinned in policy.root:
        key = read_pinned(house.places, pinned.key)
        last = house.state.last(pinned.key)
        views.append(
            RootView(
                key=pinned.key,
                key_id="" if key is None else key.key_id,
                key_type="" if key is None else key.key_type,
                profile=pinned.profile,
                counts=pinned.key in counting,
                trust_epoch=0 if last is None else last.trust_epoch,
            )
        )
    return TrustData(roots=tuple(views), unsigned=policy.unsigned)


def show_log(house: PluginHouse, plugin: str | None, limit: int) -> LogData:
    """Show what the host did for plugins, and their faults."""
    names = [plugin] if plugin else [one.plugin for one in house.state.installed()]
    faults = [fault for name in names for fault in house.state.faults(name)]
    return LogData(
        receipts=tuple(
            ReceiptView(
                at=_time(one.at_ns),
                plugin=one.plugin,
                operation=one.operation,
                target=one.target,
                outcome=one.outcome,
                detail=one.detail,
            )
            for one in house.state.receipts(plugin, limit)
        ),
        faults=tuple(
            FaultView(at=_time(one.at_ns), plugin=one.plugin, which=one.which)
            for one in sorted(faults, key=lambda one: -one.at_ns)[:limit]
        ),
    )


def show_proposals(house: PluginHouse, *, dropped: int = 0) -> ProposalsData:
    """Show what plugins propose."""
    return ProposalsData(
        proposals=tuple(
            ProposalView(plugin=one.plugin, text=one.text, at=_time(one.at_ns))
            for one in house.state.proposals()
        ),
        dropped=dropped,
    )


def _view(house: PluginHouse, installed: Installed) -> PluginView:
    policy = house.policy.read()
    try:
        verified = house.verify(installed_bytes(house, installed.plugin))
    except AgenticOSError as fault:
        return PluginView(
            plugin=installed.plugin,
            version=installed.version,
            package_hash=installed.package,
            state="refused",
            reason=f"{fault.code}: {fault.message}",
            hint=fault.hint,
        )
    disabled = house.state.is_disabled(installed.plugin)
    offered = policy.offers_tools(installed.plugin, installed.package)
    manifest = verified.checked.manifest
    return PluginView(
        plugin=installed.plugin,
        version=installed.version,
        package_hash=installed.package,
        state="disabled" if disabled else "ready",
        tier=verified.verdict.tier.label,
        publisher=verified.verdict.publisher,
        reason="it failed too often" if disabled else "",
        hint=f"agentic-os plugins enable {installed.plugin}" if disabled else "",
        asks=manifest.capability_envelope,
        granted=tuple(sorted(policy.granted(installed.plugin, installed.package))),
        operations=tuple(
            OperationView(
                id=one.id,
                summary=one.summary,
                effects=one.effects,
                capabilities=tuple(sorted(one.capabilities)),
                tool=tool_name(installed.plugin, one.id) if offered else None,
            )
            for one in verified.checked.operations.values()
        ),
    )


def _root_words(root: RootView) -> str:
    if not root.counts:
        return "it does not count: its key is missing, or FAST without your word"
    return f"epoch {root.trust_epoch}" if root.trust_epoch else "no revocation status was accepted"


def _time(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns / 1e9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
