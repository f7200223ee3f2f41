"""A cosigned checkpoint as people have it: a note, a document that holds one, or an address."""

import msgspec

from agentic_os.cli.actions.trust.ledger.opening import read_file
from agentic_os.errors import UsageError, WitnessError
from agentic_os.text.shapes import read_shape
from agentic_os.witness.client.http import WitnessClient


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
    prefix, _, name = url.rpartition("/")
    if prefix.endswith(":/"):
        prefix, name = url, ""
    try:
        with WitnessClient(prefix) as client:
            return client.fetch(name)
    except WitnessError as fault:
        raise UsageError(f"{url!r} cannot be read: {fault.message}") from None
