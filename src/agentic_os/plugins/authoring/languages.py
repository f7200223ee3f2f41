"""New plugins from templates, and how each language is built: commands of ours, never a project's.

Compilers come from packages: C and Zig from ``ziglang`` (pip), AssemblyScript from npm, Rust with
its ``wasm32-unknown-unknown`` library from the system. WebAssembly text needs the extra alone.
"""

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from agentic_os.crypto.canonical.json import encode
from agentic_os.files.processes import run
from agentic_os.plugins.authoring.exports import renamed_exports
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.declaration.names import DottedName, PluginId
from agentic_os.plugins.package.layout import interface_file

VARIANT: Final = "linux-x86_64-wasm"
ENTRYPOINT: Final = f"variants/{VARIANT}/plugin.wasm"
BUILD_SECONDS: Final = 600.0
WORDS_BYTES: Final = 64 * 1024
SHOWN_LINES: Final = 5
"""Lines of a compiler's words that an error repeats."""
_TEMPLATES: Final = Path(__file__).parent / "templates"
_RENAMED: Final = {
    "plugin_invoke": "plugin-invoke",
    "smoke": "aiii-plugin-smoke",
    "protocol_version": "aiii-plugin-bbb-protocol-version",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """How a language is built.

    Attributes:
        source: the file that is compiled, below the plugin's folder.
        compiler: the words that find the compiler; none for WebAssembly text.
        options: its arguments; ``{source}``, ``{out}`` and ``{abi}``, the folder of our ABI
            file, are put in.
        hint: how the compiler is had.
        renames: whether the exports have to be renamed afterwards.
    """

    source: str
    compiler: str
    options: tuple[str, ...]
    hint: str = ""
    renames: bool = False


LANGUAGES: Final = {
    "wat": Language(source="src/plugin.wat", compiler="", options=()),
    "c": Language(
        source="src/plugin.c",
        compiler="zig",
        options=(
            *("cc", "-target", "wasm32-freestanding", "-Os", "-nostdlib", "-fno-builtin"),
            *("-mbulk-memory", "-Wl,--no-entry", "-Wl,--export-memory", "-Wl,--strip-all"),
            *("-I{abi}", "{source}", "-o", "{out}"),
        ),
        hint="pip install ziglang",
    ),
    "zig": Language(
        source="src/plugin.zig",
        compiler="zig",
        options=(
            *("build-exe", "{source}", "-target", "wasm32-freestanding", "-O", "ReleaseSmall"),
            *("-fno-entry", "-rdynamic", "--export-memory", "-fstrip", "-femit-bin={out}"),
        ),
        hint="pip install ziglang",
    ),
    "assemblyscript": Language(
        source="src/plugin.ts",
        compiler="asc",
        options=(
            *("{source}", "-o", "{out}", "--runtime", "minimal", "-O3s", "--use", "abort="),
            *("--exportRuntime", "--initialMemory", "2"),
        ),
        hint="npm install assemblyscript, in the plugin's folder",
        renames=True,
    ),
    "rust": Language(
        source="src/lib.rs",
        compiler="rustc",
        options=(
            *("{source}", "--target", "wasm32-unknown-unknown", "-C", "opt-level=s"),
            *("-C", "panic=abort", "-C", "lto", "--crate-type", "cdylib", "-o", "{out}"),
        ),
        hint="install rustc with the target wasm32-unknown-unknown",
    ),
}


def new_plugin(folder: Path, plugin: str, language: str) -> tuple[str, ...]:
    """Write a new plugin's folder and return its files; an existing folder is left alone.

    Raises:
        PluginError: ``PLUGIN_FOLDER_EXISTS``, ``PLUGIN_ARGUMENTS_INVALID``.
    """
    import msgspec

    try:
        msgspec.convert(plugin, PluginId)
        operation = msgspec.convert(
            f"core.{plugin.rpartition('.')[2].replace('-', '_')}", DottedName
        )
    except msgspec.ValidationError:
        raise ERRORS.error(
            "PLUGIN_ARGUMENTS_INVALID", f"{plugin!r} is no plugin's name, such as org.example.echo"
        ) from None
    if folder.exists():
        raise ERRORS.error("PLUGIN_FOLDER_EXISTS", f"{folder.name} is there already")
    template = _TEMPLATES / language
    files = {
        path.relative_to(template).as_posix(): path.read_bytes()
        for path in sorted(template.rglob("*"))
        if path.is_file()
    }
    files["manifest.json"] = _pretty(_manifest(plugin, operation))
    files[interface_file(operation, 1)] = encode([_operation(operation)])
    files["README.md"] = (
        (_TEMPLATES / "README.md")
        .read_bytes()
        .replace(b"NAME", operation.partition(".")[2].encode())
    )
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return tuple(sorted(files))


def language_of(folder: Path) -> str:
    """Return the language of a plugin's folder by its source file.

    Raises:
        PluginError: ``PLUGIN_BUILD_FAILED``; there is none that we build.
    """
    for name, language in LANGUAGES.items():
        if (folder / language.source).is_file():
            return name
    raise ERRORS.error(
        "PLUGIN_BUILD_FAILED",
        f"no source to build; one of {', '.join(one.source for one in LANGUAGES.values())}",
    )


def build_plugin(folder: Path, *, environ: dict[str, str]) -> str:
    """Compile a plugin's source into its variant and return the language.

    Raises:
        PluginError: ``PLUGIN_BUILD_FAILED``; the message ends with what the compiler said.
    """
    name = language_of(folder)
    language = LANGUAGES[name]
    out = folder / ENTRYPOINT
    out.parent.mkdir(parents=True, exist_ok=True)
    if not language.compiler:
        out.write_bytes(_assembled((folder / language.source).read_text(encoding="utf-8")))
        return name
    words = [
        *_compiler(language, folder),
        *(
            option.format(source=language.source, out=ENTRYPOINT, abi=_TEMPLATES / name / "src")
            for option in language.options
        ),
    ]
    try:
        done = run(
            words,
            environ=environ,
            seconds=BUILD_SECONDS,
            limit_bytes=WORDS_BYTES,
            folder=folder,
            with_errors=True,
        )
    except (OSError, TimeoutError) as fault:
        raise ERRORS.error("PLUGIN_BUILD_FAILED", f"{words[0]}: {type(fault).__name__}") from None
    if done.status:
        said = (done.errors or done.output).decode("utf-8", "replace")
        lines = [line.strip() for line in said.splitlines() if "error" in line]
        told = "; ".join((lines or said.split("\n"))[:SHOWN_LINES])
        raise ERRORS.error("PLUGIN_BUILD_FAILED", f"the compiler refused it: {told}")
    if language.renames:
        out.write_bytes(renamed_exports(out.read_bytes(), _RENAMED))
    return name


def _compiler(language: Language, folder: Path) -> Sequence[str]:
    if language.compiler == "zig" and find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang")
    own = folder / "node_modules" / ".bin" / language.compiler
    found = str(own.absolute()) if own.is_file() else shutil.which(language.compiler)
    if found is None:
        raise ERRORS.error(
            "PLUGIN_BUILD_FAILED",
            f"the compiler {language.compiler} is not installed: {language.hint}",
        )
    return (found,)


def _assembled(text: str) -> bytes:
    try:
        import wasmtime
    except ImportError:
        raise ERRORS.error("PLUGIN_ENGINE_MISSING") from None
    try:
        return bytes(wasmtime.wat2wasm(text))
    except wasmtime.WasmtimeError as fault:
        said = str(fault).splitlines()
        raise ERRORS.error(
            "PLUGIN_BUILD_FAILED", f"the text cannot be assembled: {'; '.join(said[:SHOWN_LINES])}"
        ) from None


def _manifest(plugin: str, operation: str) -> dict[str, Any]:
    return {
        "kind": "plugin",
        "id": plugin,
        "version": "0.1.0",
        "title": plugin.rpartition(".")[2],
        "license": "Apache-2.0",
        "plugin_family": "tool_bridge",
        "bbb_protocol_version": 2,
        "interfaces": {"core": [{"id": operation, "version": 1, "methods": [operation]}]},
        "capability_envelope": [],
        "variants": [
            {
                "variant_id": VARIANT,
                "platform": "linux",
                "arch": "x86_64",
                "topology": "full_identity_host",
                "execution_runtime": "wasm_component",
                "admission_profile": "wasm_sandbox",
                "entrypoint": ENTRYPOINT,
                "implements": {"core": [f"{operation}@1"]},
                "variant_capabilities": [],
            }
        ],
    }


def _operation(operation: str) -> dict[str, Any]:
    return {
        "id": operation,
        "summary": "Give the arguments back",
        "input": "",
        "output": "",
        "effects": "read.internal",
        "capabilities": [],
    }


def _pretty(value: dict[str, Any]) -> bytes:
    import json

    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
