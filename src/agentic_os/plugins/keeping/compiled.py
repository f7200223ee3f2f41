"""Compiled code, kept so that a plugin starts quickly (section 17).

The engine believes compiled code blindly, so each entry carries a digest under a key of this
folder: what another user or a package put there is not loaded, only made anew.
"""

import hashlib
import hmac
import secrets
from importlib.metadata import version
from pathlib import Path
from typing import Final

from agentic_os.files.publishing import private_folder, publish
from agentic_os.plugins.sandbox.limits import Limits
from agentic_os.plugins.sandbox.process import compile_module

KEY_NAME: Final = "key"
DIGEST_BYTES: Final = 32


def compiled_code(folder: Path, module: bytes, limits: Limits) -> bytes:
    """Return the compiled code of a core module, from the cache or made anew.

    Raises:
        PluginError: ``PLUGIN_MODULE_REFUSED``, ``PLUGIN_ENGINE_MISSING``.
        FilesError: the folder cannot be written.
    """
    private_folder(folder)
    key = _key(folder)
    bounds = f"{limits.stack_bytes}:{limits.memory_bytes}:{version('wasmtime')}"
    name = hashlib.sha256(bounds.encode() + hashlib.sha256(module).digest()).hexdigest()
    path = folder / name
    kept = _kept(path, name, key)
    if kept is not None:
        return kept
    code = compile_module(module, limits)
    publish(path, _digest(key, name, code) + code)
    return code


def _kept(path: Path, name: str, key: bytes) -> bytes | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    code = data[DIGEST_BYTES:]
    return code if hmac.compare_digest(data[:DIGEST_BYTES], _digest(key, name, code)) else None


def _digest(key: bytes, name: str, code: bytes) -> bytes:
    # The name is part of it: an entry that is good under another name is not good under this one.
    return hmac.digest(key, name.encode() + code, "sha256")


def _key(folder: Path) -> bytes:
    path = folder / KEY_NAME
    try:
        key = path.read_bytes()
    except OSError:
        key = b""
    if len(key) != DIGEST_BYTES:
        key = secrets.token_bytes(DIGEST_BYTES)
        publish(path, key)
    return key
