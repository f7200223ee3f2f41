"""Rename exports of a module: some languages cannot spell the names that a guest must have."""

from collections.abc import Mapping

from agentic_os.plugins.sandbox.modules import CORE_HEADER, EXPORT_SECTION, read_unsigned, sections


def renamed_exports(module: bytes, names: Mapping[str, str]) -> bytes:
    """Return a core module whose exports have other names; the rest stays byte for byte.

    Raises:
        PluginError: ``PLUGIN_MODULE_REFUSED``; it is cut off.
    """
    out = bytearray(CORE_HEADER)
    for kind, body in sections(module):
        data = _renamed(body, names) if kind == EXPORT_SECTION else body
        out += bytes([kind]) + _unsigned(len(data)) + data
    return bytes(out)


def _renamed(body: bytes, names: Mapping[str, str]) -> bytes:
    count, at = read_unsigned(body, 0)
    out = bytearray(_unsigned(count))
    for _ in range(count):
        size, at = read_unsigned(body, at)
        name = body[at : at + size].decode("utf-8", "replace")
        kind_at = at + size
        _, at = read_unsigned(body, kind_at + 1)
        new = names.get(name, name).encode()
        out += _unsigned(len(new)) + new + body[kind_at:at]
    return bytes(out)


def _unsigned(value: int) -> bytes:
    out = bytearray()
    while True:
        byte, value = value & 0x7F, value >> 7
        out.append(byte | (0x80 if value else 0))
        if not value:
            return bytes(out)
