"""``agentic-os hook``: what harnesses call by themselves."""

import typer

from agentic_os.cli.options import Roots

app = typer.Typer(
    help="Hooks that a harness calls by itself.", no_args_is_help=True, rich_markup_mode=None
)


@app.callback()
def hooks() -> None:
    """Hooks that a harness calls by itself."""


@app.command("session-start")
def session_start(root: Roots = None) -> None:
    """Answer a session-start hook: read its JSON on stdin, print the context as JSON.

    The exit code is 0 whatever the input: the clients read no answer at another one. What was
    wrong is said on stderr and in the answer.

    Example: echo '{"cwd": "/home/me/code/shop"}' | agentic-os hook session-start
    """
    from agentic_os.cli.actions.agents import hooks

    hooks.session_start(root=root or ())
