"""``agentic-os witness``: the witness service and its receipts."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentic_os.cli.options import WITNESS_FOLDER, Json

if TYPE_CHECKING:
    from collections.abc import Iterator

app = typer.Typer(
    help="The witness: a service that detects rollback and forks from hashes alone.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

PASSWORD_VARIABLE = "AGENTIC_OS_WITNESS_PASSWORD"  # noqa: S105 - the name of a variable
ROOT_FOLDER = "witness-root"

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

    Keys are encrypted when the variable AGENTIC_OS_WITNESS_PASSWORD is set.

    Example: agentic-os witness keygen --name witness.example.org/w1
    """
    from datetime import UTC, datetime

    from agentic_os.cli.output import table, write_document
    from agentic_os.results import Answer
    from agentic_os.witness.protocol.operator_root import generate_root, read_root
    from agentic_os.witness.service.keyring import (
        generate_witness,
        keygen_data,
        read_witness_keys,
        renew_manifest,
    )

    if renew == bool(name):
        raise typer.BadParameter("a new witness needs --name; --renew stands without it")
    now, home, where = datetime.now(UTC), _place(folder, WITNESS_FOLDER), _place(root, ROOT_FOLDER)
    if renew or (where.is_dir() and any(where.iterdir())):
        with _password_hinted():
            operator = read_root(where, password=_password())
    else:
        operator = generate_root(where, now=now, password=_password())
    if renew:
        renew_manifest(home, root=operator, now=now)
        with _password_hinted():
            keys = read_witness_keys(home, password=_password())
    else:
        keys = generate_witness(home, name=name, root=operator, now=now, password=_password())
    made = keygen_data(keys, renewed=renew)
    if json:
        write_document("witness-keygen", Answer(data=made))
        return
    table(
        ("what", "value"),
        [
            ("name", made.name),
            ("vkey", made.vkey),
            ("receipt key", made.receipt_key_sha256),
            ("manifest", f"{made.manifest_sha256}{' (renewed)' if renew else ''}"),
        ],
    )


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(metavar="HOST", help="Address to listen on.")] = None,
    port: Annotated[
        int | None, typer.Option(metavar="PORT", min=0, max=65535, help="0 takes a free one.")
    ] = None,
    folder: Home = None,
) -> None:
    """Serve in the foreground until SIGTERM or Ctrl-C.

    Settings are in witness.toml in the witness's folder; see the how-to.

    Example: agentic-os witness serve --port 8787
    """
    from dataclasses import replace

    from agentic_os.cli.output import write
    from agentic_os.witness.service.config import read_witness_config
    from agentic_os.witness.service.server import serve_witness

    config = read_witness_config(_place(folder, WITNESS_FOLDER), password=_password())
    config = replace(
        config,
        host=config.host if host is None else host,
        port=config.port if port is None else port,
    )

    def started(name: str, number: int) -> None:
        import sys

        write(f"listening on http://{name}:{number}\n")
        sys.stdout.flush()

    with _password_hinted():
        serve_witness(config, started=started)


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
    from agentic_os.cli.output import table, write_document
    from agentic_os.results import Answer
    from agentic_os.witness.service.journal import read_journal

    home = _place(folder, WITNESS_FOLDER)
    if close is not None:
        _close(home, close)
    answer = read_journal(home)
    if json:
        write_document("witness-log", Answer(data=answer))
        return
    table(
        ("what", "subject", "size", "hash", "when"),
        [
            *(
                ("bookmark", one.identity_id, str(one.ordinal), one.ledger_hash, one.witnessed_at)
                for one in answer.identities
            ),
            *(
                (
                    "closed" if one.closed else "head",
                    one.origin,
                    str(one.size),
                    one.root,
                    one.cosigned_at,
                )
                for one in answer.origins
            ),
            *(
                ("conflict", one.subject, "", one.digest, f"{one.seen_at} {one.code}")
                for one in answer.evidence
            ),
        ],
    )


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
    from agentic_os.cli.output import table, write_document
    from agentic_os.crypto.envelope.public_keys import read_public_key_envelope
    from agentic_os.crypto.tlog.note_keys import parse_vkey
    from agentic_os.errors import CryptoError, VerificationError
    from agentic_os.results import Answer
    from agentic_os.witness.client.policy import parse_policy
    from agentic_os.witness.client.receipt_files import verify_receipt as check

    trusted = None if policy is None else parse_policy(_read(policy))
    vouching = None if root is None else read_public_key_envelope(_read(root))
    key = None if log_key is None else parse_vkey(log_key)
    about = None if line is None else _read(line).removesuffix(b"\n")
    try:
        report = check(
            Path(file).absolute(), policy=trusted, log_key=key, root=vouching, line=about
        )
    except CryptoError as fault:
        raise VerificationError(
            f"the file does not verify: {fault.message}", code=fault.code, hint=fault.hint
        ) from None
    if json:
        write_document("witness-verify-receipt", Answer(data=report))
        return
    table(
        ("what", "value"),
        [
            ("kind", report.kind),
            ("subject", report.subject),
            ("line", str(report.ordinal)),
            *(("cosigned by", one.name) for one in report.cosigners),
            ("trust", report.trust),
        ],
    )


def _close(home: Path, origin: str) -> None:
    import time

    from agentic_os.witness.service.desk import close_origin
    from agentic_os.witness.service.keyring import DATABASE_FILE, read_witness_keys
    from agentic_os.witness.service.store import WitnessStore

    with _password_hinted():
        keys = read_witness_keys(home, password=_password())
    store = WitnessStore(home / DATABASE_FILE, meta=keys.meta)
    try:
        close_origin(store, origin, now=int(time.time()))
    finally:
        store.close()


def _place(folder: str | None, name: str) -> Path:
    import os

    from agentic_os.files.places import places_from

    return places_from(os.environ).data / name if folder is None else Path(folder)


@contextmanager
def _password_hinted() -> "Iterator[None]":
    """Say which variable opens keys that have a password."""
    from agentic_os.errors import CryptoError

    try:
        yield
    except CryptoError as fault:
        if not fault.code.startswith("KEY_PASSWORD"):
            raise
        hint = f"Set {PASSWORD_VARIABLE} for this command."
        raise CryptoError(fault.message, code=fault.code, hint=hint) from None


def _password() -> str | None:
    import os

    return os.environ.get(PASSWORD_VARIABLE) or None


def _read(path: str) -> bytes:
    from agentic_os.errors import UsageError

    try:
        return Path(path).read_bytes()
    except OSError as fault:
        raise UsageError(f"{path!r} cannot be read: {fault.strerror}") from None
