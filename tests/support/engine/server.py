"""A project's own engine for tests: a real MCP server of the protocol's library.

``server.py RESULTS [--record FILE] [--http FILE]``: one tool ``search`` that answers with
the list in the JSON file RESULTS. Each call's arguments are appended to the record, with the
folder it runs in and the names of its variables. Over HTTP it writes its port to FILE.
"""

import argparse
import json
import os
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field


class Row(BaseModel):
    """One passage, as cocoindex-code words it."""

    file_path: str
    language: str = "python"
    content: str
    start_line: int
    end_line: int
    score: float


class Result(BaseModel):
    """The answer, as cocoindex-code words it."""

    success: bool = True
    results: list[Row] = Field(default_factory=list)
    message: str | None = None


def make(results: Path, record: Path | None) -> MCPServer:
    server = MCPServer("test-engine")
    rows = [Row(**row) for row in json.loads(results.read_text())]

    @server.tool(name="search", description="Search the code.")
    async def search(
        query: str,
        limit: int = Field(default=5, ge=1, le=7),
        refresh_index: bool = True,  # the shape of the real engine's tool
    ) -> Result:
        if record is not None:
            said: dict[str, Any] = {
                "query": query,
                "limit": limit,
                "refresh_index": refresh_index,
                "folder": str(Path.cwd()),
                "variables": sorted(os.environ),
                "session": os.getsid(0) == os.getpid(),
            }
            with record.open("a") as file:
                file.write(json.dumps(said) + "\n")
        return Result(results=rows)

    return server


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("results", type=Path)
    words.add_argument("--record", type=Path)
    words.add_argument("--http", type=Path)
    given = words.parse_args()
    server = make(given.results, given.record)
    if given.http is None:
        server.run("stdio")
        return
    import socket

    import uvicorn

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    given.http.write_text(str(listening.getsockname()[1]))
    uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="critical")).run(
        sockets=[listening]
    )


if __name__ == "__main__":
    main()
