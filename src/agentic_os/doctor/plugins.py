"""Examine the plugins: does each verify, and do the person's roots and grants still count?"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from agentic_os.doctor.identifiers import PLUGIN_CHECKS, nothing_to_check
from agentic_os.errors import AgenticOSError
from agentic_os.plugins.installing import PluginHouse
from agentic_os.plugins.keeping.state import STATE_NAME
from agentic_os.plugins.showing import examine_plugins
from agentic_os.results import Check, CheckStatus

CHECK: Final = "plugins"
_STATUS: Final[dict[str, CheckStatus]] = {"fail": "fail", "note": "warn"}


def examine_packages(
    house: Callable[[], AbstractContextManager[PluginHouse]], folder: Path
) -> Iterator[Check]:
    """Make the check of ``PLUGIN_CHECKS``: a row for each plugin, root and grant that is not well.

    Args:
        house: opens what is kept of plugins; it would be made where there is none.
        folder: where that is, or would be.
    """
    if not (folder / STATE_NAME).is_file():
        yield nothing_to_check(CHECK, "no plugin is installed")
        return
    try:
        with house() as opened:
            rows = examine_plugins(opened)
    except AgenticOSError as fault:
        message = f"{fault.code}: {fault.message}"
        yield Check(id=CHECK, status="fail", message=message, hint=fault.hint)
        return
    wrong = [row for row in rows if row.result in _STATUS]
    for row in wrong:
        yield Check(
            id=CHECK,
            status=_STATUS[row.result],
            message=f"{row.check}: {row.words}",
            hint="See: agentic-os plugins doctor",
        )
    if not rows:
        yield nothing_to_check(CHECK, "no plugin is installed")
    elif not wrong:
        yield Check(id=CHECK, status="ok", message=PLUGIN_CHECKS[CHECK])
