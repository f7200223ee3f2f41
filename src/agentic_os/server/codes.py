"""The errors of this room: the server, its transports, the set-up of clients."""

from typing import Final

from agentic_os.errors import ErrorTable, ServerError, UsageError

ERRORS: Final = ErrorTable(
    ("ARGUMENT_INVALID", UsageError, "An argument of a tool or a prompt is wrong."),
    (
        "CURSOR_INVALID",
        UsageError,
        "The cursor does not belong to this question.",
        "Ask again without a cursor.",
    ),
    ("RESOURCE_UNKNOWN", ServerError, "There is no such resource."),
    (
        "BIND_REFUSED",
        UsageError,
        "Only loopback is served without --remote and TLS files.",
        "Give --remote with --tls-certificate and --tls-key, or listen on 127.0.0.1.",
    ),
    ("TOKEN_INVALID", ServerError, "The token file is missing, too short, or open to others."),
    (
        "TLS_INVALID",
        ServerError,
        "A TLS file cannot be used.",
        "Give a PEM certificate chain and its unencrypted key, the key with mode 600.",
    ),
    (
        "LISTEN_FAILED",
        ServerError,
        "The server cannot listen on that address.",
        "Choose another --port, or end the program that uses this one.",
    ),
    ("CLIENT_UNKNOWN", UsageError, "No client has that name."),
    (
        "CLIENT_FILE_INVALID",
        ServerError,
        "The client's file has a form that is not understood; it was not changed.",
        "Paste what `agentic-os mcp config` prints.",
    ),
    (
        "CLIENT_FILE_UNREADABLE",
        ServerError,
        "The client's file cannot be read.",
        "Check its rights, or paste what `agentic-os mcp config` prints.",
    ),
    ("CLIENT_REFUSED", ServerError, "The client's own command did not add the server."),
    ("CLIENT_ENTRY_MISSING", ServerError, "The client's file has no entry of the server."),
    (
        "CLIENT_CHECK_FAILED",
        ServerError,
        "The server does not answer as the client would start it.",
        "Run `agentic-os mcp install` again with the program that you use.",
    ),
    ("CLIENT_HOOKLESS", UsageError, "The client has no session-start hooks that are known."),
)
