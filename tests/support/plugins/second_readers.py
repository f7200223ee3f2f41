"""Second readers of archives and manifests, written from the format and from nothing of ours.

An archive is accepted where what the standard library finds in it, written out again from scratch,
gives the very same bytes; a manifest where a JSON Schema and three sentences hold for it.
"""

import io
import re
import struct
import tarfile
from typing import Any

import jsonschema

DEVICES = {"con", "prn", "aux", "nul"} | {f"{a}{n}" for a in ("com", "lpt") for n in range(1, 10)}
_LONGEST = 511


def accepts_archive(data: bytes) -> bool:
    """Whether the bytes are the one spelling of what they hold."""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            found = [(one, _contents(tar, one)) for one in tar]
    except (tarfile.TarError, EOFError, ValueError, OSError, LookupError):
        return data == bytes(1024)  # the library calls an empty archive broken
    if any(not (one.isfile() or one.isdir()) for one, _ in found):
        return False
    names = [one.name.rstrip("/") for one, _ in found]
    folders = {one.name.rstrip("/") for one, _ in found if one.isdir()}
    in_order = names == sorted(set(names)) and len({name.lower() for name in names}) == len(names)
    parents = all("/" not in name or name.rpartition("/")[0] in folders for name in names)
    if not in_order or not parents or not all(map(_is_plain, names)) or len(names) > 1_024:
        return False
    modes = all(one.isdir() or one.mode in {0o644, 0o755} for one, _ in found)
    written = b"".join(_member(one, contents) for one, contents in found) + bytes(1024)
    return modes and written == data


def _contents(tar: tarfile.TarFile, one: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(one) if one.isreg() else None  # a link could lead to itself
    return b"" if file is None else file.read()


def _is_plain(name: str) -> bool:
    return len(name) <= _LONGEST and all(
        re.fullmatch(r"[A-Za-z0-9._+-]{1,255}", part)
        and part[-1] != "."
        and part.split(".")[0].lower() not in DEVICES
        for part in name.split("/")
    )


def _member(one: tarfile.TarInfo, contents: bytes) -> bytes:
    name = one.name.rstrip("/") + ("/" if one.isdir() else "")
    splits = [at for at in range(len(name) - 1) if name[at] == "/"]
    fits = [at for at in splits if at <= 155 and len(name) - at - 1 <= 100]
    mode = 0o755 if one.isdir() else one.mode
    kind = b"5" if one.isdir() else b"0"
    if len(name) <= 100:
        head = header(name, "", mode, len(contents), kind)
    elif fits:
        head = header(name[fits[-1] + 1 :], name[: fits[-1]], mode, len(contents), kind)
    else:
        line = f" path={name}\n"
        size = next(n for n in range(1, 2_000) if len(str(n)) + len(line) == n)
        record = f"{size}{line}".encode()
        head = header("PaxHeaders/aiiospkg", "", 0o644, len(record), b"x") + padded(record)
        head += header("PaxPayload/aiiospkg", "", mode, len(contents), kind)
    return head + padded(contents)


def header(name: str, prefix: str, mode: int, size: int, kind: bytes) -> bytes:
    """Write one header block."""
    fields = [name.encode(), f"{mode:07o}\0".encode(), b"0000000\0", b"0000000\0"]
    fields += [f"{size:011o}\0".encode(), b"00000000000\0", b" " * 8, kind, b"", b"ustar\0" + b"00"]
    fields += [b"", b"", b"", b"", prefix.encode(), b""]
    form = "100s8s8s8s12s12s8s1s100s8s32s32s8s8s155s12s"
    block = struct.pack(form, *fields)
    return block[:148] + f"{sum(block):06o}\0 ".encode() + block[156:]


def padded(data: bytes) -> bytes:
    """Fill up to whole blocks."""
    return data + bytes(-len(data) % 512)


_HASH = {"type": "string", "pattern": r"^sha256:[0-9a-f]{64}\Z"}
_DOTTED = {"type": "string", "pattern": r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+\Z"}
_CAPABILITIES = {
    "type": "array",
    "maxItems": 32,
    "items": {"type": "string", "pattern": r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+(:[!-~]+)?\Z"},
}
_TEXT = {"type": "string"}
_PAIRS = [
    ("wasm_component", ["wasm_sandbox"]),
    ("wasm_aot_component", ["wasm_sandbox"]),
    ("service_process", ["standard", "certified_native"]),
    ("inprocess_component", ["certified_native"]),
    ("native_t3_component", ["platform_reserved"]),
]


def _closed(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


_INTERFACE = _closed(
    {
        "id": _DOTTED,
        "version": {"type": "integer", "minimum": 1, "maximum": 999_999_999},
        "schema_hash": _HASH,
        "methods": {"type": "array", "minItems": 1, "maxItems": 16, "items": _DOTTED},
    }
)
_VARIANT = _closed(
    {
        "variant_id": {"type": "string", "pattern": r"^[A-Za-z0-9._+-]{1,64}\Z"},
        "platform": {"enum": ["linux", "macos", "windows", "android", "ios"]},
        "arch": {"enum": ["x86_64", "arm64"]},
        "topology": {"enum": ["full_identity_host", "mobile_app_host"]},
        "execution_runtime": _TEXT,
        "admission_profile": _TEXT,
        "entrypoint": {"type": "string", "maxLength": 511},
        "artifact_hash": _HASH,
        "implements": _closed({"core": {"type": "array", "maxItems": 16, "items": _TEXT}}),
        "variant_capabilities": _CAPABILITIES,
    }
)
_VARIANT["anyOf"] = [
    {
        "properties": {
            "execution_runtime": {"const": runtime},
            "admission_profile": {"enum": profiles},
        }
    }
    for runtime, profiles in _PAIRS
]
MANIFEST = {
    **_closed(
        {
            "kind": {"const": "plugin"},
            "id": {"type": "string", "pattern": r"^[a-z0-9]+([._-][a-z0-9]+)*\Z", "maxLength": 128},
            "version": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+\Z"},
            "package_hash": _HASH,
            "plugin_family": {
                "enum": ["channel_adapter", "provider_bridge", "tool_bridge", "voice_interface"]
            },
            "bbb_protocol_version": {"const": 2},
            "interfaces": _closed(
                {"core": {"type": "array", "minItems": 1, "maxItems": 16, "items": _INTERFACE}}
            ),
        },
        capability_envelope=_CAPABILITIES,
        variants={"type": "array", "maxItems": 32, "items": _VARIANT},
    ),
    "patternProperties": {r"^x-[a-z0-9._-]+\Z": {}},
}
_CHECK = jsonschema.Draft202012Validator(MANIFEST)


def accepts_manifest(tree: dict[str, Any]) -> bool:
    """Whether a manifest of a plugin with no member but these is one."""
    if not _CHECK.is_valid(tree):
        return False
    declared = [f"{one['id']}@{one['version']}" for one in tree["interfaces"]["core"]]
    variants = tree.get("variants", [])
    return (
        len(set(declared)) == len(declared)
        and len({one["variant_id"] for one in variants}) == len(variants)
        and all(
            one["entrypoint"].startswith(f"variants/{one['variant_id']}/")
            and all(_named(text) in declared for text in one["implements"]["core"])
            for one in variants
        )
    )


def _named(text: str) -> str:
    aliases = {"web": "core.web", "network": "core.network", "agent": "core.agent"}
    name, _, version = text.partition("@")
    return f"{aliases.get(name, name)}@{version}"
