"""Reads a safetensors file into float32 arrays, without torch.

The format: eight bytes of little-endian header length, a JSON header that gives each tensor a
type, a shape and byte offsets, then the bytes. Everything is checked before an array is made;
nothing in the file can start code (unlike a pickle).
"""

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentic_os.errors import SemanticIndexError

if TYPE_CHECKING:
    from agentic_os.tiers.embed.interface import Vectors

MAX_HEADER_BYTES = 64 * 1024 * 1024
MAX_TENSORS_ENTRIES = 100_000
MAX_AXES = 8

_LENGTH_BYTES = 8
_WIDTHS_BYTES = {"F32": 4, "F16": 2, "BF16": 2}
"""Floating types that become float32; tensors of other types are left out."""


def read_weights(data: "bytes | memoryview") -> dict[str, "Vectors"]:
    """Read every floating-point tensor of a safetensors file as float32.

    Args:
        data: the whole file; arrays of float32 share its memory.

    Raises:
        SemanticIndexError: MODEL_DAMAGED, when the header and the bytes do not agree.
    """
    view = memoryview(data)
    header, body = _header(view)
    tensors: dict[str, Vectors] = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if not isinstance(entry, dict):
            raise _malformed("a tensor without a description")
        kind = entry.get("dtype")
        if not isinstance(kind, str):
            raise _malformed("a tensor without a type")
        if kind in _WIDTHS_BYTES:
            tensors[name] = _tensor(kind, entry, body)
    return tensors


def _header(view: memoryview) -> tuple[Mapping[str, object], memoryview]:
    if len(view) < _LENGTH_BYTES:
        raise _malformed("it is too short")
    length = int.from_bytes(view[:_LENGTH_BYTES], "little")
    if length > min(MAX_HEADER_BYTES, len(view) - _LENGTH_BYTES):
        raise _malformed("its header is longer than the file")
    end = _LENGTH_BYTES + length
    try:
        header = json.loads(bytes(view[_LENGTH_BYTES:end]))
    except (ValueError, RecursionError) as fault:
        raise _malformed("its header is not JSON") from fault
    if not isinstance(header, dict) or len(header) > MAX_TENSORS_ENTRIES:
        raise _malformed("its header is not a list of tensors")
    return header, view[end:]


def _tensor(kind: str, entry: Mapping[str, object], body: memoryview) -> "Vectors":
    import numpy as np

    shape = _whole_numbers(entry.get("shape"))
    offsets = _whole_numbers(entry.get("data_offsets"))
    if shape is None or offsets is None or len(offsets) != len(("begin", "end")):
        raise _malformed("a tensor without shape or place")
    begin, end = offsets
    wanted = math.prod(shape) * _WIDTHS_BYTES[kind]
    if not begin <= end <= len(body) or end - begin != wanted:
        raise _malformed("a tensor whose bytes are not where it says")
    piece = body[begin:end]
    match kind:
        case "F32":
            flat: Vectors = np.frombuffer(piece, dtype="<f4")
        case "F16":
            flat = np.frombuffer(piece, dtype="<f2").astype(np.float32)
        case _:  # BF16 is the upper half of a float32
            wide = np.frombuffer(piece, dtype="<u2").astype(np.uint32) << 16
            flat = wide.view(np.float32)
    return flat.reshape(shape)


def _whole_numbers(value: object) -> tuple[int, ...] | None:
    if not isinstance(value, list) or len(value) > MAX_AXES:
        return None
    numbers = tuple(
        item for item in value if isinstance(item, int) and not isinstance(item, bool) and item >= 0
    )
    return numbers if len(numbers) == len(value) else None


def _malformed(fault: str) -> SemanticIndexError:
    return SemanticIndexError(
        f"the weights are not a sound safetensors file: {fault}", code="MODEL_DAMAGED"
    )
