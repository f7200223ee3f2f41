"""Open the house of plugins, and what plugins may reach through the command line."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentic_os.cli.options import IdentityPlace
from agentic_os.errors import UsageError
from agentic_os.files.places import places_from
from agentic_os.ledger.file.storage import LEDGER_NAME
from agentic_os.plugins.installing import PluginHouse
from agentic_os.plugins.keeping.house import plugin_places
from agentic_os.plugins.keeping.policy import PolicyFile
from agentic_os.plugins.keeping.state import PluginState
from agentic_os.plugins.package.contents import PACKED_BYTES
from agentic_os.plugins.trust.revocation import AcceptedEpoch, KnownEpochs


@contextmanager
def plugin_house() -> Iterator[PluginHouse]:
    """Open what is kept of plugins."""
    places = plugin_places(places_from(os.environ))
    with PluginState(places.data) as state:
        yield PluginHouse(
            places=places,
            policy=PolicyFile(places.config),
            state=state,
            epochs=LedgeredEpochs(state),
        )


class LedgeredEpochs(KnownEpochs):
    """Epochs of roots in the state, and where the person has an identity, in its ledger first.

    An epoch that the ledger does not take is not accepted.
    """

    def accept(self, root: str, epoch: AcceptedEpoch) -> None:
        """Write an epoch into the ledger, if there is one, then into the state."""
        from agentic_os.cli.actions.trust.ledger.opening import booted, home

        if (home(None) / LEDGER_NAME).is_file():
            from agentic_os.crypto.canonical.json import encode
            from agentic_os.ledger.writing import Request

            payload = encode(
                {
                    "root": root,
                    "trust_epoch": epoch.trust_epoch,
                    "payload_sha256": epoch.payload_sha256,
                }
            )
            with booted(IdentityPlace(folder=None)) as identity:
                identity.append("agent", [Request(type="trust.epoch_accepted", payload=payload)])
        self._memory.accept(root, epoch)


def read_package_file(path: str) -> bytes:
    """Read a packed file that the person named.

    Raises:
        UsageError: it cannot be read, or is larger than any package.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(PACKED_BYTES + 1)
    except OSError as fault:
        raise UsageError(f"{path!r} cannot be read: {fault.strerror}") from None
    if len(data) > PACKED_BYTES:
        raise UsageError(f"{path!r} is larger than any package may be")
    return data
