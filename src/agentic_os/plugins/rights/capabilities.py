"""Whether a call may be made: every right it needs, in a fixed order (section 16).

A right is the meet of what the operation declares, the manifest's envelope, the variant's
capabilities, what a reviewer looked at, the person's grant, and the tier's ceiling. It is worked
out on every call and never kept. What is asked first decides which answer a guest gets:

>>> rights = Rights(declared=frozenset({"ring4.kv"}), envelope=frozenset({"ring4.kv"}),
...     variant=frozenset({"ring4.kv"}), reviewed=None, granted=frozenset(), tier=1)
>>> rights.denial("ring4.kv").reason
'POLICY_DENY'
"""

from dataclasses import dataclass
from typing import Final

KEY_VALUE: Final = "ring4.kv"
OUTBOUND: Final = "net.outbound"
PROPOSE: Final = "agent.propose"
FLEET: Final = "fleet.read"
OFFERED: Final = (KEY_VALUE, OUTBOUND, PROPOSE, FLEET)
"""The capabilities that this host offers; the format knows more names."""
_NETWORK_TIER = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """Why a call was denied, where, and how it could be allowed."""

    reason: str
    denied_at: str
    capability: str
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """What bears on one call. ``reviewed`` is ``None`` where no reviewer spoke."""

    declared: frozenset[str]
    envelope: frozenset[str]
    variant: frozenset[str]
    reviewed: frozenset[str] | None
    granted: frozenset[str]
    tier: int

    def denial(self, capability: str) -> Denial | None:
        """Return why a capability is denied, or ``None`` where it is not."""
        if family(capability) not in OFFERED:
            return Denial(
                reason="CAPABILITY_NOT_OFFERED",
                denied_at="capability_offer",
                capability=capability,
                how="this host does not offer it",
            )
        steps = (
            (
                capability in self.granted,
                "POLICY_DENY",
                "capability_evaluation",
                f"the person grants it with: agentic-os plugins grant ID {capability}",
            ),
            (
                capability in self.envelope and capability in self.variant,
                "CAPABILITY_NOT_IN_STATIC_ENVELOPE",
                "static_envelope",
                "its author declares it in the manifest of another release",
            ),
            (
                self.tier >= _NETWORK_TIER or family(capability) != OUTBOUND,
                "capability_policy_denied",
                "tier_ceiling",
                "a signed release may have it",
            ),
            (
                self.reviewed is None or capability in self.reviewed,
                "capability_policy_denied",
                "reviewed_capabilities",
                "a reviewer attests a release that asks for it",
            ),
            (
                capability in self.declared,
                "OPERATION_NOT_ALLOWED_FOR_CAPABILITY",
                "operation_descriptor",
                "its author declares it in the operation's descriptor",
            ),
        )
        for allowed, reason, denied_at, how in steps:
            if not allowed:
                return Denial(reason=reason, denied_at=denied_at, capability=capability, how=how)
        return None


def family(capability: str) -> str:
    """Return a capability without its scope.

    >>> family("net.outbound:example.org:443")
    'net.outbound'
    """
    return capability.partition(":")[0]
