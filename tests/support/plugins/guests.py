"""Guests in WebAssembly text: the names are those that the plugin format tests with."""

from collections.abc import Sequence

import wasmtime

ALLOCATOR = """
 (global $heap (mut i32) (i32.const 65536))
 (func $grow (param $n i32) (result i32)
   (local $at i32)
   (local.set $at (global.get $heap))
   (global.set $heap (i32.add (global.get $heap) (local.get $n)))
   (block $enough
     (br_if $enough (i32.le_u (global.get $heap) (i32.mul (memory.size) (i32.const 65536))))
     (drop (memory.grow (i32.const 64))))
   (local.get $at))
 (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (call $grow (local.get 3)))
"""
REST = """
 (func (export "aiii-plugin-bbb-protocol-version") (result i32) (i32.const {version}))
 (func (export "aiii-plugin-smoke") (result i32) (i32.const 1))
"""
ECHO_BODY = """
   (i32.store (i32.const 16) (local.get $p)) (i32.store (i32.const 20) (local.get $n))
   (i32.const 16)
"""


def module(
    body: str, *, before: str = "", memory: str = "2", version: int = 2, after: str = ""
) -> bytes:
    """Assemble a guest whose ``plugin-invoke`` has a body of its own."""
    return assembled(
        f"""(module {before}
 (memory (export "memory") {memory})
 {ALLOCATOR}
 (func (export "plugin-invoke") (param $p i32) (param $n i32) (result i32) {body})
 {REST.format(version=version)} {after})"""
    )


def assembled(text: str) -> bytes:
    """Assemble WebAssembly text."""
    return bytes(wasmtime.wat2wasm(text))


def echo() -> bytes:
    """Answer with the very text that was passed."""
    return module(ECHO_BODY)


def saying(text: bytes) -> bytes:
    """Answer with a fixed text."""
    return module(
        f"""
   (i32.store (i32.const 16) (i32.const 1024))
   (i32.store (i32.const 20) (i32.const {len(text)}))
   (i32.const 16)""",
        after=f'(data (i32.const 1024) "{_escaped(text)}")',
    )


ANSWER_BEFORE = b'{"jsonrpc":"2.0","id":"h1","result":{"status":"ok","operation_result":['
ANSWER_AFTER = b"]}}"


def caller(requests: Sequence[bytes]) -> bytes:
    """Ask the host each of some texts, and answer with the list of its replies."""
    steps, data = [], []
    at = 2048
    for number, text in enumerate(requests):
        comma = "" if number == 0 else "(call $add (i32.const 1200) (i32.const 1))"
        steps.append(
            f"""(call $ask (i32.const {at}) (i32.const {len(text)}) (i32.const 32)) {comma}
   (call $add (i32.load (i32.const 32)) (i32.load (i32.const 36)))"""
        )
        data.append(f'(data (i32.const {at}) "{_escaped(text)}")')
        at += len(text) + 8
    assert at < 65_536
    return module(
        f"""
   (global.set $out (call $grow (i32.const 262144)))
   (global.set $size (i32.const 0))
   (call $add (i32.const 1024) (i32.const {len(ANSWER_BEFORE)}))
   {" ".join(steps)}
   (call $add (i32.const 1280) (i32.const {len(ANSWER_AFTER)}))
   (i32.store (i32.const 16) (global.get $out)) (i32.store (i32.const 20) (global.get $size))
   (i32.const 16)""",
        before='(import "aiii:bbb/bbb" "invoke-call" (func $ask (param i32 i32 i32)))',
        memory="16",
        after=f"""
 (global $out (mut i32) (i32.const 0)) (global $size (mut i32) (i32.const 0))
 (func $add (param $at i32) (param $n i32)
   (memory.copy (i32.add (global.get $out) (global.get $size)) (local.get $at) (local.get $n))
   (global.set $size (i32.add (global.get $size) (local.get $n))))
 (data (i32.const 1024) "{_escaped(ANSWER_BEFORE)}")
 (data (i32.const 1280) "{_escaped(ANSWER_AFTER)}") (data (i32.const 1200) ",")
 {" ".join(data)}""",
    )


def flood(calls: int) -> bytes:
    """Ask the host the same thing many times in one call."""
    text = b'{"jsonrpc":"2.0","id":1,"method":"invoke.call","params":{"operation":"kv.list"}}'
    return module(
        f"""(local $i i32)
   (loop $again
     (call $ask (i32.const 1024) (i32.const {len(text)}) (i32.const 32))
     (local.set $i (i32.add (local.get $i) (i32.const 1)))
     (br_if $again (i32.lt_u (local.get $i) (i32.const {calls}))))
   {ECHO_BODY}""",
        before='(import "aiii:bbb/bbb" "invoke-call" (func $ask (param i32 i32 i32)))',
        after=f'(data (i32.const 1024) "{_escaped(text)}")',
    )


def loop() -> bytes:
    """Never answer."""
    return module("(loop $again (br $again)) (i32.const 16)")


def trap() -> bytes:
    """Fall over."""
    return module("unreachable")


def memory_hog() -> bytes:
    """Grow until the memory is refused, then answer with how many pages there are."""
    return module(
        """
   (loop $again (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
   (i32.store (i32.const 1024) (memory.size))
   (i32.store (i32.const 16) (i32.const 1024)) (i32.store (i32.const 20) (i32.const 4))
   (i32.const 16)"""
    )


def fill() -> bytes:
    """Fill memory over and over: few instructions, much work."""
    return module(
        """(loop $again (memory.fill (i32.const 65536) (i32.const 1) (i32.const 65536))
   (br $again)) (i32.const 16)"""
    )


def recursing() -> bytes:
    """Use up the stack."""
    return module("(call $down) (i32.const 16)", after="(func $down (call $down))")


def answering_from(start: int, size: int) -> bytes:
    """Answer with whatever lies at a place of the guest's two pages, or is said to lie there."""
    return module(
        f"""
   (i32.store (i32.const 16) (i32.const {start})) (i32.store (i32.const 20) (i32.const {size}))
   (i32.const 16)"""
    )


def bad_pointer() -> bytes:
    """Answer with a place outside the memory."""
    return answering_from(0x7FFFFFF0, 64)


def oversized() -> bytes:
    """Answer with more than a message may hold."""
    return answering_from(0, 1024 * 1024 + 1)


def wrong_version() -> bytes:
    """Speak another version of the protocol."""
    return module(ECHO_BODY, version=3)


def wasi() -> bytes:
    """Ask for what no guest is given."""
    return module(
        ECHO_BODY, before='(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32)))'
    )


def looping_start() -> bytes:
    """Never come out of the start function."""
    return module(ECHO_BODY, after="(func $start (loop $again (br $again))) (start $start)")


def large_minimum() -> bytes:
    """Begin with more memory than is allowed."""
    return module(ECHO_BODY, memory="2000")


def component(*sections: tuple[int, bytes]) -> bytes:
    """Wrap sections as a component: id 1 is a core module, id 4 another component."""
    return bytes.fromhex("0061736d0d000100") + b"".join(
        bytes([kind]) + _unsigned(len(body)) + body for kind, body in sections
    )


def _unsigned(value: int) -> bytes:
    out = bytearray()
    while True:
        byte, value = value & 0x7F, value >> 7
        out.append(byte | (0x80 if value else 0))
        if not value:
            return bytes(out)


def _escaped(text: bytes) -> str:
    return "".join(f"\\{byte:02x}" for byte in text)
