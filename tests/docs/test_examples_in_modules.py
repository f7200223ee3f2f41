"""Examples in docstrings are run: what a module says of itself is what it does."""

import doctest
import importlib
from pathlib import Path

import pytest

import agentic_os

ROOT = Path(agentic_os.__file__).parent
WITH_EXAMPLES = sorted(
    ".".join(("agentic_os", *path.relative_to(ROOT).with_suffix("").parts))
    for path in ROOT.rglob("*.py")
    if "\n>>> " in path.read_text("utf-8") or "    >>> " in path.read_text("utf-8")
)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_do_what_they_say(name: str) -> None:
    done = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.IGNORE_EXCEPTION_DETAIL
    )
    assert done.attempted > 0
    assert done.failed == 0
