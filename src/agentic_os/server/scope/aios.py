"""How the AIOS folder of the person whom a server or a command serves is reached.

Apart from the tools, so that a hook which only reads the working context loads no search.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.policy import MemoryPolicy

Access = Callable[[MemoryPolicy], AiosAccess]
VAULT_GRANT: Final = "aios-vault"
"""The name under which projects.toml grants an external vault: its endpoint is the path."""


def person_access(
    environ: Mapping[str, str],
    home: Path,
    *,
    folder: Path | None = None,
    state_path: Path | None = None,
) -> Access:
    """Return how a person's folder is reached; with memory off nothing is looked at.

    Args:
        environ: the variables that say where things are.
        home: the person's home folder.
        folder: another folder than that of the environment.
        state_path: another map of checkouts than the person's own.
    """

    def access(policy: MemoryPolicy) -> AiosAccess:
        if policy.mode == "off":
            return AiosAccess(root=Path())
        from agentic_os.aios.folder.withheld import SecretGuard
        from agentic_os.aios.projects.placement import default_state_path
        from agentic_os.files.places import places_from
        from agentic_os.settings.location import load_settings
        from agentic_os.text.secrets.redaction import Redactor

        places = places_from(environ)
        settings = load_settings(places, home=home)
        return AiosAccess(
            root=folder or places.aios,
            vault_granted=lambda place: settings.granted(VAULT_GRANT, str(place)),
            guard=SecretGuard(Redactor(settings.redaction_allow)),
            state_path=state_path or default_state_path(places.data),
            home=home,
        )

    return access
