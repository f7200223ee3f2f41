"""Names that belong to a language itself: never another project's, however they match."""

# ruff: noqa: SIM905 - long word lists read better as words

import re
import sys

NODE_BUILTINS = frozenset(
    (
        "assert async_hooks buffer child_process cluster console constants crypto dgram"
        " diagnostics_channel dns domain events fs http http2 https inspector module net os path"
        " perf_hooks process punycode querystring readline repl stream string_decoder sys timers"
        " tls trace_events tty url util v8 vm wasi worker_threads zlib"
    ).split()
)
RUST_CRATES = frozenset({"std", "core", "alloc", "proc_macro", "test"})
_WORDS = re.compile(r"\W+")


def is_standard_module(family: str, module: str) -> bool:
    """Whether an import can only mean the language's own library.

    Args:
        family: ``python``, ``script`` or ``go``.
        module: the module as imported.
    """
    match family:
        case "python":
            top = module.partition(".")[0]
            return top in sys.stdlib_module_names or top == "__future__"
        case "script":
            bare = module.removeprefix("node:")
            return module.startswith("node:") or bare.partition("/")[0] in NODE_BUILTINS
        case "go":
            return "." not in module.partition("/")[0]
        case _:
            return False


def graph_id(name: str) -> str:
    """Spell a module as Graphify spells the id of its external stub."""
    return _WORDS.sub("_", name.casefold()).strip("_")


STANDARD_IDS = frozenset(graph_id(name) for name in sys.stdlib_module_names) | frozenset(
    graph_id(name) for name in NODE_BUILTINS
)
