"""Structured log lines of the service: one JSON object a line, no payloads.

A line names the route, the answer, a reason in the service's own words, the time taken, and
the first digits of the SHA-256 of the identity or origin; never a body, a hash of a ledger,
an address or a key.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Final, TextIO

LOGGER_NAME: Final = "agentic_os.witness"

_FIELDS: Final = ("route", "method", "status", "code", "subject", "ms", "detail")
_encode = json.JSONEncoder(separators=(",", ":")).encode
_logger = logging.getLogger(LOGGER_NAME)


class JsonLines(logging.Formatter):
    """Formats a record as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Write time, level, event and the fields that the record carries."""
        line: dict[str, object] = {
            "ts": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        line.update(
            (name, value)
            for name in _FIELDS
            if (value := getattr(record, name, None)) not in (None, "")
        )
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
        return _encode(line)


def log_request(
    *, route: str, method: str, status: int, code: str, subject: str, seconds: float
) -> None:
    """Log one answer."""
    _logger.info(
        "request",
        extra={
            "route": route,
            "method": method,
            "status": status,
            "code": code,
            "subject": subject,
            "ms": round(seconds * 1000, 2),
        },
    )


def log_defect(route: str, error: Exception) -> None:
    """Log what went wrong inside the service: the kind of the error, never its words."""
    _logger.error("defect", extra={"route": route}, exc_info=error)


def log_event(event: str, detail: str = "") -> None:
    """Log something that is not a request: start, stop."""
    _logger.info(event, extra={"detail": detail})


def start_logging(stream: TextIO | None = None, *, level: int = logging.INFO) -> None:
    """Send the service's log lines, and the server's errors, to ``stream`` (stderr)."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    for name, lowest in ((LOGGER_NAME, level), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(lowest)
