import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


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


def test_every_command_has_an_example() -> None:
    module = generator()

    helps = {words: module.help_of(words) for words in module.commands(module.app, ()) if words}
    without = [
        words for words, text in helps.items() if "Commands:" not in text and "Example" not in text
    ]

    assert without == []
