"""What the operator of a witness decides: ``witness.toml`` in the witness's folder.

Every key is optional::

    host = "127.0.0.1"              # the service speaks plain HTTP: keep TLS in front of it
    port = 8787
    registration = "open"           # or "listed": only the identities below
    identities = ["did:aiii:…", "sha256:…"]   # identity ids or public key ids
    logs = ["log.example+…+…"]      # vkeys of C2SP logs; where the origin is not the key's name,
                                    # {origin = "…", vkey = "…"}
    min_cadence = 0                 # smallest advance of a bookmark, in entries
    require_proof = false           # answer no bookmark without a consistency proof
    requests_per_minute = 120       # for each identity or origin; 0 means no limit
    client_requests_per_minute = 1200         # for each client address; 0 means no limit
    body_seconds = 30               # how long a request's body may take to arrive
    connections = 512               # the longest silent one gives way to another
    client_connections = 64         # for each client address
    trusted_proxies = []            # addresses or networks whose X-Forwarded-For counts
    registrations_per_day = 2000    # new identities; 0 means no limit
    client_registrations_per_day = 50         # for each client address
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from agentic_os.crypto.tlog.note_keys import NoteKey, parse_vkey
from agentic_os.errors import AgenticOSError, CryptoError, FilesError
from agentic_os.files.reading import Folder
from agentic_os.network.addresses import Networks
from agentic_os.witness.codes import ERRORS

CONFIG_FILE: Final = "witness.toml"
CONFIG_BYTES: Final = 1024 * 1024
LIST_ENTRIES: Final = 10_000

Registration = Literal["open", "listed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedLog:
    """A log that may ask: the origin of its checkpoints and the key that signs them."""

    origin: str
    key: NoteKey


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessConfig:
    """The settings of one witness; see the module for their meaning."""

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8787
    registration: Registration = "open"
    identities: frozenset[str] = frozenset()
    logs: tuple[ListedLog, ...] = ()
    min_cadence: int = 0
    require_proof: bool = False
    requests_per_minute: int = 120
    client_requests_per_minute: int = 1200
    body_seconds: float = 30.0
    connections: int = 512
    client_connections: int = 64
    trusted_proxies: Networks = field(default_factory=Networks)
    registrations_per_day: int = 2000
    client_registrations_per_day: int = 50
    password: str | None = field(default=None, repr=False)


class _LogShape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    origin: str
    vkey: str


class _Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 8787
    registration: Registration = "open"
    identities: Annotated[tuple[str, ...], msgspec.Meta(max_length=LIST_ENTRIES)] = ()
    logs: Annotated[tuple[str | _LogShape, ...], msgspec.Meta(max_length=LIST_ENTRIES)] = ()
    min_cadence: Annotated[int, msgspec.Meta(ge=0)] = 0
    require_proof: bool = False
    requests_per_minute: Annotated[int, msgspec.Meta(ge=0)] = 120
    client_requests_per_minute: Annotated[int, msgspec.Meta(ge=0)] = 1200
    body_seconds: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 30.0
    connections: Annotated[int, msgspec.Meta(ge=1)] = 512
    client_connections: Annotated[int, msgspec.Meta(ge=1)] = 64
    trusted_proxies: Annotated[tuple[str, ...], msgspec.Meta(max_length=LIST_ENTRIES)] = ()
    registrations_per_day: Annotated[int, msgspec.Meta(ge=0)] = 2000
    client_registrations_per_day: Annotated[int, msgspec.Meta(ge=0)] = 50


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
        logs = tuple(map(_listed_log, shape.logs))
        proxies = Networks.read(shape.trusted_proxies)
    except RecursionError:
        raise _invalid("nested too deeply") from None
    except (ValueError, CryptoError) as error:
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
        client_connections=shape.client_connections,
        trusted_proxies=proxies,
        registrations_per_day=shape.registrations_per_day,
        client_registrations_per_day=shape.client_registrations_per_day,
    )


def _listed_log(entry: str | _LogShape) -> ListedLog:
    key = parse_vkey(entry if isinstance(entry, str) else entry.vkey)
    if key.kind != "note":
        raise ERRORS.error("VKEY_UNSUPPORTED", f"the key of {key.name} signs no checkpoints")
    return ListedLog(origin=key.name if isinstance(entry, str) else entry.origin, key=key)


def _invalid(why: str) -> AgenticOSError:
    return ERRORS.error("CONFIG_INVALID", f"{CONFIG_FILE}: {why}")
