import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from agentic_os.errors import ModelError
from agentic_os.language_models.choice import HttpChoice, provider_for
from agentic_os.language_models.http import HttpProvider
from agentic_os.language_models.interface import MAX_REPLY_BYTES, MAX_REPLY_CHARS, Prompt
from support.process.loopback import Loopback, loopback

PROMPT = Prompt(system="be brief", user="what is it?")
PATH = "/v1/chat/completions"


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback() as running:
        answer(running, said("It is [1]."))
        yield running


def said(content: object, **choice: object) -> dict[str, object]:
    return {"choices": [{"message": {"role": "assistant", "content": content}, **choice}]}


def answer(server: Loopback, body: object, status: int = 200, **headers: str) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    server.answers[PATH] = (status, data, headers)


def provider(server: Loopback, **changes: Any) -> HttpProvider:
    made = provider_for(HttpChoice(url=f"{server.url}/v1", model="small"), {})
    assert isinstance(made, HttpProvider)
    return replace(made, **changes)


def refused(server: Loopback, **changes: Any) -> ModelError:
    with pytest.raises(ModelError) as fault:
        provider(server, **changes).complete(PROMPT)
    return fault.value


def test_one_request_and_one_answer(server: Loopback) -> None:
    reply = provider(server).complete(PROMPT)
    assert (reply.text, reply.cut) == ("It is [1].", False)
    ((headers, body),) = server.posted
    assert server.asked == [PATH]
    assert json.loads(body) == {
        "model": "small",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "what is it?"},
        ],
        "temperature": 0,
        "stream": False,
    }
    assert "authorization" not in headers


def test_the_key_is_sent_and_no_proxy_is_asked(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    provider(server, key="sesame").complete(PROMPT)
    assert server.posted[0][0]["authorization"] == "Bearer sesame"


def test_parts_are_joined(server: Loopback) -> None:
    parts = [{"type": "text", "text": "one "}, {"type": "image"}, 3, {"text": "two"}]
    answer(server, said(parts))
    assert provider(server).complete(PROMPT).text == "one two"


def test_an_answer_that_the_model_cut_says_so(server: Loopback) -> None:
    answer(server, said("half", finish_reason="length"))
    assert provider(server).complete(PROMPT).cut


def test_a_long_answer_is_cut(server: Loopback) -> None:
    answer(server, said("x" * (MAX_REPLY_CHARS + 1)))
    reply = provider(server).complete(PROMPT)
    assert (len(reply.text), reply.cut) == (MAX_REPLY_CHARS, True)


def test_an_endless_answer_is_refused(server: Loopback) -> None:
    answer(server, b"x" * (MAX_REPLY_BYTES + 1))
    assert refused(server).code == "MODEL_ANSWER_INVALID"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"[" * 100_000,
        b"[]",
        b"{}",
        {"choices": []},
        {"choices": {}},
        {"choices": [1]},
        {"choices": [{}]},
        {"choices": [{"message": 1}]},
        said(None),
        said(7),
        said(" \n"),
        said([]),
    ],
)
def test_answers_that_make_no_sense_are_refused(server: Loopback, body: object) -> None:
    answer(server, body)
    assert refused(server).code == "MODEL_ANSWER_INVALID"


@pytest.mark.parametrize(
    ("status", "hint"), [(401, "key"), (403, "key"), (404, "model's name"), (500, "model's name")]
)
def test_a_refusal_is_told_with_the_way_out(server: Loopback, status: int, hint: str) -> None:
    answer(server, b"secret words of the server", status)
    fault = refused(server)
    assert (fault.code, str(status) in fault.message) == ("MODEL_REFUSED", True)
    assert hint in fault.hint
    assert "secret" not in fault.message


def test_a_redirect_is_not_followed(server: Loopback) -> None:
    answer(server, b"", 307, location=f"{server.url}/elsewhere")
    assert refused(server).code == "MODEL_REFUSED"
    assert server.asked == [PATH]


def test_a_packed_answer_is_not_unpacked(server: Loopback) -> None:
    import gzip

    bomb = gzip.compress(json.dumps(said("x" * 10_000_000)).encode())
    answer(server, bomb, 200, **{"content-encoding": "gzip"})
    assert refused(server).code == "MODEL_ANSWER_INVALID"


def test_a_server_that_waits_too_long(server: Loopback) -> None:
    server.delay_seconds = 0.5
    fault = refused(server, limit_seconds=0.05)
    assert fault.code == "MODEL_TIMED_OUT"


def test_a_server_that_drips_is_left(server: Loopback) -> None:
    import time
    from unittest.mock import patch

    moments = iter([0.0, 1_000.0])
    with patch.object(time, "monotonic", lambda: next(moments, 1_000.0)):
        pieces = provider(server)._pieces(_Dripping())  # type: ignore[arg-type]
        with pytest.raises(ModelError) as fault:
            list(pieces)
    assert fault.value.code == "MODEL_TIMED_OUT"


class _Dripping:
    def iter_raw(self) -> Iterator[bytes]:
        yield b"a"


def test_a_connection_that_breaks(server: Loopback) -> None:
    answer(server, b"{", 200, **{"content-length": "100"})
    assert refused(server).code == "MODEL_UNREACHABLE"


def test_a_server_that_is_not_there() -> None:
    lost = provider_for(HttpChoice(url="http://127.0.0.1:1/v1", model="small"), {})
    with pytest.raises(ModelError, match="small at 127") as fault:
        lost.complete(PROMPT)
    assert (fault.value.code, fault.value.hint != "") == ("MODEL_UNREACHABLE", True)
