"""The operations of an interface, from its descriptor file (section 13)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import msgspec

from agentic_os.crypto.canonical.texts import sha256_text
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.declaration.manifest import Interface, Manifest
from agentic_os.plugins.declaration.names import CapabilityName, DottedName, Label
from agentic_os.plugins.declaration.schema import Schema, read_schema
from agentic_os.plugins.package.layout import interface_file
from agentic_os.plugins.strict_json import decode

RESULT_BYTES: Final = 1024 * 1024
Effects = Literal["read.internal", "read.external", "write.local", "write.external", "exec"]


class _Shape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: DottedName
    summary: Label
    input: Any
    output: Any
    effects: Effects
    capabilities: Annotated[tuple[CapabilityName, ...], msgspec.Meta(max_length=32)]
    max_result_bytes: Annotated[int, msgspec.Meta(ge=1, le=RESULT_BYTES)] = RESULT_BYTES
    family: Label = ""
    keywords: Annotated[tuple[Label, ...], msgspec.Meta(max_length=32)] = ()
    examples: Annotated[tuple[Any, ...], msgspec.Meta(max_length=16)] = ()
    operator_confirms: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation as its author describes it.

    ``input_document`` is the schema as it was written, for those who pass it on to a client.
    """

    id: str
    summary: str
    effects: Effects
    capabilities: frozenset[str]
    max_result_bytes: int
    operator_confirms: bool
    input: Schema | None
    output: Schema | None
    input_document: Mapping[str, Any] | None


def read_operations(
    manifest: Manifest, texts: Mapping[str, bytes], sums: Mapping[str, str]
) -> dict[str, Operation]:
    """Return the operations of all interfaces of a manifest, by id.

    Args:
        manifest: what names them.
        texts: the JSON files of the install root.
        sums: the ``sha256:`` names of those files.

    Raises:
        PackageRefusedError: ``PLUGIN_INTERFACE_SCHEMA_MISMATCH``.
    """
    operations: dict[str, Operation] = {}
    for interface in manifest.core:
        path = interface_file(interface.id, interface.version)
        if path not in texts or sums[path] != interface.schema_hash:
            raise _mismatch(interface, "its descriptor file is missing, or another")
        described = _described(interface, texts[path])
        for method in interface.methods:
            if method not in described:
                raise _mismatch(interface, f"{method} has no descriptor")
            if method in operations:
                raise _mismatch(interface, f"{method} stands in another interface too")
            operations[method] = described[method]
    return operations


def _described(interface: Interface, data: bytes) -> dict[str, Operation]:
    try:
        shapes = msgspec.convert(decode(data), tuple[_Shape, ...])
        operations = [_operation(shape) for shape in shapes]
    except ValueError as fault:
        raise _mismatch(interface, f"its descriptor file is none: {fault}") from None
    if len({one.id for one in operations}) != len(operations):
        raise _mismatch(interface, "an operation is described twice")
    return {one.id: one for one in operations}


def _operation(shape: _Shape) -> Operation:
    return Operation(
        id=shape.id,
        summary=shape.summary,
        effects=shape.effects,
        capabilities=frozenset(shape.capabilities),
        max_result_bytes=shape.max_result_bytes,
        operator_confirms=shape.operator_confirms,
        input=read_schema(shape.input),
        output=read_schema(shape.output),
        input_document=shape.input or None,
    )


def _mismatch(interface: Interface, why: str) -> Exception:
    return ERRORS.error(
        "PLUGIN_INTERFACE_SCHEMA_MISMATCH", f"{interface.id}@{interface.version}: {why}"
    )


def sums_of(texts: Mapping[str, bytes]) -> dict[str, str]:
    """Return the ``sha256:`` name of each text."""
    return {path: sha256_text(text) for path, text in texts.items()}
