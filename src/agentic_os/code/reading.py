"""One door to all languages: a path and its bytes in, facts or a code out."""

from typing import TYPE_CHECKING

from agentic_os.code.go import read_go
from agentic_os.code.languages import BY_LANGUAGE, is_installed, row_of
from agentic_os.code.python.source import read_python
from agentic_os.code.script.source import read_script
from agentic_os.code.table_driven import read_tabled
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


TABLED_FAMILY = "tabled"


def language_of(path: str) -> Language | None:
    """Return the language of a file that is read, by its suffix; ``None`` for any other.

    A language of the table is read where its grammar is installed.
    """
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    found = _LANGUAGES.get(name[dot:].lower()) if dot > 0 else None
    if found is None:
        row = row_of(name)
        return row.language if row is not None and is_installed(row.language) else None
    return found


def language_family(path: str) -> str:
    """Return the family within which imports can reach; those of the table are one."""
    match language_of(path):
        case "python":
            return "python"
        case "javascript" | "typescript":
            return "script"
        case "go":
            return "go"
        case None:
            return ""
        case _:
            return TABLED_FAMILY


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
        case _:
            return read_tabled(data, BY_LANGUAGE[language])
