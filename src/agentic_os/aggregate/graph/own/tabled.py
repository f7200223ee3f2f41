"""Which file of the project an import of a language of the table means. Pure."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from agentic_os.aggregate.graph.links.edges import CERTAIN, UNDECLARED, Verdict
from agentic_os.code.languages import Row, row_of
from agentic_os.code.table_driven import NEAR

_NAME = re.compile(r"[\w.\\:/]+")
_OWN_FOLDER_FILES = frozenset({"mod.rs", "lib.rs", "main.rs"})


def tabled_file(paths: Sequence[str], path: str, module: str) -> tuple[str, Verdict] | None:
    """Return the file of the project that an import leads to, and how sure that is.

    Args:
        paths: the files of the table's languages, in order.
        path: the file that imports.
        module: what it imports, as it was read.
    """
    row = row_of(path)
    files = _by_name(tuple(paths))
    if row is None:
        return None
    if module.startswith(NEAR):
        named = _near(row, path, module[len(NEAR) :], files)
        return None if named is None else (named, CERTAIN)
    named = _ending(row, module, files)
    return None if named is None else (named, UNDECLARED)


_Files = Mapping[str, tuple[str, ...]]


def _near(row: Row, path: str, written: str, files: _Files) -> str | None:
    """Return the file at a path from the importing file's own folder."""
    folder = posixpath.dirname(path)
    if row.language == "rust" and path.rpartition("/")[2] not in _OWN_FOLDER_FILES:
        folder = path.removesuffix(".rs")
    for ending in row.found_as:
        named = posixpath.normpath(posixpath.join(folder, written + ending))
        if named in files.get(named.rpartition("/")[2], ()):
            return named
    return None


def _ending(row: Row, module: str, files: _Files) -> str | None:
    """Return the one file whose path ends like a dotted name; a bare name is nobody's path."""
    parts = re.split(r"[.\\:/]+", module) if _NAME.fullmatch(module) else []
    for suffix in row.suffixes if len(parts) > 1 else ():
        ending = "/".join(parts) + suffix
        found = [
            one
            for one in files.get(f"{parts[-1]}{suffix}", ())
            if one == ending or one.endswith(f"/{ending}")
        ]
        if len(found) == 1:
            return found[0]
    return None


@lru_cache(maxsize=2)
def _by_name(paths: tuple[str, ...]) -> _Files:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths:
        found[path.rpartition("/")[2]].append(path)
    return {name: tuple(same) for name, same in found.items()}
