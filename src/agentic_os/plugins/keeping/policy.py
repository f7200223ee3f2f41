"""``plugins.toml`` in the configuration folder: whom the person trusts, and what they granted.

::

    unsigned = "refuse"                # or "allow-listed": tier T0, each package by its hash

    [[allow]]                          # an unsigned package that may run
    plugin = "org.example.echo"
    package = "sha256:dafe..."

    [[root]]                           # a pinned public key, kept as roots/<hash>.json
    key = "sha256:11e5..."
    profile = "FAST"                   # only where its holder has no ROOT key

    [[grant]]                          # what one package may ask of the host
    plugin = "org.example.echo"
    package = "sha256:dafe..."
    capabilities = ["ring4.kv"]
    tools = true                       # offer its operations to agents over MCP
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import msgspec
import tomli

from agentic_os.files.publishing import ExclusiveLock, private_folder, publish
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.declaration.names import CapabilityName, HashName, PluginId
from agentic_os.settings.refusals import Refusals

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

FILE_NAME: Final = "plugins.toml"
PLUGIN_POLICY_BYTES: Final = 1024 * 1024
_LOCK_SECONDS = 10.0
_FORM = {
    "plugin": ("is no plugin's name", ""),
    "package": ("is no package hash", "A package hash is sha256: and 64 hex digits."),
    "key": ("is no key's hash", "A key's hash is sha256: and 64 hex digits."),
    "capabilities": ("holds a name that is no capability", ""),
}


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table that may have no key but its own."""


class Allowed(_Table, frozen=True, kw_only=True):
    """An unsigned package that may run."""

    plugin: PluginId
    package: HashName


class PinnedRoot(_Table, frozen=True, kw_only=True):
    """A root by the hash of its public envelope."""

    key: HashName
    profile: Literal["ROOT", "FAST"] = "ROOT"


class PluginGrant(_Table, frozen=True, kw_only=True):
    """What one package may ask, and whether agents see its operations."""

    plugin: PluginId
    package: HashName
    capabilities: tuple[CapabilityName, ...] = ()
    tools: bool = False


class PluginPolicy(_Table, frozen=True, kw_only=True):
    """The whole file."""

    unsigned: Literal["refuse", "allow-listed"] = "refuse"
    allow: tuple[Allowed, ...] = ()
    root: tuple[PinnedRoot, ...] = ()
    grant: tuple[PluginGrant, ...] = ()

    def allows_unsigned(self, plugin: str, package: str) -> bool:
        """Return whether an unsigned package may run."""
        return self.unsigned == "allow-listed" and any(
            (one.plugin, one.package) == (plugin, package) for one in self.allow
        )

    def granted(self, plugin: str, package: str) -> frozenset[str]:
        """Return the capabilities that one exact package may ask for."""
        return frozenset(
            capability for one in self._grants(plugin, package) for capability in one.capabilities
        )

    def offers_tools(self, plugin: str, package: str) -> bool:
        """Return whether agents see the operations of one exact package."""
        return any(one.tools for one in self._grants(plugin, package))

    def _grants(self, plugin: str, package: str) -> tuple[PluginGrant, ...]:
        return tuple(one for one in self.grant if (one.plugin, one.package) == (plugin, package))


def read_policy(text: str) -> PluginPolicy:
    """Read the file.

    Raises:
        PluginError: ``PLUGIN_SETTINGS_INVALID``; it is no TOML.
        SettingsError: another key or value; the message names its line.
    """
    try:
        document = tomli.loads(text)
    except tomli.TOMLDecodeError as fault:
        raise ERRORS.error("PLUGIN_SETTINGS_INVALID", f"{FILE_NAME}: {fault}") from None
    try:
        return msgspec.convert(document, PluginPolicy)
    except msgspec.ValidationError as fault:
        raise Refusals(text, FILE_NAME).converted(
            fault,
            document,
            forms={
                "": PluginPolicy,
                "allow": Allowed,
                "root": PinnedRoot,
                "grant": PluginGrant,
            },
            patterns=_FORM,
        ) from None


class PolicyFile:
    """The file on disk; read anew whenever it changed."""

    def __init__(self, folder: Path) -> None:
        """Name the configuration folder; neither it nor the file need exist."""
        self._path = folder / FILE_NAME
        self._seen: object = None
        self._policy = PluginPolicy()

    def stamp(self) -> object:
        """Return what changes when the file does."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino

    def read(self) -> PluginPolicy:
        """Return what the file says now; a missing one grants nothing.

        Raises:
            SettingsError: it is wrong, or larger than 1 MiB.
        """
        stamp = self.stamp()
        if stamp is None:
            return PluginPolicy()
        if stamp != self._seen:
            self._policy = read_policy(self._text())
            self._seen = stamp
        return self._policy

    def change(self, edit: Callable[["TOMLDocument"], None]) -> PluginPolicy:
        """Change the file in place, comments kept; whole or not at all.

        Raises:
            SettingsError: it is wrong as it stands, or would be.
            FilesError: it cannot be locked or written.
        """
        import tomlkit

        private_folder(self._path.parent)
        lock = self._path.with_name(f".{FILE_NAME}.lock")
        with ExclusiveLock(lock, timeout_s=_LOCK_SECONDS):
            text = self._text() if self._path.exists() else ""
            read_policy(text)
            document = tomlkit.parse(text)
            edit(document)
            changed = tomlkit.dumps(document)
            policy = read_policy(changed)
            if changed != text:
                publish(self._path, changed.encode())
        return policy

    def _text(self) -> str:
        data = self._path.read_bytes()
        if len(data) > PLUGIN_POLICY_BYTES:
            raise ERRORS.error("PLUGIN_SETTINGS_INVALID", f"{FILE_NAME} is larger than 1 MiB")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise ERRORS.error("PLUGIN_SETTINGS_INVALID", f"{FILE_NAME} is not UTF-8") from None
