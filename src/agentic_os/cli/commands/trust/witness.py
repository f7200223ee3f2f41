"""``agentic-os witness``: the witness service and its receipts."""

from typing import Annotated

import typer

from agentic_os.cli.options import Json

app = typer.Typer(
    help="The witness: a service that detects rollback and forks from hashes alone.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Home = Annotated[
    str | None,
    typer.Option(
        "--folder",
        metavar="DIR",
        help="The witness's folder. Default: witness/ in the data folder.",
    ),
]


@app.command()
def keygen(
    name: Annotated[
        str, typer.Option(metavar="NAME", help="The witness's name, best its URL without scheme.")
    ] = "",
    renew: Annotated[
        bool,
        typer.Option(
            "--renew", help="Let the root vouch again for a witness that is there; no new keys."
        ),
    ] = False,
    root: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="The operator's root, made if it is missing; keep it offline. Default:"
            " witness-root/ in the data folder.",
        ),
    ] = None,
    folder: Home = None,
    json: Json = False,
) -> None:
    """Make a witness: keys, a manifest that the operator's root signs, an empty memory.

    Keys are encrypted when the variable AGENTIC_OS_WITNESS_PASSWORD is set. It takes about 12
    seconds: one half of the root signs in pure Python.

    Example: agentic-os witness keygen --name witness.example.org/w1
    """
    from agentic_os.cli.actions.trust import witness as actions

    actions.keygen(folder, name=name, root=root, renew=renew, json=json)


@app.command()
def vkey(folder: Home = None) -> None:
    """Print the witness's vkey again: the public key that policies name.

    Example: agentic-os witness vkey
    """
    from agentic_os.cli.actions.trust import witness as actions

    actions.vkey(folder)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(metavar="HOST", help="Address to listen on.")] = None,
    port: Annotated[
        int | None, typer.Option(metavar="PORT", min=0, max=65535, help="0 takes a free one.")
    ] = None,
    clock_is_right: Annotated[
        bool,
        typer.Option(
            "--clock-is-right",
            help="Serve although the clock stands long after the last time that was signed.",
        ),
    ] = False,
    folder: Home = None,
) -> None:
    """Serve in the foreground until SIGTERM or Ctrl-C.

    Settings are in witness.toml in the witness's folder; see the how-to.

    Example: agentic-os witness serve --port 8787
    """
    from agentic_os.cli.actions.trust import witness as actions

    actions.serve(folder, host=host, port=port, trusts_clock=clock_is_right)


@app.command()
def log(
    close: Annotated[
        str | None,
        typer.Option(
            "--close-origin",
            metavar="ORIGIN",
            help="Retire this origin for good, after its checkpoint key was stolen. There is no"
            " way back.",
        ),
    ] = None,
    folder: Home = None,
    json: Json = False,
) -> None:
    """Show what the witness remembers: identities, heads, and evidence of conflicts.

    Example: agentic-os witness log --json
    """
    from agentic_os.cli.actions.trust import witness as actions

    actions.log(folder, close=close, json=json)


@app.command("verify-receipt")
def verify_receipt(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A .tlog-proof or a receipt file.")],
    policy: Annotated[
        str | None, typer.Option(metavar="FILE", help="For proofs: the witness policy.")
    ] = None,
    root: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="For receipts: the operator's public root key."),
    ] = None,
    log_key: Annotated[
        str | None,
        typer.Option(
            "--log",
            metavar="VKEY",
            help="For proofs: the ledger's checkpoint key, where the policy does not name it.",
        ),
    ] = None,
    line: Annotated[
        str | None, typer.Option(metavar="FILE", help="The ledger line the proof is about.")
    ] = None,
    json: Json = False,
) -> None:
    """Check a receipt offline, with nothing but the file and what you trust.

    Exits with 3 where it does not verify.

    Example: agentic-os witness verify-receipt line-7.tlog-proof --policy witnesses.policy
    """
    from agentic_os.cli.actions.trust import witness as actions

    actions.check_receipt(file, policy=policy, root=root, log_key=log_key, line=line, json=json)
