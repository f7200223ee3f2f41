"""Host calls: any text gets an answer, every denial says where and how (sections 15, 16)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.plugins.rights.broker import NEEDS, Broker, Receipt
from agentic_os.plugins.rights.capabilities import Rights
from agentic_os.plugins.rights.effects import Effects
from support.plugins.hosting import FakeWorld
from support.plugins.packages import request

ALL = frozenset(
    {"ring4.kv", "agent.propose", "fleet.read", "net.outbound:example.org:443", "voice.observe"}
)


def broker(
    world: FakeWorld | None = None, receipts: list[Receipt] | None = None, **rights: Any
) -> Broker:
    world = world or FakeWorld()
    kept: list[Receipt] = [] if receipts is None else receipts
    given = {
        "declared": ALL,
        "envelope": ALL,
        "variant": ALL,
        "reviewed": None,
        "granted": ALL,
        "tier": 1,
        **rights,
    }
    effects = Effects(plugin="p", kept={}, egress=world, fleet=world, proposals=world)
    return Broker(plugin="p", rights=lambda: Rights(**given), effects=effects, keep=kept.append)


def reply(made: Broker, text: bytes, name: str = "invoke-call") -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(made(name, text))
    return answer


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("invoke-call", b"no json", -32700),
        ("invoke-call", b'{"id":1,"id":2}', -32700),
        ("invoke-call", b"[]", -32600),
        ("invoke-call", b'{"jsonrpc":"2.0","method":"invoke.call"}', -32600),
        ("invoke-call", b'{"jsonrpc":"2.0","id":true,"method":"invoke.call"}', -32600),
        ("invoke-call", b'{"jsonrpc":"2.0","id":1,"method":"other"}', -32601),
        ("rpc-connect", request("kv.list"), -32601),
        ("invoke-call", b'{"jsonrpc":"2.0","id":1,"method":"invoke.call"}', -32602),
        ("invoke-call", request("kv.list", grant="x"), -32602),
        ("invoke-call", request("fs.read"), -32602),
    ],
)
def test_malformed_calls_have_a_code(name: str, text: bytes, code: int) -> None:
    assert reply(broker(), text, name)["error"]["code"] == code


@given(st.binary(max_size=120) | st.sampled_from(sorted(NEEDS)).map(request))
def test_any_text_gets_one_answer(text: bytes) -> None:
    answer = reply(broker(), text)

    assert ("result" in answer) != ("error" in answer)


@given(
    st.sampled_from(sorted(NEEDS)),
    st.dictionaries(
        st.sampled_from(["key", "value", "query", "limit", "observations", "url", "method", "x"]),
        st.none() | st.text(max_size=5) | st.integers() | st.lists(st.text(max_size=3)),
    ),
)
def test_any_arguments_give_a_result_or_a_reason(operation: str, arguments: Any) -> None:
    answer = reply(broker(), request(operation, arguments=arguments))

    if "result" in answer:
        assert answer["result"]["success"] is (answer["result"]["status"] == "ok")
        assert answer["result"]["success"] or answer["result"]["reasonCode"]


@pytest.mark.parametrize(
    ("rights", "reason", "at"),
    [
        ({"granted": frozenset()}, "POLICY_DENY", "capability_evaluation"),
        ({"envelope": frozenset()}, "CAPABILITY_NOT_IN_STATIC_ENVELOPE", "static_envelope"),
        ({"variant": frozenset()}, "CAPABILITY_NOT_IN_STATIC_ENVELOPE", "static_envelope"),
        ({"reviewed": frozenset()}, "capability_policy_denied", "reviewed_capabilities"),
        (
            {"declared": frozenset()},
            "OPERATION_NOT_ALLOWED_FOR_CAPABILITY",
            "operation_descriptor",
        ),
    ],
)
def test_a_denial_says_what_where_and_how(rights: Any, reason: str, at: str) -> None:
    receipts: list[Receipt] = []
    data = reply(broker(receipts=receipts, **rights), request("kv.list"))["error"]["data"]

    assert (data["reasonCode"], data["denied_at"], data["capability"]) == (reason, at, "ring4.kv")
    assert data["how"]
    assert [one.outcome for one in receipts] == [reason]


def test_an_unsigned_plugin_has_no_network_whatever_is_granted() -> None:
    world = FakeWorld()
    call = request("network.request", target="https://example.org/", arguments={"method": "POST"})

    data = reply(broker(world, tier=0), call)["error"]["data"]

    assert data["denied_at"] == "tier_ceiling"
    assert world.asked == []


@pytest.mark.parametrize(
    "target",
    [
        "https://example.org:8443/",
        "https://other.org/",
        "https://user@example.org/",
        "https://example.org.evil.org/",
        "https://[::1]/",
        "https://",
        "file:///etc/passwd",
        "https://ex\u00e4mple.org/",
    ],
)
def test_another_target_than_the_granted_one_is_never_asked(target: str) -> None:
    world = FakeWorld()

    answer = reply(broker(world), request("web.fetch", target=target))

    assert "error" in answer or answer["result"]["reasonCode"] == "OPERATION_TARGET_INVALID"
    assert world.asked == []


def test_sixteen_requests_a_minute() -> None:
    from agentic_os.plugins.rights.ports import Incoming

    world = FakeWorld(answers={"example.org/": Incoming(status=200, headers={}, body=b"\xff")})
    made = broker(world)
    outcomes = [
        reply(made, request("web.fetch", target="https://example.org/"))["result"]
        for _ in range(17)
    ]

    assert outcomes[0]["operation_result"]["body_base64"] == "/w=="
    assert [one["status"] for one in outcomes] == ["ok"] * 16 + ["failed"]


def test_keys_values_and_their_bounds() -> None:
    made = broker()

    def put(key: str, value: str) -> str:
        done = reply(made, request("kv.put", arguments={"key": key, "value": value}))["result"]
        return str(done.get("reasonCode", "ok"))

    assert put("k" * 257, "") == "OPERATION_ARGUMENT_INVALID"
    assert put("a", "x" * 65_537) == "KV_VALUE_TOO_LARGE"
    assert put("a", "x" * 65_536) == "ok"
    assert [put(f"b{number}", "x" * 65_000) for number in range(15)] == ["ok"] * 15
    assert put("c", "x" * 65_000) == "KV_QUOTA_EXCEEDED"
    many = broker()
    for number in range(256):
        reply(many, request("kv.put", arguments={"key": str(number), "value": ""}))
    last = reply(many, request("kv.put", arguments={"key": "more", "value": ""}))["result"]
    assert last["reasonCode"] == "KV_QUOTA_EXCEEDED"
    again = reply(many, request("kv.put", arguments={"key": "1", "value": "new"}))["result"]
    assert again["status"] == "ok"


def test_fleet_answers_have_a_size() -> None:
    hits = [{"passage": "words " + "x" * 3_000, "project": "p", "name": str(n)} for n in range(10)]
    answer = reply(
        broker(FakeWorld(hits=hits)), request("fleet.search", arguments={"query": "words"})
    )

    assert 1 <= len(answer["result"]["operation_result"]["hits"]) < 10
