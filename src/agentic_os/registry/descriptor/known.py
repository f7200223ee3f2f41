"""Descriptors that an earlier run parsed, so that an unchanged file is only looked at.

The store keeps them; this room says when one still holds (design section 4): the
fingerprint is the same, and it had settled when the file was read.
"""

from collections.abc import Mapping

import msgspec

from agentic_os.files.reading import Fingerprint
from agentic_os.registry.descriptor.values import Descriptor, NotADescriptor, ParsedDescriptor

PARSER_REVISION = 1
"""Raised whenever the same bytes would come to another descriptor or diagnostic."""


class KnownDescriptor(msgspec.Struct, frozen=True, kw_only=True):
    """What one ``config.yaml`` came to, and the state of the file then."""

    fingerprint: Fingerprint
    read_at_ns: int
    parsed: ParsedDescriptor

    def holds(self, fingerprint: Fingerprint) -> bool:
        """Whether a file with this fingerprint still comes to the same."""
        return fingerprint == self.fingerprint and fingerprint.settled(self.read_at_ns)


KnownDescriptors = Mapping[str, KnownDescriptor]
"""By the absolute real path of the ``config.yaml``."""


class _Stored(msgspec.Struct, frozen=True, kw_only=True):
    """The stored form: one of the two kinds, and the parser that made it."""

    revision: int
    fingerprint: Fingerprint
    read_at_ns: int
    descriptor: Descriptor | None = None
    other: NotADescriptor | None = None


def encode_known(known: KnownDescriptor) -> bytes:
    """Return the bytes under which the store may keep it."""
    parsed = known.parsed
    stored = _Stored(
        revision=PARSER_REVISION,
        fingerprint=known.fingerprint,
        read_at_ns=known.read_at_ns,
        descriptor=parsed if isinstance(parsed, Descriptor) else None,
        other=parsed if isinstance(parsed, NotADescriptor) else None,
    )
    return msgspec.json.encode(stored)


def decode_known(data: bytes) -> KnownDescriptor | None:
    """Read such bytes; ``None`` when they are damaged or another parser made them."""
    try:
        stored = msgspec.json.decode(data, type=_Stored)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    parsed = stored.descriptor or stored.other
    if parsed is None or stored.revision != PARSER_REVISION:
        return None
    return KnownDescriptor(
        fingerprint=stored.fingerprint, read_at_ns=stored.read_at_ns, parsed=parsed
    )
