"""What may stand where below the top folder of a package (section 12)."""

import re
from typing import Final

from agentic_os.plugins.codes import ERRORS

MANIFEST_PATH: Final = "manifest.json"
INSTALL_ROOT: Final = "install-root"
SIGNATURES: Final = "signatures"
PUBLISHER_CERTIFICATE: Final = "publisher.cert"
PUBLISHER_SIGNATURE: Final = "publisher.sig"
ATTESTATION: Final = "certifier.attestation"
PLATFORM_SIGNATURE: Final = "platform.sig"
TRUST_OBJECTS: Final = (PUBLISHER_CERTIFICATE, PUBLISHER_SIGNATURE, ATTESTATION, PLATFORM_SIGNATURE)
UNVERIFIED: Final = ("README.md", "provenance/")
"""What no hash covers: never to be shown as verified."""

_FOLDERS = re.compile(
    r"install-root|install-root/(?:interfaces|variants|webhooks)"
    r"|install-root/(?:variants|webhooks)/.+|signatures|provenance"
)
_FILES = re.compile(
    r"manifest\.json|README\.md"
    r"|install-root/interfaces/[a-z0-9_.]+\.v[1-9][0-9]*\.schema\.json"
    r"|install-root/(?:settings|subscriptions)\.json"
    r"|install-root/(?:variants/[^/]+|webhooks)/.+"
    r"|signatures/(?:publisher\.(?:cert|sig)|certifier\.attestation|platform\.sig)"
    r"|provenance/(?:built-by\.json|source-url\.txt|reproducible-build\.txt)"
)
_KEPT = re.compile(
    r"manifest\.json|install-root/[^/]+\.json|install-root/interfaces/.*|signatures/.*"
)


def check_place(relative: str, *, is_folder: bool) -> None:
    """Refuse what has no place in a package; ``relative`` is the path below its top folder.

    Raises:
        PackageRefusedError: ``PLUGIN_ENVELOPE_MALFORMED``.
    """
    allowed = _FOLDERS if is_folder else _FILES
    if allowed.fullmatch(relative) is None:
        raise ERRORS.error("PLUGIN_ENVELOPE_MALFORMED", f"{relative} has no place in a package")


def is_kept(relative: str) -> bool:
    """Return whether a reader needs the text of a file, and not only its hash."""
    return _KEPT.fullmatch(relative) is not None


def interface_file(interface: str, version: int) -> str:
    """Return where an interface's descriptors stand, below the install root.

    >>> interface_file("core.echo", 1)
    'interfaces/core.echo.v1.schema.json'
    """
    return f"interfaces/{interface}.v{version}.schema.json"
