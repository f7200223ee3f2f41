"""Runs the page as a real process, and asks it as a browser would."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from support.process.cli_process import MODULE

WAIT_SECONDS = 60.0
_ADDRESS = re.compile(rb"(http://127\.0\.0\.1:(\d+))/login#(\S+)")


@dataclass(slots=True)
class Page:
    """A served page, and a client that is logged in."""

    address: str
    port: int
    code: str
    process: "subprocess.Popen[bytes]"
    said: list[bytes]
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(base_url=self.address, timeout=WAIT_SECONDS, trust_env=False)

    def log_in(self, code: str | None = None) -> int:
        """Exchange the code; the status."""
        body = (self.code if code is None else code).encode()
        return self.client.post("/login", content=body).status_code

    def ask(self, name: str, **question: Any) -> dict[str, Any]:
        """A document, which must not be a refusal."""
        answer = self.client.get(f"/api/{name}", params=question)
        document: dict[str, Any] = answer.json()
        assert answer.status_code == 200, document
        assert document["error"] is None
        return document

    def stop(self) -> int:
        """End it as Ctrl-C does; its exit code."""
        self.process.send_signal(signal.SIGINT)
        self.said.append(self.process.communicate(timeout=WAIT_SECONDS)[1])
        return self.process.returncode


@contextmanager
def served(*roots: Path, words: Sequence[str] = ()) -> Iterator[Page]:
    """Serve a fleet until the block ends."""
    arguments = [word for root in roots for word in ("--root", str(root))]
    process = subprocess.Popen(
        [*MODULE, "dashboard", "--no-open", *arguments, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ.copy(),
        start_new_session=True,
    )
    said: list[bytes] = []
    assert process.stderr is not None
    try:
        for line in process.stderr:
            said.append(line)
            if match := _ADDRESS.search(line):
                break
        else:
            raise AssertionError(f"no address was printed: {b''.join(said).decode()}")
        page = Page(
            address=match[1].decode(),
            port=int(match[2]),
            code=match[3].decode(),
            process=process,
            said=said,
        )
        try:
            yield page
        finally:
            page.client.close()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
