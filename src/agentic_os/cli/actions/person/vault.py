"""Grant reading the external vault that ``aios.json`` names."""

import os
from pathlib import Path

from agentic_os.aios.folder.allowance import SEARCH_LIMIT, Allowance, Charges
from agentic_os.aios.folder.configuration import read_configuration, vault_place
from agentic_os.aios.folder.faults import argument_fault
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.policy import resolve_policy
from agentic_os.cli.actions.person.reach import folder_access
from agentic_os.cli.output import say, write
from agentic_os.files.places import places_from
from agentic_os.server.scope.aios import VAULT_GRANT
from agentic_os.settings.editing import add_grant, remove_grant
from agentic_os.settings.values import Grant
from agentic_os.text.fencing import one_line


def grant(folder: str | None, *, revoke: bool, path: str | None) -> None:
    """Show the vault that would be granted, or grant exactly the one that was named."""
    places = places_from(os.environ)
    if revoke:
        edit = remove_grant(places, VAULT_GRANT, home=Path.home())
        say("The vault is no longer granted." if edit.changed else "No vault was granted.")
        return
    access = folder_access(resolve_policy(), path)
    with FolderReader(access.root, files=access.files) as reader:
        stated = read_configuration(reader, Charges(Allowance(SEARCH_LIMIT)))
        outside = vault_place(access, reader, stated).outside
    if outside is None:
        say("The vault lies inside the AIOS folder; it needs no grant.")
        return
    if folder is None:
        write(f"{one_line(str(outside))}\n")
        granted = access.vault_granted(outside)
        say(
            "This vault is granted."
            if granted
            else "This vault is not granted. To let searches read it, name it:"
            " agentic-os aios grant-vault DIR"
        )
        return
    if Path(os.path.normpath(Path(folder).expanduser().absolute())) != outside:
        raise argument_fault(
            "this is not the vault that aios.json names",
            hint="see: agentic-os aios grant-vault",
        )
    edit = add_grant(places, Grant(project=VAULT_GRANT, endpoint=str(outside)), home=Path.home())
    say("Granted: searches read this vault." if edit.changed else "It was granted already.")
