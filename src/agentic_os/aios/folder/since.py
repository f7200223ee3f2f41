"""Ages as a person writes them: ``7d``, ``12h``, ``2w``, ``1m``, or a date."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from agentic_os.aios.folder.faults import argument_fault
from agentic_os.aios.folder.json_text import instant_ms, iso_utc

_SINCE = re.compile(r"(\d{1,6})([hdwm])")
_UNITS: Final = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24}


def since_instant(since: str, now: datetime) -> str:
    """Turn ``7d``, ``12h``, ``2w``, ``1m`` or an ISO time into the text to compare with.

    Raises:
        AiosError: DOTAIOS_ARGUMENT_INVALID.
    """
    found = _SINCE.fullmatch(since)
    if found is not None:
        hours = int(found.group(1)) * _UNITS[found.group(2)]
        try:
            return iso_utc(now.astimezone(UTC) - timedelta(hours=hours))
        except OverflowError:
            return ""
    if instant_ms(since) is None:
        raise argument_fault(
            "since must be a number with h, d, w or m, or an ISO date", hint="for example 7d"
        )
    return since
