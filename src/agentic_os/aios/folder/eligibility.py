"""Which names a search may open (DotAIOS convention, eligibility).

Hidden and secret-like names are passed over before anything is known about them. A link
whose name would be eligible refuses the whole request; any other link is ignored.
"""

import re
from typing import Final

SKIPPED_FOLDERS: Final = frozenset({"node_modules", ".git", ".obsidian", ".trash"})
MANIFEST: Final = "manifest.json"

_SECRET_LIKE = re.compile(
    r"\.env(?:\..*)?|(?:credentials|token)(?:\..*)?|.*\.(?:pem|key)", re.IGNORECASE | re.DOTALL
)


def is_skipped(name: str) -> bool:
    """Whether a file or folder name is passed over."""
    return (
        name.startswith(".") or name in SKIPPED_FOLDERS or _SECRET_LIKE.fullmatch(name) is not None
    )


def is_markdown(name: str) -> bool:
    """Whether a name is that of a Markdown file."""
    return name.lower().endswith(".md")


def is_plugin_text(name: str) -> bool:
    """Whether a name is one that the plugins scope reads."""
    return name == MANIFEST or is_markdown(name)
