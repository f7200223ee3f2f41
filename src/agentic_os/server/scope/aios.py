"""How the AIOS folder of the person whom a server answers is reached.

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


def person_access(environ: Mapping[str, str], home: Path) -> Access:
    """How the person's own folder is reached; with memory off nothing is looked at."""

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
            root=places.aios,
            vault_granted=lambda place: settings.granted(VAULT_GRANT, str(place)),
            guard=SecretGuard(Redactor(settings.redaction_allow)),
            state_path=default_state_path(places.data),
            home=home,
        )

    return access
