"""A fleet in which everything that ever broke a reader of descriptors lies beside healthy projects.

Each case names where it comes from: PC is the producer contract, RB the reader behaviours. Every
project also holds one good fact, which says whether the rest of the project survived its fault.
"""

import json
import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from support.fleet.builder import FleetBuilder, descriptor

LIGHT = "lighthouse"
"""A word of the one good fact of every project."""
CONFIG = ".agents/config.yaml"
LEGACY = ".claude/config.yaml"
MEMORY = ".agents/memory"
OUTSIDE_SECRET = "outsidesecretword"
HEALTHY = ("healthy-first", "healthy-second", "zz-healthy-last")
MIB = 1_048_576


@dataclass(frozen=True, slots=True)
class Link:
    """A link; a relative target is below the folder beside the root."""

    target: str


@dataclass(frozen=True, slots=True)
class Fifo:
    """A named pipe that nobody writes: whoever opens it blocking waits for ever."""


@dataclass(frozen=True, slots=True)
class Socket:
    """A socket file."""


@dataclass(frozen=True, slots=True)
class Empty:
    """An empty folder."""


Content = str | bytes | Link | Fifo | Socket | Empty | Callable[[], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One fault.

    Attributes:
        name: the folder below the root.
        why: the document and section that asks for it.
        files: what is written over a plain tier-0 project; ``None`` leaves a file out.
        project: codes that ``scan`` gives the project, all of them.
        root: codes that ``scan`` gives the root about this folder.
        evidence: codes of files that could not be read; an answer that needs them is incomplete.
        notes: codes of files that were read leniently.
        graph: codes of a code graph that could not be read; only questions to it need it.
        member: whether the folder is a project of the fleet at all.
        found: whether the good fact is found.

    ``doctor`` names the codes of project, evidence, notes and graph, and no others.
    """

    name: str
    why: str
    files: Mapping[str, Content | None] = field(default_factory=dict)
    project: frozenset[str] = frozenset()
    root: frozenset[str] = frozenset()
    evidence: frozenset[str] = frozenset()
    notes: frozenset[str] = frozenset()
    graph: frozenset[str] = frozenset()
    member: bool = True
    found: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class HostileFleet:
    """The fleet on disk."""

    root: Path
    outside: Path
    cases: tuple[Case, ...]

    @property
    def members(self) -> tuple[Case, ...]:
        return tuple(case for case in self.cases if case.member)


def config(
    name: str = "plain",
    *,
    stack: str = "auto",
    project: str = "",
    top: str = "",
    **memory: str,
) -> str:
    """A descriptor: extra lines of the project block, of the top, and of the memory block."""
    block = {"tier": "0", "memory_path": MEMORY, **memory}
    lines = "".join(f"  {key}: {value}\n" for key, value in block.items() if value != "-")
    return (
        f"project:\n  name: {name}\n  description: A test\n  project_init_version: 1.2.2\n"
        f"  project_init_contract_version: 2\n{project}language: python\n{top}"
        f"memory:\n  stack: {stack}\n{lines}"
    )


def deep(levels: int) -> str:
    return config() + "deep: " + "[" * levels + "]" * levels + "\n"


def alias_bomb() -> str:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    bomb = "\n".join(lines) + "\n"
    return bomb + config("*a8")


@cache
def huge_config() -> bytes:
    return config().encode() + b"# padding\n" * (5 * MIB)


def huge_graph() -> bytes:
    nodes = [
        {"id": f"n{n}", "label": f"function number {n}", "source_file": "one.py"}
        for n in range(30_000)
    ]
    links = [{"source": f"n{n}", "target": f"n{n + 1}", "relation": "calls"} for n in range(29_999)]
    return json.dumps({"nodes": nodes, "links": links}).encode()


def deep_graph() -> bytes:
    return b'{"nodes": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"


def fact(name: str, body: str, **fields: str) -> str:
    head = {"name": name, "description": "about it", "type": "project", **fields}
    lines = "".join(f"{key}: {value}\n" for key, value in head.items())
    return f"---\n{lines}---\n\n{body}\n"


def _graph(
    path: str, content: Content, *, files: Mapping[str, Content] | None = None
) -> dict[str, Content | None]:
    """The files of a tier-2 project whose graph is ``content``."""
    return {
        CONFIG: config(
            stack="obsidian-graphify", tier="2", vault_path=".agents/vault", graph_path=path
        ),
        ".agents/vault/note.md": "# A note\n\ntext\n",
        path: content,
        **(files or {}),
    }


def _tier(name: str, value: str, *codes: str) -> Case:
    return Case(
        name=f"tier-{name}",
        why="PC 9.8, RB 4",
        files={CONFIG: config(tier=value)},
        project=frozenset(codes),
    )


def _descriptor(name: str, why: str, text: str | bytes, *codes: str, found: bool = True) -> Case:
    return Case(name=name, why=why, files={CONFIG: text}, project=frozenset(codes), found=found)


def _fact(name: str, why: str, content: Content, *, notes: str = "", evidence: str = "") -> Case:
    return Case(
        name=name,
        why=why,
        files={
            f"{MEMORY}/odd.md": content,
            f"{MEMORY}/MEMORY.md": "- [Kept](kept.md)\n- [Odd](odd.md)\n",
        },
        notes=frozenset(notes.split()),
        evidence=frozenset(evidence.split()),
    )


RECORD = "# --- scaffold record (do not edit) ---\nscaffold:\n  preset: core\n  variables: {}\n"
EMOJI_RECORD = RECORD.replace("{}", '{"project_name": "\\ud83d\\ude80 rocket"}')

DESCRIPTORS = (
    _tier("inf", ".inf", "TIER_MALFORMED"),
    _tier("string", '"0"'),
    _tier("float", "0.0"),
    _tier("fraction", "3.9", "TIER_MALFORMED"),
    _tier("true", "true", "TIER_MALFORMED"),
    _tier("null", "null"),
    _tier("word", "three", "TIER_MALFORMED"),
    _tier("negative", "-1", "TIER_OUT_OF_RANGE"),
    _tier("huge", "99", "TIER_OUT_OF_RANGE", "TIER_DISAGREES"),
    _tier("list", "[3]", "TIER_MALFORMED"),
    _tier("disagrees", "3", "TIER_DISAGREES"),
    _descriptor("nested-20000", "RB 4", deep(20_000), "DESCRIPTOR_TOO_DEEP", found=False),
    _descriptor("nested-2000", "PC 9.7", deep(2_000), "DESCRIPTOR_TOO_DEEP", found=False),
    _descriptor("bad-date", "RB 4", config(project="  created: 2026-13-45\n"), "CREATED_INVALID"),
    _descriptor("plain-date", "PC 1", config(project="  created: 2026-11-30\n")),
    _descriptor(
        "nul-in-path", "RB 4", config(memory_path='"a\\0b"'), "SURFACE_OUTSIDE", found=False
    ),
    _descriptor(
        "surrogate-in-path",
        "PC 10",
        config(memory_path='"a\\ud800b"'),
        "DESCRIPTOR_UNPARSEABLE",
        found=False,
    ),
    _descriptor(
        "path-absolute", "PC 10", config(memory_path="/etc"), "SURFACE_OUTSIDE", found=False
    ),
    _descriptor(
        "path-above", "PC 10", config(memory_path="../outside"), "SURFACE_OUTSIDE", found=False
    ),
    _descriptor("alias-bomb", "RB 4, PC 9.7", alias_bomb(), "NAME_MISSING"),
    _descriptor("name-list", "RB 4", config("[a, b]"), "NAME_MISSING"),
    _descriptor("name-null", "PC 10", config("null"), "NAME_MISSING"),
    _descriptor("name-escapes", "RB 4", config('"line\\nbreak \\e[31mred"'), "NAME_CLEANED"),
    _descriptor("name-right-to-left", "PC 8", config('"\\u202Efdp.exe"'), "NAME_CLEANED"),
    _descriptor("name-other-scripts", "PC 8", config('"Größe 日本語 🚀"')),
    _descriptor("unterminated", "PC 9.6", config('"open'), "DESCRIPTOR_UNPARSEABLE", found=False),
    _descriptor(
        "merge-markers",
        "PC 9.6",
        "<<<<<<< HEAD\n" + config() + "=======\n" + config() + ">>>>>>> main\n",
        "DESCRIPTOR_UNPARSEABLE",
        found=False,
    ),
    _descriptor(
        "tab-indent",
        "PC 9.6",
        config().replace("  name", "\tname"),
        "DESCRIPTOR_UNPARSEABLE",
        found=False,
    ),
    _descriptor(
        "two-documents",
        "PC 9.6",
        config() + "---\n" + config(),
        "DESCRIPTOR_UNPARSEABLE",
        found=False,
    ),
    _descriptor("empty", "RB 6.5", "", "DESCRIPTOR_EMPTY", found=False),
    _descriptor("only-comments", "RB 6.5", "# nothing\n", "DESCRIPTOR_EMPTY", found=False),
    _descriptor("carriage-returns", "PC 9.4", config().replace("\n", "\r\n")),
    _descriptor("byte-order-mark", "PC 9.4", "\ufeff" + config()),
    _descriptor("utf-16", "RB 4", config("wide").encode("utf-16"), "DESCRIPTOR_NOT_UTF8"),
    _descriptor("latin-1", "PC 9.5", config("Größe").encode("latin-1"), "DESCRIPTOR_NOT_UTF8"),
    _descriptor("nul-byte", "PC 9.5", config("nul\0byte"), "DESCRIPTOR_NOT_UTF8"),
    _descriptor(
        "control-characters",
        "PC 10 (PI-806)",
        config("c\x9ccharacter"),
        "DESCRIPTOR_CONTROL_CHARACTERS",
    ),
    _descriptor(
        "emoji-record",
        "PC 9.1",
        config('"🚀 rocket"') + EMOJI_RECORD,
        "RECORD_ESCAPES",
    ),
    _descriptor(
        "memory-null",
        "PC 9.8",
        config().split("memory:")[0] + "memory:\n",
        "MEMORY_MALFORMED",
        "MEMORY_LEFT_BEHIND",
        found=False,
    ),
    _descriptor(
        "memory-list",
        "PC 9.8",
        config().split("memory:")[0] + "memory: [auto]\n",
        "MEMORY_MALFORMED",
        "MEMORY_LEFT_BEHIND",
        found=False,
    ),
    _descriptor(
        "memory-text",
        "PC 9.8",
        config().split("memory:")[0] + "memory: auto\n",
        "MEMORY_MALFORMED",
        "MEMORY_LEFT_BEHIND",
        found=False,
    ),
    _descriptor(
        "memory-twice",
        "PC 9.8",
        config(stack="none", tier="-", memory_path="-") + "memory:\n  stack: auto\n  tier: 0\n",
        "KEY_DUPLICATE",
    ),
    _descriptor("stack-unknown", "PC 3", config(stack="wiki"), "STACK_UNKNOWN"),
    Case(
        name="stack-alias",
        why="PC 3",
        files={
            CONFIG: config(stack="obsidian", tier="1", vault_path=".agents/vault"),
            ".agents/vault/note.md": "# A note\n\ntext\n",
        },
    ),
    _descriptor(
        "contract-malformed",
        "PC 10 (#216)",
        config().replace("contract_version: 2", "contract_version: two"),
        "CONTRACT_MALFORMED",
    ),
    _descriptor(
        "contract-true",
        "PC 3",
        config().replace("contract_version: 2", "contract_version: true"),
        "CONTRACT_MALFORMED",
    ),
    _descriptor(
        "contract-newer",
        "PC 3",
        config().replace("contract_version: 2", "contract_version: 9"),
        "CONTRACT_NEWER",
    ),
    _descriptor(
        "contract-older",
        "PC 9.15",
        config().replace("contract_version: 2", "contract_version: 1"),
    ),
    _descriptor("rust", "PC 9.9", config().replace("python", "rust")),
    _descriptor("deploy-text", "PC 9.9", config(top="deploy: none\n")),
    _descriptor("deploy-mapping", "PC 9.9", config(top="deploy: {target: fly}\n")),
    _descriptor("context-malformed", "RB 6.15", config(top="context: [x]\n"), "CONTEXT_MALFORMED"),
    _descriptor("key-not-text", "RB 6.7", config(top="on: true\n[a]: 1\n")),
    _descriptor(
        "stray-graph-path",
        "PC 10",
        config(graph_path="graphify-out/graph.json"),
        "SURFACE_BELOW_TIER",
    ),
    _descriptor(
        "memory-path-missing",
        "PC 10 (PI-816)",
        config(memory_path=".agents/elsewhere"),
        "MEMORY_MISSING",
        found=False,
    ),
)


def _endpoint(name: str, value: str, *codes: str) -> Case:
    return Case(
        name=f"endpoint-{name}",
        why="PC 9.10",
        files={
            CONFIG: config(
                stack="obsidian-graphify-rag",
                tier="3",
                vault_path=".agents/vault",
                graph_path="graphify-out/graph.json",
                rag_endpoint=value,
            ),
            ".agents/vault/note.md": "# A note\n\ntext\n",
        },
        project=frozenset(codes),
    )


ENDPOINTS = (
    _endpoint("null", "  # unset"),
    _endpoint("blank", '""'),
    _endpoint("command", "touch never-run; ccc mcp"),
    _endpoint("address", "http://127.0.0.1:9/mcp"),
    _endpoint("mapping", "{url: x}", "FIELD_MALFORMED"),
)

LAYOUTS = (
    Case(
        name="fifo-config",
        why="RB 4",
        files={CONFIG: Fifo()},
        root=frozenset({"DESCRIPTOR_UNREADABLE"}),
        member=False,
    ),
    Case(
        name="folder-config",
        why="RB 6.2",
        files={CONFIG: Empty()},
        root=frozenset({"DESCRIPTOR_UNREADABLE"}),
        member=False,
    ),
    Case(
        name="config-50-mb",
        why="RB 4",
        files={CONFIG: huge_config},
        root=frozenset({"DESCRIPTOR_TOO_LARGE"}),
        member=False,
    ),
    Case(
        name="linked-config",
        why="RB 4, PC 10 (PI-903)",
        files={CONFIG: Link("config.yaml"), LEGACY: config(memory_path=MEMORY)},
        project=frozenset({"DESCRIPTOR_REFUSED", "DESCRIPTOR_FALLBACK"}),
    ),
    Case(
        name="linked-layout",
        why="RB 4",
        files={
            ".agents": Link("layout"),
            LEGACY: config(memory_path=".claude/memory"),
            ".claude/memory/kept.md": fact("Kept", f"The {LIGHT} is lit."),
            ".claude/memory/MEMORY.md": "- [Kept](kept.md)\n",
        },
        project=frozenset({"DESCRIPTOR_REFUSED", "DESCRIPTOR_FALLBACK"}),
    ),
    Case(
        name="linked-layout-alone",
        why="RB 4",
        files={".agents": Link("layout")},
        root=frozenset({"DESCRIPTOR_REFUSED"}),
        member=False,
    ),
    Case(
        name="layout-is-a-file",
        why="PC 7",
        files={
            ".agents": "../elsewhere/.agents",
            LEGACY: config(memory_path=".claude/memory"),
            ".claude/memory/kept.md": fact("Kept", f"The {LIGHT} is lit."),
            ".claude/memory/MEMORY.md": "- [Kept](kept.md)\n",
        },
        project=frozenset({"LAYOUT_NOT_A_FOLDER", "DESCRIPTOR_FALLBACK"}),
    ),
    Case(
        name="broken-before-legacy",
        why="PC 3, PC 7",
        files={CONFIG: "memory: [\n", LEGACY: config(memory_path=MEMORY)},
        project=frozenset({"DESCRIPTOR_UNPARSEABLE", "DESCRIPTOR_FALLBACK"}),
    ),
    Case(
        name="legacy-only",
        why="PC 10 (PI-606)",
        files={CONFIG: None, LEGACY: config(memory_path=MEMORY)},
    ),
    Case(
        name="double-layout",
        why="PC 9.13",
        files={LEGACY: config(memory_path=".claude/memory")},
        project=frozenset({"DESCRIPTOR_SHADOWED"}),
    ),
    Case(
        name="subset-descriptor",
        why="PC 9.14",
        files={CONFIG: "context: repo\nproject:\n  name: subset\n  project_key: x\n  created: x\n"},
        project=frozenset({"CREATED_INVALID", "MEMORY_LEFT_BEHIND"}),
        found=False,
    ),
    Case(
        name="stopped-resolving",
        why="PC 10 (#211)",
        files={CONFIG: None},
        root=frozenset({"DESCRIPTOR_MISSING"}),
        member=False,
    ),
    Case(
        name="foreign-config",
        why="PC 11",
        files={CONFIG: "memory:\n  provider: x\n  store: ~/x\nname: y\n"},
        root=frozenset({"DESCRIPTOR_FOREIGN"}),
        member=False,
    ),
    Case(
        name="foreign-key",
        why="PC 11 (brain-indexer)",
        files={CONFIG: "api_key: sk-ant-REALLYSECRETVALUE0123456789\nmodel: x\n"},
        root=frozenset({"DESCRIPTOR_FOREIGN"}),
        member=False,
    ),
    Case(
        name="opted-out",
        why="PC 9.12, RB 4",
        files={CONFIG: config().split("memory:")[0]},
        project=frozenset({"MEMORY_LEFT_BEHIND"}),
        found=False,
    ),
    Case(
        name="declined",
        why="PC 3",
        files={CONFIG: config(stack="none", tier="-", memory_path="-")},
        project=frozenset({"MEMORY_LEFT_BEHIND"}),
        found=False,
    ),
    Case(
        name="no-index",
        why="PC 10 (PI-816)",
        notes=frozenset({"FACT_UNLISTED"}),
        files={f"{MEMORY}/MEMORY.md": None},
        project=frozenset({"MEMORY_INDEX_MISSING"}),
    ),
    Case(
        name="vault-missing",
        why="PC 10",
        files={CONFIG: config(stack="obsidian-only", tier="1", vault_path=".agents/vault")},
        project=frozenset({"VAULT_MISSING"}),
    ),
    Case(
        name="record-stale",
        why="PC 10 (PI-537)",
        notes=frozenset({"RECORD_DISAGREES"}),
        files={
            CONFIG: config()
            + RECORD.replace("{}", '{"project_name": "as scaffolded", "memory_stack": "auto"}')
        },
    ),
)

SURFACES = (
    Case(
        name="memory-linked",
        why="RB 4",
        files={MEMORY: Link("memory")},
        project=frozenset({"SURFACE_REFUSED"}),
        found=False,
    ),
    Case(
        name="memory-link-circle",
        why="PC 10 (#262)",
        files={MEMORY: Link("circle")},
        project=frozenset({"SURFACE_REFUSED"}),
        found=False,
    ),
    Case(
        name="memory-is-a-file",
        why="PC 10",
        files={MEMORY: "text"},
        project=frozenset({"SURFACE_REFUSED"}),
        found=False,
    ),
    Case(
        name="vault-linked",
        why="RB 4",
        files={
            CONFIG: config(stack="obsidian-only", tier="1", vault_path=".agents/vault"),
            ".agents/vault": Link("memory"),
        },
        project=frozenset({"SURFACE_REFUSED"}),
    ),
    Case(
        name="graph-fifo",
        why="RB 4",
        files=_graph("graphify-out/graph.json", Fifo()),
        project=frozenset({"SURFACE_REFUSED"}),
    ),
    Case(
        name="graph-linked",
        why="RB 4",
        files=_graph("graphify-out/graph.json", Link("graph.json")),
        project=frozenset({"SURFACE_REFUSED"}),
    ),
    Case(
        name="graph-is-a-folder",
        why="PC 10",
        files=_graph("graphify-out/graph.json", Empty()),
        project=frozenset({"SURFACE_REFUSED"}),
    ),
    Case(
        name="graph-missing",
        why="PC 4",
        files={
            CONFIG: config(
                stack="obsidian-graphify",
                tier="2",
                vault_path=".agents/vault",
                graph_path="graphify-out/graph.json",
            ),
            ".agents/vault/note.md": "text\n",
        },
    ),
    Case(
        name="graph-deep",
        why="RB 4",
        files=_graph("graphify-out/graph.json", deep_graph),
        graph=frozenset({"GRAPH_NESTED"}),
    ),
    Case(name="graph-large", why="RB 4", files=_graph("graphify-out/graph.json", huge_graph)),
    Case(
        name="graph-not-json",
        why="PC 10",
        files=_graph("graphify-out/graph.json", "{nodes: oops"),
        graph=frozenset({"GRAPH_NOT_JSON"}),
    ),
    Case(
        name="graph-list",
        why="PC 10, RB 6.38",
        files=_graph("graphify-out/graph.json", "[]"),
        graph=frozenset({"GRAPH_NOT_OBJECT"}),
    ),
    Case(
        name="graph-lfs",
        why="PC 10",
        files=_graph(
            "graphify-out/graph.json",
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n",
        ),
        graph=frozenset({"GRAPH_LFS_POINTER"}),
    ),
)

FACTS = (
    _fact("fact-fifo", "RB 4", Fifo(), evidence="NOT_REGULAR"),
    _fact("fact-socket", "PC 10", Socket(), evidence="NOT_REGULAR"),
    _fact("fact-is-a-folder", "PC 10", Empty(), evidence="NOT_REGULAR"),
    _fact("fact-linked-out", "RB 4", Link("secret.md"), evidence="LINK_REFUSED"),
    _fact("fact-linked-to-system", "RB 4", Link("/etc/passwd"), evidence="LINK_REFUSED"),
    _fact("fact-300-kb", "RB 4, PC 10", "x " * 150_000, evidence="FILE_TOO_LARGE"),
    _fact("fact-empty", "PC 10", ""),
    _fact("fact-bad-date", "RB 4", fact("Odd", "body", modified="2026-13-45")),
    _fact("fact-deep", "RB 4", fact("Odd", "body", metadata="[" * 20_000 + "]" * 20_000)),
    _fact("fact-dashes", "RB 4", fact("Odd", "body", description="one --- two")),
    _fact("fact-colon", "RB 4, PC 9.2", fact("Odd: a tale", "body")),
    _fact("fact-comment", "PC 9.3", fact("Odd", "body", description="foo #12 baz")),
    _fact("fact-indicators", "PC 9.3", fact("@Odd", "body", description="*x* `y` [z] - 'open")),
    _fact("fact-scalars", "PC 9.3", fact("no", "body", description="1.10", type="2026-01-01")),
    _fact("fact-bom-crlf", "PC 9.4", ("\ufeff" + fact("Odd", "body")).replace("\n", "\r\n")),
    _fact("fact-latin-1", "PC 9.5", fact("Größe", "body").encode("latin-1"), notes="TEXT_NOT_UTF8"),
    _fact("fact-unclosed", "PC 10", "---\nname: Odd\n\nbody\n", notes="FRONT_MATTER_UNCLOSED"),
    _fact("fact-rule-in-body", "PC 10", fact("Odd", "one\n---\ntwo\n---\nthree")),
    _fact(
        "fact-no-keys", "RB 4", "---\n- just\n- a list\n---\nbody\n", notes="FRONT_MATTER_NO_KEYS"
    ),
    _fact(
        "fact-nested-metadata",
        "PC 10 (#217)",
        "---\nname: odd\ndescription: d\nmetadata:\n  type: feedback\n  modified: 2026-01-01\n"
        "---\nx\n",
    ),
    Case(
        name="fact-name-not-utf8",
        why="RB 4",
        files={f"{MEMORY}/od\udcffd.md": "text"},
        evidence=frozenset({"NAME_NOT_UTF8"}),
    ),
    Case(
        name="fact-upper-case-ending",
        why="RB 4",
        files={f"{MEMORY}/ODD.MD": "shouted\n"},
        notes=frozenset({"FACT_UNLISTED"}),
    ),
    Case(
        name="fact-in-subfolder",
        why="RB 4",
        notes=frozenset({"FACT_UNLISTED"}),
        files={f"{MEMORY}/below/odd.md": "deeper\n"},
    ),
    Case(
        name="fact-names-of-one-case",
        why="PC 10",
        notes=frozenset({"FACT_UNLISTED"}),
        files={f"{MEMORY}/Odd.md": "first\n", f"{MEMORY}/odd.md": "second\n"},
    ),
    Case(
        name="index-fifo",
        why="RB 4",
        notes=frozenset({"FACT_UNLISTED"}),
        files={f"{MEMORY}/MEMORY.md": Fifo()},
        project=frozenset({"SURFACE_REFUSED"}),
        evidence=frozenset({"NOT_REGULAR"}),
    ),
    Case(
        name="index-linked",
        why="RB 4",
        notes=frozenset({"FACT_UNLISTED"}),
        files={f"{MEMORY}/MEMORY.md": Link("secret.md")},
        project=frozenset({"SURFACE_REFUSED"}),
        evidence=frozenset({"LINK_REFUSED"}),
    ),
    Case(
        name="index-odd-links",
        why="PC 10",
        files={
            f"{MEMORY}/MEMORY.md": "# Memory\n\n- [Kept](kept.md)\n- [Kept again](./kept.md)\n"
            "- [Gone](gone.md)\n- [Above](../x.md)\n- [Absolute](/etc/x.md)\n"
            '- [Titled](kept.md "title")\n- [Encoded](%6bept.md)\n- [Spaces](<no such.md>)\n'
            "- [Web](https://example.org/x.md)\n- [Mail](mailto:a@b)\n- [Here](#memory)\n"
        },
        notes=frozenset({"FACT_MISSING"}),
    ),
    Case(
        name="index-prose",
        why="PC 10",
        notes=frozenset({"FACT_UNLISTED"}),
        files={f"{MEMORY}/MEMORY.md": "# Memory\n\n" + "A whole paragraph of prose.\n\n" * 120},
    ),
)

OTHERS = (
    Case(
        name="capabilities-fifo",
        why="RB 4",
        files={".agents/CAPABILITIES.md": Fifo()},
        evidence=frozenset({"NOT_REGULAR"}),
    ),
    Case(
        name="capabilities-linked",
        why="RB 4",
        files={".agents/CAPABILITIES.md": Link("secret.md")},
        evidence=frozenset({"LINK_REFUSED"}),
    ),
    Case(
        name="capabilities-large",
        why="RB 4",
        files={".agents/CAPABILITIES.md": "x" * 300_000},
        evidence=frozenset({"FILE_TOO_LARGE"}),
    ),
    Case(
        name="capabilities-foreign",
        why="PC 11",
        files={".agents/CAPABILITIES.md": "# We can\n\n| Skill | A |\n|---|---|\n| x | y |\n"},
        notes=frozenset({"CAPABILITIES_FOREIGN"}),
    ),
    Case(
        name="capabilities-three-columns",
        why="PC 9.11, PC 10 (#259)",
        files={
            ".agents/CAPABILITIES.md": "# Capabilities\n\n<!-- Generated by project-init -->\n\n"
            "## Skills (1)\n\nProse between.\n\n| Skill | Source | Description |\n|---|---|---|\n"
            "| tidy | plugin | Cleans a \\| b |\n\n## Hooks\n\n_No hooks wired._\n\n"
            "## MCP servers (0)\n\n_None selected._\n"
        },
    ),
    Case(
        name="servers-fifo",
        why="RB 4",
        files={".mcp.json": Fifo()},
        evidence=frozenset({"NOT_REGULAR"}),
    ),
    Case(
        name="servers-deep",
        why="RB 4",
        files={".mcp.json": '{"mcpServers": ' + "[" * 100_000 + "]" * 100_000 + "}"},
        notes=frozenset({"TOOLING_INVALID"}),
    ),
    Case(
        name="servers-not-json",
        why="RB 4",
        files={".mcp.json": "{'mcpServers': oops"},
        notes=frozenset({"TOOLING_INVALID"}),
    ),
    Case(
        name="vault-odd",
        why="RB 4, PC 5",
        files={
            CONFIG: config(stack="obsidian-only", tier="1", vault_path=".agents/vault"),
            ".agents/vault/fifo.md": Fifo(),
            ".agents/vault/linked.md": Link("secret.md"),
            ".agents/vault/linked-folder": Link("memory"),
            ".agents/vault/templates/t.md": "<% tp.file.title %>",
            ".agents/vault/.obsidian/app.md": "{}",
            ".agents/vault/large.md": "x" * (MIB + 1),
            ".agents/vault/note.md": "# Note\n\n[[other|name#heading]] [[" + "x" * 5_000 + "]]\n",
        },
        evidence=frozenset({"NOT_REGULAR", "LINK_REFUSED", "FILE_TOO_LARGE"}),
    ),
    Case(
        name="instructions-fifo",
        why="RB 4",
        files={"AGENTS.md": Fifo(), "CLAUDE.md": "text\n"},
        evidence=frozenset({"NOT_REGULAR"}),
    ),
)

INVENTORY = "# Capabilities\n\n<!-- Generated by project-init -->\n\n## Skills (1)\n\n"
COSTLY = (
    Case(
        name="costly-heading",
        why="a run of blanks before another character",
        files={f"{MEMORY}/MEMORY.md": "## a" + " " * 200_000 + "b\n"},
        notes=frozenset({"FACT_UNLISTED"}),
    ),
    Case(
        name="costly-headings",
        why="a passage a line",
        files={f"{MEMORY}/MEMORY.md": "# a\n" * 50_000},
        notes=frozenset({"FACT_UNLISTED"}),
    ),
    Case(
        name="costly-index",
        why="one project's findings bury the others'",
        files={
            f"{MEMORY}/MEMORY.md": "".join(f"- [a](gone{n}.md) - x\n" for n in range(6_000)),
        },
        notes=frozenset({"FACT_MISSING", "FACT_UNLISTED"}),
    ),
    _fact("costly-line", "a run that may be a path", "/ " + "a" * 200_000),
    _fact("costly-word", "a searched word on every line", f"{LIGHT}\n" * 15_000),
    _fact("costly-name", "a name that fills every list", fact("N" * 150_000, "body")),
    _fact(
        "costly-statements",
        "as many keys as lines",
        "".join(f"key {n}: value\n" for n in range(12_000)),
        notes="STATEMENTS_TOO_MANY",
    ),
    Case(
        name="costly-table",
        why="rows are filled up to the header",
        files={
            ".agents/CAPABILITIES.md": f"{INVENTORY}|Skill{'|a' * 40_000}|\n"
            f"|-{'|-' * 40_000}|\n" + "|\n" * 20_000
        },
    ),
    Case(
        name="costly-record",
        why="a run of blanks in the record",
        files={
            CONFIG: config()
            + "# --- scaffold record\nscaffold:\n  variables:"
            + " " * 200_000
            + "x\n"
        },
        notes=frozenset({"RECORD_UNREADABLE"}),
    ),
    Case(
        name="odd-branch",
        why="escapes and a credential in what git wrote",
        files={
            ".git/HEAD": "ref: refs/heads/\x1b[2J\u202egnp" + "b" * 50_000 + "\n",
            ".git/config": '[remote "origin"]\n\turl = https://me:pass1word@example.org/a/b.git\n'
            "[include]\n\tpath = /etc/passwd\n",
            ".git/objects": Empty(),
            ".git/refs": Empty(),
        },
    ),
)

SAME_NAME = tuple(
    Case(
        name=f"same-name-{which}",
        why="RB 4, PC 10",
        files={CONFIG: config("twin")},
        project=frozenset({"NAME_SHARED"}),
    )
    for which in ("one", "two")
)

CASES: tuple[Case, ...] = (
    *DESCRIPTORS,
    *ENDPOINTS,
    *LAYOUTS,
    *SURFACES,
    *FACTS,
    *OTHERS,
    *COSTLY,
    *SAME_NAME,
)


def write_hostile_fleet(folder: Path) -> HostileFleet:
    """Write the fleet below ``folder``; what links point at lies beside its root."""
    root, outside = folder / "fleet", folder / "outside"
    root.mkdir(parents=True)
    _write_outside(outside)
    builder = FleetBuilder(root=root)
    for name in HEALTHY:
        project = builder.project(name, "obsidian-only")
        project.fact("kept", f"The {LIGHT} of {name} is lit.", title="Kept")
        project.index("- [Kept](kept.md) - what is lit\n")
        project.note("harbour.md", "# Harbour\n\nShips wait here.\n")
        project.capabilities(skills={"steer": "Steers"}, servers={"pilot": "npx pilot"})
    for case in CASES:
        _write_case(root / case.name, case, outside)
    return HostileFleet(root=root, outside=outside, cases=CASES)


def _write_outside(outside: Path) -> None:
    (outside / "layout").mkdir(parents=True)
    (outside / "layout/config.yaml").write_text(descriptor("forged", "auto"))
    (outside / "config.yaml").write_text(descriptor("forged", "auto"))
    (outside / "memory").mkdir()
    (outside / "memory/MEMORY.md").write_text(f"# {OUTSIDE_SECRET}\n")
    (outside / "memory/kept.md").write_text(f"{OUTSIDE_SECRET} {LIGHT}\n")
    (outside / "secret.md").write_text(f"{OUTSIDE_SECRET} {LIGHT}\n")
    (outside / "graph.json").write_text(f'{{"nodes": [{{"id": "{OUTSIDE_SECRET}"}}]}}')
    (outside / "circle").symlink_to(outside / "circle")


def _write_case(folder: Path, case: Case, outside: Path) -> None:
    folder.mkdir()
    plain: dict[str, Content | None] = {
        CONFIG: config(case.name),
        f"{MEMORY}/kept.md": fact("Kept", f"The {LIGHT} of {case.name} is lit."),
        f"{MEMORY}/MEMORY.md": "- [Kept](kept.md) - what is lit\n",
    }
    files = {**plain, **case.files}
    for path, content in files.items():
        below_other = any(path.startswith(f"{other}/") for other in case.files)
        if content is not None and not below_other:
            _write(folder / os.fsdecode(path), _named(content, case.name), outside)


def _named(content: Content, name: str) -> Content:
    """Give a descriptor that says nothing of its name the name of its folder."""
    if not isinstance(content, str):
        return content
    return content.replace("name: plain\n", f"name: {name}\n")


def _write(target: Path, content: Content, outside: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    match content:
        case str():
            target.write_bytes(content.encode("utf-8", "surrogateescape"))
        case bytes():
            target.write_bytes(content)
        case Link():
            target.symlink_to(outside / content.target)
        case Fifo():
            os.mkfifo(target)
        case Socket():
            _bind(target)
        case Empty():
            target.mkdir()
        case _:
            target.write_bytes(content())


def _bind(target: Path) -> None:
    # A socket's path is short; bind it from its own folder.
    here = Path.cwd()
    os.chdir(target.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(target.name)
    finally:
        os.chdir(here)
