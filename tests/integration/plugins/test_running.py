"""Plugins that run: real packages, real workers, guests that behave and guests that do not."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentic_os.errors import AgenticOSError, PackageRefusedError, PluginError
from agentic_os.plugins.installing import PluginHouse, install, remove
from agentic_os.plugins.keeping.house import keep_file
from agentic_os.plugins.rights.ports import Incoming
from agentic_os.plugins.running import PluginHost
from agentic_os.plugins.sandbox.limits import Limits
from agentic_os.plugins.sandbox.process import Worker, compile_module
from support.plugins import guests
from support.plugins.hosting import (
    FakeWorld,
    allow,
    grant_text,
    open_house,
    running,
    trust,
    write_policy,
)
from support.plugins.packages import ECHO_ID, Recipe, request
from support.plugins.signers import Hands

OK = b'{"jsonrpc":"2.0","id":"h1","result":{"status":"ok","operation_result":[1,"two"]}}'


@pytest.fixture
def house(tmp_path: Path) -> Iterator[PluginHouse]:
    with (house := open_house(tmp_path)).state:
        yield house


@pytest.fixture
def world() -> FakeWorld:
    return FakeWorld()


def asking(*requests: bytes, capabilities: tuple[str, ...] = ()) -> Recipe:
    return Recipe(module=guests.caller(requests), capabilities=capabilities)


def called(
    house: PluginHouse, recipe: Recipe, world: FakeWorld, limits: Limits | None = None
) -> Any:
    with running(house, recipe, world, limits) as host:
        return host.call(ECHO_ID, "core.echo", {})


def fault_of(house: PluginHouse, recipe: Recipe, limits: Limits | None = None) -> str:
    allow(house, recipe)
    with pytest.raises(PluginError) as caught:
        called(house, recipe, FakeWorld(), limits)
    assert caught.value.code in {"PLUGIN_FAULT", "PLUGIN_MODULE_REFUSED"}
    return caught.value.message


def test_a_call_gives_the_guests_result(house: PluginHouse, world: FakeWorld) -> None:
    recipe = Recipe(module=guests.saying(OK))
    allow(house, recipe)

    answer = called(house, recipe, world)

    assert (answer.status, answer.result) == ("ok", [1, "two"])


def test_a_guest_gets_the_text_and_gives_it_back() -> None:
    limits = Limits()
    with Worker(compile_module(guests.echo(), limits), limits) as worker:
        for text in (b'{"a":1}', b"", b"x" * 1024 * 1024):
            assert worker.call(text, lambda _name, asked: asked) == text


@pytest.mark.parametrize(
    ("module", "which"),
    [
        (guests.loop, "fuel"),
        (guests.fill, "fuel"),
        (guests.trap, "trap"),
        (guests.recursing, "stack"),
        (guests.bad_pointer, "pointer"),
        (guests.oversized, "size"),
        (guests.wrong_version, "version"),
        (guests.looping_start, "fuel"),
        (guests.wasi, "imports"),
        (guests.large_minimum, "memory"),
        (lambda: guests.assembled("(module)"), "exports"),
        (lambda: guests.saying(b"no json"), "json"),
        (lambda: guests.saying(b'{"id":"h1","result":{"status":"ok"},"error":{}}'), "answer"),
        (lambda: guests.saying(b'{"id":"h1"}'), "answer"),
        (lambda: guests.saying(b'{"id":"h2","result":{"status":"ok"}}'), "answer"),
        (lambda: guests.saying(b'{"id":"h1","method":"x","result":{"status":"ok"}}'), "answer"),
        (
            lambda: guests.saying(b'{"id":"h1","result":{"status":"ok","external_receipt":{}}}'),
            "answer",
        ),
        (lambda: guests.saying(b'{"id":"h1","id":"h1","result":{"status":"ok"}}'), "json"),
        (lambda: guests.saying(b'{"id":"h1","result":{"status":"ok","x":1e999}}'), ""),
        (lambda: guests.flood(65), "host_calls"),
    ],
)
def test_what_a_guest_does_wrong_is_named(
    house: PluginHouse, module: Callable[[], bytes], which: str
) -> None:
    recipe = Recipe(module=module())
    if not which:
        allow(house, recipe)
        assert called(house, recipe, FakeWorld()).status == "ok"
        return

    assert which in fault_of(house, recipe)


def test_a_slow_guest_is_stopped_by_the_clock(house: PluginHouse) -> None:
    limits = Limits(fuel=2**62, wall_seconds=0.2)

    assert "wall" in fault_of(house, Recipe(module=guests.loop()), limits)


def test_memory_stops_at_its_bound() -> None:
    limits = Limits()
    with Worker(compile_module(guests.memory_hog(), limits), limits) as worker:
        pages = int.from_bytes(worker.call(b"{}", lambda _name, asked: asked), "little")

    assert pages == 1_024


def test_a_worker_that_is_killed_is_a_fault_and_the_next_call_works(
    house: PluginHouse, world: FakeWorld
) -> None:
    recipe = Recipe(module=guests.caller([request("kv.list")]), capabilities=("ring4.kv",))
    allow(house, recipe, "ring4.kv")
    with running(house, recipe, world) as host:
        host.call(ECHO_ID, "core.echo", {})
        os.kill(host._running[ECHO_ID].worker.pid, signal.SIGKILL)

        with pytest.raises(PluginError, match="exited"):
            host.call(ECHO_ID, "core.echo", {})

        assert host.call(ECHO_ID, "core.echo", {}).status == "ok"


def test_a_worker_has_no_network_no_files_and_no_environment() -> None:
    limits = Limits()
    with Worker(compile_module(guests.echo(), limits), limits) as worker:
        worker.call(b"{}", lambda _name, asked: asked)
        process = Path("/proc") / str(worker.pid)
        bounds = (process / "limits").read_text()
        environment = (process / "environ").read_bytes().split(b"\0")

    assert "Max file size             0 " in bounds
    assert "Max open files            16 " in bounds
    assert "Max core file size        0 " in bounds
    assert {one.partition(b"=")[0] for one in environment if one} <= {
        b"AGENTIC_OS_CHILD",
        b"LC_CTYPE",
    }


def test_three_faults_switch_a_plugin_off_until_it_is_enabled(
    house: PluginHouse, world: FakeWorld
) -> None:
    recipe = Recipe(module=guests.trap())
    allow(house, recipe)
    with running(house, recipe, world) as host:
        for _ in range(3):
            with pytest.raises(PluginError, match="trap"):
                host.call(ECHO_ID, "core.echo", {})

        with pytest.raises(PluginError) as caught:
            host.call(ECHO_ID, "core.echo", {})
        assert caught.value.code == "PLUGIN_DISABLED"

        house.state.enable(ECHO_ID)
        with pytest.raises(PluginError, match="trap"):
            host.call(ECHO_ID, "core.echo", {})


def test_an_artefact_over_the_ceiling_is_refused(house: PluginHouse, world: FakeWorld) -> None:
    recipe = Recipe(module=guests.echo() + b"\0" * 100)
    allow(house, recipe)

    with pytest.raises(PackageRefusedError) as caught:
        called(house, recipe, world, Limits(module_bytes=64))

    assert caught.value.reason == "CEILING_EXCEEDED"


def test_endless_compiling_is_stopped() -> None:
    functions = "".join(
        f"(func {'(drop (i32.add (i32.const 1) (i32.const 2)))' * 400})" for _ in range(3_000)
    )
    module = guests.assembled(f"(module {functions})")

    with pytest.raises(PluginError) as caught:
        compile_module(module, Limits(compile_seconds=1, compile_bytes=400 * 1024 * 1024))

    assert caught.value.code == "PLUGIN_MODULE_REFUSED"


def test_one_guest_is_found_in_a_component_and_two_are_refused(
    house: PluginHouse, world: FakeWorld
) -> None:
    guest, other = guests.saying(OK), guests.assembled("(module)")
    recipe = Recipe(module=guests.component((1, other), (1, guest)))
    allow(house, recipe)
    assert called(house, recipe, world).status == "ok"

    for wrong in (
        guests.component((1, guest), (1, guest)),
        guests.component((1, other)),
        guests.component((4, guest)),
        guests.component((1, guest))[:-20],
        b"not wasm",
    ):
        assert "refused" in fault_of(house, Recipe(module=wrong))


def errors(replies: list[dict[str, Any]]) -> list[str]:
    return [reply["error"].get("data", {}).get("reasonCode", "") for reply in replies]


def test_without_a_grant_a_guest_is_told_so_and_can_still_answer(
    house: PluginHouse, world: FakeWorld
) -> None:
    recipe = asking(
        request("kv.get", arguments={"key": "a"}),
        request("kv.get", arguments="no object"),
        capabilities=("ring4.kv",),
    )
    allow(house, recipe)

    answer = called(house, recipe, world)

    assert answer.status == "ok"
    assert [reply["error"]["code"] for reply in answer.result] == [-32000, -32000]
    assert errors(answer.result) == ["POLICY_DENY", "POLICY_DENY"]
    assert answer.result[0]["error"]["data"]["denied_at"] == "capability_evaluation"
    assert "plugins grant" in answer.result[0]["error"]["data"]["how"]


def test_a_grant_outside_the_envelope_and_a_tier_too_low_are_denied(
    house: PluginHouse, world: FakeWorld
) -> None:
    outside = asking(request("kv.list"))
    allow(house, outside, "ring4.kv")
    assert errors(called(house, outside, world).result) == ["CAPABILITY_NOT_IN_STATIC_ENVELOPE"]

    net = "net.outbound:example.org:443"
    unsigned = asking(request("web.fetch", target="https://example.org/"), capabilities=(net,))
    allow(house, unsigned, net)
    assert errors(called(house, unsigned, world).result) == ["capability_policy_denied"]
    assert not world.asked


def test_keys_and_values_have_their_quota(house: PluginHouse, world: FakeWorld) -> None:
    def put(key: str, value: str) -> bytes:
        return request("kv.put", arguments={"key": key, "value": value})

    recipe = asking(
        put("a", "b"),
        request("kv.get", arguments={"key": "a"}),
        request("kv.get", arguments={"key": "nobody"}),
        request("kv.list", arguments={}),
        request("kv.delete", arguments={"key": "a"}),
        put("", "x"),
        request("kv.explode"),
        request("kv.get", grant="x"),
        capabilities=("ring4.kv",),
    )
    allow(house, recipe, "ring4.kv")

    replies = called(house, recipe, world).result

    assert replies[1]["result"]["operation_result"]["value"] == "b"
    assert replies[1]["result"]["external_receipt"]["host_authored"] is True
    assert replies[2]["result"]["reasonCode"] == "KV_NOT_FOUND"
    assert replies[3]["result"]["operation_result"]["keys"] == ["a"]
    assert replies[4]["result"]["success"] is True
    assert replies[5]["result"]["reasonCode"] == "OPERATION_ARGUMENT_INVALID"
    assert [replies[6]["error"]["code"], replies[7]["error"]["code"]] == [-32602, -32602]
    outcomes = [one.outcome for one in house.state.receipts(ECHO_ID, 10)]
    assert outcomes.count("ok") == 4


def signed(house: PluginHouse, hands: Hands, recipe: Recipe, *granted: str) -> Recipe:
    write_policy(house, trust(house, hands.certifier) + grant_text(recipe, *granted))
    return Recipe(
        module=recipe.module, capabilities=recipe.capabilities, trust=hands.published(recipe)
    )


def test_a_signed_plugin_keeps_values_and_reaches_its_one_host(
    house: PluginHouse, world: FakeWorld
) -> None:
    net = "net.outbound:example.org:443"
    world.answers["example.org/releases"] = Incoming(status=200, headers={}, body=b"v1.2.3")
    plain = asking(
        request("kv.put", arguments={"key": "seen", "value": "v1"}),
        request("web.fetch", target="https://example.org/releases"),
        request("web.fetch", target="https://other.org/"),
        request("web.fetch", target="http://example.org/"),
        request("web.fetch", target="https://example.org/", arguments={"cookies": "x"}),
        request("web.fetch", target="https://example.org/", arguments={"timeout_ms": 60_001}),
        capabilities=("ring4.kv", net),
    )
    recipe = signed(house, Hands(), plain, "ring4.kv", net)

    replies = called(house, recipe, world).result

    assert replies[1]["result"]["operation_result"]["body"] == "v1.2.3"
    assert errors(replies[2:3]) == ["POLICY_DENY"]
    assert replies[3]["result"]["reasonCode"] == "OPERATION_TARGET_INVALID"
    assert replies[4]["result"]["reasonCode"] == "NET_UNKNOWN_ARGUMENT"
    assert replies[5]["result"]["reasonCode"] == "NET_TIMEOUT_LIMIT_EXCEEDED"
    assert dict(house.state.values_of(ECHO_ID)) == {"seen": "v1"}


def test_a_revoked_key_and_a_withdrawn_grant_count_between_two_calls(
    house: PluginHouse, world: FakeWorld
) -> None:
    hands = Hands()
    plain = asking(request("kv.list"), capabilities=("ring4.kv",))
    recipe = signed(house, hands, plain, "ring4.kv")
    with running(house, recipe, world) as host:
        assert host.call(ECHO_ID, "core.echo", {}).result[0]["result"]["status"] == "ok"

        write_policy(house, trust(house, hands.certifier))
        assert errors(host.call(ECHO_ID, "core.echo", {}).result) == ["POLICY_DENY"]

        certificate = json.loads(recipe.trust["publisher.cert"])["payload_sha256"]
        keep_file(
            house.places.status(hands.certifier.envelope),
            hands.certifier.status(2, [("plugin.publisher_certificate", certificate)]),
        )
        with pytest.raises(PackageRefusedError) as caught:
            host.call(ECHO_ID, "core.echo", {})
        assert caught.value.reason == "TRUST_PAYLOAD_REVOKED"


def test_a_grant_withdrawn_within_a_call_denies_the_rest(
    house: PluginHouse, world: FakeWorld
) -> None:
    recipe = asking(
        request("fleet.search", arguments={"query": "words"}),
        request("fleet.search", arguments={"query": "words"}),
        capabilities=("fleet.read",),
    )
    allow(house, recipe, "fleet.read")

    class Withdrawing(FakeWorld):
        def search(self, query: str, limit: int) -> Any:
            allow(house, recipe)
            return super().search(query, limit)

    world = Withdrawing(hits=[{"passage": "words", "project": "p", "name": "n"}])
    first, second = called(house, recipe, world).result

    assert first["result"]["operation_result"]["hits"][0]["project"] == "p"
    assert second["error"]["data"]["reasonCode"] == "POLICY_DENY"


def test_proposals_go_to_the_queue_and_nowhere_else(house: PluginHouse, world: FakeWorld) -> None:
    recipe = asking(
        request("agent.observe", arguments={"observations": ["a new release"]}),
        request("agent.observe", arguments={"observations": ["x" * 2_401]}),
        request("agent.observe", arguments={"observations": ["x"] * 17}),
        capabilities=("agent.propose",),
    )
    allow(house, recipe, "agent.propose")

    replies = called(house, recipe, world).result

    assert world.queue == [(ECHO_ID, "a new release")]
    assert [one["result"]["reasonCode"] for one in replies[1:]] == [
        "OPERATION_ARGUMENT_INVALID"
    ] * 2


def test_arguments_are_checked_and_the_hosts_own_cannot_be_forged(
    house: PluginHouse, world: FakeWorld
) -> None:
    operation = {
        **Recipe().operation,
        "input": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string", "pattern": "^[a-z]+$"}},
            "additionalProperties": False,
        },
    }
    recipe = Recipe(module=guests.saying(OK), operation=operation)
    allow(house, recipe)
    with running(house, recipe, world) as host:
        assert host.call(ECHO_ID, "core.echo", {"name": "abc", "_host_now_ms": 1}).status == "ok"
        for wrong in ({}, {"name": 5}, {"name": "A"}, {"name": "a", "more": 1}):
            with pytest.raises(PluginError) as caught:
                host.call(ECHO_ID, "core.echo", wrong)
            assert caught.value.code == "PLUGIN_ARGUMENTS_INVALID"


def test_two_plugins_do_not_see_each_others_values(house: PluginHouse, world: FakeWorld) -> None:
    hands = Hands()
    put = request("kv.put", arguments={"key": "k", "value": "secret"})
    get = request("kv.get", arguments={"key": "k"})
    one = Recipe(module=guests.caller([put]), capabilities=("ring4.kv",), plugin="org.one")
    two = Recipe(module=guests.caller([get]), capabilities=("ring4.kv",), plugin="org.two")
    write_policy(
        house,
        trust(house, hands.certifier) + grant_text(one, "ring4.kv") + grant_text(two, "ring4.kv"),
    )
    for recipe in (one, two):
        recipe.trust = hands.published(recipe)
        install(house, recipe.packed())
    with running(house, one, world) as host:
        host.call("org.one", "core.echo", {})
        reply = host.call("org.two", "core.echo", {}).result[0]

    assert reply["result"]["reasonCode"] == "KV_NOT_FOUND"


def test_a_larger_envelope_loses_its_grants_and_a_smaller_one_keeps_them(
    house: PluginHouse,
) -> None:
    hands = Hands()

    def release(version: str, *capabilities: str) -> Recipe:
        recipe = Recipe(
            module=guests.caller([request("kv.list")]), version=version, capabilities=capabilities
        )
        recipe.trust = hands.published(recipe)
        return recipe

    first = release("1.0.0", "ring4.kv", "agent.propose")
    write_policy(house, trust(house, hands.certifier) + grant_text(first, "ring4.kv"))
    install(house, first.packed())
    smaller, larger = release("1.1.0", "ring4.kv"), release("1.2.0", "ring4.kv", "fleet.read")

    install(house, smaller.packed())
    assert house.policy.read().granted(ECHO_ID, smaller.package_hash) == {"ring4.kv"}
    install(house, larger.packed())
    assert house.policy.read().granted(ECHO_ID, larger.package_hash) == frozenset()


def test_a_refused_package_leaves_no_byte_behind(house: PluginHouse) -> None:
    before = sorted(path for path in house.places.data.rglob("*") if "state.db" not in path.name)

    with pytest.raises(PackageRefusedError):
        install(house, Recipe().packed())

    after = sorted(path for path in house.places.data.rglob("*") if "state.db" not in path.name)
    assert after == before
    assert house.state.installed() == ()


def test_removing_takes_package_values_and_grants(house: PluginHouse, world: FakeWorld) -> None:
    recipe = asking(request("kv.list"), capabilities=("ring4.kv",))
    allow(house, recipe, "ring4.kv")
    called(house, recipe, world)

    remove(house, ECHO_ID)

    assert not list(house.places.packages.iterdir())
    assert house.policy.read().grant == ()
    with pytest.raises(PluginError) as caught:
        PluginHost(house, None).call(ECHO_ID, "core.echo", {})  # type: ignore[arg-type]
    assert caught.value.code == "PLUGIN_UNKNOWN"


def test_a_package_that_was_changed_on_disk_is_not_started(
    house: PluginHouse, world: FakeWorld
) -> None:
    recipe = Recipe(module=guests.saying(OK))
    allow(house, recipe)
    with running(house, recipe, world) as host:
        path = house.places.package(recipe.package_hash)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)

        with pytest.raises(PackageRefusedError):
            host.call(ECHO_ID, "core.echo", {})


def test_compiled_code_that_is_not_ours_is_never_loaded(
    house: PluginHouse, world: FakeWorld
) -> None:
    recipe = Recipe(module=guests.saying(OK))
    allow(house, recipe)
    called(house, recipe, world)
    entry = next(path for path in house.places.cache.iterdir() if path.name != "key")
    good = entry.read_bytes()

    entry.write_bytes(good[:200] + b"\xff" * 64 + good[264:])

    assert called(house, recipe, world).status == "ok"
    assert entry.read_bytes()[:200][32:] == good[32:200]


def test_calls_from_two_threads_take_turns(house: PluginHouse, world: FakeWorld) -> None:
    recipe = Recipe(module=guests.saying(OK))
    allow(house, recipe)
    seen: list[str] = []
    with running(house, recipe, world) as host:

        def ask() -> None:
            for _ in range(20):
                try:
                    seen.append(host.call(ECHO_ID, "core.echo", {}).status)
                except AgenticOSError as fault:
                    seen.append(fault.code)

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)

    assert seen == ["ok"] * 60


def test_a_call_after_the_worker_idled_still_has_its_whole_time(
    house: PluginHouse, world: FakeWorld
) -> None:
    recipe = Recipe(module=guests.saying(OK))
    allow(house, recipe)
    with running(house, recipe, world, Limits(wall_seconds=0.3)) as host:
        host.call(ECHO_ID, "core.echo", {})
        time.sleep(0.8)
        assert host.call(ECHO_ID, "core.echo", {}).status == "ok"
