"""What a file of a project is for, told by its folders and its name."""

from typing import Literal

PathRole = Literal["product", "test", "document", "vendored"]
"""What a file is for: product code, tests, documentation with its examples, others' code."""
PATH_ROLES: tuple[PathRole, ...] = ("product", "test", "document", "vendored")
_VENDORED_FOLDERS = frozenset(
    {"_vendor", "node_modules", "site-packages", "third_party", "vendor", "vendored"}
)
_DOCUMENT_FOLDERS = frozenset(
    {"doc", "docs", "docs_src", "documentation", "example", "examples", "sample", "samples"}
)
_DOCUMENT_SUFFIXES = (".adoc", ".ipynb", ".md", ".mdx", ".rst", ".txt")
_TEST_FOLDERS = frozenset({"__tests__", "e2e", "fixtures", "spec", "test", "testdata", "tests"})
_TEST_PREFIXES = ("test_", "conftest.")
_TEST_SUFFIXES = ("_test.py", "_test.go", "_tests.py")
_SCRIPT_TESTS = (".test.", ".spec.", ".stories.")
_SCRIPT_SUFFIXES = (".cjs", ".cts", ".js", ".jsx", ".mjs", ".mts", ".ts", ".tsx")


def role_of(path: str) -> PathRole:
    """Return what a file is for, by its folders and its name."""
    *folders, name = path.lower().split("/")
    if not _VENDORED_FOLDERS.isdisjoint(folders):
        return "vendored"
    if is_test_name(name) or not _TEST_FOLDERS.isdisjoint(folders):
        return "test"
    if name.endswith(_DOCUMENT_SUFFIXES) or not _DOCUMENT_FOLDERS.isdisjoint(folders):
        return "document"
    return "product"


def is_test_name(name: str) -> bool:
    """Whether a file's name, in lower case, is one that test runners look for."""
    if name.startswith(_TEST_PREFIXES) or name.endswith(_TEST_SUFFIXES):
        return True
    return name.endswith(_SCRIPT_SUFFIXES) and any(mark in name for mark in _SCRIPT_TESTS)
