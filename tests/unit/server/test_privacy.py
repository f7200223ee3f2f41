from pathlib import Path

import pytest

from agentic_os.aggregate.workspace import Person
from agentic_os.server.privacy import LastRedaction, last_redaction
from agentic_os.text.secrets.redaction import Redactor

NET = LastRedaction(redactor=Redactor(), home=Path("/home/ada"))
SECRET = "ghp_" + "k7Qz2Vb9Xn4Lm8Rt6Yw3Pd5Hs1Jc0Fa2Gu7E"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see /home/ada/plan.md", "see ~/plan.md"),
        ("/home/ada", "~"),
        ("It is in /home/ada.", "It is in ~."),
        ("file:///home/ada/x", "file://~/x"),
        ("PATH=/home/ada/bin:/home/ada/go", "PATH=~/bin:~/go"),
        ("/home/adam/x", "/home/adam/x"),
        ("backup/home/ada/x", "backup/home/ada/x"),
        ("/etc/hosts", "/etc/hosts"),
        ("a\u202eb\nc", "a<U+202E>b\nc"),
    ],
)
def test_a_text_is_shown_harmless(text: str, expected: str) -> None:
    assert NET.text(text) == expected


def test_every_text_of_a_document_is_looked_at() -> None:
    document = {"/home/ada/k": [{"a": SECRET}, 1, None, True, 1.5]}

    shown = NET.value(document)

    assert list(shown) == ["~/k"]
    assert shown["~/k"][0]["a"].startswith("[redacted:")
    assert shown["~/k"][1:] == [1, None, True, 1.5]


def test_no_home_folder_hides_nothing() -> None:
    assert LastRedaction(redactor=Redactor(), home=Path("/")).text("/etc/hosts") == "/etc/hosts"


def test_the_allow_list_of_the_person_holds(person: Person) -> None:
    settings = Path(person.environ["AGENTIC_OS_CONFIG_DIR"])
    settings.mkdir()
    settings.joinpath("projects.toml").write_text("[redaction\n")

    assert SECRET not in last_redaction(person).text(SECRET)
