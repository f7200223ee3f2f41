import subprocess
import sys
import threading

import pytest
import yaml

from agentic_os.registry.descriptor import yaml_nodes
from agentic_os.registry.descriptor.yaml_nodes import Broken, block, compose, scalar


def value(text: str) -> yaml_nodes.Scalar:
    """Compose ``key: TEXT`` and return the scalar."""
    root = compose(f"key: {text}\n")
    assert not isinstance(root, Broken)
    top = block(root)
    assert top is not None
    found = scalar(top.nodes["key"])
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "kept", "kind"),
    [
        ("word", "word", "text"),
        ("2026-13-45", "2026-13-45", "text"),
        ("1.10", "1.10", "text"),
        (".inf", ".inf", "text"),
        ("'true'", "true", "text"),
        ('"null"', "null", "text"),
        ("!!str null", "null", "text"),
        ("null", "null", "null"),
        ("~", "~", "null"),
        ("", "", "null"),
        ("# comment", "", "null"),
        ("true", "true", "boolean"),
        ("No", "No", "boolean"),
        ("OFF", "OFF", "boolean"),
        ("!!python/object/apply:os.system [x]", None, None),
        ("!!python/name:os.system x", "x", "text"),
        ("|\n  a\n  b", "a\nb\n", "text"),
    ],
)
def test_scalars_keep_the_text_that_was_written(
    text: str, kept: str | None, kind: str | None
) -> None:
    if kept is None:
        root = compose(f"key: {text}\n")
        assert not isinstance(root, Broken)
        top = block(root)
        assert top is not None
        assert scalar(top.nodes["key"]) is None
        return
    found = value(text)
    assert (found.text, found.kind, found.line) == (kept, kind, found.line)


def test_lines_count_from_one() -> None:
    root = compose("# first\n\na: 1\nb:\n  c: 2\n")
    assert not isinstance(root, Broken)
    top = block(root)
    assert top is not None
    assert top.line == 3
    assert yaml_nodes.line_of(top.nodes["b"]) == 5


def test_the_last_of_a_repeated_key_counts_and_the_line_is_kept() -> None:
    root = compose("a: 1\nb: 2\na: 3\n? [x]\n: 4\n")
    assert not isinstance(root, Broken)
    top = block(root)
    assert top is not None
    assert top.repeated == (("a", 3),)
    assert list(top.nodes) == ["a", "b"]
    found = scalar(top.nodes["a"])
    assert found is not None
    assert found.text == "3"


def test_what_is_no_mapping_is_no_block_and_no_scalar() -> None:
    root = compose("[a]")
    assert isinstance(root, yaml.SequenceNode)
    assert block(root) is None
    assert scalar(root) is None
    assert block(None) is None
    assert scalar(None) is None


@pytest.mark.parametrize("text", ["", "\n\n", "# words\n", "---\n", "---\n...\n", "~", "null\n"])
def test_an_empty_text_has_no_root(text: str) -> None:
    assert compose(text) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: b: c\n", 1),
        ("a: 1\n\tb: 2\n", 2),
        ("a: 1\n<<<<<<< HEAD\nb: 2\n=======\n", 3),
        ("a: 1\n--- \nb: 2\n", 2),
        ("a: *nobody\n", 1),
        ('a: "\\ud83d"\n', 1),
        ("a: [1, 2\n", 2),
        ("a: 'x\n", 2),
    ],
)
def test_broken_yaml_names_its_line(text: str, line: int) -> None:
    found = compose(text)
    assert isinstance(found, Broken)
    assert not found.too_deep
    assert found.line == line
    assert 0 < len(found.reason) <= 121


def test_a_control_character_is_broken_without_a_line() -> None:
    found = compose("a: \x01\n")
    assert isinstance(found, Broken)
    assert found.line is None
    assert found.reason == "control characters are not allowed"


@pytest.mark.parametrize("depth", [100, 2000, 20_000, 100_000])
@pytest.mark.parametrize(
    ("opening", "closing"), [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", ""), ("[", "")]
)
def test_deep_nesting_is_refused_before_the_composer_recurses(
    opening: str, closing: str, depth: int
) -> None:
    prefix = "" if opening in {"- ", "? "} else "a: "
    found = compose(prefix + opening * depth + "x" + closing * depth)
    assert isinstance(found, Broken)
    assert found.too_deep
    assert "64 levels" in found.reason or "nesting depth" in found.reason


def test_deep_nesting_by_indentation_is_refused() -> None:
    deep = "".join(f"{' ' * level}a:\n" for level in range(400))
    found = compose(deep)
    assert isinstance(found, Broken)
    assert found.too_deep
    assert found.line == 65


@pytest.mark.parametrize("end", ["\x85", "\u2028", "\u2029"])
def test_odd_line_ends_do_not_hide_depth(end: str) -> None:
    found = compose("a: 1" + end + "- " * 3000 + "x")
    assert isinstance(found, Broken)


def test_quoted_brackets_do_not_hide_depth() -> None:
    found = compose("a: " + '["]", ' * 500 + "x" + "]" * 500)
    assert isinstance(found, Broken)
    assert found.too_deep


def test_many_brackets_that_do_not_nest_are_fine() -> None:
    root = compose("a:\n" + "".join(f"  - [{number}, {{}}]\n" for number in range(500)))
    assert isinstance(root, yaml.MappingNode)


def test_a_ruler_of_dashes_is_no_depth() -> None:
    root = compose("# " + "-" * 200 + "\n" + "-" * 3 + "\na: 1  " + " " * 100 + "# x\n")
    assert isinstance(root, yaml.MappingNode)


def test_too_many_parts_are_refused_where_depth_was_in_doubt() -> None:
    found = compose("a: [" + "[]," * 60_000 + "]")
    assert isinstance(found, Broken)
    assert found.too_deep
    assert found.reason == "it has too many parts"


def test_an_alias_bomb_stays_small() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    root = compose("\n".join(lines))
    assert isinstance(root, yaml.MappingNode)
    assert len(root.value) == 9


def test_a_mapping_that_holds_itself_is_fine() -> None:
    root = compose("a: &a {b: *a}\n")
    assert isinstance(root, yaml.MappingNode)


def test_the_deepest_text_that_passes_composes_in_a_small_thread() -> None:
    results: list[object] = []
    text = "a: " + "[" * 63 + "x" + "]" * 63
    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: results.append(compose(text)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert isinstance(results[0], yaml.MappingNode)


def test_without_libyaml_the_answers_are_the_same() -> None:
    program = """
import yaml
del yaml.CSafeLoader
from agentic_os.registry.descriptor import yaml_nodes
assert issubclass(yaml_nodes._composer(), yaml.SafeLoader)
top = yaml_nodes.block(yaml_nodes.compose("a: 1\\nb: ~\\nc: 'x'\\n"))
kinds = [yaml_nodes.scalar(node).kind for node in top.nodes.values()]
assert kinds == ["text", "null", "text"], kinds
assert yaml_nodes.compose("a: " + "[" * 20000).too_deep
assert yaml_nodes.compose("a: b: c").line == 1
assert yaml_nodes.compose("a: \\x01").reason
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
