"""Give birth to an identity."""

import typer

from agentic_os.cli.actions.trust.ledger.opening import home, passwords, read_file
from agentic_os.cli.actions.trust.ledger.printing import print_document, print_rows
from agentic_os.identity.birth import Ring0Source, give_birth


def init(
    folder: str | None,
    *,
    domain: str,
    laws: str | None,
    ring0: str | None,
    root_key: str | None,
    json: bool,
) -> None:
    """Make keys, envelope and genesis, and print who was born."""
    if (ring0 is None) != (root_key is None):
        raise typer.BadParameter("--ring0 and --root-key belong together")
    source = None
    if ring0 is not None and root_key is not None:
        source = Ring0Source(bundle=read_file(ring0), root_key=read_file(root_key))
    born = give_birth(
        home(folder),
        domain=domain,
        laws="" if laws is None else read_file(laws).decode("utf-8", "replace"),
        ring0=source,
        passwords=passwords(),
    )
    if json:
        print_document("ledger-init", born)
        return
    print_rows(
        ("origin", born.origin),
        ("identity", born.identity_id),
        ("head", born.head_hash),
        ("checkpoint key", born.checkpoint_vkey),
        ("keys", " ".join(born.keys) + ("" if born.encrypted else " (not encrypted)")),
    )
