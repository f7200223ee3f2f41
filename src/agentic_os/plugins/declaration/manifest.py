"""``manifest.json``, closed at the top level (runtime and plugins, section 13)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

import msgspec

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.canonical.texts import sha256_text
from agentic_os.errors import CryptoError
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.declaration.names import (
    CapabilityName,
    DottedName,
    HashName,
    Label,
    PluginId,
    Version,
    interface_reference,
    version_key,
)
from agentic_os.plugins.sandbox.limits import PROTOCOL_VERSION

_EXTENSION = re.compile(r"x-[a-z0-9._-]+")
_RUNTIMES: Final[Mapping[str, frozenset[str]]] = {
    "wasm_component": frozenset({"wasm_sandbox"}),
    "wasm_aot_component": frozenset({"wasm_sandbox"}),
    "service_process": frozenset({"standard", "certified_native"}),
    "inprocess_component": frozenset({"certified_native"}),
    "native_t3_component": frozenset({"platform_reserved"}),
}
"""Each execution runtime with the admission profiles that it may have."""

Requirements = dict[
    Literal["facility", "runtime", "distribution", "backend", "permission", "topology"],
    Annotated[list[Label], msgspec.Meta(max_length=32)],
]
_Variants = Annotated[str, msgspec.Meta(max_length=64, pattern=r"^[A-Za-z0-9._+-]+\Z")]
_Capabilities = Annotated[tuple[CapabilityName, ...], msgspec.Meta(max_length=32)]
_References = Annotated[tuple[Label, ...], msgspec.Meta(max_length=16)]


class _Closed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A value that may have no member but its own."""


class Interface(_Closed, frozen=True, kw_only=True):
    """An interface that a package implements."""

    id: DottedName
    version: Annotated[int, msgspec.Meta(ge=1, le=999_999_999)]
    schema_hash: HashName
    methods: Annotated[tuple[DottedName, ...], msgspec.Meta(min_length=1, max_length=16)]


class Interfaces(_Closed, frozen=True, kw_only=True):
    """The interfaces of a package by their kind; there is one kind."""

    core: Annotated[tuple[Interface, ...], msgspec.Meta(min_length=1, max_length=16)]


class Implements(_Closed, frozen=True, kw_only=True):
    """The interfaces that a variant implements, as ``id@version``."""

    core: _References


class Variant(_Closed, frozen=True, kw_only=True):
    """One built form of a plugin."""

    variant_id: _Variants
    platform: Literal["linux", "macos", "windows", "android", "ios"]
    arch: Literal["x86_64", "arm64"]
    topology: Literal["full_identity_host", "mobile_app_host"]
    execution_runtime: str
    admission_profile: str
    entrypoint: Annotated[str, msgspec.Meta(max_length=511)]
    artifact_hash: HashName
    implements: Implements
    variant_capabilities: _Capabilities
    requirements: Requirements = {}

    @property
    def is_webassembly(self) -> bool:
        """Whether we would run it."""
        return self.execution_runtime == "wasm_component"


class Manifest(_Closed, frozen=True, kw_only=True):
    """What a plugin says of itself. Its hash stands beside it: ``hash_of_manifest``."""

    kind: Literal["plugin", "asset"]
    id: PluginId
    version: Version
    package_hash: HashName
    plugin_family: (
        Literal["channel_adapter", "provider_bridge", "tool_bridge", "voice_interface"] | None
    ) = None
    bbb_protocol_version: Annotated[int, msgspec.Meta(ge=PROTOCOL_VERSION, le=PROTOCOL_VERSION)] | (
        None
    ) = None
    interfaces: Interfaces | None = None
    capability_envelope: _Capabilities = ()
    variants: Annotated[tuple[Variant, ...], msgspec.Meta(max_length=32)] = ()
    aiios_min_version: Version | None = None
    aiios_max_exclusive_version: Version | None = None
    title: Label = ""
    description: Label = ""
    publisher: Label = ""
    homepage: Label = ""
    license: Label = ""
    asset_type: Label = ""
    package_mode: Label = ""
    requirements: Requirements = {}
    default_variant: Label = ""
    operator_projection: object = None
    operation_descriptors: object = None
    heartbeat: object = None

    @property
    def core(self) -> tuple[Interface, ...]:
        """Its interfaces."""
        return () if self.interfaces is None else self.interfaces.core

    def variant_for(self, platform: str, arch: str) -> Variant:
        """Return the WebAssembly variant for a machine, else any WebAssembly variant.

        Raises:
            PackageRefusedError: ``PLUGIN_NATIVE_REFUSED`` where all are native,
                ``PLUGIN_WASM_BASELINE_MISSING`` where there is none.
        """
        ours = [one for one in self.variants if one.is_webassembly]
        if not ours:
            code = "PLUGIN_NATIVE_REFUSED" if self.variants else "PLUGIN_WASM_BASELINE_MISSING"
            raise ERRORS.error(code)
        same = [one for one in ours if (one.platform, one.arch) == (platform, arch)]
        return (same or ours)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadManifest:
    """A manifest with the hash of its canonical text without ``package_hash``."""

    manifest: Manifest
    manifest_hash: str


def read_manifest(data: bytes) -> ReadManifest:
    """Read ``manifest.json``.

    Raises:
        PackageRefusedError: ``PLUGIN_MANIFEST_SCHEMA_INVALID``; the message names the member.
    """
    try:
        tree = decode(data)
    except CryptoError as fault:
        raise _invalid(fault.message) from None
    if not isinstance(tree, dict):
        raise _invalid("it is no object")
    own = {key: value for key, value in tree.items() if not _EXTENSION.fullmatch(key)}
    try:
        manifest = msgspec.convert(own, Manifest)
    except msgspec.ValidationError as fault:
        raise _invalid(str(fault)) from None
    _check(manifest)
    hashed = {key: value for key, value in tree.items() if key != "package_hash"}
    return ReadManifest(manifest=manifest, manifest_hash=sha256_text(encode(hashed)))


def _check(manifest: Manifest) -> None:
    if manifest.kind == "plugin" and (
        manifest.plugin_family is None
        or manifest.bbb_protocol_version is None
        or manifest.interfaces is None
    ):
        raise _invalid("a plugin names its family, its protocol version and its interfaces")
    low, high = manifest.aiios_min_version, manifest.aiios_max_exclusive_version
    if low is not None and high is not None and version_key(low) >= version_key(high):
        raise _invalid("its window of versions is empty")
    names = [(one.id, one.version) for one in manifest.core]
    if len(set(names)) != len(names):
        raise _invalid("an interface stands twice")
    if len({one.variant_id for one in manifest.variants}) != len(manifest.variants):
        raise _invalid("a variant stands twice")
    for variant in manifest.variants:
        _check_variant(variant, frozenset(names))


def _check_variant(variant: Variant, names: frozenset[tuple[str, int]]) -> None:
    profiles = _RUNTIMES.get(variant.execution_runtime, frozenset())
    if variant.admission_profile not in profiles:
        raise _invalid(f"{variant.variant_id} pairs a runtime with a profile that it cannot have")
    if not variant.entrypoint.startswith(f"variants/{variant.variant_id}/"):
        raise _invalid(f"the entrypoint of {variant.variant_id} lies outside its folder")
    for text in variant.implements.core:
        if interface_reference(text) not in names:
            raise _invalid(f"{variant.variant_id} implements an interface that is not declared")


def _invalid(why: str) -> Exception:
    return ERRORS.error("PLUGIN_MANIFEST_SCHEMA_INVALID", f"not a plugin's manifest: {why}")
