"""Every code about projects' own engines: how bad it is, what it means, what to do.

Errors take their hint from this table, and the reference page is printed from it.
"""

from agentic_os.codes import CodeTable

_BY_HAND = "Start it by hand in the project's folder to see why."

ENGINE_CODES = CodeTable(
    (
        "ENGINE_NOT_GRANTED",
        "info",
        "A project names an engine of its own that you have not granted.",
        "agentic-os roots grant PROJECT shows what would be run, and asks.",
    ),
    (
        "ENGINE_GRANT_VOID",
        "warning",
        "The project names another endpoint than the one you granted.",
        "Look at it with agentic-os roots grant PROJECT, then grant or revoke.",
    ),
    (
        "ENGINE_CLONES_DIFFER",
        "warning",
        "Clones of the project differ: a grant cannot say in which one to run.",
        "List the one you mean under [[project]] in projects.toml.",
    ),
    (
        "ENGINE_IS_A_PATH",
        "info",
        "The endpoint is the path of an index; nobody can be asked there.",
        "Name the command that serves it, such as `ccc mcp`.",
    ),
    (
        "ENGINE_ENDPOINT_INVALID",
        "warning",
        "The endpoint is neither a command, nor an address, nor a path.",
        "Correct memory.rag_endpoint in the project's descriptor.",
    ),
    (
        "ENGINE_NOT_STARTED",
        "warning",
        "The engine's program is not installed or cannot be started.",
        "Install it, or revoke the grant.",
    ),
    (
        "ENGINE_UNREACHABLE",
        "warning",
        "The engine's address does not answer as an MCP server.",
        "Is it running?",
    ),
    (
        "ENGINE_TIMED_OUT",
        "warning",
        "The engine did not answer in time; it was ended.",
        "Raise engine_seconds under [limits] in projects.toml.",
    ),
    (
        "ENGINE_FAILED",
        "warning",
        "The engine ended before it answered, or answered with an error.",
        _BY_HAND,
    ),
    (
        "ENGINE_TOOL_MISSING",
        "warning",
        "The engine has no tool named search that takes a query.",
        "Only engines that search over MCP can be asked.",
    ),
    (
        "ENGINE_ANSWER_INVALID",
        "warning",
        "The engine's answer is too large or makes no sense.",
        _BY_HAND,
    ),
    (
        "ENGINE_HIT_REFUSED",
        "warning",
        "The engine named files outside the project, of git, or of secrets.",
    ),
    (
        "ENGINE_HIT_COVERED",
        "info",
        "The engine named passages of the memory or the vault.",
        "Nothing to do: memory and vault answer for themselves.",
    ),
)
