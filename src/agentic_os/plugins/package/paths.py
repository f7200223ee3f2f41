"""Which paths a package may hold, and how they stand in an archive (section 12)."""

import re
from typing import Final

from agentic_os.plugins.codes import ERRORS

PATH_BYTES: Final = 511
NAME_BYTES: Final = 100
PREFIX_BYTES: Final = 155

_COMPONENT = re.compile(r"[A-Za-z0-9._+-]{1,255}")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\..*)?", re.IGNORECASE)


def check_path(path: str) -> None:
    """Refuse a path that some system could not hold, or would read as another.

    Raises:
        PackageRefusedError: ``PLUGIN_CEILING_EXCEEDED`` for its length, else
            ``PLUGIN_ENVELOPE_MALFORMED``.
    """
    if len(path) > PATH_BYTES:
        raise ERRORS.error("PLUGIN_CEILING_EXCEEDED", f"a path is longer than {PATH_BYTES} bytes")
    for component in path.split("/"):
        if (
            _COMPONENT.fullmatch(component) is None
            or component.endswith(".")
            or _DEVICE.fullmatch(component) is not None
        ):
            raise ERRORS.error(
                "PLUGIN_ENVELOPE_MALFORMED", f"a package cannot hold a member named {component!r}"
            )


def split_path(stored: str) -> tuple[str, str] | None:
    """Return prefix and name of a stored path, or ``None`` where it needs an extended header.

    The split is at the rightmost slash that leaves a prefix of at most 155 and a name of at
    most 100 bytes; a folder's trailing slash belongs to the name.

    >>> split_path("org.example.echo-0.1.0/manifest.json")
    ('', 'org.example.echo-0.1.0/manifest.json')
    """
    if len(stored) <= NAME_BYTES:
        return "", stored
    at = stored.rfind("/", 0, min(len(stored) - 1, PREFIX_BYTES + 1))
    if at <= 0 or len(stored) - at - 1 > NAME_BYTES:
        return None
    return stored[:at], stored[at + 1 :]
