"""The help of the whole command line: commands in groups, each with its first sentence whole."""

from typing import Any, Final

from typer.core import TyperGroup

SECTIONS: Final[dict[str, tuple[str, ...]]] = {
    "Ask": (
        "search",
        "open",
        "memory",
        "vault",
        "capabilities",
        "instructions",
        "graph",
        "dashboard",
    ),
    "Set up": (
        "start",
        "roots",
        "scan",
        "seam",
        "aggregate",
        "index",
        "model",
        "doctor",
        "paths",
        "extras",
        "purge",
    ),
    "Agents": ("mcp", "hook", "serve"),
    "Your AIOS folder": ("aios",),
    "Identity and witness": ("identity", "ledger", "witness", "plugins"),
}
"""Commands by what a person wants; one that is in none of them comes last."""


class Sections(TyperGroup):
    """A group whose commands are listed in sections."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one list of commands for each section."""
        left = [name for name in self.list_commands(ctx) if name not in _PLACED]
        for title, names in {**SECTIONS, "Other": tuple(left)}.items():
            rows = [
                (name, _sentence(command.help or ""))
                for name in names
                if (command := self.get_command(ctx, name)) is not None and not command.hidden
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


_PLACED: Final = frozenset(name for names in SECTIONS.values() for name in names)


def _sentence(text: str) -> str:
    """Return the first paragraph of a help text, on one line."""
    return " ".join(text.strip().split("\n\n")[0].split())
