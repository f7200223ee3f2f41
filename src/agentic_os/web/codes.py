"""The errors of this room, and the refusals of the gate."""

from typing import Final

from agentic_os.errors import ErrorTable, ServerError, UsageError

ERRORS: Final = ErrorTable(
    ("ARGUMENT_INVALID", UsageError, "A parameter of the page's question is wrong."),
    (
        "PAGE_NOT_BUILT",
        ServerError,
        "This installation lacks the built page.",
        "In a checkout, `make page` builds it; it needs Node.js.",
    ),
    (
        "PORT_IN_USE",
        ServerError,
        "The port of this machine cannot be used.",
        "Leave --port out to take a free one.",
    ),
    ("HOST_REFUSED", ServerError, "A request named another host than the page's own."),
    ("ORIGIN_REFUSED", ServerError, "A request came from another page."),
    ("METHOD_REFUSED", ServerError, "The page only reads."),
    ("BODY_REFUSED", ServerError, "A request's body is too large."),
    ("RATE_LIMITED", ServerError, "There were too many requests.", "Wait a moment."),
    (
        "LOGIN_NEEDED",
        ServerError,
        "This browser is not logged in.",
        "Open the address that the command prints; Enter in its terminal prints another.",
    ),
    (
        "LOGIN_REFUSED",
        ServerError,
        "The code is not valid, or was used already.",
        "Enter in the command's terminal prints another address.",
    ),
    ("PAGE_UNKNOWN", ServerError, "There is no such page or file."),
    ("DOCUMENT_UNKNOWN", ServerError, "There is no such document."),
    (
        "ANSWER_TOO_LARGE",
        ServerError,
        "The answer is too large for the page.",
        "Narrow it to some projects, or ask the command.",
    ),
)
