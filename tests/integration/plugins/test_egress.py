"""The way out: real TLS on loopback, addresses pinned, answers bounded."""

import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from agentic_os.plugins.rights.egress import PinnedEgress, is_public
from agentic_os.plugins.rights.ports import OperationFailed, Outgoing

HOST = "releases.example.org"


class Answers(BaseHTTPRequestHandler):
    """Answers by path."""

    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "https://elsewhere.example.org/")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        if self.path == "/large":
            self.wfile.write(b"x" * (768 * 1024 + 1))
        elif self.path == "/slow":
            threading.Event().wait(3)
        else:
            self.wfile.write(f"{self.headers['Host']} {self.headers.get('X-Own', '')}".encode())

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def port_and_trust(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[int, ssl.SSLContext]]:
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = _certificate(folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1], ssl.create_default_context(cafile=str(certificate))
    server.shutdown()
    server.server_close()


def _certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "c.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "k.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return folder / "c.pem", folder / "k.pem"


def asked(port: int, path: str, *, host: str = HOST, seconds: float = 5.0) -> Outgoing:
    return Outgoing(
        method="GET",
        host=host,
        port=port,
        path=path,
        headers={"X-Own": "mine"},
        body=b"",
        seconds=seconds,
    )


def egress(trust: ssl.SSLContext) -> PinnedEgress:
    return PinnedEgress(
        resolve=lambda _host, _port: ["127.0.0.1"], allowed=lambda _address: True, trust=trust
    )


def reason(made: PinnedEgress, request: Outgoing) -> str:
    with pytest.raises(OperationFailed) as caught:
        made.fetch(request)
    return caught.value.reason


def test_a_host_is_asked_at_the_address_that_was_looked_at(
    port_and_trust: tuple[int, ssl.SSLContext],
) -> None:
    port, trust = port_and_trust

    answer = egress(trust).fetch(asked(port, "/"))

    assert (answer.status, answer.body) == (200, f"{HOST}:{port} mine".encode())


def test_redirects_are_shown_and_not_followed(
    port_and_trust: tuple[int, ssl.SSLContext],
) -> None:
    port, trust = port_and_trust

    answer = egress(trust).fetch(asked(port, "/moved"))

    assert (answer.status, answer.headers["location"]) == (302, "https://elsewhere.example.org/")


def test_another_name_than_the_certificates_is_refused(
    port_and_trust: tuple[int, ssl.SSLContext],
) -> None:
    port, trust = port_and_trust

    assert reason(egress(trust), asked(port, "/", host="other.example.org")) == (
        "NET_REMOTE_OUTCOME_FAILED"
    )
    assert reason(egress(ssl.create_default_context()), asked(port, "/")) == (
        "NET_REMOTE_OUTCOME_FAILED"
    )


def test_large_and_slow_answers_are_cut_off(port_and_trust: tuple[int, ssl.SSLContext]) -> None:
    port, trust = port_and_trust

    assert reason(egress(trust), asked(port, "/large")) == "NET_RESPONSE_TOO_LARGE"
    assert reason(egress(trust), asked(port, "/slow", seconds=0.3)) == "NET_REMOTE_OUTCOME_FAILED"


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "::1",
        "fe80::1",
        "224.0.0.1",
        "::ffff:127.0.0.1",
        "0.0.0.0",  # noqa: S104 - an address that must be refused
        "100.64.0.1",
    ],
)
def test_a_name_that_leads_home_is_no_target(
    address: str, port_and_trust: tuple[int, ssl.SSLContext]
) -> None:
    port, trust = port_and_trust
    made = PinnedEgress(resolve=lambda _host, _port: ["93.184.215.14", address], trust=trust)

    assert not is_public(address)
    assert reason(made, asked(port, "/")) == "OPERATION_TARGET_INVALID"
