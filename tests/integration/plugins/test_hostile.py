"""Two hundred packages and eighty guests that mean harm, through the door by which all come in."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentic_os.errors import PackageRefusedError, PluginError
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.installing import PluginHouse, install
from agentic_os.plugins.package.compressed import HEADER
from agentic_os.plugins.sandbox.limits import Limits
from agentic_os.plugins.sandbox.process import Worker, compile_module
from support.plugins import guests
from support.plugins.hosting import FakeWorld, allow, open_house, running
from support.plugins.packages import ECHO_ID, Recipe, repacked
from support.plugins.second_readers import header, padded

OK = b'{"jsonrpc":"2.0","id":"h1","result":{"status":"ok","operation_result":1}}'
TOP = f"{ECHO_ID}-0.1.0"
STEPS = 60


@pytest.fixture
def house(tmp_path: Path) -> Iterator[PluginHouse]:
    with (house := open_house(tmp_path)).state:
        yield house


def flipped(data: bytes, at: int, mask: int) -> bytes:
    return data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :]


def hostile_packages(packed: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield packages by what is wrong with them; none is the one that the person allowed."""
    tar = gzip.decompress(packed)
    for step in range(STEPS):
        at = step * len(packed) // STEPS
        yield f"cut at {at}", packed[:at]
        yield f"flipped at {at}", flipped(packed, at, 1 << step % 8)
        yield f"archive flipped at {step * 97}", repacked(flipped(tar, step * 97, 0x80 >> step % 8))
    heads = [at for at in range(0, len(tar) - 1024, 512) if tar[at + 257 : at + 262] == b"ustar"]
    members = [tar[a:b] for a, b in zip(heads, [*heads[1:], len(tar) - 1024], strict=True)]
    end = bytes(1024)
    for at, member in enumerate(members):
        others = members[:at] + members[at + 1 :]
        yield f"member {at} left out", repacked(b"".join(others) + end)
        if member != members[-1]:
            yield f"member {at} last", repacked(b"".join([*others, member]) + end)
        yield f"member {at} twice", repacked(b"".join([*members[: at + 1], *members[at:]]) + end)
    folder = header(f"{TOP}/", "", 0o755, 0, b"5")
    for name in ("../x", "/x", "con", "x.", "a/../b", "a//b", "é", "a\\b", ".git ", "README.MD"):
        yield (
            f"named {name}",
            repacked(folder + header(f"{TOP}/{name}", "", 0o644, 0, b"0") + tar[512:]),
        )
    for kind in b"1234567gxLK\0":
        odd = header(f"{TOP}/README.md", "", 0o644, 0, bytes([kind]))
        yield f"type {kind}", repacked(folder + odd + tar[512:])
    huge = header(f"{TOP}/README.md", "", 0o644, 0o77777777777, b"0")
    bomb = zlib.compressobj(9, zlib.DEFLATED, -15)
    yield "a bomb", HEADER + bomb.compress(folder + huge + bytes(2**24)) + bomb.flush() + bytes(8)
    yield "two archives", packed + packed
    yield "a tail", packed + b"\0"
    yield "a time", flipped(packed, 4, 1)
    yield "a name", flipped(packed, 3, 8)
    yield "no archive", repacked(b"")
    yield "an empty archive", repacked(end)
    yield "another top", repacked(tar.replace(TOP.encode(), TOP.encode()[:-1] + b"9"))
    many = b"".join(header(f"{TOP}/m{n:04}", "", 0o644, 0, b"0") for n in range(2_100))
    yield "two thousand members", repacked(folder + many + end)
    pax = padded(b"27 path=" + f"{TOP}/a\n".encode())
    yield (
        "a plain path extended",
        repacked(folder + header("PaxHeaders/aiiospkg", "", 0o644, 27, b"x") + pax + tar[512:]),
    )


def test_two_hundred_hostile_packages_leave_nothing(house: PluginHouse) -> None:
    recipe = Recipe(module=guests.saying(OK))
    allow(house, recipe)
    packed = recipe.packed()
    before = sorted(path for path in house.places.data.rglob("*") if "state.db" not in path.name)

    count = 0
    for what, data in hostile_packages(packed):
        with pytest.raises(PackageRefusedError) as caught:
            pytest.fail(f"{what}: {install(house, data)}")
        assert caught.value.code in ERRORS, what
        assert len(str(caught.value)) < 500, what
        count += 1

    assert count >= 200
    after = sorted(path for path in house.places.data.rglob("*") if "state.db" not in path.name)
    assert (after, house.state.installed()) == (before, ())
    install(house, packed)  # the one that was allowed still comes in


ANSWERS = [
    b"",
    b"\0",
    b"\xff\xfe",
    b"null",
    b"[]",
    b"1",
    b'"h1"',
    b"{}",
    b'{"id":"h1"',
    OK + b" x",
    OK + OK,
    OK.replace(b'"h1"', b'"h2"'),
    OK.replace(b'"h1"', b"1"),
    OK.replace(b'"h1"', b'["h1"]'),
    OK.replace(b'"status":"ok"', b'"status":"OK"'),
    OK.replace(b'"status":"ok"', b'"status":null'),
    OK.replace(b'"status":"ok",', b""),
    OK.replace(b'"result":{', b'"error":{},"result":{'),
    OK.replace(b'"result"', b'"Result"'),
    OK.replace(b'"jsonrpc"', b'"method"'),
    OK.replace(b'"operation_result":1', b'"external_receipt":{"success":true}'),
    OK.replace(b"1}", b"NaN}"),
    OK.replace(b"1}", b"Infinity}"),
    OK.replace(b"1}", b"9007199254740993}"),
    OK.replace(b"1}", b"-9007199254740993}"),
    OK.replace(b"1}", b"1" * 5_000 + b"}"),
    OK.replace(b"1}", b'"\\u0000"}'),
    OK.replace(b"1}", b'"\\ud800"}'),
    OK.replace(b"1}", b'"\n"}'),
    OK.replace(b"1}", b"\xc3}"),
    OK.replace(b"1}", b"[" * 200 + b"]" * 200 + b"}"),
    OK.replace(b"1}", b"[" * 25_000 + b"]" * 25_000 + b"}"),
    OK.replace(b"1}", b'{"a":' * 70 + b"1" + b"}" * 70 + b"}"),
    OK.replace(b"1}", b'{"a":1,"a":2}}'),
    OK.replace(b"1}", b"01}"),
    OK.replace(b"1}", b"+1}"),
    OK.replace(b"1}", b"1,}"),
    OK.replace(b'{"jsonrpc"', b'{"id":"h1","jsonrpc"'),
    b"\xef\xbb\xbf" + OK,
    OK.replace(b'"ok"', b"'ok'"),
    b"// no\n" + OK,
]


@pytest.mark.parametrize("text", ANSWERS, ids=range(len(ANSWERS)))
def test_a_hostile_answer_is_a_fault_with_its_name(house: PluginHouse, text: bytes) -> None:
    recipe = Recipe(module=guests.saying(text))
    allow(house, recipe)
    with running(house, recipe, FakeWorld()) as host, pytest.raises(PluginError) as caught:
        host.call(ECHO_ID, "core.echo", {})
    assert caught.value.code == "PLUGIN_FAULT"
    assert str(caught.value).split(":")[0] in {"json", "answer"}


def test_no_place_and_length_that_a_guest_names_leads_out_of_its_memory() -> None:
    limits = Limits()
    edge = 2**32 - 1
    places = [0, 131_064, 131_071, 131_072, 2**31, edge]
    sizes = [0, 1, 1024 * 1024, 1024 * 1024 + 1, edge]
    for start in places:
        for size in sizes:
            module = guests.answering_from(start, size)
            said = _asked(compile_module(module, limits), limits)
            if start + size <= 131_072 and size <= 1024 * 1024:
                assert said == size, (start, size)
            else:
                assert said in {"pointer", "size"}, (start, size)


def _asked(code: bytes, limits: Limits) -> int | str:
    """Return the length of an answer, or the fault's name."""
    with Worker(code, limits) as worker:
        try:
            return len(worker.call(b"{}", lambda _name, asked: asked))
        except PluginError as fault:
            return str(fault).split(":")[0]
