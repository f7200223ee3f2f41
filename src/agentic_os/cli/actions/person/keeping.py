"""Keep the memory of the AIOS folder bounded."""

from agentic_os.aios.archives.maintenance import cleanup, is_due
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.policy import MemoryPolicy, resolve_policy
from agentic_os.cli.actions.person.reach import folder_access
from agentic_os.cli.output import say, schema_name, table, write_json
from agentic_os.errors import AiosError
from agentic_os.results import Envelope


def clean_up(*, dry_run: bool, path: str | None, json: bool) -> None:
    """Move old events and stale signals to their archives."""
    policy = resolve_policy()
    data = cleanup(folder_access(policy, path), policy, dry_run=dry_run)
    if json:
        write_json(Envelope(schema=schema_name("aios-cleanup"), data=data))
        return
    table(
        ("what", "count"),
        [
            ("events archived", str(data.archived)),
            ("events kept", str(data.kept)),
            ("signal files removed", str(data.signal_files_removed)),
            ("signals archived", str(data.signal_lines_archived)),
        ],
    )
    if dry_run:
        say("Nothing was changed.")


def maintain(access: AiosAccess, policy: MemoryPolicy) -> None:
    """Clean up where it is due; what goes wrong is said and is not the caller's failure."""
    try:
        if is_due(access, policy):
            cleanup(access, policy)
    except AiosError as error:
        say(f"The memory could not be tidied: {error.message} [{error.code}]")
