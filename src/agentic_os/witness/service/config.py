"""What the operator of a witness decides: ``witness.toml`` in the witness's folder.

Every key is optional::

    host = "127.0.0.1"              # the service speaks plain HTTP: keep TLS in front of it
    port = 8787
    registration = "open"           # or "listed": only the identities below
    identities = ["did:aiii:…", "sha256:…"]   # identity ids or public key ids
    logs = ["log.example+…+…"]      # vkeys of C2SP logs; the origin is the key's name
    min_cadence = 0                 # smallest advance of a bookmark, in entries
    require_proof = false           # answer no bookmark without a consistency proof
    requests_per_minute = 120       # for each identity or origin; 0 means no limit
    client_requests_per_minute = 1200         # for each client address; 0 means no limit
    body_seconds = 30               # how long a request's body may take to arrive
    connections = 512               # more are answered 503
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from agentic_os.crypto.tlog.note_keys import NoteKey, parse_vkey
from agentic_os.errors import AgenticOSError, CryptoError, FilesError
from agentic_os.files.reading import Folder
from agentic_os.witness.codes import ERRORS

CONFIG_FILE: Final = "witness.toml"
CONFIG_BYTES: Final = 1024 * 1024
LIST_ENTRIES: Final = 10_000

Registration = Literal["open", "listed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessConfig:
    """The settings of one witness; see the module for their meaning."""

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8787
    registration: Registration = "open"
    identities: frozenset[str] = frozenset()
    logs: tuple[NoteKey, ...] = ()
    min_cadence: int = 0
    require_proof: bool = False
    requests_per_minute: int = 120
    client_requests_per_minute: int = 1200
    body_seconds: float = 30.0
    connections: int = 512
    password: str | None = field(default=None, repr=False)


class _Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 8787
    registration: Registration = "open"
    identities: Annotated[tuple[str, ...], msgspec.Meta(max_length=LIST_ENTRIES)] = ()
    logs: Annotated[tuple[str, ...], msgspec.Meta(max_length=LIST_ENTRIES)] = ()
    min_cadence: Annotated[int, msgspec.Meta(ge=0)] = 0
    require_proof: bool = False
    requests_per_minute: Annotated[int, msgspec.Meta(ge=0)] = 120
    client_requests_per_minute: Annotated[int, msgspec.Meta(ge=0)] = 1200
    body_seconds: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 30.0
    connections: Annotated[int, msgspec.Meta(ge=1)] = 512


def read_witness_config(folder: Path, *, password: str | None = None) -> WitnessConfig:
    """Read ``witness.toml``; without the file every setting has its default.

    Raises:
        WitnessError: ``CONFIG_INVALID``; the message names the key.
    """
    import tomli

    try:
        with Folder.open(folder) as opened:
            data = opened.read(CONFIG_FILE, limit_bytes=CONFIG_BYTES).data
    except FilesError as error:
        if error.code != "FILE_MISSING":
            raise _invalid(error.message) from None
        data = b""
    try:
        shape = msgspec.convert(tomli.loads(data.decode()), _Shape)
        logs = tuple(_log_key(vkey) for vkey in shape.logs)
    except (ValueError, msgspec.ValidationError, CryptoError) as error:
        raise _invalid(str(error)) from None
    config = WitnessConfig(folder=folder, password=password, logs=logs)
    return replace(
        config,
        host=shape.host,
        port=shape.port,
        registration=shape.registration,
        identities=frozenset(shape.identities),
        min_cadence=shape.min_cadence,
        require_proof=shape.require_proof,
        requests_per_minute=shape.requests_per_minute,
        client_requests_per_minute=shape.client_requests_per_minute,
        body_seconds=shape.body_seconds,
        connections=shape.connections,
    )


def _log_key(vkey: str) -> NoteKey:
    key = parse_vkey(vkey)
    if key.kind != "note":
        raise ERRORS.error("VKEY_UNSUPPORTED", f"the key of {key.name} signs no checkpoints")
    return key


def _invalid(why: str) -> AgenticOSError:
    return ERRORS.error("CONFIG_INVALID", f"{CONFIG_FILE}: {why}")
