"""Find the one core module that is a guest, without running or compiling anything (section 15).

A component is walked, not linked: its core modules are sections of id 1, and exactly one of them
must export what a guest exports. A component inside a component is refused.
"""

from collections.abc import Iterator
from typing import Final

from agentic_os.plugins.codes import ERRORS

CORE_HEADER: Final = bytes.fromhex("0061736d01000000")
COMPONENT_HEADER: Final = bytes.fromhex("0061736d0d000100")
GUEST_EXPORTS: Final = frozenset(
    {
        "cabi_realloc",
        "plugin-invoke",
        "aiii-plugin-bbb-protocol-version",
        "aiii-plugin-smoke",
    }
)
EXPORT_SECTION: Final = 7
_CORE_MODULE, _NESTED_COMPONENT = 1, 4
_LEB_BYTES = 5


def core_module(artifact: bytes, *, limit_bytes: int) -> bytes:
    """Return the guest's core module.

    Raises:
        PackageRefusedError: ``PLUGIN_CEILING_EXCEEDED``.
        PluginError: ``PLUGIN_MODULE_REFUSED``; the message says why.
    """
    if len(artifact) > limit_bytes:
        raise ERRORS.error(
            "PLUGIN_CEILING_EXCEEDED", f"a module of {len(artifact)} bytes, at most {limit_bytes}"
        )
    if artifact.startswith(CORE_HEADER):
        return artifact
    if not artifact.startswith(COMPONENT_HEADER):
        raise refused("it is no WebAssembly")
    found: list[bytes] = []
    for kind, body in sections(artifact):
        if kind == _NESTED_COMPONENT:
            raise refused("a component inside a component")
        if (
            kind == _CORE_MODULE
            and body.startswith(CORE_HEADER)
            and _exports(body) >= (GUEST_EXPORTS)
        ):
            found.append(body)
    if len(found) != 1:
        raise refused(f"{len(found)} of its modules are guests; exactly one must be")
    return found[0]


def refused(why: str) -> Exception:
    """Return the error for a module that is none of ours."""
    return ERRORS.error("PLUGIN_MODULE_REFUSED", f"the module is refused: {why}")


def sections(binary: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the sections of a module or a component: their ids and bodies.

    Raises:
        PluginError: ``PLUGIN_MODULE_REFUSED``; it is cut off.
    """
    at = len(CORE_HEADER)
    while at < len(binary):
        kind = binary[at]
        size, at = read_unsigned(binary, at + 1)
        if at + size > len(binary):
            raise refused("it is cut off")
        yield kind, binary[at : at + size]
        at += size


def _exports(module: bytes) -> frozenset[str]:
    names = set()
    for kind, body in sections(module):
        if kind != EXPORT_SECTION:
            continue
        count, at = read_unsigned(body, 0)
        for _ in range(count):
            size, at = read_unsigned(body, at)
            names.add(body[at : at + size].decode("utf-8", "replace"))
            _, at = read_unsigned(body, at + size + 1)
    return frozenset(names)


def read_unsigned(data: bytes, at: int) -> tuple[int, int]:
    """Read an LEB128 number of 32 bits; return it and where the next byte is."""
    value = 0
    for shift in range(_LEB_BYTES):
        if at >= len(data):
            raise refused("it is cut off")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:  # noqa: PLR2004 - the bit that says that more follows
            return value, at
    raise refused("a number in it is too long")
