"""A server on loopback that answers by path, for tests of what speaks HTTP."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Loopback(ThreadingHTTPServer):
    """Answers by path with a status, a body and headers; remembers what was asked."""

    answers: dict[str, tuple[int, bytes, dict[str, str]]]
    asked: list[str]

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
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def loopback() -> Iterator[Loopback]:
    """Serve until the block ends; unknown paths are 404."""
    server = Loopback(("127.0.0.1", 0), Answer)
    server.asked = []
    server.answers = {}
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
