"""What is noticed is said in whole: code, words, path and line, for every kind of fault."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentic_os.registry.descriptor import yaml_nodes
from agentic_os.registry.descriptor.reading import MAX_DESCRIPTOR_BYTES, parse_descriptor
from agentic_os.registry.descriptor.record import compare_record, read_record
from agentic_os.registry.descriptor.values import Descriptor
from agentic_os.registry.fleet import load_fleet
from agentic_os.results import Diagnostic
from agentic_os.settings.values import Root, Settings

MakeProject = Callable[..., Path]
PATH = ".agents/config.yaml"
HEAD = "project:\n  name: shop\n  project_init_version: 1.2.2\n  project_init_contract_version: 2\n"
NONE_WITH_REST = """\
memory:
  stack: none
  tier: 2
  memory_path: a
  vault_path: b
  graph_path: c
  rag_endpoint: d
"""
BESIDE = "is declared beside the stack none; it is ignored"
Said = tuple[str, str, str | None, int | None]


def said(diagnostics: tuple[Diagnostic, ...]) -> list[Said]:
    return [(item.code, item.message, item.path, item.line) for item in diagnostics]


def parsed(text: str) -> Descriptor:
    found = parse_descriptor((HEAD + text).encode(), layout=".agents", folder_name="shop")
    assert isinstance(found, Descriptor)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            NONE_WITH_REST,
            [
                ("TIER_DISAGREES", "memory.tier says 2, but the stack none has no tier", PATH, 7),
                ("SURFACE_BELOW_TIER", f"memory.memory_path {BESIDE}", PATH, 8),
                ("SURFACE_BELOW_TIER", f"memory.vault_path {BESIDE}", PATH, 9),
                ("SURFACE_BELOW_TIER", f"memory.graph_path {BESIDE}", PATH, 10),
                ("SURFACE_BELOW_TIER", f"memory.rag_endpoint {BESIDE}", PATH, 11),
            ],
        ),
        (
            "memory:\n  stack: obsidian-graphify\n  tier: 2\n",
            [
                (
                    "SURFACE_UNDECLARED",
                    f"memory.{name} is absent, though the project has tier 2",
                    PATH,
                    6,
                )
                for name in ("vault_path", "graph_path")
            ],
        ),
        (
            "memory:\n  stack: auto\n  tier: 3\n  vault_path: v\n  rag_endpoint: x\n",
            [
                ("TIER_DISAGREES", "memory.tier says 3, but the stack auto is tier 0", PATH, 7),
                (
                    "SURFACE_BELOW_TIER",
                    "memory.vault_path needs tier 1, the project has 0; it is ignored",
                    PATH,
                    8,
                ),
                (
                    "SURFACE_BELOW_TIER",
                    "memory.rag_endpoint needs tier 3, the project has 0; it is ignored",
                    PATH,
                    9,
                ),
            ],
        ),
        (
            "memory:\n  stack: obsidian-only\n  memory_path: ../x\n  vault_path: /abs\n",
            [
                ("SURFACE_OUTSIDE", "memory.memory_path '../x' leaves the project", PATH, 7),
                ("SURFACE_OUTSIDE", "memory.vault_path '/abs' is an absolute path", PATH, 8),
            ],
        ),
        (
            "memory:\n  stack: wild\n  tier: true\n",
            [
                ("STACK_UNKNOWN", "memory.stack 'wild' is not known", PATH, 6),
                ("TIER_MALFORMED", "memory.tier is not a whole number", PATH, 7),
            ],
        ),
        ("memory: [a]\n", [("MEMORY_MALFORMED", "memory: is not a mapping", PATH, 5)]),
        (
            "memory:\n  stack: auto\n  stack: none\n",
            [("KEY_DUPLICATE", "memory.stack stands twice; the last one counts", PATH, 7)],
        ),
        (
            "language: python\ndelivery: [x]\ncontext: {a: b}\nmemory:\n  stack: [auto]\n",
            [
                ("STACK_UNKNOWN", "memory.stack is not a word", PATH, 9),
                ("CONTEXT_MALFORMED", "context is neither repo nor ambient", PATH, 7),
                ("FIELD_MALFORMED", "delivery is not text", PATH, 6),
            ],
        ),
    ],
)
def test_a_descriptor(text: str, expected: list[Said]) -> None:
    assert said(parsed(text).diagnostics) == expected


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "r/shop"
    made.mkdir(parents=True)
    return made


def write(folder: Path, path: str, text: str) -> None:
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def of_root(folder: Path) -> list[Said]:
    root = Root(typed="r", path=folder.parent, origin="projects.toml")
    return said(load_fleet([root], Settings()).roots[0].diagnostics)


def of_project(folder: Path) -> list[Said]:
    root = Root(typed="r", path=folder.parent, origin="projects.toml")
    [project] = load_fleet([root], Settings()).projects
    return said(project.diagnostics)


def test_surfaces(folder: Path) -> None:
    write(
        folder, PATH, HEAD + "memory:\n  stack: obsidian-only\n  memory_path: m\n  vault_path: v\n"
    )
    assert of_project(folder) == [
        ("MEMORY_MISSING", "the memory folder m does not exist", "m", None),
        ("VAULT_MISSING", "the vault folder v does not exist", "v", None),
    ]
    (folder / "m").mkdir()
    write(folder, "v", "a file")
    assert of_project(folder) == [
        ("MEMORY_INDEX_MISSING", "m has no MEMORY.md", "m", None),
        ("SURFACE_REFUSED", "v: Not a directory", "v", None),
    ]
    (folder / "m/MEMORY.md").symlink_to("/etc/hostname")
    (folder / "v").unlink()
    (folder / "v").mkdir()
    assert of_project(folder) == [
        ("SURFACE_REFUSED", "m/MEMORY.md is, or passes through, a link", "m/MEMORY.md", None)
    ]


def test_memory_that_was_left_behind(folder: Path) -> None:
    write(folder, PATH, HEAD + "memory: {stack: none}\n")
    write(folder, ".agents/memory/MEMORY.md", "x")
    index = ".agents/memory/MEMORY.md"
    assert of_project(folder) == [
        (
            "MEMORY_LEFT_BEHIND",
            f"{index} exists, but the project records no memory; it is not read",
            index,
            None,
        )
    ]


def test_layouts(folder: Path) -> None:
    legacy = ".claude/config.yaml"
    (folder / ".agents").mkdir()
    assert of_root(folder) == [
        (
            "DESCRIPTOR_MISSING",
            ".agents/ holds no config.yaml: the folder is no project",
            "shop/.agents",
            None,
        )
    ]
    (folder / PATH).symlink_to("/etc/hostname")
    link = ("DESCRIPTOR_REFUSED", f"{PATH} is, or passes through, a link")
    assert of_root(folder) == [(*link, f"shop/{PATH}", None)]
    write(folder, legacy, HEAD + "memory: {stack: none}\n")
    assert of_project(folder) == [
        (*link, PATH, None),
        ("DESCRIPTOR_FALLBACK", "the descriptor in .claude/ was taken instead", ".agents", None),
    ]
    (folder / PATH).unlink()
    write(folder, PATH, HEAD + "memory: {stack: none}\n")
    assert of_project(folder) == [
        ("DESCRIPTOR_SHADOWED", f"{legacy} exists too and is not read", legacy, None)
    ]


def test_a_layout_that_is_a_file(folder: Path) -> None:
    write(folder, ".agents", ".claude")
    write(folder, ".claude/config.yaml", HEAD + "memory: {stack: none}\n")
    assert ("LAYOUT_NOT_A_FOLDER", ".agents is a plain file", ".agents", None) in of_project(folder)


def test_a_descriptor_that_is_a_pipe(folder: Path) -> None:
    (folder / ".agents").mkdir()
    os.mkfifo(folder / PATH)
    [(code, message, path, _)] = of_root(folder)
    assert (code, path) == ("DESCRIPTOR_UNREADABLE", f"shop/{PATH}")
    assert message == f"{PATH} is not a regular file"


def test_what_was_read_in_each_layout_is_known_for_the_next_run(folder: Path) -> None:
    root = Root(typed="r", path=folder.parent, origin="projects.toml")
    for text in (HEAD, "project: ["):
        write(folder, PATH, "other: tool\n")
        write(folder, ".claude/config.yaml", text)
        fleet = load_fleet([root], Settings())
        real = os.path.realpath(folder)
        assert set(fleet.known) == {f"{real}/{PATH}", f"{real}/.claude/config.yaml"}


def test_a_record_that_disagrees() -> None:
    text = (
        HEAD + "language: go\ndelivery: library\nmemory:\n  stack: auto\n"
        "# --- scaffold record\nscaffold:\n"
        '  variables: {"project_name": "old", "language": "rust", "delivery": "service",'
        ' "memory_stack": "none"}\n  manifest: [1]\n'
    )
    record = read_record(text.encode(), path=PATH)
    assert record is not None
    found = parse_descriptor(text.encode(), layout=".agents", folder_name="shop")
    assert isinstance(found, Descriptor)
    assert {item.path for item in record.diagnostics} == {PATH}
    assert said(compare_record(record, found)) == [
        (
            "RECORD_DISAGREES",
            f"scaffold.variables.{key} says otherwise than the visible block",
            PATH,
            None,
        )
        for key in ("project_name", "language", "delivery", "memory_stack")
    ]


@pytest.mark.parametrize("recorded", ["obsidian", "obsidian-only"])
def test_a_record_that_agrees_under_another_name(recorded: str) -> None:
    text = (
        HEAD + "memory:\n  stack: obsidian-only\n# --- scaffold record\nscaffold:\n"
        f'  variables: {{"project_name": "shop", "memory_stack": "{recorded}"}}\n'
    )
    record = read_record(text.encode(), path=PATH)
    assert record is not None
    assert compare_record(record, parsed("memory:\n  stack: obsidian-only\n")) == ()


def test_depth_is_counted_through_siblings() -> None:
    """Closing a folder of the tree takes back one level, no more and no less."""
    most = yaml_nodes.MAX_NESTING_LEVELS
    flat = "[" + "[],[]," * most + "1]"
    just = "[[],[],[]," + "[" * (most - 1) + "]" * (most - 1) + "]"
    over = "[[],[],[]," + "[" * most + "]" * most + "]"
    assert not isinstance(yaml_nodes.compose(flat), yaml_nodes.Broken)
    assert not isinstance(yaml_nodes.compose(just), yaml_nodes.Broken)
    found = yaml_nodes.compose(f"a:\n- 1\n- {over}\n")
    assert isinstance(found, yaml_nodes.Broken)
    assert (found.too_deep, found.line) == (True, 3)
    assert found.reason == f"it is nested more than {most} levels deep"


def test_a_long_reason_is_cut() -> None:
    most = yaml_nodes._MESSAGE_CHARS
    assert yaml_nodes._cut("x" * most) == "x" * most
    assert yaml_nodes._cut("x" * (most + 1)) == "x" * most + "…"


@pytest.mark.parametrize("empty", ["", "~", "null", "''", '""'])
def test_an_empty_key_is_an_absent_one(empty: str) -> None:
    text = f"memory:\n  stack: obsidian-only\n  memory_path: {empty}\n  vault_path: v\n"
    found = parsed(text)
    assert (found.memory_path, found.vault_path, found.diagnostics) == (".agents/memory", "v", ())


@pytest.mark.parametrize("empty", ["", "~", "NULL"])
def test_a_stack_that_is_null_is_absent(empty: str) -> None:
    found = parsed(f"memory:\n  stack: {empty}\n  tier: 1\n  vault_path: v\n")
    assert (found.stack, found.tier) == (None, 1)
    assert said(found.diagnostics) == [("STACK_MISSING", "memory.stack is absent", PATH, 6)]


def test_a_record_is_not_compared_with_what_nobody_wrote() -> None:
    """Nothing is recorded of the memory at contract 0: that is no disagreement."""
    text = (
        "project:\n  name: shop\n  project_init_version: 0.4.0\n"
        "# --- scaffold record\nscaffold:\n"
        '  variables: {"project_name": "shop", "memory_stack": "auto"}\n'
    )
    record = read_record(text.encode(), path=PATH)
    found = parse_descriptor(text.encode(), layout=".agents", folder_name="shop")
    assert record is not None
    assert isinstance(found, Descriptor)
    assert found.choice == "unknown"
    assert compare_record(record, found) == ()


START = "project:\n  name: a\n  project_init_version: 1.2.2\n"
DECLINED = "memory: {stack: none}\n"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            "project:\n  name: [a]\n  project_init_version: 1.2.2\n" + DECLINED,
            ("NAME_MISSING", "project.name is not text; the folder's name is used", PATH, 2),
        ),
        (
            "\nproject:\n  project_init_version: 1.2.2\n" + DECLINED,
            ("NAME_MISSING", "project.name is not text; the folder's name is used", PATH, 2),
        ),
        (
            'project:\n  project_init_version: 1.2.2\n  name: "a\\nb"\n' + DECLINED,
            ("NAME_CLEANED", "project.name was made one visible line", PATH, 3),
        ),
        (
            START + "  created: 2026-13-45\n" + DECLINED,
            ("CREATED_INVALID", "project.created is not a date", PATH, 4),
        ),
        (
            START + "  created: [1]\n" + DECLINED,
            ("FIELD_MALFORMED", "project.created is not text", PATH, 4),
        ),
        (
            START + "  project_init_contract_version: -1\n" + DECLINED,
            (
                "CONTRACT_MALFORMED",
                "project.project_init_contract_version is not a whole number from 0 up",
                PATH,
                4,
            ),
        ),
        (
            START + "  project_init_contract_version: 9\n" + DECLINED,
            ("CONTRACT_NEWER", "contract version 9 is newer than 2", PATH, 4),
        ),
        (
            START + "language: go\nlanguage: rust\n" + DECLINED,
            ("KEY_DUPLICATE", "language stands twice; the last one counts", PATH, 5),
        ),
        (
            (START + DECLINED).replace("name: a", "name: Größe").encode("latin-1"),
            ("DESCRIPTOR_NOT_UTF8", "the descriptor is not plain UTF-8", PATH, None),
        ),
        (
            b"x" * (MAX_DESCRIPTOR_BYTES + 1),
            (
                "DESCRIPTOR_TOO_LARGE",
                f"the descriptor is larger than {MAX_DESCRIPTOR_BYTES} bytes",
                PATH,
                None,
            ),
        ),
        (
            START
            + DECLINED
            + '# --- scaffold record\nscaffold:\n  variables: {"a": "\\ud83d\\ude80"}\n',
            ("RECORD_ESCAPES", "the scaffold record holds escaped surrogate pairs", PATH, None),
        ),
        ("", ("DESCRIPTOR_EMPTY", "the descriptor is empty", PATH, None)),
        (
            START + "  description: a\x01b\n" + DECLINED,
            ("DESCRIPTOR_CONTROL_CHARACTERS", "control characters were replaced", PATH, None),
        ),
        (
            "project: [a]\n" + DECLINED,
            ("DESCRIPTOR_FOREIGN", f"{PATH} is another tool's configuration", PATH, None),
        ),
    ],
)
def test_what_is_said_of_one_fault(data: str | bytes, expected: Said) -> None:
    found = parse_descriptor(
        data.encode() if isinstance(data, str) else data, layout=".agents", folder_name="shop"
    )
    assert said(found.diagnostics) == [expected]


def test_a_project_block_that_is_no_mapping() -> None:
    text = "language: go\nproject: [a]\nmemory: {stack: auto}\n# --- scaffold record\nscaffold:\n"
    found = parse_descriptor(
        (text + "  preset: core\n").encode(), layout=".agents", folder_name="shop"
    )
    assert said(found.diagnostics) == [
        ("FIELD_MALFORMED", "project is not a mapping", PATH, 2),
        ("NAME_MISSING", "project.name is not text; the folder's name is used", PATH, 1),
    ]
