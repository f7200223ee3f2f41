"""One door to all languages: a path and its bytes in, facts or a code out."""

from typing import TYPE_CHECKING

from agentic_os.code.go import read_go
from agentic_os.code.python.source import read_python
from agentic_os.code.script.source import read_script
from agentic_os.code.values import LFS_POINTER, Language, SourceFacts

if TYPE_CHECKING:
    from agentic_os.code.syntax import Grammar

MAX_SOURCE_BYTES = 512 * 1024

_LANGUAGES: dict[str, Language] = {
    ".py": "python",
    ".pyi": "python",
    ".js": "javascript",
    ".jsx": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "typescript",
    ".go": "go",
}


def language_of(path: str) -> Language | None:
    """Return the language that a path's suffix names, or ``None`` for any other file."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return _LANGUAGES.get(name[dot:].lower()) if dot > 0 else None


def language_family(path: str) -> str:
    """Return the family within which imports can reach: ``python``, ``script`` or ``go``."""
    match language_of(path):
        case "python":
            return "python"
        case "javascript" | "typescript":
            return "script"
        case "go":
            return "go"
        case _:
            return ""


def read_source(path: str, data: bytes) -> SourceFacts | None:
    """Read one source file.

    Args:
        path: its path, for the suffix only.
        data: its bytes; whoever reads it bounds them by ``MAX_SOURCE_BYTES``.

    Returns:
        The facts, or ``None`` for a language that is not read and for a Git LFS pointer.
        Never raises: what cannot be parsed is named in ``problems``.
    """
    language = language_of(path)
    if language is None or data.startswith(LFS_POINTER):
        return None
    match language:
        case "python":
            return read_python(data)
        case "go":
            return read_go(data)
        case "javascript":
            return read_script(data, "javascript")
        case "typescript":
            grammar: Grammar = "tsx" if path.lower().endswith("x") else "typescript"
            return read_script(data, grammar)
