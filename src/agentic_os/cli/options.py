"""Options that several commands share, worded once."""

from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand

from agentic_os.cli.completion import project_names

FULL_PROFILE = "full"
"""The profile of a server that offers the fleet and the AIOS folder."""

OWN_WITNESS_FOLDER = "witness"
"""An own witness lies here in the data folder, unless another folder is named."""

Roots = Annotated[
    list[str] | None,
    typer.Option(
        "--root",
        metavar="DIR",
        help="Folder to look for projects in; repeatable. Default: the roots of projects.toml,"
        " else the current folder.",
    ),
]
Adopt = Annotated[
    bool,
    typer.Option(
        "--adopt",
        help="Also take in repositories without a descriptor: their instructions, memories,"
        " capabilities, documents and code. What a descriptor declines stays closed.",
    ),
]
Projects = Annotated[
    list[str] | None,
    typer.Option(
        "--project",
        metavar="P",
        help="Only this project, by id, alias, name or path; repeatable.",
        autocompletion=project_names,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
JsonLines = Annotated[
    bool, typer.Option("--jsonl", help="Print one JSON document a line, as they come.")
]


def chosen_roots(root: list[str] | None, *, adopt: bool) -> tuple[str, ...]:
    """Join the values of ``--root`` and ``--adopt``."""
    if not adopt:
        return tuple(root or ())
    from agentic_os.settings.selection import command_line_roots

    return command_line_roots(root, adopt=adopt)


class OnceCommand(TyperCommand):
    """A command whose options may each be given once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse a repeated option, then parse as usual."""
        order = self.make_parser(ctx).parse_args(args=list(args))[2]
        names = [param.name for param in order if param.param_type_name == "option"]
        for name in names:
            if names.count(name) > 1:
                ctx.fail(f"option --{(name or '').replace('_', '-')} may be given once")
        return super().parse_args(ctx, args)


class IdentityPlace(NamedTuple):
    """What a command line said of an identity's surroundings; None where it said nothing."""

    folder: str | None
    witnesses: str | None = None
    projection_url: str | None = None
