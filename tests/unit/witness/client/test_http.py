"""The client against answers that no honest witness gives, and against a C2SP-only witness."""

import hashlib
import json
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from agentic_os.crypto.keys.pairs import ED25519, SigningKey
from agentic_os.crypto.tlog.note import sign_text
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.errors import WitnessError
from agentic_os.witness.client import http
from agentic_os.witness.client.http import ANSWER_BYTES, RefusedAnswerError, WitnessClient
from agentic_os.witness.client.policy import parse_policy
from agentic_os.witness.client.rounds import WitnessRounds
from agentic_os.witness.client.submission import build_bookmark
from agentic_os.witness.protocol.add_checkpoint import AddCheckpoint, read_add_checkpoint
from agentic_os.witness.service.config import WitnessConfig
from agentic_os.witness.service.keyring import read_witness_keys
from support.witness.actors import Owner, new_witness, policy_of, serving

OWNER = Owner(seed=1).add(5)
LEDGER = OWNER.ledger()
REQUEST = build_bookmark(LEDGER, ordinal=5, old_size=0, binds=True)
COSIGNER = NoteSigner(
    kind="cosignature", name="public.example/w", private=SigningKey(ED25519, b"p" * 32)
)


def client(answer: Callable[[httpx.Request], httpx.Response]) -> WitnessClient:
    return WitnessClient("http://witness.test/prefix", transport=httpx.MockTransport(answer))


def always(status: int, content: bytes) -> Callable[[httpx.Request], httpx.Response]:
    return lambda _request: httpx.Response(status, content=content)


def failure(call: Callable[[], object]) -> WitnessError:
    with pytest.raises(WitnessError) as caught:
        call()
    return caught.value


def test_requests_go_below_the_submission_prefix() -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(f"{request.method} {request.url.path}")
        return httpx.Response(404)

    with client(answer) as asking:
        assert asking.receipt_key() is None
        assert asking.newest("00" * 32) is None
        failure(lambda: asking.bookmark(REQUEST))

    assert seen == [
        "GET /prefix/witness/pubkey/hash",
        f"GET /prefix/{'00' * 32}/checkpoint",
        "POST /prefix/witness/bookmark",
    ]


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b"{" * 100])
def test_answers_that_cannot_be_read_are_said_to_be_so(content: bytes) -> None:
    asking = client(always(200, content))
    calls: list[Callable[[], object]] = [
        lambda: asking.bookmark(REQUEST),
        asking.receipt_key,
        asking.min_cadence,
        lambda: asking.newest("00" * 32),
        lambda: asking.add_checkpoint(
            AddCheckpoint(old_size=0, consistency=(), head=LEDGER.head(5))
        ),
    ]

    for call in calls:
        assert failure(call).code == "WITNESS_ANSWER_INVALID"


def test_other_statuses_and_redirects_are_no_answers() -> None:
    for status in (302, 500):
        asking = client(always(status, b""))
        assert failure(asking.receipt_key).code == "WITNESS_ANSWER_INVALID"
        assert failure(lambda: asking.newest("00")).code == "WITNESS_ANSWER_INVALID"  # noqa: B023


def test_an_endless_answer_is_cut_off() -> None:
    asking = client(always(200, b"x" * (ANSWER_BYTES + 1)))

    assert failure(lambda: asking.bookmark(REQUEST)).code == "WITNESS_ANSWER_INVALID"


def test_the_networks_faults_have_one_code() -> None:
    def down(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    assert failure(client(down).receipt_key).code == "WITNESS_UNREACHABLE"


def test_a_refusal_keeps_its_words_printable_and_its_size() -> None:
    refusal = {"error": "no\x1b[31m", "code": "OLD_SIZE_STALE", "witnessed_size": 3}
    error = failure(lambda: client(always(409, json.dumps(refusal).encode())).bookmark(REQUEST))

    assert isinstance(error, RefusedAnswerError)
    assert error.exit_code == 3
    assert error.message == "no?[31m"
    assert (error.code, error.status, error.witnessed_size) == ("OLD_SIZE_STALE", 409, 3)


def test_a_refusal_in_any_other_form_is_one_too() -> None:
    error = failure(lambda: client(always(409, b"<html>")).bookmark(REQUEST))
    odd = failure(
        lambda: client(always(409, b'{"error":"","code":"not a code"}')).bookmark(REQUEST)
    )

    assert (error.code, error.message) == ("WITNESS_REFUSED", "the witness answered 409")
    assert odd.code == "WITNESS_REFUSED"


def test_a_key_that_disagrees_with_its_hash_is_refused(tmp_path: Path) -> None:
    keys = read_witness_keys(new_witness(tmp_path / "w"))

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/hash"):
            stated = {"witness_public_key_hash": "sha256:" + "0" * 64, "key_id": "x"}
            return httpx.Response(200, json=stated)
        return httpx.Response(200, content=keys.receipt_public.document)

    assert "disagree" in failure(client(answer).receipt_key).message


def test_a_key_without_manifest_is_served_so(tmp_path: Path) -> None:
    keys = read_witness_keys(new_witness(tmp_path / "w"))

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/hash"):
            stated = {
                "witness_public_key_hash": keys.receipt_public.sha256,
                "key_id": keys.receipt_public.key_id,
            }
            return httpx.Response(200, json=stated)
        if request.url.path.endswith("/manifest"):
            return httpx.Response(404)
        return httpx.Response(200, content=keys.receipt_public.document)

    served = client(answer).receipt_key()
    assert served
    assert served.manifest is None


class PublicWitness:
    """A C2SP witness and nothing else: it knows one log and keeps its last size."""

    def __init__(self) -> None:
        self.size = 0
        self.bodies: list[bytes] = []
        self.status = 200

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(404)
        self.bodies.append(request.content)
        read = read_add_checkpoint(request.content)
        if self.status != 200:
            return httpx.Response(self.status, content=b"no\n")
        if read.old_size != self.size:
            return httpx.Response(409, content=b"%d\n" % self.size)
        self.size = read.head.checkpoint.size
        line = sign_text(read.head.note.text, COSIGNER, time=int(time.time()))
        other = NoteSigner(
            kind="cosignature", name="other.example", private=SigningKey(ED25519, b"o" * 32)
        )
        extra = sign_text(read.head.note.text, other, time=int(time.time()))
        return httpx.Response(200, content=(extra.line + line.line).encode())


def public_rounds(public: PublicWitness, folder: Path) -> WitnessRounds:
    policy = parse_policy(f"witness p {COSIGNER.key.vkey} http://p.test\nquorum p\n".encode())
    return WitnessRounds(
        policy=policy,
        folder=folder,
        clock=time.time,
        connect=lambda url: WitnessClient(url, transport=httpx.MockTransport(public)),
    )


def test_a_public_witness_gets_the_ed25519_line_alone(tmp_path: Path) -> None:
    public = PublicWitness()
    owner = Owner(seed=1).add(5)
    asking = public_rounds(public, tmp_path)
    first = asking.witness(owner.ledger())
    second = asking.witness(owner.add(3).ledger())

    assert [item.outcomes[0].code for item in (first, second)] == ["ACKNOWLEDGED"] * 2
    assert first.is_quorum
    assert second.outcomes[0].receipt is None
    assert public.size == 8
    for body in public.bodies:
        assert body.count(b"\xe2\x80\x94") == 1
        assert len(body) < 1024
    assert public.bodies[1].startswith(b"old 5\n")


def test_a_public_witness_that_knows_more_or_less_is_judged(tmp_path: Path) -> None:
    owner = Owner(seed=1).add(5)
    public = PublicWitness()
    asking = public_rounds(public, tmp_path)
    asking.witness(owner.ledger())

    public.size = 3
    assert asking.witness(owner.add(3).ledger()).outcomes[0].code == "REFUSED_CONFLICT"
    public.size = 7
    assert asking.witness(owner.ledger()).outcomes[0].code == "ACKNOWLEDGED"
    public.size = 100
    assert asking.witness(owner.add(1).ledger()).outcomes[0].code == "REFUSED_CONFLICT"
    assert asking.policy.witnesses  # a size that nobody signed latches nothing
    public.size = owner.ledger().tree.size
    assert asking.witness(owner.ledger()).outcomes[0].code == "ACKNOWLEDGED"


@pytest.mark.parametrize(
    ("status", "code"),
    [(422, "REFUSED_CONFLICT"), (403, "WITNESS_REFUSED"), (500, "WITNESS_REFUSED")],
)
def test_a_public_witness_that_refuses(tmp_path: Path, status: int, code: str) -> None:
    public = PublicWitness()
    public.status = status
    result = public_rounds(public, tmp_path).witness(Owner(seed=1).add(5).ledger())

    assert result.outcomes[0].code == code


def test_a_public_witness_that_moves_meanwhile_is_asked_again_next_time(tmp_path: Path) -> None:
    class Moving(PublicWitness):
        def __call__(self, request: httpx.Request) -> httpx.Response:
            self.size += 1
            return super().__call__(request)

    result = public_rounds(Moving(), tmp_path).witness(Owner(seed=1).add(5).ledger())

    assert result.outcomes[0].code == "OLD_SIZE_STALE"
    assert not result.conflicts


def test_a_conflict_that_nothing_signed_shows_is_reported_and_not_latched(tmp_path: Path) -> None:
    keys = read_witness_keys(new_witness(tmp_path / "w"))
    stated = {
        "witness_public_key_hash": keys.receipt_public.sha256,
        "key_id": keys.receipt_public.key_id,
    }

    def answer(request: httpx.Request) -> httpx.Response:
        match request.url.path:
            case "/witness/pubkey/hash":
                return httpx.Response(200, json=stated)
            case "/witness/pubkey":
                return httpx.Response(200, content=keys.receipt_public.document)
            case "/witness/bookmark":
                return httpx.Response(409, json={"error": "something else"})
            case _:
                return httpx.Response(500)

    text = f"witness p {keys.cosigner.key.vkey} http://p.test\nquorum p\n"
    rounds = WitnessRounds(
        policy=parse_policy(text.encode()),
        folder=tmp_path / "c",
        clock=time.time,
        connect=lambda url: WitnessClient(url, transport=httpx.MockTransport(answer)),
    )
    result = rounds.witness(Owner(seed=1).add(5).ledger())

    assert [item.code for item in result.outcomes] == ["REFUSED_CONFLICT"]
    assert not result.conflicts


def test_a_witness_with_receipts_never_becomes_one_without(tmp_path: Path) -> None:
    ledger = Owner(seed=1).add(5).ledger()
    config = WitnessConfig(folder=new_witness(tmp_path / "w"), port=0)
    with serving(config) as running:
        policy = policy_of(running)
        WitnessRounds(policy=policy, folder=tmp_path / "c", clock=time.time).witness(ledger)
    bare = WitnessRounds(
        policy=policy,
        folder=tmp_path / "c",
        clock=time.time,
        connect=lambda url: WitnessClient(url, transport=httpx.MockTransport(PublicWitness())),
    )

    assert bare.witness(ledger).outcomes[0].code == "WITNESS_ANSWER_INVALID"


def test_a_witness_on_this_machine_is_never_asked_through_a_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with (
        serving(WitnessConfig(folder=new_witness(tmp_path / "w"))) as service,
        WitnessClient(service.url) as asking,
    ):
        assert asking.min_cadence() == 0
    with WitnessClient("http://witness.example/w1") as asking:
        assert failure(asking.min_cadence).code == "WITNESS_UNREACHABLE"


def dripping(folder: Path, *, head: bytes) -> Callable[[], tuple[str, Callable[[], None]]]:
    """A server that sends a head at once and then a byte now and then, for ever."""
    del folder

    def start() -> tuple[str, Callable[[], None]]:
        listening = socket.create_server(("127.0.0.1", 0))
        stop = threading.Event()

        def serve() -> None:
            line, _ = listening.accept()
            with line, suppress(OSError):
                line.sendall(head)
                while not stop.wait(0.05):
                    line.sendall(b"x")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()

        def end() -> None:
            stop.set()
            listening.close()
            thread.join(5)

        return f"http://127.0.0.1:{listening.getsockname()[1]}", end

    return start


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nx-drip: ",
        b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n",
    ],
)
def test_a_witness_that_drips_is_left_when_its_time_is_over(tmp_path: Path, head: bytes) -> None:
    url, end = dripping(tmp_path, head=head)()
    try:
        with WitnessClient(url, total_seconds=0.5) as asking:
            first = failure(asking.receipt_key)
            again = failure(asking.min_cadence)
    finally:
        end()

    assert (first.code, again.code) == ("WITNESS_UNREACHABLE", "WITNESS_UNREACHABLE")
    assert "within 0.5 seconds" in again.message


def test_a_replayed_note_does_not_say_where_a_witness_stands(tmp_path: Path) -> None:
    owner, days = Owner(seed=1).add(5), 200
    now = [time.time() - days * 86_400]
    config = WitnessConfig(folder=new_witness(tmp_path / "w"), port=0)
    with serving(config, clock=lambda: now[0]) as running:
        policy = policy_of(running)
        rounds = WitnessRounds(policy=policy, folder=tmp_path / "c", clock=lambda: now[0])
        assert rounds.witness(owner.ledger()).is_quorum
        old = httpx.get(f"{running.url}/{origin_digest(owner)}/checkpoint", trust_env=False)
        assert rounds.witness(owner.add(20).ledger()).is_quorum
    now[0] = time.time()
    rolled_back = owner.cut(5)

    def replaying(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, content=old.content)
        return httpx.Response(503)

    asked = WitnessRounds(
        policy=policy,
        folder=tmp_path / "nothing-remembered",
        clock=lambda: now[0],
        connect=lambda url: WitnessClient(url, transport=httpx.MockTransport(replaying)),
    )
    (standing,) = asked.ask_standing(rolled_back.ledger())
    assert (standing.code, standing.cosigned_at) == ("WITNESS_STALE", 0)

    with serving(config, clock=lambda: now[0]) as running:
        honest = replace(asked, policy=policy_of(running), connect=WitnessClient)
        (standing,) = honest.ask_standing(rolled_back.ledger())
        assert standing.code == "WITNESS_AHEAD"
        (standing,) = honest.ask_standing(owner.ledger())
        assert (standing.code, standing.cosigned_at) == ("LEVEL", int(now[0]))  # signed anew


def origin_digest(owner: Owner) -> str:
    return hashlib.sha256(owner.origin.encode()).hexdigest()


@pytest.mark.parametrize(
    "url", ["http://x:y/z", "http://[::1%/x", "https://\x00/x", "http://\udcff/x", "http://[", ""]
)
def test_what_is_no_address_is_not_reached(url: str) -> None:
    def ask() -> None:
        with WitnessClient(url) as asking:
            asking.min_cadence()

    assert failure(ask).code == "WITNESS_UNREACHABLE"


def test_a_packed_answer_is_not_unpacked() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers["accept-encoding"])
        return httpx.Response(200, headers={"content-encoding": "gzip"}, stream=Unread())

    class Unread(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            raise AssertionError("it is read")

    with client(answer) as asking:
        refused = failure(asking.min_cadence)
    assert (refused.code, asked) == ("WITNESS_ANSWER_INVALID", ["identity"])


def test_the_network_librarys_command_line_is_not_loaded() -> None:
    """It is a third of what an append loads."""
    script = (
        "import sys; from agentic_os.witness.client.http import WitnessClient;"
        "WitnessClient('http://127.0.0.1:1').close();"
        "print(sorted({'rich', 'click', 'httpx._main', 'httpx'} & sys.modules.keys()))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert shown.stdout.strip() == b"['httpx']"


def test_a_line_to_this_machine_trusts_no_authority_and_any_other_those_of_the_world() -> None:
    with WitnessClient("https://witness.test"), WitnessClient("http://127.0.0.1:1"):
        assert not http._nobody().get_ca_certs()
        assert http._nobody().verify_mode == ssl.CERT_REQUIRED
        assert http._everybody().get_ca_certs()
        assert http._everybody().verify_mode == ssl.CERT_REQUIRED
