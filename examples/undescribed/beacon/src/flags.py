"""The feature flags of this service."""

OWNERS = {"new-checkout": "payments", "dark-mode": "web"}


def is_on(flag: str, enabled: frozenset[str]) -> bool:
    """Whether a flag is on; unknown flags are off."""
    return flag in OWNERS and flag in enabled
