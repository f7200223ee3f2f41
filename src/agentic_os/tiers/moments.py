"""Moments as people write them: a date, a time, or so long ago."""

import re
from datetime import datetime, timedelta

_AGO = re.compile(r"(\d{1,5})\s*([dhDH])")


def moment_ns(text: str, *, now: datetime) -> int:
    """Read a moment as nanoseconds: an ISO date or time, or so many days or hours before now.

    >>> from datetime import UTC
    >>> moment_ns("2d", now=datetime(2026, 11, 30, tzinfo=UTC)) // 10**9
    1795824000
    >>> moment_ns("2026-11-28", now=datetime.now(UTC)) // 10**9
    1795824000

    Raises:
        ValueError: the text is neither.
    """
    ago = _AGO.fullmatch(text.strip())
    if ago is not None:
        count, unit = int(ago[1]), ago[2].lower()
        moment = now - (timedelta(days=count) if unit == "d" else timedelta(hours=count))
    else:
        moment = datetime.fromisoformat(text.strip())
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=now.tzinfo)
    return int(moment.timestamp() * 1_000_000_000)
