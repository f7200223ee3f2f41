"""Every code about projects' own engines: how bad it is, what it means, what to do.

The reference page is generated from this table.
"""

from collections.abc import Mapping
from types import MappingProxyType

from agentic_os.codes import CodeRow

_BY_HAND = "Start it by hand in the project's folder to see why."

ENGINE_CODES: Mapping[str, CodeRow] = MappingProxyType(
    {
        row.code: row
        for row in (
            CodeRow(
                code="ENGINE_NOT_GRANTED",
                severity="info",
                meaning="A project names an engine of its own that you have not granted.",
                hint="agentic-os roots grant PROJECT shows what would be run, and asks.",
            ),
            CodeRow(
                code="ENGINE_GRANT_VOID",
                severity="warning",
                meaning="The project names another endpoint than the one you granted.",
                hint="Look at it with agentic-os roots grant PROJECT, then grant or revoke.",
            ),
            CodeRow(
                code="ENGINE_CLONES_DIFFER",
                severity="warning",
                meaning="Clones of the project differ: a grant cannot say in which one to run.",
                hint="List the one you mean under [[project]] in projects.toml.",
            ),
            CodeRow(
                code="ENGINE_IS_A_PATH",
                severity="info",
                meaning="The endpoint is the path of an index; nobody can be asked there.",
                hint="Name the command that serves it, such as `ccc mcp`.",
            ),
            CodeRow(
                code="ENGINE_ENDPOINT_INVALID",
                severity="warning",
                meaning="The endpoint is neither a command, nor an address, nor a path.",
                hint="Correct memory.rag_endpoint in the project's descriptor.",
            ),
            CodeRow(
                code="ENGINE_NOT_STARTED",
                severity="warning",
                meaning="The engine's program is not installed or cannot be started.",
                hint="Install it, or revoke the grant.",
            ),
            CodeRow(
                code="ENGINE_UNREACHABLE",
                severity="warning",
                meaning="The engine's address does not answer as an MCP server.",
                hint="Is it running?",
            ),
            CodeRow(
                code="ENGINE_TIMED_OUT",
                severity="warning",
                meaning="The engine did not answer in time; it was ended.",
                hint="Raise engine_seconds under [limits] in projects.toml.",
            ),
            CodeRow(
                code="ENGINE_FAILED",
                severity="warning",
                meaning="The engine ended before it answered, or answered with an error.",
                hint=_BY_HAND,
            ),
            CodeRow(
                code="ENGINE_TOOL_MISSING",
                severity="warning",
                meaning="The engine has no tool named search that takes a query.",
                hint="Only engines that search over MCP can be asked.",
            ),
            CodeRow(
                code="ENGINE_ANSWER_INVALID",
                severity="warning",
                meaning="The engine's answer is too large or makes no sense.",
                hint=_BY_HAND,
            ),
            CodeRow(
                code="ENGINE_HIT_REFUSED",
                severity="warning",
                meaning="The engine named files outside the project, of git, or of secrets.",
            ),
            CodeRow(
                code="ENGINE_HIT_COVERED",
                severity="info",
                meaning="The engine named passages of the memory or the vault.",
                hint="Nothing to do: memory and vault answer for themselves.",
            ),
        )
    }
)
