"""Where an identity lives, with which passwords and witnesses, and how it is booted."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentic_os.cli.actions.trust.ledger.printing import tell_farewell
from agentic_os.cli.options import IdentityPlace
from agentic_os.cli.output import progress
from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope, read_public_key_envelope
from agentic_os.errors import UsageError
from agentic_os.files.places import places_from
from agentic_os.files.unfinished import forget_unfinished
from agentic_os.identity.boot import BootOptions, boot
from agentic_os.identity.session import Identity
from agentic_os.identity.witness_policy import POLICY_NAME, kept_policy
from agentic_os.ledger.file.storage import LEDGER_NAME
from agentic_os.ledger.file.verify import Progress
from agentic_os.ledger.layout import WITNESS_FOLDER
from agentic_os.ledger.line.payloads import Role
from agentic_os.witness.client.policy import QuorumPolicy, parse_policy
from agentic_os.witness.client.rounds import (
    FRESH_BOUNDS_SECONDS,
    FRESH_SECONDS,
    WitnessRounds,
)

IDENTITY_FOLDER = "identity"
ROOTS_FOLDER = "witness-roots"
"""In the config folder: ``<name in the policy>.json`` is the public root of its operator."""

_FRESH_VARIABLE = "AGENTIC_OS_WITNESS_FRESH_SECONDS"
PASSWORD_VARIABLE = "AGENTIC_OS_KEY_PASSWORD"  # noqa: S105 - the name of a variable


def home(folder: str | None) -> Path:
    """Return the folder that was named, or the one in the data folder.

    The private keys of a birth that was killed go with the first command that asks.
    """
    place = places_from(os.environ).data / IDENTITY_FOLDER if folder is None else Path(folder)
    forget_unfinished(place)
    return place


@contextmanager
def booted(where: IdentityPlace) -> Iterator[Identity]:
    """Boot the identity behind a progress bar, and close it at the end.

    What the witnesses say at the end is told where it is not what it should be; the command then
    exits with 3 for a conflict, with 2 for a witness that did not answer or a missing quorum.
    """
    with verifying(home(where.folder)) as tick:
        identity = boot(home(where.folder), boot_options(where, progress=tick))
    with identity:
        yield identity
    tell_farewell(identity.farewell)


def boot_options(where: IdentityPlace, *, progress: Progress | None = None) -> BootOptions:
    """Put together what a boot needs beside the folder."""
    policy = read_policy(where)
    asked = None if policy is None else rounds_of(home(where.folder), policy)
    return BootOptions(
        passwords=passwords(),
        witnesses=asked,
        projection_url=where.projection_url or "",
        progress=progress,
    )


def read_policy(where: IdentityPlace) -> QuorumPolicy | None:
    """Read the witness policy: the named one, the config folder's, or the identity's own copy."""
    if where.witnesses is not None:
        return parse_policy(read_file(where.witnesses))
    path = places_from(os.environ).config / POLICY_NAME
    return parse_policy(path.read_bytes()) if path.is_file() else kept_policy(home(where.folder))


def rounds_of(folder: Path, policy: QuorumPolicy) -> WitnessRounds:
    """Make the client that asks the witnesses of a policy."""
    return WitnessRounds(
        policy=policy,
        folder=folder / WITNESS_FOLDER,
        roots=_roots(policy),
        clock=time.time,
        fresh_seconds=_fresh_seconds(),
    )


def _fresh_seconds() -> int:
    """Read how old a cosignature may be that says where a witness stands."""
    text = os.environ.get(_FRESH_VARIABLE, "")
    least, most = FRESH_BOUNDS_SECONDS
    if not text:
        return FRESH_SECONDS
    if not text.isdecimal() or not least <= int(text) <= most:
        raise UsageError(f"{_FRESH_VARIABLE} is a number of seconds from {least} to {most}")
    return int(text)


def password() -> str | None:
    """Return the password of the private keys, if the environment holds one."""
    return os.environ.get(PASSWORD_VARIABLE) or None


def passwords() -> dict[Role, str]:
    """Return the password of each role's key."""
    known = password()
    return {} if known is None else dict.fromkeys(("identity", "operator", "platform"), known)


def read_file(path: str) -> bytes:
    """Read a file that the person named.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except OSError as fault:
        raise UsageError(f"{path!r} cannot be read: {fault.strerror}") from None


@contextmanager
def verifying(place: Path) -> Iterator[Progress]:
    """Show a progress bar over the bytes of the ledger that is verified, on a terminal."""
    path = place / LEDGER_NAME if place.is_dir() else place
    total = path.stat().st_size if path.is_file() else 0
    with progress("Verifying", "bytes") as tick:
        yield lambda done: tick(done, total)


def _roots(policy: QuorumPolicy) -> dict[str, PublicKeyEnvelope]:
    """Read the operators' roots that the person keeps, by the witness's name in the policy."""
    folder = places_from(os.environ).config / ROOTS_FOLDER
    if not folder.is_dir():
        return {}
    # Names are compared and not looked up: those of a policy are free text.
    kept = {path.stem: path for path in folder.glob("*.json")}
    names = {one.name for one in policy.witnesses} & kept.keys()
    return {name: read_public_key_envelope(read_file(str(kept[name]))) for name in names}
