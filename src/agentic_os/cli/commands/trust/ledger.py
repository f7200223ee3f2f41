"""``agentic-os ledger``: the identity ledger."""

from typing import Annotated

import typer

from agentic_os.cli.options import IdentityPlace, Json

app = typer.Typer(
    help="The identity ledger: append, verify, prove, bookmark.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Home = Annotated[
    str | None,
    typer.Option(
        "--folder",
        metavar="DIR",
        help="Where the identity lives. Default: identity/ in the data folder.",
    ),
]
Policy = Annotated[
    str | None,
    typer.Option(
        "--witnesses",
        metavar="FILE",
        help="Witness policy (C2SP tlog-policy). Default: witnesses.policy in the config folder,"
        " if there is one.",
    ),
]
Projection = Annotated[
    str | None,
    typer.Option(
        "--projection-url",
        metavar="URL",
        help="Also write the tables to a database for readers: postgresql://… or sqlite:///PATH.",
    ),
]


@app.command()
def init(
    domain: Annotated[
        str, typer.Option(metavar="NAME", help="Your domain, the first part of the origin.")
    ],
    laws: Annotated[
        str | None, typer.Option(metavar="FILE", help="The constitution, in your own words.")
    ] = None,
    ring0: Annotated[
        str | None, typer.Option(metavar="FILE", help="A signed ring-0 bundle instead.")
    ] = None,
    root_key: Annotated[
        str | None, typer.Option(metavar="FILE", help="The public key of the bundle's root.")
    ] = None,
    folder: Home = None,
    json: Json = False,
) -> None:
    """Give birth to an identity in an empty folder: keys, envelope, genesis.

    Keys are encrypted when the variable AGENTIC_OS_KEY_PASSWORD is set.

    Example: agentic-os ledger init --domain example.org --laws laws.md
    """
    from agentic_os.cli.actions.trust.ledger import birth

    birth.init(folder, domain=domain, laws=laws, ring0=ring0, root_key=root_key, json=json)


@app.command()
def boot(
    folder: Home = None,
    witnesses: Policy = None,
    projection_url: Projection = None,
    json: Json = False,
) -> None:
    """Boot the identity: verify, restore, replay, ask the witnesses; say how it stands.

    Exits with 3 in safe mode.

    Example: agentic-os ledger boot
    """
    from agentic_os.cli.actions.trust.ledger import verbs

    verbs.show_boot(IdentityPlace(folder, witnesses, projection_url), json=json)


@app.command()
def append(
    kind: Annotated[str, typer.Argument(metavar="TYPE", help="An entry type.")],
    payload: Annotated[
        str, typer.Argument(metavar="JSON", help="The payload; - reads it from stdin.")
    ],
    level: Annotated[
        str,
        typer.Option(
            metavar="LEVEL", help="Who asks: agent, operator or platform; opens that key, too."
        ),
    ] = "agent",
    folder: Home = None,
    witnesses: Policy = None,
    projection_url: Projection = None,
    json: Json = False,
) -> None:
    """Append one entry through the gate.

    Types and their payloads are in the reference, docs/reference/ledger-entries.md.

    Example: agentic-os ledger append working.note '{"id": "note_1", "content": "first light"}'
    """
    from agentic_os.cli.actions.trust.ledger import verbs

    where = IdentityPlace(folder, witnesses, projection_url)
    verbs.append(where, kind, payload, level=level, json=json)


@app.command()
def show(
    kind: Annotated[
        str, typer.Option("--type", metavar="TYPE", help="A type, or a prefix with its dot.")
    ] = "",
    ring: Annotated[
        list[int] | None,
        typer.Option(metavar="N", min=0, max=5, help="Only this ring; repeatable."),
    ] = None,
    role: Annotated[str, typer.Option(metavar="ROLE", help="Only lines this role signed.")] = "",
    since: Annotated[
        int, typer.Option("--from", metavar="SEQ", min=1, help="From this line on.")
    ] = 1,
    until: Annotated[
        int | None, typer.Option("--to", metavar="SEQ", min=1, help="Up to this line.")
    ] = None,
    contains: Annotated[
        str, typer.Option(metavar="TEXT", help="Only payloads that hold this text.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="The last so many.")] = 50,
    folder: Home = None,
    json: Json = False,
) -> None:
    """Show lines of the ledger, without verifying them.

    Example: agentic-os ledger show --type belief. --limit 10
    """
    from agentic_os.cli.actions.trust.ledger import reading

    reading.show(
        folder,
        kind=kind,
        rings=ring or (),
        role=role,
        between=(since, until),
        contains=contains,
        limit=limit,
        json=json,
    )


@app.command()
def verify(
    place: Annotated[
        str | None, typer.Argument(metavar="PATH", help="A folder or a file; default the identity.")
    ] = None,
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="agentic-os or aii-gold.")
    ] = "agentic-os",
    key: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="For aii-gold: the identity's public key, where line 1 is no genesis that names"
            " it (an envelope, or base64).",
        ),
    ] = None,
    folder: Home = None,
    json: Json = False,
) -> None:
    """Verify every hash, the chain, the tree and every signature.

    Exits with 3 where something is wrong; the first bad line and the reason are named.

    Example: agentic-os ledger verify --json
    """
    from agentic_os.cli.actions.trust.ledger import reading

    reading.verify(folder, place, form=form, key=key, json=json)


@app.command()
def prove(
    seq: Annotated[int, typer.Argument(metavar="SEQ", min=1, help="The line.")],
    output: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write a .tlog-proof below the head that witnesses cosigned last; it verifies"
            " offline.",
        ),
    ] = None,
    folder: Home = None,
    witnesses: Policy = None,
    projection_url: Projection = None,
    json: Json = False,
) -> None:
    """Prove that a line stands in the tree: inclusion proof and signed head.

    Example: agentic-os ledger prove 7 --output line-7.tlog-proof
    """
    from agentic_os.cli.actions.trust.ledger import reading

    where = IdentityPlace(folder, witnesses, projection_url)
    reading.prove(where, seq, output=output, json=json)


@app.command()
def bookmark(
    receipts: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Write each witness's newest receipt there, with its key and manifest; it"
            " verifies offline.",
        ),
    ] = None,
    folder: Home = None,
    witnesses: Policy = None,
    projection_url: Projection = None,
    json: Json = False,
) -> None:
    """Bring the head of the ledger before the witnesses now.

    Exits with 3 for a conflict, with 2 where a witness could not be heard, or too few for the
    policy have acknowledged.

    Example: agentic-os ledger bookmark --witnesses witnesses.policy
    """
    from agentic_os.cli.actions.trust.ledger import verbs

    where = IdentityPlace(folder, witnesses, projection_url)
    verbs.bookmark(where, receipts=receipts, json=json)


@app.command()
def rotate(
    role: Annotated[
        str | None, typer.Argument(metavar="ROLE", help="identity, operator or platform.")
    ] = None,
    checkpoint: Annotated[
        bool,
        typer.Option(
            "--checkpoint",
            help="Replace the key that signs tree heads; the witnesses are told at once.",
        ),
    ] = False,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, kept in the ledger.")] = "",
    folder: Home = None,
    witnesses: Policy = None,
    projection_url: Projection = None,
    json: Json = False,
) -> None:
    """Put a new key in the place of a role's, from the next line on.

    Example: agentic-os ledger rotate operator --reason "new laptop"
    """
    from agentic_os.cli.actions.trust.ledger import verbs

    where = IdentityPlace(folder, witnesses, projection_url)
    verbs.rotate(where, role, checkpoint=checkpoint, reason=reason, json=json)


@app.command()
def policy(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The new policy (C2SP tlog-policy).")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, kept in the ledger; needed.")],
    folder: Home = None,
    projection_url: Projection = None,
    json: Json = False,
) -> None:
    """Let the operator replace the witness policy that the ledger has accepted.

    The decision is written to the ledger under the operator's key. Without it, an identity that
    was witnessed boots with its accepted policy alone. Name a policy of "quorum none" to go on
    without witnesses.

    Example: agentic-os ledger policy witnesses.policy --reason "w2 has closed"
    """
    from agentic_os.cli.actions.trust.ledger import verbs

    verbs.replace_policy(
        IdentityPlace(folder, None, projection_url), file, reason=reason, json=json
    )


@app.command()
def repair(
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE", help="A copy to restore the first lines from."),
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="The cosigned checkpoint of that copy: a note, or a document that holds one.",
        ),
    ] = None,
    conflict: Annotated[
        bool, typer.Option("--conflict", help="Leave a latched conflict that is gone.")
    ] = False,
    folder: Home = None,
    witnesses: Policy = None,
    projection_url: Projection = None,
    json: Json = False,
) -> None:
    """Cut a torn last line, restore a cosigned prefix, or leave a latched conflict; never rewrite.

    Example: agentic-os ledger repair --from copy.jsonl --checkpoint head.note
    """
    from agentic_os.cli.actions.trust.ledger import keeping

    where = IdentityPlace(folder, witnesses, projection_url)
    keeping.repair(where, source=source, checkpoint=checkpoint, conflict=conflict, json=json)


@app.command()
def backup(
    archive: Annotated[str, typer.Argument(metavar="FILE", help="The archive to write.")],
    folder: Home = None,
    json: Json = False,
) -> None:
    """Write ledger, receipts, pinned keys and encrypted keys to one archive.

    The archive's password is taken from AGENTIC_OS_BACKUP_PASSWORD.

    Example: AGENTIC_OS_BACKUP_PASSWORD=… agentic-os ledger backup ~/identity.backup
    """
    from agentic_os.cli.actions.trust.ledger import keeping

    keeping.backup(folder, archive, json=json)


@app.command()
def restore(
    archive: Annotated[str, typer.Argument(metavar="FILE", help="The archive.")],
    folder: Home = None,
    json: Json = False,
) -> None:
    """Restore a backup into an empty folder; boot it next. The keys have the backup's password.

    Example: agentic-os ledger restore ~/identity.backup
    """
    from agentic_os.cli.actions.trust.ledger import keeping

    keeping.restore(folder, archive, json=json)
