"""A cosigned checkpoint as people have it: a note, a document that holds one, or an address."""

from http import HTTPStatus
from typing import Final

import msgspec

from agentic_os.cli.actions.trust.ledger.opening import read_file
from agentic_os.errors import UsageError
from agentic_os.network.addresses import is_loopback_url
from agentic_os.text.shapes import read_shape

VERIFIED_HEAD_BYTES: Final = 1024 * 1024
TIMEOUT_SECONDS: Final = 30.0


class _Document(msgspec.Struct):
    """``witness-tail.json``, ``verified-head.json``, or the document of a command (``data``)."""

    checkpoint: str = ""
    data: "_Document | None" = None


def read_note(place: str) -> bytes:
    """Read the note that a file or an address holds, alone or as ``checkpoint`` of a document.

    Raises:
        UsageError: it cannot be read, or holds no note.
    """
    is_address = place.startswith(("http://", "https://"))
    data = _fetched(place) if is_address else read_file(place)
    if not data.lstrip().startswith(b"{"):
        return data
    try:
        found = read_shape(data, _Document)
    except ValueError:
        raise UsageError(f"{place!r} is neither a note nor a JSON document") from None
    note = found.checkpoint or (found.data.checkpoint if found.data is not None else "")
    if not note:
        raise UsageError(f"{place!r} holds no checkpoint")
    return note.encode()


def _fetched(url: str) -> bytes:
    import httpx

    try:
        with (
            httpx.Client(trust_env=not is_loopback_url(url), timeout=TIMEOUT_SECONDS) as client,
            client.stream("GET", url) as answer,
        ):
            if answer.status_code != HTTPStatus.OK:
                raise UsageError(f"{url!r} answers {answer.status_code}")
            data = b""
            for piece in answer.iter_bytes():
                data += piece
                if len(data) > VERIFIED_HEAD_BYTES:
                    raise UsageError(f"{url!r} answers more than {VERIFIED_HEAD_BYTES} bytes")
    except (httpx.HTTPError, httpx.InvalidURL) as fault:
        raise UsageError(f"{url!r} cannot be read: {fault}") from None
    return data
