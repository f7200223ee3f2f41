"""What ``agentic-os witness`` does: make a witness, serve, look, check its receipts."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import typer

from agentic_os.cli.options import OWN_WITNESS_FOLDER
from agentic_os.cli.output import say, table, write, write_document
from agentic_os.crypto.envelope.public_keys import read_public_key_envelope
from agentic_os.crypto.tlog.note_keys import parse_vkey
from agentic_os.errors import CryptoError, UsageError, VerificationError
from agentic_os.files.places import places_from
from agentic_os.results import Answer
from agentic_os.witness.client.policy import parse_policy
from agentic_os.witness.client.receipt_files import verify_receipt
from agentic_os.witness.protocol.operator_root import generate_root, read_root
from agentic_os.witness.service.config import read_witness_config
from agentic_os.witness.service.desk import close_origin
from agentic_os.witness.service.journal import read_journal
from agentic_os.witness.service.keyring import (
    DATABASE_FILE,
    generate_witness,
    keygen_data,
    read_witness_keys,
    renew_manifest,
    witness_vkey,
)
from agentic_os.witness.service.server import serve_witness
from agentic_os.witness.service.store import WitnessStore

_PASSWORD_VARIABLE = "AGENTIC_OS_WITNESS_PASSWORD"  # noqa: S105 - the name of a variable
_ROOT_FOLDER = "witness-root"


def keygen(folder: str | None, *, name: str, root: str | None, renew: bool, json: bool) -> None:
    """Make a witness, or renew its manifest, and print its public halves."""
    if renew == bool(name):
        raise typer.BadParameter("a new witness needs --name; --renew stands without it")
    now, home, where = (
        datetime.now(UTC),
        _place(folder, OWN_WITNESS_FOLDER),
        _place(root, _ROOT_FOLDER),
    )
    say("The root signs with SLH-DSA, in pure Python: this takes about 12 seconds.")
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


def vkey(folder: str | None) -> None:
    """Print the public cosignature key, which policies name."""
    write(f"{witness_vkey(_place(folder, OWN_WITNESS_FOLDER))}\n")


def serve(folder: str | None, *, host: str | None, port: int | None, trusts_clock: bool) -> None:
    """Serve until a signal; print the address once it is listened on."""
    config = read_witness_config(_place(folder, OWN_WITNESS_FOLDER), password=_password())
    config = replace(
        config,
        host=config.host if host is None else host,
        port=config.port if port is None else port,
    )

    def started(name: str, number: int) -> None:
        write(f"listening on http://{name}:{number}\n")
        sys.stdout.flush()

    with _password_hinted():
        serve_witness(config, started=started, trusts_clock=trusts_clock)


def log(folder: str | None, *, close: str | None, json: bool) -> None:
    """Print what the witness remembers, after retiring an origin if one is named."""
    home = _place(folder, OWN_WITNESS_FOLDER)
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


def check_receipt(
    file: str,
    *,
    policy: str | None,
    root: str | None,
    log_key: str | None,
    line: str | None,
    json: bool,
) -> None:
    """Check a receipt file, and print what it proves."""
    trusted = None if policy is None else parse_policy(_read(policy))
    vouching = None if root is None else read_public_key_envelope(_read(root))
    key = None if log_key is None else parse_vkey(log_key)
    about = None if line is None else _read(line).removesuffix(b"\n")
    try:
        report = verify_receipt(
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
    with _password_hinted():
        keys = read_witness_keys(home, password=_password())
    store = WitnessStore(home / DATABASE_FILE, meta=keys.meta)
    try:
        close_origin(store, origin, now=int(time.time()))
    finally:
        store.close()


def _place(folder: str | None, name: str) -> Path:
    return places_from(os.environ).data / name if folder is None else Path(folder)


@contextmanager
def _password_hinted() -> Iterator[None]:
    """Say which variable opens keys that have a password."""
    try:
        yield
    except CryptoError as fault:
        if not fault.code.startswith("KEY_PASSWORD"):
            raise
        hint = f"Set {_PASSWORD_VARIABLE} for this command."
        raise CryptoError(fault.message, code=fault.code, hint=hint) from None


def _password() -> str | None:
    return os.environ.get(_PASSWORD_VARIABLE) or None


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as fault:
        raise UsageError(f"{path!r} cannot be read: {fault.strerror}") from None
