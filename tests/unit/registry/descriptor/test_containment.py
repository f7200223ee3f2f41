import pytest

from agentic_os.registry.descriptor.containment import Escape, contained


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        (".agents/memory", ".agents/memory"),
        ("./a//b/", "a/b"),
        ("a b/ä.md", "a b/ä.md"),
        ("..a/b..", "..a/b.."),
        ("a/...", "a/..."),
        ("graphify-out/graph.json", "graphify-out/graph.json"),
        ("C/x", "C/x"),
        ("a~/b", "a~/b"),
        ("https://host/x", "https:/host/x"),
    ],
)
def test_paths_inside_the_project_are_made_plain(path: str, plain: str) -> None:
    assert contained(path) == plain


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("..", "leaves the project"),
        ("../x", "leaves the project"),
        ("a/../../b", "leaves the project"),
        ("a/..", "leaves the project"),
        ("..\\x", "leaves the project"),
        ("a\\..\\..\\b", "leaves the project"),
        ("a/..\\b", "leaves the project"),
        ("/etc/passwd", "is an absolute path"),
        ("//host/share", "is an absolute path"),
        ("\\\\host\\share", "is an absolute path"),
        ("C:\\x", "is an absolute path"),
        ("c:x", "is an absolute path"),
        ("~/x", "begins with ~"),
        ("~root", "begins with ~"),
        ("./~/x", "begins with ~"),
        ("./C:/x", "is an absolute path"),
        (".//\\x", "is an absolute path"),
        ("a\0b", "holds characters that no path should"),
        ("a\nb", "holds characters that no path should"),
        ("a\x1b[31m", "holds characters that no path should"),
        ("a\udc80", "holds characters that no path should"),
        ("a\u202eb", "holds characters that no path should"),
        ("", "names no file or folder"),
        (".", "names no file or folder"),
        ("././", "names no file or folder"),
        (".\\.", "names no file or folder"),
        ("./.\\", "names no file or folder"),
        ("a" * 1025, "is longer than 1024 characters"),
    ],
)
def test_paths_that_leave_are_refused_with_a_reason(path: str, reason: str) -> None:
    found = contained(path)
    assert isinstance(found, Escape)
    assert found.reason == reason
    assert found.shown.isprintable()
    assert len(found.shown) < 1000


def test_a_long_path_is_cut_in_the_message() -> None:
    found = contained("../" + "a" * 500)
    assert isinstance(found, Escape)
    assert found.shown == "../" + "a" * 77 + "…"
    found = contained("../" + "a" * 77)
    assert isinstance(found, Escape)
    assert found.shown == "../" + "a" * 77


def test_the_longest_path_is_accepted() -> None:
    assert contained("a" * 1024) == "a" * 1024
