import io
import json
import logging

import pytest

from agentic_os.witness.service.logs import JsonLines, log_event, log_request, start_logging


@pytest.fixture
def stream() -> io.StringIO:
    made = io.StringIO()
    start_logging(made)
    return made


def test_a_request_is_one_line_of_json(stream: io.StringIO) -> None:
    log_request(
        route="/add-checkpoint",
        method="POST",
        status=409,
        code="OLD",
        subject="ab12",
        seconds=0.0123,
    )
    line = json.loads(stream.getvalue())

    assert line.pop("ts").endswith("+00:00")
    assert line == {
        "level": "info",
        "event": "request",
        "route": "/add-checkpoint",
        "method": "POST",
        "status": 409,
        "code": "OLD",
        "subject": "ab12",
        "ms": 12.3,
    }


def test_empty_fields_are_left_out_and_line_ends_stay_inside(stream: io.StringIO) -> None:
    log_event("stopped")
    log_event("listening", "host\nwith a line end")

    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert "detail" not in lines[0]
    assert lines[1]["detail"] == "host\nwith a line end"


def test_an_exception_is_named_and_not_quoted() -> None:
    error = ValueError("the words of a request")
    details = (ValueError, error, None)
    line = JsonLines().format(
        logging.LogRecord("x", logging.ERROR, "f", 1, "failed", None, details)
    )

    assert json.loads(line)["error"] == "ValueError"
    assert "words" not in line
