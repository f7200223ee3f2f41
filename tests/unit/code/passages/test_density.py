"""What there is to parse is estimated without parsing it, and bounds what parsing costs."""

import subprocess
import sys

import pytest

from agentic_os.code.passages.density import MAX_SOURCE_MARKS, marks_of


@pytest.mark.parametrize(
    ("data", "marks"),
    [
        (b"", 0),
        (b"m\n", 2),
        (b" a_b1.c", 3),
        (b" f(x)\n", 5),
        (b"\xc3\xa9t\xc3\xa9", 1),
        (b"// a b", 4),
        (b"   \t  ", 0),
    ],
)
def test_words_marks_and_line_ends_are_counted(data: bytes, marks: int) -> None:
    assert marks_of(data) == marks


# The system's own peak of a child starts with that of the process it was forked from; the peak of
# the memory itself, where there is one, does not.
_READ = """
import re, resource, sys
from pathlib import Path
from agentic_os.code.reading import read_source
facts = read_source("a.py", sys.stdin.buffer.read())
assert facts is not None and facts.problems == ("SOURCE_TRUNCATED",)
status = Path("/proc/self/status")
if status.exists():
    print(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1])
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_the_densest_file_that_is_parsed_needs_a_bounded_memory() -> None:
    data = b"import m\n" + b"m\n" * (MAX_SOURCE_MARKS // 2 - 2)
    assert MAX_SOURCE_MARKS - 10 <= marks_of(data) <= MAX_SOURCE_MARKS

    done = subprocess.run(
        [sys.executable, "-c", _READ], input=data, capture_output=True, check=True
    )

    peak = int(done.stdout) * (1 if sys.platform == "darwin" else 1024)
    assert peak < 250 * 1024 * 1024
