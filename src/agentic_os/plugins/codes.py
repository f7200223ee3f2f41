"""The codes of the plugin room. ``reason`` is the word that AIII's verifier uses."""

from typing import Final

from agentic_os.errors import ErrorTable, PackageRefusedError, PluginError

ERRORS: Final = ErrorTable(
    (
        "PLUGIN_ENVELOPE_MALFORMED",
        PackageRefusedError,
        "The archive is not canonical, or holds what a package has no place for.",
        "pack it again with `agentic-os plugins pack`",
    ),
    (
        "PLUGIN_MEMBER_ORDER_VIOLATION",
        PackageRefusedError,
        "Members are out of order, stand twice, or differ in capitals alone.",
        "pack it again with `agentic-os plugins pack`",
    ),
    (
        "PLUGIN_CEILING_EXCEEDED",
        PackageRefusedError,
        "A package, a member or a module is larger than allowed.",
        "ask its author for a smaller one",
    ),
    (
        "PLUGIN_MANIFEST_SCHEMA_INVALID",
        PackageRefusedError,
        "The manifest is no manifest.",
        "correct the member that the message names",
    ),
    (
        "PLUGIN_INTERFACE_SCHEMA_MISMATCH",
        PackageRefusedError,
        "An interface's descriptor file is missing, invalid, or another than the manifest names.",
        "correct the descriptor file, then pack again",
    ),
    (
        "PLUGIN_PACKAGE_HASH_MISMATCH",
        PackageRefusedError,
        "The files are not those that the manifest's hash names.",
        "get the package again from its publisher",
    ),
    (
        "PLUGIN_VARIANT_INTEGRITY_INVALID",
        PackageRefusedError,
        "A variant's module is not the one that the manifest's hash names.",
        "get the package again from its publisher",
    ),
    (
        "PLUGIN_WASM_BASELINE_MISSING",
        PackageRefusedError,
        "The package has no WebAssembly variant.",
        "ask its author for one: native variants are never run",
    ),
    (
        "PLUGIN_NATIVE_REFUSED",
        PackageRefusedError,
        "Native variants are never run.",
        "ask its author for a WebAssembly variant",
    ),
    (
        "PLUGIN_NATIVE_TRUST_TIER_INELIGIBLE",
        PackageRefusedError,
        "A native variant needs a higher tier than the package has.",
        "ask its author for a package without native variants",
    ),
    (
        "PLUGIN_TRUST_OBJECT_SHAPE_INVALID",
        PackageRefusedError,
        "The trust objects do not stand together.",
        "get the package again from its publisher",
    ),
    (
        "PLUGIN_TRUST_ROOT_UNAVAILABLE",
        PackageRefusedError,
        "No root that you pinned speaks for this package.",
        "pin the root with `agentic-os plugins trust add FILE` if you trust whoever holds it",
    ),
    (
        "PLUGIN_PUBLISHER_CERT_INVALID",
        PackageRefusedError,
        "The publisher's certificate does not verify.",
        "get the package again from its publisher",
    ),
    (
        "PLUGIN_PUBLISHER_SIG_INVALID",
        PackageRefusedError,
        "The publisher's signature does not verify.",
        "get the package again from its publisher",
    ),
    (
        "PLUGIN_ATTESTATION_INVALID",
        PackageRefusedError,
        "The reviewer's attestation does not verify.",
        "get the package again from its publisher",
    ),
    (
        "PLUGIN_PLATFORM_SIG_INVALID",
        PackageRefusedError,
        "The platform's signature does not verify.",
        "get the package again from its publisher",
    ),
    (
        "PLUGIN_QUARTET_MISMATCH",
        PackageRefusedError,
        "A trust object speaks of another release.",
        "get the package again from its publisher",
    ),
    (
        "PLUGIN_TRUST_PAYLOAD_REVOKED",
        PackageRefusedError,
        "A trust object was revoked by its root.",
        "remove the plugin, or ask its publisher for another release",
    ),
    (
        "PLUGIN_REVOCATION_STATUS_UNAVAILABLE",
        PackageRefusedError,
        "The root's revocation status is missing, invalid, or older than one accepted before.",
        "get the root's present status with `agentic-os plugins trust status FILE`",
    ),
    (
        "PLUGIN_T0_REFUSED",
        PackageRefusedError,
        "Nobody signed the package, and unsigned plugins are refused.",
        "allow this very package with `agentic-os plugins install --allow-unsigned`",
    ),
    (
        "PLUGIN_MODULE_REFUSED",
        PluginError,
        "A module is no guest of ours, or cannot be compiled within the limits.",
        "ask its author; `agentic-os plugins check` tells what a guest must have",
    ),
    (
        "PLUGIN_FAULT",
        PluginError,
        "A guest broke a limit or a rule; its instance was given up.",
        "the next call gets a new instance; `agentic-os plugins log` lists the faults",
    ),
    (
        "PLUGIN_DISABLED",
        PluginError,
        "The plugin failed too often and is switched off.",
        "switch it on again with `agentic-os plugins enable`",
    ),
    (
        "PLUGIN_UNKNOWN",
        PluginError,
        "No plugin of that name is installed, or it has no such operation.",
        "list them with `agentic-os plugins list`",
    ),
    (
        "PLUGIN_ARGUMENTS_INVALID",
        PluginError,
        "The arguments are not those that the operation describes.",
        "see `agentic-os plugins list --operations`",
    ),
    (
        "PLUGIN_SETTINGS_INVALID",
        PluginError,
        "plugins.toml is wrong.",
        "correct the line that the message names",
    ),
    (
        "PLUGIN_ENGINE_MISSING",
        PluginError,
        "The engine that runs plugins is not installed.",
        "install the extra: agentic-os extras plugins",
    ),
    (
        "PLUGIN_STATE_UNUSABLE",
        PluginError,
        "The file that keeps the state of plugins cannot be used.",
        "see that the disk has room; a newer program's file needs that program",
    ),
    (
        "PLUGIN_BUILD_FAILED",
        PluginError,
        "A plugin's source could not be built.",
        "see the guide on writing plugins for what each language needs",
    ),
    (
        "PLUGIN_FOLDER_EXISTS",
        PluginError,
        "The folder of a new plugin exists already.",
        "name another folder",
    ),
)
