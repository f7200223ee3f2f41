"""A house of plugins for a test: places below one folder, a policy, and ports that remember."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentic_os.plugins.installing import PluginHouse, install
from agentic_os.plugins.keeping.house import PluginPlaces, keep_file
from agentic_os.plugins.keeping.policy import PolicyFile
from agentic_os.plugins.keeping.state import PluginState
from agentic_os.plugins.rights.ports import Incoming, OperationFailed, Outgoing
from agentic_os.plugins.running import PluginHost, Ports
from agentic_os.plugins.sandbox.limits import Limits
from support.plugins.packages import Recipe
from support.plugins.signers import Signer


@dataclass
class FakeWorld:
    """A host on the net, a fleet, and a queue."""

    answers: dict[str, Incoming] = field(default_factory=dict)
    asked: list[Outgoing] = field(default_factory=list)
    hits: list[dict[str, Any]] = field(default_factory=list)
    queue: list[tuple[str, str]] = field(default_factory=list)

    def fetch(self, request: Outgoing) -> Incoming:
        """Answer what was put there."""
        self.asked.append(request)
        try:
            return self.answers[f"{request.host}{request.path}"]
        except KeyError:
            raise OperationFailed("NET_REMOTE_OUTCOME_FAILED", "nobody is there") from None

    def search(self, query: str, limit: int) -> Sequence[Mapping[str, Any]]:
        """Return the hits that hold the words."""
        return [hit for hit in self.hits if query in hit["passage"]][:limit]

    def read_memory(self, project: str, fact: str) -> Mapping[str, Any] | None:
        """Return a hit as a fact."""
        return next(
            (hit for hit in self.hits if (hit["project"], hit["name"]) == (project, fact)), None
        )

    def propose(self, plugin: str, texts: Sequence[str]) -> int:
        """Queue them."""
        self.queue += [(plugin, text) for text in texts]
        return len(texts)


def open_house(folder: Path) -> PluginHouse:
    """Open a house below a folder."""
    places = PluginPlaces(config=folder / "config", data=folder / "data", cache=folder / "cache")
    state = PluginState(places.data)
    return PluginHouse(places=places, policy=PolicyFile(places.config), state=state, epochs=state)


def write_policy(house: PluginHouse, text: str) -> None:
    """Write plugins.toml."""
    keep_file(house.places.config / "plugins.toml", text.encode())


def allow(house: PluginHouse, recipe: Recipe, *capabilities: str, tools: bool = False) -> None:
    """Allow an unsigned package and grant it capabilities."""
    listed = ", ".join(f'"{one}"' for one in capabilities)
    write_policy(
        house,
        f"""unsigned = "allow-listed"
[[allow]]
plugin = "{recipe.plugin}"
package = "{recipe.package_hash}"
[[grant]]
plugin = "{recipe.plugin}"
package = "{recipe.package_hash}"
capabilities = [{listed}]
tools = {str(tools).lower()}
""",
    )


def trust(house: PluginHouse, *roots: Signer, status: bool = True) -> str:
    """Pin roots, with a status each; return the tables of plugins.toml."""
    text = ""
    for root in roots:
        name = root.envelope.sha256.removeprefix("sha256:")
        keep_file(house.places.roots / f"{name}.json", root.envelope.document)
        if status:
            keep_file(house.places.status(root.envelope), root.status())
        text += f'[[root]]\nkey = "{root.envelope.sha256}"\nprofile = "FAST"\n'
    return text


def grant_text(recipe: Recipe, *capabilities: str) -> str:
    """Return the table that grants capabilities."""
    listed = ", ".join(f'"{one}"' for one in capabilities)
    return (
        f'[[grant]]\nplugin = "{recipe.plugin}"\npackage = "{recipe.package_hash}"\n'
        f"capabilities = [{listed}]\n"
    )


def running(
    house: PluginHouse, recipe: Recipe, world: FakeWorld, limits: Limits | None = None
) -> PluginHost:
    """Install a package and return a host for it."""
    install(house, recipe.packed())
    return PluginHost(house, Ports(egress=world, fleet=world, proposals=world), limits)
