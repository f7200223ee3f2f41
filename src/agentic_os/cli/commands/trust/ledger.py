"""``agentic-os ledger``: the identity ledger."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from agentic_os.cli.options import Json

if TYPE_CHECKING:
    from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
    from agentic_os.identity.answers import BootData
    from agentic_os.identity.boot import BootOptions
    from agentic_os.identity.session import Identity
    from agentic_os.ledger.answers import EntryView, Finding
    from agentic_os.ledger.file.verify import Progress
    from agentic_os.ledger.line.payloads import Role
    from agentic_os.ledger.line.vocabulary import Level
    from agentic_os.witness.client.policy import QuorumPolicy
    from agentic_os.witness.client.rounds import WitnessRounds

T = TypeVar("T")

app = typer.Typer(
    help="The identity ledger: append, verify, prove, bookmark.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

FINDINGS = 3
PAYLOAD_CHARS = 160
"""How much of a payload a line of text shows; the JSON document has all of it."""
PASSWORD_VARIABLE = "AGENTIC_OS_KEY_PASSWORD"  # noqa: S105 - the name of a variable
BACKUP_VARIABLE = "AGENTIC_OS_BACKUP_PASSWORD"
IDENTITY_FOLDER = "identity"
POLICY_NAME = "witnesses.policy"
ROOTS_FOLDER = "witness-roots"
"""In the config folder: ``<name in the policy>.json`` is the public root of its operator."""
ROLES = ("identity", "operator", "platform")

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
        help="Where the projection lives: postgresql://…; default SQLite in the folder.",
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
    from agentic_os.identity.birth import Ring0Source, give_birth

    if (ring0 is None) != (root_key is None):
        raise typer.BadParameter("--ring0 and --root-key belong together")
    source = None
    if ring0 is not None and root_key is not None:
        source = Ring0Source(bundle=_read(ring0), root_key=_read(root_key))
    born = give_birth(
        _home(folder),
        domain=domain,
        laws="" if laws is None else _read(laws).decode("utf-8", "replace"),
        ring0=source,
        passwords=_passwords(),
    )
    if json:
        _document("ledger-init", born)
        return
    _rows(
        ("origin", born.origin),
        ("identity", born.identity_id),
        ("head", born.head_hash),
        ("checkpoint key", born.checkpoint_vkey),
        ("keys", " ".join(born.keys) + ("" if born.encrypted else " (not encrypted)")),
    )


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
    with _booted(folder, witnesses, projection_url) as identity:
        report = identity.report
    if json:
        _document("ledger-boot", report)
    else:
        _boot_rows(report)
    if report.mode != "ready":
        raise typer.Exit(FINDINGS)


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
    from agentic_os.ledger.writing import Request

    text = _stdin() if payload == "-" else payload.encode("utf-8", "surrogateescape")
    asked = Request(type=kind, payload=_canonical(text))
    session = _level(level)
    with _booted(folder, witnesses, projection_url) as identity:
        if session != "agent":
            identity.unlock(session, password=_password())
        answer = identity.append(session, [asked])
    if json:
        _document("ledger-append", answer)
        return
    for one in answer.entries:
        _entry(one.entry)
        if one.rewritten_from:
            from agentic_os.cli.output import say

            say(f"written as {one.entry.type}, not {one.rewritten_from}: {one.reason}")


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
    from agentic_os.identity.services import show_ledger
    from agentic_os.ledger.file.show import LineFilter

    if role and role not in ROLES:
        raise typer.BadParameter(f"roles are {', '.join(ROLES)}")
    answer = show_ledger(
        _home(folder),
        LineFilter(
            type=kind,
            rings=frozenset(ring or ()),
            role=role,
            first_seq=since,
            last_seq=until,
            contains=contains,
        ),
        limit=limit,
    )
    if json:
        _document("ledger-show", answer)
        return
    from agentic_os.cli.output import say

    for entry in answer.entries:
        _entry(entry)
    say(f"{len(answer.entries)} of {answer.matched} lines that match, {answer.lines} in all")


@app.command()
def verify(
    place: Annotated[
        str | None, typer.Argument(metavar="PATH", help="A folder or a file; default the identity.")
    ] = None,
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="agentic-os or aii-gold.")
    ] = "agentic-os",
    folder: Home = None,
    json: Json = False,
) -> None:
    """Verify every hash, the chain, the tree and every signature.

    Exits with 3 where something is wrong; the first bad line and the reason are named.

    Example: agentic-os ledger verify --json
    """
    from agentic_os.cli.output import say
    from agentic_os.identity.services import verify_ledger

    path = _home(folder) if place is None else Path(place)
    with verifying(path) as tick:
        if form == "agentic-os":
            answer = verify_ledger(path, progress=tick)
        elif form == "aii-gold":
            answer = verify_ledger(path, ledger_format="aii-gold", progress=tick)
        else:
            raise typer.BadParameter("formats are agentic-os and aii-gold")
    if json:
        _document("ledger-verify", answer)
    else:
        _rows(
            ("lines", str(answer.lines)),
            ("head", answer.head_hash),
            ("root", answer.root_hash),
            ("signatures checked", str(answer.signatures_checked)),
        )
    for finding in answer.findings:
        say(_finding(finding))
    if answer.findings:
        raise typer.Exit(FINDINGS)


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
    with _booted(folder, witnesses, projection_url) as identity:
        if output is not None:
            written = identity.export_proof(seq, Path(output).absolute())
            if json:
                _document("ledger-prove-output", written)
            else:
                _rows(
                    ("leaf", written.leaf_hash),
                    ("tree", f"{written.tree_size} lines, root {written.root_hash}"),
                    ("file", written.file),
                )
            return
        answer = identity.prove(seq)
    if json:
        _document("ledger-prove", answer)
        return
    _rows(
        ("leaf", answer.leaf_hash),
        ("tree", f"{answer.tree_size} lines, root {answer.root_hash}"),
        *(("proof", one) for one in answer.proof),
    )


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

    Exits with 3 where a witness refused, or too few answered for the policy.

    Example: agentic-os ledger bookmark --witnesses witnesses.policy
    """
    from dataclasses import replace

    with _booted(folder, witnesses, projection_url) as identity:
        answer = identity.bookmark()
    if receipts is not None:
        policy = _policy(witnesses)
        rounds = None if policy is None else _rounds(_home(folder), policy)
        if rounds is not None:
            answer = replace(answer, receipts=rounds.export_receipts(Path(receipts).absolute()))
    if json:
        _document("ledger-bookmark", answer)
    else:
        _rows(
            ("head", f"{answer.ordinal} {answer.ledger_hash}"),
            *((one.witness, f"{one.code} {one.message}".strip()) for one in answer.witnesses),
            *(("receipt", name) for name in answer.receipts),
        )
    if not answer.quorum:
        raise typer.Exit(FINDINGS)


@app.command()
def rotate(
    role: Annotated[str, typer.Argument(metavar="ROLE", help="identity, operator or platform.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, kept in the ledger.")] = "",
    folder: Home = None,
    witnesses: Policy = None,
    projection_url: Projection = None,
    json: Json = False,
) -> None:
    """Put a new key in the place of a role's, from the next line on.

    Example: agentic-os ledger rotate operator --reason "new laptop"
    """
    changed = _role(role)
    with _booted(folder, witnesses, projection_url) as identity:
        if changed != "identity":
            identity.unlock(changed, password=_password())
        answer = identity.rotate(changed, reason=reason)
    if json:
        _document("ledger-rotate", answer)
        return
    _rows(("line", str(answer.seq)), ("old key", answer.old_key_id), ("new key", answer.new_key_id))


@app.command()
def repair(
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE", help="A copy to restore the first lines from."),
    ] = None,
    checkpoint: Annotated[
        str | None, typer.Option(metavar="FILE", help="The cosigned checkpoint of that copy.")
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
    from agentic_os.identity.services import repair_conflict, repair_from_copy, repair_tail

    home = _home(folder)
    if (source is None) != (checkpoint is None) or (conflict and source is not None):
        raise typer.BadParameter("--from and --checkpoint belong together, --conflict stands alone")
    if conflict:
        answer = repair_conflict(home, _options(home, witnesses, projection_url))
    elif source is not None and checkpoint is not None:
        policy = _policy(witnesses)
        answer = repair_from_copy(
            home,
            Path(source),
            checkpoint=_read(checkpoint),
            witnesses=() if policy is None else policy.witness_keys,
            projection_url=projection_url or "",
        )
    else:
        answer = repair_tail(home)
    if json:
        _document("ledger-repair", answer)
        return
    _rows(("done", answer.action), ("lines", str(answer.lines)), ("set aside", answer.set_aside))


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
    import os

    from agentic_os.errors import UsageError
    from agentic_os.identity.services import backup_identity
    from agentic_os.ledger.backup.write import PASSWORD_CHARS

    password = os.environ.get(BACKUP_VARIABLE, "")
    if len(password) < PASSWORD_CHARS:
        raise UsageError(
            f"a backup needs a password of at least {PASSWORD_CHARS} characters",
            hint=f"Set {BACKUP_VARIABLE} for this command.",
        )
    answer = backup_identity(
        _home(folder), Path(archive), password=password, key_password=_password()
    )
    if json:
        _document("ledger-backup", answer)
        return
    _rows(("lines", str(answer.lines)), ("head", answer.head_hash), ("bytes", str(answer.bytes)))


@app.command()
def restore(
    archive: Annotated[str, typer.Argument(metavar="FILE", help="The archive.")],
    folder: Home = None,
    json: Json = False,
) -> None:
    """Restore a backup into an empty folder; boot it next.

    Example: agentic-os ledger restore ~/identity.backup
    """
    from agentic_os.identity.services import restore_identity

    answer = restore_identity(Path(archive), _home(folder))
    if json:
        _document("ledger-restore", answer)
        return
    _rows(("lines", str(answer.lines)), ("head", answer.head_hash), ("origin", answer.origin))


def _role(name: str) -> "Role":
    if name == "identity":
        return "identity"
    if name == "operator":
        return "operator"
    if name == "platform":
        return "platform"
    raise typer.BadParameter(f"roles are {', '.join(ROLES)}")


def _level(name: str) -> "Level":
    if name == "agent":
        return "agent"
    if name == "operator":
        return "operator"
    if name == "platform":
        return "platform"
    raise typer.BadParameter("levels are agent, operator and platform")


def _home(folder: str | None) -> Path:
    import os

    from agentic_os.files.places import places_from

    return places_from(os.environ).data / IDENTITY_FOLDER if folder is None else Path(folder)


def _policy(file: str | None) -> "QuorumPolicy | None":
    import os

    from agentic_os.files.places import places_from
    from agentic_os.witness.client.policy import parse_policy

    if file is not None:
        return parse_policy(_read(file))
    path = places_from(os.environ).config / POLICY_NAME
    return parse_policy(path.read_bytes()) if path.is_file() else None


def _options(home: Path, witnesses: str | None, projection_url: str | None) -> "BootOptions":
    from agentic_os.identity.boot import BootOptions
    from agentic_os.identity.witnessing import PolicyWitnesses

    policy = _policy(witnesses)
    asked = None if policy is None else PolicyWitnesses(rounds=_rounds(home, policy))
    return BootOptions(passwords=_passwords(), witnesses=asked, projection_url=projection_url or "")


def _rounds(home: Path, policy: "QuorumPolicy") -> "WitnessRounds":
    import time

    from agentic_os.ledger.layout import WITNESS_FOLDER
    from agentic_os.witness.client.rounds import WitnessRounds

    return WitnessRounds(
        policy=policy, folder=home / WITNESS_FOLDER, roots=_roots(policy), clock=time.time
    )


def _roots(policy: "QuorumPolicy") -> "dict[str, PublicKeyEnvelope]":
    """The operators' roots that the person keeps, by the witness's name in the policy."""
    import os

    from agentic_os.crypto.envelope.public_keys import read_public_key_envelope
    from agentic_os.files.places import places_from

    folder = places_from(os.environ).config / ROOTS_FOLDER
    if not folder.is_dir():
        return {}
    # Names are compared and not looked up: those of a policy are free text.
    kept = {path.stem: path for path in folder.glob("*.json")}
    names = {one.name for one in policy.witnesses} & kept.keys()
    return {name: read_public_key_envelope(_read(str(kept[name]))) for name in names}


@contextmanager
def _booted(
    folder: str | None, witnesses: str | None, projection_url: str | None
) -> "Iterator[Identity]":
    from dataclasses import replace

    from agentic_os.identity.boot import boot as start

    home = _home(folder)
    with verifying(home) as tick:
        identity = start(home, replace(_options(home, witnesses, projection_url), progress=tick))
    with identity:
        yield identity


def _password() -> str | None:
    import os

    return os.environ.get(PASSWORD_VARIABLE) or None


def _passwords() -> "dict[Role, str]":
    password = _password()
    if password is None:
        return {}
    return {"identity": password, "operator": password, "platform": password}


def _read(path: str) -> bytes:
    from agentic_os.errors import UsageError

    try:
        return Path(path).read_bytes()
    except OSError as fault:
        raise UsageError(f"{path!r} cannot be read: {fault.strerror}") from None


def _canonical(text: bytes) -> bytes:
    from agentic_os.crypto.canonical.json import canonicalize
    from agentic_os.errors import CryptoError, UsageError

    try:
        return canonicalize(text)
    except CryptoError as fault:
        raise UsageError(
            f"the payload is {fault.message}", code=fault.code, hint="Give one JSON object."
        ) from None


def _stdin() -> bytes:
    import sys

    return sys.stdin.buffer.read()


@contextmanager
def verifying(place: Path) -> "Iterator[Progress]":
    """A progress bar over the bytes of the ledger that is verified, on a terminal."""
    from agentic_os.cli.output import progress
    from agentic_os.ledger.file.storage import LEDGER_NAME

    path = place / LEDGER_NAME if place.is_dir() else place
    total = path.stat().st_size if path.is_file() else 0
    with progress("Verifying", "bytes") as tick:
        yield lambda done: tick(done, total)


def _document(command: str, value: object) -> None:
    from agentic_os.cli.output import write_document
    from agentic_os.results import Answer

    write_document(command, Answer(data=value))


def _rows(*rows: tuple[str, str]) -> None:
    from agentic_os.cli.output import table

    table(("what", "value"), [row for row in rows if row[1]])


def _entry(entry: "EntryView") -> None:
    from agentic_os.cli.output import write
    from agentic_os.text.fencing import one_line

    write(
        f"{entry.seq}\t{entry.ts}\t{entry.type}\tring {entry.ring}\t{entry.role}\t"
        f"{one_line(entry.payload[:PAYLOAD_CHARS])}\n"
    )


def _finding(finding: "Finding") -> str:
    line = "" if finding.seq is None else f"line {finding.seq}: "
    hint = f" ({finding.hint})" if finding.hint else ""
    return f"{line}{finding.code}: {finding.message}{hint}"


def _boot_rows(report: "BootData") -> None:
    from agentic_os.cli.output import say

    _rows(
        ("mode", report.mode),
        ("identity", report.identity_id),
        ("lines", "" if report.verify is None else str(report.verify.lines)),
        (
            "signatures",
            ""
            if report.verify is None
            else f"{report.verify.signatures_checked} checked,"
            f" {report.verify.signatures_skipped} not",
        ),
        ("projection", f"{report.restored_from}, {report.replayed} lines replayed"),
        *((one.witness, f"{one.code} {one.message}".strip()) for one in report.witnesses),
    )
    if report.reason is not None:
        say(_finding(report.reason))
