"""What the commands of plugins answer: frozen values, ready for JSON."""

from dataclasses import dataclass
from typing import Any, Final, Literal

CheckResult = Literal["pass", "fail", "incomplete", "not_run", "note"]
CheckClass = Literal["local", "locally_verified", "host"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationView:
    """One operation; ``tool`` is the name under which agents see it, if they do."""

    id: str
    summary: str
    effects: str
    capabilities: tuple[str, ...]
    tool: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginView:
    """One installed plugin: what it is now, by whom the person trusts now."""

    plugin: str
    version: str
    package_hash: str
    state: Literal["ready", "disabled", "refused"]
    tier: str = ""
    publisher: str = ""
    reason: str = ""
    hint: str = ""
    asks: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()
    operations: tuple[OperationView, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginsData:
    """Answer of ``plugins list``."""

    plugins: tuple[PluginView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageData:
    """Answer of ``plugins pack``, ``verify``, ``install``, ``remove`` and ``sign``.

    ``unverified`` are the files that no hash covers.
    """

    plugin: str
    version: str
    package_hash: str
    manifest_hash: str
    tier: str
    publisher: str = ""
    files: int = 0
    bytes: int = 0
    path: str = ""
    unverified: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRow:
    """One check of a package."""

    check: str
    result: CheckResult
    kind: CheckClass
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksData:
    """Answer of ``plugins check``, ``test`` and ``doctor``."""

    rows: tuple[CheckRow, ...]

    @property
    def failed(self) -> bool:
        """Whether one of them failed."""
        return any(row.result == "fail" for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallData:
    """Answer of ``plugins run``; ``asked`` are the capabilities that it asked for."""

    plugin: str
    operation: str
    status: Literal["ok", "failed", "denied"]
    result: Any = None
    reason: str = ""
    reason_code: str = ""
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptView:
    """What the host did for a plugin, or refused; ``at`` is UTC."""

    at: str
    plugin: str
    operation: str
    target: str
    outcome: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultView:
    """A limit or rule that a guest broke."""

    at: str
    plugin: str
    which: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogData:
    """Answer of ``plugins log``: newest first."""

    receipts: tuple[ReceiptView, ...]
    faults: tuple[FaultView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalView:
    """What a plugin observed."""

    plugin: str
    text: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalsData:
    """Answer of ``plugins proposals``; ``dropped`` is how many were dropped."""

    proposals: tuple[ProposalView, ...]
    dropped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginGrantData:
    """Answer of ``plugins grant``, ``revoke`` and ``enable``: what the package may do now."""

    plugin: str
    package_hash: str
    capabilities: tuple[str, ...]
    tools: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RootView:
    """A pinned root; ``trust_epoch`` is that of its last accepted status, 0 without one."""

    key: str
    key_id: str
    key_type: str
    profile: str
    counts: bool
    trust_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustData:
    """Answer of ``plugins trust``."""

    roots: tuple[RootView, ...]
    unsigned: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPluginData:
    """Answer of ``plugins new`` and ``build``: the files that were written."""

    folder: str
    language: str
    files: tuple[str, ...]


PLUGIN_DOCUMENTS: Final[dict[str, type]] = {
    "plugins-list": PluginsData,
    **dict.fromkeys(
        ("plugins-pack", "plugins-verify", "plugins-install", "plugins-remove", "plugins-sign"),
        PackageData,
    ),
    **dict.fromkeys(("plugins-check", "plugins-test", "plugins-doctor"), ChecksData),
    "plugins-run": CallData,
    "plugins-log": LogData,
    "plugins-proposals": ProposalsData,
    **dict.fromkeys(("plugins-grant", "plugins-revoke", "plugins-enable"), PluginGrantData),
    "plugins-trust": TrustData,
    **dict.fromkeys(("plugins-new", "plugins-build"), NewPluginData),
}
"""What ``data`` is in the document of each command of plugins."""
