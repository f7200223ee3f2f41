"""How this program was installed, so that an extra can be added in the same way.

Nothing is published on an index: what is named is the checkout or the wheel that it came from, as
the installer noted it (PEP 610).
"""

import json
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

NAME: Final = "agentic-os"
_PARTS: Final = {
    "rag": ("onnxruntime", "tokenizers", "lance"),
    "languages": ("tree_sitter_java", "tree_sitter_swift"),
    "models": ("sentence_transformers",),
    "plugins": ("wasmtime", "re2"),
    "postgres": ("psycopg",),
}
"""Packages that an extra brings."""


def has_extra(extra: str) -> bool:
    """Tell whether what an extra brings is there; nothing is loaded."""
    return all(find_spec(name) is not None for name in _PARTS[extra])


def install_line(extra: str) -> str:
    """Return the command that adds an extra; empty if nobody noted where the program came from."""
    source, editable = _source()
    if not source:
        return ""
    wanted = shlex.quote(f"{source}[{extra}]")
    prefix = Path(sys.prefix).as_posix()
    if "/uv/tools/" in prefix:
        return f"uv tool install --force {wanted}"
    if "/pipx/venvs/" in prefix:
        return f"pipx install --force {wanted}"
    option = "--editable " if editable else ""
    return f"{shlex.quote(sys.executable)} -m pip install {option}{wanted}"


def _source() -> tuple[str, bool]:
    try:
        noted = distribution(NAME).read_text("direct_url.json")
        value = json.loads(noted or "{}")
        url = urlsplit(value.get("url", ""))
    except (PackageNotFoundError, ValueError, AttributeError):
        return "", False
    if url.scheme != "file":
        return "", False
    editable = bool(value.get("dir_info", {}).get("editable"))
    return unquote(url.path), editable
