"""A server on loopback that answers by path, for tests of what speaks HTTP."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Loopback(ThreadingHTTPServer):
    """Answers by path with a status, a body and headers; remembers what was asked."""

    answers: dict[str, tuple[int, bytes, dict[str, str]]]
    asked: list[str]
    posted: list[tuple[dict[str, str], bytes]]
    delay_seconds: float = 0.0
    """Waited before the body of an answer is sent."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Answer(BaseHTTPRequestHandler):
    server: Loopback

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        status, body, headers = self.server.answers.get(self.path, (404, b"", {}))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "content-length" not in headers:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        time.sleep(self.server.delay_seconds)
        with suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(body)

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.posted.append((headers, self.rfile.read(length)))
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def loopback() -> Iterator[Loopback]:
    """Serve until the block ends; unknown paths are 404."""
    server = Loopback(("127.0.0.1", 0), Answer)
    server.asked = []
    server.posted = []
    server.answers = {}
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
