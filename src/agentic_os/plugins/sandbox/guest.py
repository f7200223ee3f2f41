"""One instance of a guest inside the engine: its memory, its calls, its limits (sections 15, 17).

Runs in the worker process. Whatever a guest does wrong ends in ``GuestFault`` with the name of the
limit or rule; the instance is not used again after that.
"""

import threading
import time
from collections.abc import Callable
from typing import Any, Final

import wasmtime

from agentic_os.plugins.sandbox import limits as bounds
from agentic_os.plugins.sandbox.limits import MESSAGE_BYTES, PAGE_BYTES, PROTOCOL_VERSION, Limits

HOST_MODULE: Final = "aiii:bbb/bbb"
HOST_CALLS: Final = (
    "rpc-connect",
    "plugin-register-interface",
    "invoke-call",
    "rpc-cancel",
    "observe-subscribe",
    "heartbeat-signal",
    "heartbeat-tempo-request",
    "heartbeat-config",
)
SMOKE: Final = 1
_PAIR_BYTES = 8
_EXPORTS: Final = {
    "cabi_realloc": 4,
    "plugin-invoke": 2,
    "aiii-plugin-bbb-protocol-version": 0,
    "aiii-plugin-smoke": 0,
}
"""What a guest must export, with its number of i32 parameters; each returns one i32."""

HostCall = Callable[[str, bytes], bytes]


class GuestFault(Exception):  # noqa: N818 - the format's word for it
    """A guest broke a rule or a limit; ``which`` names it."""

    def __init__(self, which: str, detail: str = "") -> None:
        """Name the limit or rule."""
        super().__init__(f"{which}: {detail}" if detail else which)
        self.which = which


def engine_for(limits: Limits) -> wasmtime.Engine:
    """Make the engine; everything that a guest does not need is off."""
    config = wasmtime.Config()
    config.consume_fuel = True
    config.epoch_interruption = True
    config.max_wasm_stack = limits.stack_bytes
    config.memory_reservation = limits.memory_bytes
    config.memory_guard_size = bounds.GUARD_BYTES
    config.memory_reservation_for_growth = 0
    config.wasm_threads = False
    config.wasm_memory64 = False
    config.wasm_multi_memory = False
    config.wasm_component_model = False
    config.parallel_compilation = False
    config.memory_init_cow = False  # it writes a file in memory, and a worker may write none
    return wasmtime.Engine(config)


def check_module(module: wasmtime.Module, limits: Limits) -> None:
    """Check imports and exports of a module before anything of it runs.

    Raises:
        GuestFault: ``imports``, ``exports`` or ``memory``.
    """
    i32 = wasmtime.ValType.i32()
    for one in module.imports:
        kind = one.type
        if (
            one.module != HOST_MODULE
            or one.name not in HOST_CALLS
            or not isinstance(kind, wasmtime.FuncType)
            or kind.params != [i32] * 3
            or kind.results
        ):
            raise GuestFault("imports", f"{one.module} {one.name} is not offered")
    exports = {one.name: one.type for one in module.exports}
    memory = exports.get("memory")
    if not isinstance(memory, wasmtime.MemoryType):
        raise GuestFault("exports", "no memory")
    if memory.limits.min * PAGE_BYTES > limits.memory_bytes:
        raise GuestFault("memory", f"it begins with {memory.limits.min} pages")
    for name, count in _EXPORTS.items():
        function = exports.get(name)
        if (
            not isinstance(function, wasmtime.FuncType)
            or function.params != [i32] * count
            or function.results != [i32]
        ):
            raise GuestFault("exports", f"no function {name} of the right type")


class Guest:
    """A guest that answers calls, one at a time."""

    def __init__(
        self, engine: wasmtime.Engine, module: wasmtime.Module, limits: Limits, host: HostCall
    ) -> None:
        """Instantiate and initialise it; ``host`` answers what it asks.

        Raises:
            GuestFault: it cannot be instantiated within its limits, or is of another protocol.
        """
        check_module(module, limits)
        self._limits = limits
        self._host = host
        self._asked = 0
        self._in_host = False
        self._fault: GuestFault | None = None
        self._store = wasmtime.Store(engine)
        self._store.set_limits(
            memory_size=limits.memory_bytes,
            table_elements=bounds.TABLE_ELEMENTS,
            instances=bounds.INSTANCES,
            tables=bounds.TABLES,
            memories=1,
        )
        self._begin()
        functions = {
            name: wasmtime.Func(self._store, _HOST_TYPE, self._import(name)) for name in HOST_CALLS
        }
        instance = self._guarded(
            lambda: wasmtime.Instance(
                self._store, module, [functions[str(one.name)] for one in module.imports]
            )
        )
        self._exports = instance.exports(self._store)
        self._memory: wasmtime.Memory = self._exports["memory"]
        if "_initialize" in self._exports:
            self._call("_initialize")
        version = self._call("aiii-plugin-bbb-protocol-version")
        if version != PROTOCOL_VERSION:
            raise GuestFault("version", f"protocol {version}")
        if self._call("aiii-plugin-smoke") != SMOKE:
            raise GuestFault("smoke")

    def invoke(self, message: bytes) -> bytes:
        """Pass one message and return the answer.

        Raises:
            GuestFault: what went wrong; the guest must not be called again.
        """
        self._begin()
        self._asked = 0
        at = self._place(message)
        pair = self._call("plugin-invoke", at, len(message))
        start, size = self._pair(pair)
        answer = self._read(start, size)
        if "cabi_post_plugin-invoke" in self._exports:
            self._call("cabi_post_plugin-invoke", pair)
        return answer

    def _begin(self) -> None:
        self._store.set_fuel(self._limits.fuel)
        self._left = self._limits.wall_seconds
        self._run_on()

    def _run_on(self) -> None:
        """Let the guest's clock run; it stands while the host works for the guest."""
        self._since = time.monotonic()
        self._store.set_epoch_deadline(max(int(self._left / bounds.EPOCH_SECONDS), 0) + 1)

    def _import(self, name: str) -> Callable[[int, int, int], None]:
        def asked(start: int, size: int, area: int) -> None:
            try:
                self._asked_for(name, start, size, area)
            except GuestFault as fault:
                self._fault = fault
                raise

        return asked

    def _asked_for(self, name: str, start: int, size: int, area: int) -> None:
        self._asked += 1
        if self._asked > self._limits.host_calls:
            raise GuestFault("host_calls", f"more than {self._limits.host_calls}")
        if self._in_host:
            raise GuestFault("nesting", "a host call within a host call")
        self._in_host = True
        self._left -= time.monotonic() - self._since
        try:
            reply = self._host(name, self._read(start, size))
            self._run_on()
            at = self._place(reply)
        finally:
            self._in_host = False
        self._write(area, at.to_bytes(4, "little") + len(reply).to_bytes(4, "little"))

    def _place(self, text: bytes) -> int:
        """Let the guest make room for a text, and put it there."""
        at = _unsigned(self._call("cabi_realloc", 0, 0, 1, len(text)))
        self._write(at, text)
        return at

    def _pair(self, at: Any) -> tuple[int, int]:
        pair = self._read(_unsigned(at), _PAIR_BYTES)
        return int.from_bytes(pair[:4], "little"), int.from_bytes(pair[4:], "little")

    def _read(self, start: int, size: int) -> bytes:
        start, size = _unsigned(start), _unsigned(size)
        if size > MESSAGE_BYTES:
            raise GuestFault("size", f"a text of {size} bytes")
        if start + size > self._memory.data_len(self._store):
            raise GuestFault("pointer", "it leads out of the memory")
        return bytes(self._memory.read(self._store, start, start + size))

    def _write(self, start: int, data: bytes) -> None:
        start = _unsigned(start)
        if start + len(data) > self._memory.data_len(self._store):
            raise GuestFault("pointer", "it leads out of the memory")
        self._memory.write(self._store, data, start)

    def _call(self, name: str, *values: int) -> Any:
        function = self._exports[name]
        return self._guarded(lambda: function(self._store, *map(_signed, values)))

    def _guarded(self, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except GuestFault:
            raise
        except wasmtime.Trap as trap:
            raise self._fault or GuestFault(_which(trap), str(trap.message)[:200]) from None
        except wasmtime.WasmtimeError as fault:
            text = str(fault)
            raise self._fault or GuestFault(_word(text), text.splitlines()[0][:200]) from None


def keep_time(engine: wasmtime.Engine, stop: threading.Event) -> threading.Thread:
    """Start the clock by which an engine's guests are stopped; it ends when ``stop`` is set."""

    def tick() -> None:
        while not stop.wait(bounds.EPOCH_SECONDS):
            engine.increment_epoch()

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    return thread


_HOST_TYPE = wasmtime.FuncType([wasmtime.ValType.i32()] * 3, [])
_TRAPS: Final = {
    wasmtime.TrapCode.OUT_OF_FUEL: "fuel",
    wasmtime.TrapCode.INTERRUPT: "wall",
    wasmtime.TrapCode.STACK_OVERFLOW: "stack",
    wasmtime.TrapCode.MEMORY_OUT_OF_BOUNDS: "pointer",
}


def _which(trap: wasmtime.Trap) -> str:
    code = trap.trap_code
    return "trap" if code is None else _TRAPS.get(code, "trap")


def _word(text: str) -> str:
    if "all fuel consumed" in text:
        return "fuel"
    return "memory" if "memory" in text else "trap"


def _signed(value: int) -> int:
    """Spell an i32 as the engine wants it."""
    return value - 2**32 if value >= 2**31 else value


def _unsigned(value: int) -> int:
    return value & 0xFFFFFFFF
