import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r'(?:value|reason|error|refusal)\.code == "([A-Z_]+)"')
ENOUGH_CODES = 40
"""Far fewer would mean that the pattern finds them no more."""


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate"] = module
    spec.loader.exec_module(module)
    return module


def test_the_generated_pages_are_current() -> None:
    stale = [
        name
        for name, text in generator().pages().items()
        if not (path := ROOT / "docs/reference" / name).is_file()
        or path.read_text(encoding="utf-8") != text
    ]

    assert stale == [], "run `make docs`"


def test_every_code_that_a_test_names_is_on_the_page() -> None:
    """The page is found by reading source; what tests meet at run time checks that reading."""
    page = (ROOT / "docs/reference/codes.md").read_text(encoding="utf-8")
    named: set[str] = set()
    for room in ("crypto", "identity", "ledger", "witness"):
        for path in (ROOT / "tests/unit" / room).rglob("test_*.py"):
            named.update(NAMED.findall(path.read_text(encoding="utf-8")))

    assert len(named) > ENOUGH_CODES
    assert {code for code in named if f"`{code}`" not in page} == set()


def test_every_command_has_an_example() -> None:
    module = generator()

    helps = {
        words: module.help_of(words) for words in module.commands(module.application(), ()) if words
    }
    without = [
        words for words, text in helps.items() if "Commands:" not in text and "Example" not in text
    ]

    assert without == []
