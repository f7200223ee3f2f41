"""What a search finds, in which order, and what it never shows."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentic_os.tiers.interface import MAX_LIMIT_HITS
from support.fleet.builder import FleetBuilder
from support.process.cli_call import call

SECRETS = {
    "aws-key": "AKIAQYLPMN5HHHFPZAM2",
    "github-token": "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5",
    "url-password": "postgres://admin:hunter2horse@db.example.org/app",
    "private-key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAplantedkeybody\n"
    "-----END RSA PRIVATE KEY-----",
}
NEEDLES = [
    SECRETS["aws-key"],
    SECRETS["github-token"],
    "hunter2horse",
    "MIIEowIBAAKCAQEAplantedkeybody",
]


def search(fleet: FleetBuilder, query: str, *options: str) -> dict[str, Any]:
    finished = call("search", *options, "--json", "--root", fleet.root, "--", query)
    assert finished.code == 0, finished.words
    data: dict[str, Any] = finished.data
    return data


def found(fleet: FleetBuilder, query: str, *options: str) -> list[str]:
    """Names of the hits, best first."""
    return [hit["name"] for hit in search(fleet, query, *options)["hits"]]


def test_names_stand_above_bodies(fleet: FleetBuilder) -> None:
    project = fleet.project("p")
    project.fact("a", "lighthouse " * 50, title="Something else")
    project.fact("b", "word " * 500, title="The lighthouse")
    project.fact("c", "Once: lighthouse.", title="Another", description="lighthouse")

    assert found(fleet, "lighthouse")[0] == "The lighthouse"


def test_memory_md_wins_ties(fleet: FleetBuilder) -> None:
    """Equal passages: MEMORY.md, then a fact it lists, then one it does not."""
    project = fleet.project("p", "obsidian-only")
    for name in ("a-unlisted", "b-listed"):
        project.fact(name, "The lighthouse is lit.", title="Light")
    project.index("# Light\n\nThe lighthouse is lit.\n\n# List\n\n- [Light](b-listed.md)\n")
    project.note("a.md", "# Light\n\nThe lighthouse is lit.\n")

    hits = search(fleet, '"e lighthouse is lit"', "--mode", "lexical")["hits"]

    paths = [hit["path"].removeprefix(".agents/") for hit in hits]
    assert paths == [
        "memory/MEMORY.md",
        "memory/b-listed.md",
        "memory/a-unlisted.md",
        "vault/a.md",
    ]


def test_every_word_before_any_word(fleet: FleetBuilder) -> None:
    project = fleet.project("p")
    project.fact("both", "payment text provider", title="Both")
    project.fact("one", "payment payment payment", title="One")

    assert found(fleet, "provider payment") == ["Both"]
    relaxed = search(fleet, "payment zebra")
    assert {hit["name"] for hit in relaxed["hits"]} == {"Both", "One"}
    assert relaxed["coverage"]["relaxed"]


def test_words_are_found_by_stem_and_by_part(fleet: FleetBuilder) -> None:
    project = fleet.project("p")
    project.fact("f", "call getUserName before retry_budget_ms and HTTPServer", title="F")

    for query in ("getUserName", "user name", "username", "retries", "budget", "RETRY_BUDGET_MS"):
        assert found(fleet, query) == ["F"], query
    assert found(fleet, "httpserver") == ["F"]
    assert found(fleet, "serverless") == []


def test_filters(fleet: FleetBuilder) -> None:
    for name in ("one", "two"):
        project = fleet.project(name, "obsidian-only")
        project.fact("f", "lighthouse")
        project.index("# Memory\n\nThe lighthouse in prose.\n\n- [F](f.md)\n")
        project.note("n.md", "# Note\n\nlighthouse\n")
        project.capabilities(skills={"lighthouse": "Lights it"})

    kinds = {"memory", "index", "vault", "capability"}
    everything = search(fleet, "lighthouse", "--limit", "10")
    assert {hit["kind"] for hit in everything["hits"]} == kinds
    for kind in kinds:
        hits = search(fleet, "lighthouse", "--kind", kind)["hits"]
        assert [hit["kind"] for hit in hits] == [kind, kind]
    two = search(fleet, "lighthouse", "--kind", "vault", "--kind", "memory", "--project", "two")
    assert [hit["kind"] for hit in two["hits"]] != []
    assert {hit["project"].rpartition("-")[0] for hit in two["hits"]} == {"two"}
    assert {hit["kind"] for hit in two["hits"]} == {"vault", "memory"}
    assert two["coverage"]["projects_searched"] == 1
    both = search(fleet, "lighthouse", "--project", "one", "--project", "two")
    assert both["total"] == 8
    tiers = {hit["kind"]: hit["tier"] for hit in everything["hits"]}
    assert tiers == {"memory": 0, "index": 0, "vault": 1, "capability": None}


def test_a_limit_says_how_many_there_are(fleet: FleetBuilder) -> None:
    for number in range(15):
        fleet.project(f"p{number}").fact("f", "lighthouse")

    assert (len(search(fleet, "lighthouse")["hits"]), search(fleet, "lighthouse")["total"]) == (
        5,
        15,
    )
    for limit in (1, 14, 15, MAX_LIMIT_HITS):
        data = search(fleet, "lighthouse", "--limit", str(limit))
        assert len(data["hits"]) == min(limit, 15)
        assert data["total"] == 15
    text = call("search", "lighthouse", "--limit", "3", "--root", fleet.root)
    assert "3 of 15 hits in 15 projects" in text.words


def test_snippets_carry_their_lines(fleet: FleetBuilder) -> None:
    project = fleet.project("p", "obsidian-only")
    project.fact("f", "one\ntwo\nThe lighthouse.\nfour", title="F")
    project.note(
        "n.md", "---\ntags: x\n---\n# First\n\ntext\n\n## Second\n\ntext\nlighthouse here\n"
    )
    project.index("# Memory\r\n\r\ntext\r\nlighthouse again\r\n")
    project.write(
        ".agents/memory/bom.md", b"\xef\xbb\xbf---\r\nname: B\r\n---\r\n\r\nlighthouse\r\n"
    )

    hits = search(fleet, "lighthouse")["hits"]

    assert len(hits) == 4
    for hit in hits:
        lines = (fleet.root / "p" / hit["path"]).read_text("utf-8-sig").splitlines()
        start, end = hit["lines"]
        assert hit["snippet"] == "\n".join(lines[start - 1 : end])
        assert "lighthouse" in hit["snippet"]
        data = (fleet.root / "p" / hit["path"]).read_bytes()
        assert hit["sha256"] == hashlib.sha256(data).hexdigest()
        assert hit["confirmed"]
        assert not hit["stale"]


def test_long_lines_are_cut_around_the_match(fleet: FleetBuilder) -> None:
    fleet.project("p").fact("f", "x " * 2_000 + "lighthouse " + "y " * 2_000, title="F")

    (hit,) = search(fleet, "lighthouse")["hits"]

    assert "lighthouse" in hit["snippet"]
    assert len(hit["snippet"]) <= 300


def test_unfilled_templates_are_left_out(fleet: FleetBuilder) -> None:
    project = fleet.project("p")
    project.fact("user_role", "<!-- Describe the user -->\n\n**Role:**\n", title="User role")
    project.index("# Memory\n\n- [User role](user_role.md) - who the user is\n")

    assert search(fleet, "user role")["total"] == 0
    with_them = search(fleet, "user role", "--templates")
    assert {hit["kind"] for hit in with_them["hits"]} == {"memory", "index"}
    project.fact("user_role", "**Role:** keeper of the light\n", title="User role")
    assert {hit["kind"] for hit in search(fleet, "user role")["hits"]} == {"memory", "index"}


def test_an_edit_is_seen_at_once(fleet: FleetBuilder) -> None:
    project = fleet.project("p")
    path = project.fact("f", "first lighthouse", title="F")
    assert search(fleet, "lighthouse")["total"] == 1

    stat = path.stat()
    path.write_bytes(path.read_bytes().replace(b"lighthouse", b"windmill!!"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    assert search(fleet, "lighthouse")["total"] == 0
    assert search(fleet, "windmill")["total"] == 1
    path.unlink()
    assert search(fleet, "windmill")["total"] == 0
    project.fact("g", "windmill")
    assert search(fleet, "windmill")["total"] == 1


@pytest.mark.parametrize(
    "query", ["q", "Q", "qz", "é", "日", "日本", "🚀", "%", "_x", "->", '"', "''"]
)
def test_one_and_two_characters_find_what_a_line_search_finds(
    fleet: FleetBuilder, query: str
) -> None:
    texts = {
        "a": "aqb",
        "b": "AQZB",
        "c": "café",
        "d": "東日本 🚀",
        "e": "100% of _x -> y",
        "f": "say \"hi\" and ''",
        "g": "nothing of it",
    }
    project = fleet.project("p")
    for name, text in texts.items():
        project.write(f".agents/memory/{name}.md", text + "\n")
    expected = {f"{name}" for name, text in texts.items() if query.casefold() in text.casefold()}

    assert set(found(fleet, query, "--limit", "50")) >= expected
    assert expected


def test_projects_only_ranks_the_projects(fleet: FleetBuilder) -> None:
    fleet.project("weak").fact("f", "Here a lighthouse is named in passing. " + "word " * 200)
    strong = fleet.project("strong")
    strong.fact("f", "lighthouse", title="Lighthouse")
    strong.fact("g", "lighthouse", title="Lighthouse keeper")
    fleet.project("none").fact("f", "text")

    data = search(fleet, "lighthouse", "--projects-only")

    assert [(item["name"], item["hits"]) for item in data["projects"]] == [
        ("strong", 2),
        ("weak", 1),
    ]
    assert data["hits"] == []


def test_explain_says_what_each_surface_did(fleet: FleetBuilder) -> None:
    fleet.project("full", "obsidian-only").fact("f", "lighthouse")
    fleet.project("out", None).capabilities(skills={"lighthouse": "x"})

    traces = search(fleet, "lighthouse", "--explain")["explain"]

    said = {(item["project"].rpartition("-")[0], item["surface"]): item for item in traces}
    assert said["full", "memory"]["hits"] == 1
    assert said["full", "vault"]["missing"] == "missing"
    assert said["out", "memory"]["missing"] == "opted out of retrieval"
    assert said["out", "capability"]["hits"] == 1
    text = call("search", "lighthouse", "--explain", "--root", fleet.root)
    assert "opted out of retrieval" in text.words


def test_a_hit_carries_branch_and_commit(fleet: FleetBuilder) -> None:
    project = fleet.project("p")
    project.fact("f", "lighthouse")
    git = project.folder / ".git"
    (git / "refs/heads").mkdir(parents=True)
    (git / "objects").mkdir()
    (git / "HEAD").write_text("ref: refs/heads/side\n")
    (git / "refs/heads/side").write_text("ab" * 20 + "\n")

    (hit,) = search(fleet, "lighthouse")["hits"]

    assert (hit["branch"], hit["commit"]) == ("side", "ab" * 20)


def planted(fleet: FleetBuilder) -> None:
    project = fleet.project("p", "obsidian-only")
    every = "\n".join(SECRETS.values())
    project.fact("f", f"lighthouse\n{every}\nend", title="F", description=SECRETS["aws-key"])
    project.index(f"# Memory\n\n{every}\n\n- [F](f.md) - {SECRETS['github-token']}\n")
    project.note("n.md", f"# Note {SECRETS['aws-key']}\n\n{every}\n")
    project.capabilities(
        skills={"steer": SECRETS["github-token"]},
        servers={"db": f"psql {SECRETS['url-password']}"},
    )
    server = {
        "command": "psql",
        "args": [SECRETS["url-password"]],
        "env": {"TOKEN": SECRETS["github-token"]},
    }
    project.write(".mcp.json", json.dumps({"mcpServers": {"db": server}}))
    project.write(
        ".agents/config.yaml",
        f'project:\n  name: p\n  description: "key {SECRETS["aws-key"]}"\n'
        "  project_init_version: 1.2.2\n  project_init_contract_version: 2\n"
        "memory:\n  stack: obsidian-graphify-rag\n  tier: 3\n  memory_path: .agents/memory\n"
        "  vault_path: .agents/vault\n  graph_path: graphify-out/graph.json\n"
        f"  rag_endpoint: {SECRETS['url-password']}\n",
    )
    project.write("AGENTS.md", f"# A\n\n{every}\n")
    project.write("CLAUDE.md", "# B\n")


def test_a_secret_is_in_no_output_and_in_no_byte_kept(
    fleet: FleetBuilder, places: Path, tmp_path: Path
) -> None:
    planted(fleet)
    view = tmp_path / "view.md"
    said = b""
    for words in (
        ["scan"],
        ["aggregate", "--markdown", str(view)],
        ["memory"],
        ["memory", "--differences"],
        ["vault"],
        ["capabilities"],
        ["search", "lighthouse", "--explain"],
        ["search", "redacted", "--limit", "100"],
        ["search", SECRETS["aws-key"][4:12]],
        ["doctor"],
    ):
        for form in ([], ["--json"]):
            finished = call(*words, *form, "--root", fleet.root)
            said += finished.stdout.replace(SECRETS["aws-key"][4:12].encode() + b'"', b"")
            said += finished.stderr
    for file in [view, *(path for path in (places / "cache").rglob("*") if path.is_file())]:
        said += file.read_bytes()

    for needle in NEEDLES:
        assert needle.encode() not in said, needle
    assert search(fleet, "lighthouse")["hits"][0]["snippet"].startswith("lighthouse")
    assert "[redacted:" in view.read_text()


def test_secrets_are_counted_and_placed(fleet: FleetBuilder) -> None:
    project = fleet.project("p")
    project.fact("f", f"one\ntwo {SECRETS['aws-key']}\nthree", title="F")

    assert call("aggregate", "--json", "--root", fleet.root).data["redactions"] == 1
    checks = call("doctor", "--json", "--root", fleet.root).data["checks"]
    (secret,) = [check for check in checks if check["id"] == "secrets"]
    assert (secret["path"], secret["line"]) == (".agents/memory/f.md", 8)
    assert secret["status"] == "fail"


@pytest.mark.parametrize("form", ["itself", "hash"])
def test_an_allowed_secret_is_shown_until_it_is_not_allowed(
    fleet: FleetBuilder, places: Path, form: str
) -> None:
    secret = SECRETS["aws-key"]
    fleet.project("p").fact("f", f"lighthouse {secret}", title="F")
    settings = places / "config/projects.toml"
    settings.parent.mkdir()
    allowed = secret if form == "itself" else hashlib.sha256(secret.encode()).hexdigest()

    assert search(fleet, secret)["total"] == 0
    settings.write_text(f'[redaction]\nallow = ["{allowed}"]\n')
    (hit,) = search(fleet, secret)["hits"]
    assert hit["snippet"] == f"lighthouse {secret}"
    assert call("doctor", "--root", fleet.root).code == 3  # F is not listed in MEMORY.md
    settings.write_text("[redaction]\nallow = []\n")
    assert search(fleet, secret)["total"] == 0
    kept = b"".join(path.read_bytes() for path in (places / "cache").rglob("*") if path.is_file())
    assert secret.encode() not in kept
    assert secret not in call("memory", "--json", "--root", fleet.root).text
