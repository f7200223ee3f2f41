"""Do AGENTS.md and CLAUDE.md say the same? Pure.

Each harness loads one of the two. They agree when their text is the same, or when one only
points to the other; otherwise readers of one miss what the other says.
"""

import re

from agentic_os.text.markdown.code import COMMENT

POINTER_LINES = 12
"""A file of at most so many lines of text that names the other one is a pointer to it."""


def drift(agents: str, claude: str) -> int | None:
    """How many lines stand in one file alone; ``None`` where the two agree.

    Args:
        agents: text of AGENTS.md.
        claude: text of CLAUDE.md.
    """
    if _points(agents, "CLAUDE.md") or _points(claude, "AGENTS.md"):
        return None
    ours, theirs = _lines(agents), _lines(claude)
    alone = len(ours ^ theirs)
    return alone or None


def _points(text: str, other: str) -> bool:
    if re.search(rf"(?m)^\s*@(?:\./)?{re.escape(other)}\s*$", text):
        return True  # an import: the harness reads the other one too
    return other in text and len(_lines(text)) <= POINTER_LINES


def _lines(text: str) -> frozenset[str]:
    return frozenset(
        " ".join(line.split()) for line in COMMENT.sub("", text).splitlines() if line.strip()
    )
