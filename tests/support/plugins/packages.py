"""Packages for tests: the one of the format's vectors, and variations of it."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.texts import sha256_hex, sha256_text
from agentic_os.plugins.package.compressed import Compressor
from agentic_os.plugins.package.contents import hash_of_files
from agentic_os.plugins.package.packing import Packed, write_package

ECHO_ID = "org.example.echo"
EMPTY_MODULE = bytes.fromhex("0061736d01000000")
ECHO_OPERATION: dict[str, Any] = {
    "capabilities": [],
    "effects": "read.internal",
    "id": "core.echo",
    "input": "",
    "output": "",
    "summary": "Give the arguments back",
}
ENTRYPOINT = "variants/linux-x86_64-wasm/plugin.wasm"
DESCRIPTORS = "interfaces/core.echo.v1.schema.json"


@dataclass(kw_only=True)
class Recipe:
    """A package to be; its hashes are worked out unless they are given."""

    module: bytes = EMPTY_MODULE
    plugin: str = ECHO_ID
    version: str = "0.1.0"
    capabilities: Sequence[str] = ()
    operation: Mapping[str, Any] = field(default_factory=lambda: dict(ECHO_OPERATION))
    changes: Mapping[str, Any] = field(default_factory=dict)
    trust: Mapping[str, bytes] = field(default_factory=dict)
    extra: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def descriptors(self) -> bytes:
        """The descriptor file of its one interface."""
        return encode([{**self.operation, "capabilities": list(self.capabilities)}])

    @property
    def installed(self) -> dict[str, bytes]:
        """The files of the install root."""
        return {DESCRIPTORS: self.descriptors, ENTRYPOINT: self.module}

    @property
    def package_hash(self) -> str:
        """The hash of the install root."""
        return hash_of_files({path: sha256_hex(data) for path, data in self.installed.items()})

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest."""
        return {
            "kind": "plugin",
            "id": self.plugin,
            "version": self.version,
            "package_hash": self.package_hash,
            "plugin_family": "tool_bridge",
            "bbb_protocol_version": 2,
            "interfaces": {
                "core": [
                    {
                        "id": "core.echo",
                        "version": 1,
                        "schema_hash": sha256_text(self.descriptors),
                        "methods": [self.operation["id"]],
                    }
                ]
            },
            "capability_envelope": list(self.capabilities),
            "variants": [
                {
                    "variant_id": "linux-x86_64-wasm",
                    "platform": "linux",
                    "arch": "x86_64",
                    "topology": "full_identity_host",
                    "execution_runtime": "wasm_component",
                    "admission_profile": "wasm_sandbox",
                    "entrypoint": ENTRYPOINT,
                    "artifact_hash": sha256_text(self.module),
                    "implements": {"core": ["core.echo@1"]},
                    "variant_capabilities": list(self.capabilities),
                }
            ],
            **self.changes,
        }

    @property
    def manifest_hash(self) -> str:
        """The hash of the manifest without its package hash."""
        return sha256_text(
            encode({key: one for key, one in self.manifest.items() if key != "package_hash"})
        )

    @property
    def files(self) -> dict[str, bytes]:
        """Every file by its path below the top folder."""
        return {
            "manifest.json": encode(self.manifest),
            **{f"install-root/{path}": data for path, data in self.installed.items()},
            **{f"signatures/{name}": data for name, data in self.trust.items()},
            **self.extra,
        }

    def packed(self) -> bytes:
        """The package."""
        return packed(f"{self.plugin}-{self.version}", self.files)


def packed(top: str, files: Mapping[str, bytes]) -> bytes:
    """Pack files."""
    sink = io.BytesIO()
    write_package(top, {path: Packed(data=data) for path, data in files.items()}, sink.write)
    return sink.getvalue()


def repacked(tar: bytes) -> bytes:
    """Compress an archive as a package is."""
    sink = io.BytesIO()
    compressor = Compressor(sink.write)
    compressor.write(tar)
    compressor.finish()
    return sink.getvalue()


def request(operation: str, **parameters: Any) -> bytes:
    """Spell a host call as a guest does."""
    return json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 7,
            "method": "invoke.call",
            "params": {"operation": operation, **parameters},
        }
    ).encode()
