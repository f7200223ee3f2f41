"""The names of interfaces, operations and capabilities (runtime and plugins, section 13).

>>> interface_reference("web@1")
('core.web', 1)
>>> interface_reference("org.notes@2")
('org.notes', 2)
"""

import re
from typing import Annotated, Final, TypeAlias

import msgspec

_DOTTED = r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+"
_HASH = r"sha256:[0-9a-f]{64}"
_REFERENCE = re.compile(rf"(?P<id>{_DOTTED}|web|network|agent)@(?P<version>[1-9][0-9]{{0,8}})")
_PAGE_ALIASES: Final = frozenset({"web", "network", "agent"})

PluginId: TypeAlias = Annotated[
    str, msgspec.Meta(max_length=128, pattern=r"^[a-z0-9]+(?:[._-][a-z0-9]+)*\Z")
]
DottedName: TypeAlias = Annotated[str, msgspec.Meta(max_length=128, pattern=rf"^{_DOTTED}\Z")]
CapabilityName: TypeAlias = Annotated[
    str, msgspec.Meta(max_length=256, pattern=rf"^{_DOTTED}(?::[\x21-\x7e]+)?\Z")
]
Version: TypeAlias = Annotated[
    str, msgspec.Meta(max_length=256, pattern=r"^[0-9]+\.[0-9]+\.[0-9]+\Z")
]
HashName: TypeAlias = Annotated[str, msgspec.Meta(pattern=rf"^{_HASH}\Z")]
Label: TypeAlias = Annotated[str, msgspec.Meta(max_length=2_048)]


def interface_reference(text: str) -> tuple[str, int] | None:
    """Read ``id@n``; the page's undotted names are aliases of ``core.``. ``None`` for no such."""
    found = _REFERENCE.fullmatch(text)
    if found is None:
        return None
    name = found["id"]
    return (f"core.{name}" if name in _PAGE_ALIASES else name), int(found["version"])


def version_key(version: str) -> tuple[int, ...]:
    """Return what versions are compared by: their numbers, of any length, zeros in front ignored.

    >>> version_key("00.01.006") < version_key("0.1.10")
    True
    """
    # Python reads numbers of at most 4,300 digits; a version has 256 characters.
    return tuple(int(part) for part in version.split("."))
