"""The room's public names are loaded when they are asked for, and only they."""

import subprocess
import sys

import pytest

import agentic_os.text


@pytest.mark.parametrize("name", agentic_os.text.__all__)
def test_every_public_name_is_its_modules(name: str) -> None:
    value = getattr(agentic_os.text, name)
    assert value.__name__ == name
    assert value.__module__.startswith("agentic_os.text.")


def test_other_names_are_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(agentic_os.text, "nothing")  # noqa: B009 - the type checker knows it is wrong


def test_one_module_does_not_load_the_others() -> None:
    script = (
        "import sys, agentic_os.text.decoding\n"
        "print([name for name in sys.modules if name.startswith('agentic_os.text.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert done.stdout == "['agentic_os.text.decoding']\n"
