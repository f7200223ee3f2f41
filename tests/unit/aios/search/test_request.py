import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.allowance import (
    FILE_BYTES,
    FOLDER_ENTRIES,
    SEARCH_LIMIT,
    SESSION_INDEX_BYTES,
    Amount,
)
from agentic_os.aios.folder.since import since_instant
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.search.lines import answer_lines, warning_lines
from agentic_os.aios.search.omissions import OMISSIONS, bounded, forbidden
from agentic_os.aios.search.request import search_aios
from agentic_os.aios.search.values import (
    MarkdownHit,
    MemoryHit,
    SearchAnswer,
    SearchHit,
    SessionFilters,
    SessionHit,
)
from agentic_os.errors import AiosError
from support.aios.builder import NOW, SECRET, TODAY, AiosBuilder, MeddlingLayer, RaisingLayer, tree

if TYPE_CHECKING:
    from collections.abc import Callable

SHARED_ORDER = [
    "sessions",
    "context",
    "memory",
    "vault",
    "decisions",
    "skills",
    "references",
    "plugins",
]


def search(
    aios: AiosBuilder,
    query: str,
    scope: str = "all",
    project: str | None = None,
    limit: int = 20,
    filters: SessionFilters | None = None,
    access: dict[str, object] | None = None,
) -> SearchAnswer:
    return search_aios(
        aios.access(**(access or {})),
        resolve_policy(project=project),
        query=query,
        scope=scope,
        limit=limit,
        filters=filters or SessionFilters(),
    )


def hits(answer: SearchAnswer, scope: str) -> tuple[SearchHit, ...]:
    return next(group.hits for group in answer.groups if group.scope == scope)


def sources(answer: SearchAnswer, scope: str) -> list[str]:
    return [hit.source for hit in hits(answer, scope)]


def failure(aios: AiosBuilder, query: str = "rollout", **options: Any) -> str:
    with pytest.raises(AiosError) as caught:
        search(aios, query, **options)
    assert "/" not in caught.value.message
    return caught.value.code


def age(path: Path, days: int) -> None:
    moment = int((NOW.timestamp() - days * 86_400) * 1e9)
    os.utime(path, ns=(moment, moment))


def test_every_scope_in_order(full: AiosBuilder) -> None:
    before = tree(full.root)
    answer = search(full, "rollout")
    assert [group.scope for group in answer.groups] == SHARED_ORDER
    assert answer.complete
    assert answer.selection_json() == {"projects": "omitted"}
    assert sources(answer, "context") == []
    assert sources(answer, "vault") == ["vault/wiki/rollout.md"]
    assert sources(answer, "decisions") == ["decisions/log.md"]
    assert sources(answer, "skills") == ["skills/RESOLVER.md"]
    assert sources(answer, "references") == ["references/style.md"]
    assert set(sources(answer, "plugins")) == {
        "plugins/demo/README.md",
        "plugins/demo/manifest.json",
    }
    assert set(sources(answer, "memory")) == {
        "memory/events.jsonl",
        "memory/events-archive.000001.jsonl",
        "memory/events-archive.jsonl",
        "memory/inbox/note.md",
    }
    assert tree(full.root) == before


def test_one_scope(full: AiosBuilder) -> None:
    answer = search(full, "release policy", "context")
    (hit,) = hits(answer, "context")
    assert isinstance(hit, MarkdownHit)
    assert (hit.file, hit.title) == ("work.md", "Work")
    assert hit.evidence is not None
    assert hit.evidence.follow is not None
    assert answer.selection_json() is None
    assert hit.as_json()["evidence"] == hit.evidence.as_json()


def test_project_memory_sees_its_own_alone(full: AiosBuilder) -> None:
    full.jsonl("memory/signals/2026-11-30.jsonl", {"summary": "rollout of nobody"})
    answer = search(full, "rollout", project="A1")
    assert [group.scope for group in answer.groups] == ["sessions", "memory", "projects"]
    assert sources(answer, "memory") == ["memory/events.jsonl"]
    assert sources(answer, "projects") == ["projects/alpha/notes.md"]
    assert sources(answer, "sessions") == []
    assert answer.selection_json() == {"project": "alpha", "project_id": "A1"}
    (hit,) = hits(answer, "projects")
    assert isinstance(hit, MarkdownHit)
    assert hit.evidence is not None


def test_a_scope_that_project_memory_forbids(full: AiosBuilder) -> None:
    answer = search(full, "rollout", "vault", project="alpha")
    assert answer.groups == ()
    assert not answer.complete
    (omission,) = answer.omissions
    assert omission.as_json() == {
        "scope": "vault",
        "reason": "scope_forbidden_by_memory_policy",
        "observed": {"files": 0, "bytes": 0, "entries": 0},
        "inspection": "not_searched",
        "recovery": {
            "code": "choose_project_scope_or_shared_memory",
            "message": omission.recovery,
        },
    }


def test_selectors(full: AiosBuilder) -> None:
    assert failure(full, project="nobody") == "DOTAIOS_PROJECT_SELECTOR_UNKNOWN"
    assert failure(full, project="a b") == "DOTAIOS_PROJECT_SELECTOR_INVALID"
    assert failure(full, scope="projects") == "DOTAIOS_PROJECT_SELECTOR_INVALID"
    full.project("gamma", id="alpha")
    assert failure(full, project="alpha") == "DOTAIOS_PROJECT_SELECTOR_AMBIGUOUS"


@pytest.mark.parametrize(
    "options",
    [
        {"query": "  "},
        {"query": "x" * 501},
        {"limit": 0},
        {"scope": "everything"},
        {"filters": SessionFilters(since="soon")},
    ],
)
def test_arguments(aios: AiosBuilder, options: dict[str, Any]) -> None:
    assert failure(aios, **{"query": "x", **options}) == "DOTAIOS_ARGUMENT_INVALID"


def test_off_touches_nothing() -> None:
    access = AiosAccess(root=Path("/nowhere"), files=RaisingLayer())
    answer = search_aios(
        access,
        resolve_policy(mode="off"),
        query="x",
        filters=SessionFilters(since="7d"),
    )
    assert (answer.memory, answer.groups, answer.complete) == ("off", (), True)
    assert list(answer_lines(answer)) == ["Memory: Off", answer.notice]


def test_a_broken_configuration(aios: AiosBuilder) -> None:
    for broken in ("{", "[]", '{"vault_path": 5}', '{"vault_path": "a\\u0000b"}'):
        aios.write("aios.json", broken)
        assert failure(aios) == "DOTAIOS_EVIDENCE_CONFIG_INVALID"
    aios.write("aios.json", b"{}" + b" " * 1024 * 1024)
    assert failure(aios) == "DOTAIOS_EVIDENCE_FILE_TOO_LARGE"
    (aios.root / "aios.json").unlink()
    assert failure(aios) == "DOTAIOS_FOLDER_MISSING"


def test_a_vault_inside_the_folder(aios: AiosBuilder) -> None:
    aios.write("aios.json", json.dumps({"vault_path": str(aios.root / "notes/vault")}))
    aios.write("notes/vault/a.md", "the gate")
    aios.write("vault/b.md", "the gate")
    assert sources(search(aios, "gate", "vault"), "vault") == ["vault/a.md"]
    aios.write("aios.json", json.dumps({"vault_path": "."}))
    assert failure(aios, scope="vault") == "DOTAIOS_EVIDENCE_CONFIG_INVALID"


def test_an_external_vault_needs_a_grant_for_that_path(aios: AiosBuilder, tmp_path: Path) -> None:
    outside = tmp_path / "obsidian"
    (outside / "wiki").mkdir(parents=True)
    (outside / "wiki/a.md").write_text("the gate")
    aios.write("aios.json", json.dumps({"vault_path": str(outside)}))
    assert failure(aios, scope="vault") == "DOTAIOS_EVIDENCE_ROOT_UNAUTHORIZED"
    assert search(aios, "gate", "memory").complete
    other: dict[str, object] = {"vault_granted": lambda place: place == tmp_path}
    assert failure(aios, scope="vault", access=other) == "DOTAIOS_EVIDENCE_ROOT_UNAUTHORIZED"
    granted: dict[str, object] = {"vault_granted": lambda place: place == outside}
    assert sources(search(aios, "gate", "vault", access=granted), "vault") == ["vault/wiki/a.md"]
    outside.rename(tmp_path / "moved")
    assert search(aios, "gate", "vault", access=granted).total == 0
    outside.symlink_to(tmp_path / "moved")
    assert failure(aios, scope="vault", access=granted) == "DOTAIOS_EVIDENCE_PATH_UNSAFE"


def test_a_vault_below_home_and_one_beside_the_folder(aios: AiosBuilder, tmp_path: Path) -> None:
    asked: list[Path] = []

    def grants(place: Path) -> bool:
        asked.append(place)
        return True

    access: dict[str, object] = {"vault_granted": grants, "home": tmp_path / "home"}
    for stated in ("~/notes", "../beside"):
        aios.write("aios.json", json.dumps({"vault_path": stated}))
        assert search(aios, "x", "vault", access=access).complete
    assert asked == [tmp_path / "home/notes", tmp_path / "beside"]


def test_an_external_vault_that_changes_fails_the_request(
    aios: AiosBuilder, tmp_path: Path
) -> None:
    outside = tmp_path / "obsidian"
    outside.mkdir()
    (outside / "a.md").write_text("the gate")
    aios.write("aios.json", json.dumps({"vault_path": str(outside)}))
    layer = MeddlingLayer(("read", "a.md"), lambda: (outside / "new.md").write_text("x"))
    access: dict[str, object] = {"vault_granted": lambda _: True, "files": layer}
    code = failure(aios, scope="vault", access=access)
    assert code == "DOTAIOS_EVIDENCE_CHANGED"


@pytest.mark.parametrize(
    ("relative", "code"),
    [
        ("vault/link.md", "DOTAIOS_EVIDENCE_PATH_UNSAFE"),
        ("plugins/demo/manifest.json", "DOTAIOS_EVIDENCE_PATH_UNSAFE"),
        ("memory/signals/2026-11-01.jsonl", "DOTAIOS_EVIDENCE_PATH_UNSAFE"),
        ("memory/events-archive.000001.jsonl", "DOTAIOS_EVIDENCE_PATH_UNSAFE"),
        ("memory/sessions/index.jsonl", "DOTAIOS_EVIDENCE_PATH_UNSAFE"),
    ],
)
def test_an_eligible_link_refuses_the_request(aios: AiosBuilder, relative: str, code: str) -> None:
    path = aios.root / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(aios.root / "aios.json")
    assert failure(aios) == code


def test_other_links_are_ignored(aios: AiosBuilder, tmp_path: Path) -> None:
    (aios.root / "vault").mkdir()
    (aios.root / "vault/linked").symlink_to(tmp_path)
    (aios.root / "vault/.hidden.md").symlink_to(tmp_path)
    (aios.root / "vault/picture.png").symlink_to(tmp_path)
    assert search(aios, "x", "vault").complete


@pytest.mark.parametrize("relative", ["vault/fifo.md", "memory/events.jsonl", "memory/inbox/a.md"])
def test_an_eligible_special_file_refuses(aios: AiosBuilder, relative: str) -> None:
    path = aios.root / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    assert failure(aios) == "DOTAIOS_EVIDENCE_NOT_REGULAR_FILE"


def test_invalid_utf8_in_content_or_name_refuses(aios: AiosBuilder) -> None:
    path = aios.write("vault/a.md", b"\xff")
    assert failure(aios) == "DOTAIOS_EVIDENCE_INVALID_UTF8"
    path.unlink()
    raw = os.fsencode(aios.root / "vault") + b"/\xff.md"
    Path(os.fsdecode(raw)).write_text("x")
    assert failure(aios) == "DOTAIOS_EVIDENCE_PATH_UNSAFE"


def test_changes_during_a_search_fail_it(full: AiosBuilder) -> None:
    changes: dict[str, Callable[[], object]] = {
        "edit": lambda: full.write("vault/wiki/rollout.md", "other"),
        "add": lambda: full.write("vault/wiki/new.md", "x"),
        "remove": (full.root / "vault/wiki/rollout.md").unlink,
        "rotate": lambda: full.write("memory/events-archive.000002.jsonl", "x"),
        "append": lambda: full.write("memory/events.jsonl", "{}\n"),
        "configure": lambda: full.write("aios.json", "{}"),
    }
    for change in changes.values():
        layer = MeddlingLayer(("read", "style.md"), change)
        assert failure(full, access={"files": layer}) == "DOTAIOS_EVIDENCE_CHANGED"
        assert layer.done
        full.complete()


def test_a_file_that_vanishes_between_walk_and_read(full: AiosBuilder) -> None:
    layer = MeddlingLayer(("stamp", "rollout.md"), (full.root / "vault/wiki/rollout.md").unlink)
    assert failure(full, access={"files": layer}) == "DOTAIOS_EVIDENCE_CHANGED"


def test_a_large_file_leaves_its_scope_out(full: AiosBuilder) -> None:
    full.write("vault/large.md", b"x" * (FILE_BYTES + 1))
    answer = search(full, "rollout")
    assert [omission.scope for omission in answer.omissions] == ["vault"]
    assert "vault" not in [group.scope for group in answer.groups]
    (omission,) = answer.omissions
    document = omission.as_json()
    assert (document["reason"], document["inspection"]) == ("file_too_large", "not_searched")
    assert omission.recovery_code == "split_or_move_file"
    assert list(warning_lines(answer)) == [
        f"Search incomplete for vault: {omission.recovery} [file_too_large]"
    ]
    full.write("vault/large.md", b"x" * FILE_BYTES)
    assert search(full, "rollout").complete


@pytest.mark.parametrize(
    ("relative", "most"),
    [("memory/events.jsonl", FILE_BYTES), ("memory/sessions/index.jsonl", SESSION_INDEX_BYTES)],
)
def test_a_large_stream_leaves_its_scope_out(full: AiosBuilder, relative: str, most: int) -> None:
    full.write(relative, b"\n" * (most + 1))
    (omission,) = search(full, "rollout").omissions
    assert omission.reason == "file_too_large"


def test_a_crowded_folder_leaves_its_scope_out(aios: AiosBuilder) -> None:
    folder = aios.root / "vault"
    folder.mkdir()
    for number in range(FOLDER_ENTRIES):
        (folder / f"f{number}").touch()
    assert search(aios, "x").complete
    (folder / "one-more").touch()
    (omission,) = search(aios, "x").omissions
    assert (omission.scope, omission.reason) == ("vault", "directory_entries_exceeded")
    assert omission.inspection == "partially_enumerated"
    assert omission.observed.entries == FOLDER_ENTRIES


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        (Amount(bytes=2000, files=1000, entries=1000), "aggregate_bytes_exceeded"),
        (Amount(bytes=10**6, files=10, entries=1000), "file_count_exceeded"),
        (Amount(bytes=10**6, files=1000, entries=60), "entry_count_exceeded"),
    ],
)
def test_shared_limits_leave_whole_scopes_out(
    full: AiosBuilder, monkeypatch: pytest.MonkeyPatch, limit: Amount, reason: str
) -> None:
    monkeypatch.setattr("agentic_os.aios.search.request.SEARCH_LIMIT", limit)
    for number in range(20):
        full.write(f"vault/n{number}.md", "rollout " + "x" * 100)
        full.jsonl(f"memory/signals/m{number}-{TODAY}.jsonl", *({"summary": "s"} for _ in range(4)))
    answer = search(full, "rollout")
    assert answer.omissions
    assert reason in {omission.reason for omission in answer.omissions}
    left_out = {omission.scope for omission in answer.omissions}
    assert left_out.isdisjoint(group.scope for group in answer.groups)
    assert left_out | {group.scope for group in answer.groups} == set(SHARED_ORDER)
    for omission in answer.omissions:
        assert omission.observed.fits(limit.plus(Amount(bytes=1, files=1, entries=1)))


def test_the_limits_of_a_request() -> None:
    assert Amount(bytes=256 * 1024 * 1024, files=50_000, entries=500_000) == SEARCH_LIMIT
    assert (FILE_BYTES, FOLDER_ENTRIES) == (4 * 1024 * 1024, 8192)


def test_session_bodies_that_do_not_fit_leave_the_scope_out(
    aios: AiosBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        aios.session(f"s{number}", f"2026-11-2{number}T00:00:00Z", "y" * 1000, title="t")
    monkeypatch.setattr(
        "agentic_os.aios.search.request.SEARCH_LIMIT", Amount(bytes=5000, files=50, entries=100)
    )
    (omission,) = search(aios, "needle", "sessions").omissions
    assert omission.reason == "aggregate_bytes_exceeded"
    assert search(aios, "t", "sessions", limit=3).total == 3


def test_memory_hits(full: AiosBuilder) -> None:
    (hit,) = [
        h for h in hits(search(full, "rollout", "memory"), "memory") if "events.jsonl" in h.source
    ]
    assert isinstance(hit, MemoryHit)
    assert hit.as_json() == {
        "source": "memory/events.jsonl",
        "match": {
            "field": "summary",
            "value": "Planned the rollout",
            "kind": "phrase",
            "score": 10,
        },
        "matchedField": None,
        "matchedSnippet": None,
        "ts": "2026-11-30T08:00:00.000Z",
        "type": "plan",
        "summary": "Planned the rollout",
        "project": "alpha",
        "project_id": "A1",
    }


def test_a_hit_in_another_field_says_so(aios: AiosBuilder) -> None:
    aios.jsonl(
        "memory/events.jsonl",
        {"summary": "plain", "source": "the gate tool", "detail": {"note": "x" * 200 + " gate"}},
        {"a": "ship", "b": "gate"},
    )
    first, second = hits(search(aios, "gate", "memory"), "memory")
    documents = {str(h.as_json()["matchedField"]): h.as_json() for h in (first, second)}
    assert documents["source"]["source"] == "memory/events.jsonl"
    assert documents["b"]["matchedSnippet"] == "gate"
    (whole,) = hits(search(aios, 'ship","b', "memory"), "memory")
    assert whole.as_json()["matchedField"] == "entry"
    long = AiosBuilder(aios.root.parent / "long")
    long.jsonl("memory/events.jsonl", {"note": "gate " + "x" * 200})
    (cut,) = hits(search(long, "gate", "memory"), "memory")
    assert isinstance(cut, MemoryHit)
    assert (len(cut.value), cut.value[-3:]) == (160, "...")


def test_a_rare_word_beats_a_common_one(aios: AiosBuilder) -> None:
    rows = [{"ts": f"2026-11-{n + 10}T00:00:00Z", "summary": f"thanks {n}"} for n in range(12)]
    aios.jsonl(
        "memory/events.jsonl", *rows, {"ts": "2026-10-30T00:00:00Z", "summary": "error e-4711"}
    )
    first, *_ = hits(search(aios, "e-4711 thanks", "memory"), "memory")
    assert isinstance(first, MemoryHit)
    assert first.record["summary"] == "error e-4711"


def test_equal_records_newest_first(aios: AiosBuilder) -> None:
    aios.jsonl(
        "memory/events.jsonl",
        {"summary": "gate undated"},
        {"ts": "2026-11-30T01:00:00Z", "summary": "gate b"},
        {"ts": "2026-11-30T02:00:00Z", "summary": "gate a"},
        {"ts": "2026-05-30T02:00:00Z", "summary": "gate old"},
    )
    order = [hit.record["summary"] for hit in hits(search(aios, "gate", "memory"), "memory")]  # type: ignore[union-attr]  # all are records
    assert order == ["gate a", "gate b", "gate undated", "gate old"]


def test_notes_and_streams_take_turns(aios: AiosBuilder) -> None:
    aios.jsonl("memory/events.jsonl", *({"summary": f"gate {n}"} for n in range(9)))
    aios.write(f"memory/daily/{TODAY}.md", "gate")
    aios.write("memory/inbox/n.md", "gate")
    assert sources(search(aios, "gate", "memory", limit=5), "memory") == [
        "memory/events.jsonl",
        f"memory/daily/{TODAY}.md",
        "memory/inbox/n.md",
        "memory/events.jsonl",
        "memory/events.jsonl",
    ]


def test_archived_lines_are_shown_once(aios: AiosBuilder) -> None:
    row = {"ts": "2026-11-30T01:00:00Z", "summary": "gate"}
    for name in ("events", "events-archive", "events-archive.000001", "events-archive.000002"):
        aios.jsonl(f"memory/{name}.jsonl", row)
    found = sources(search(aios, "gate", "memory"), "memory")
    assert found == ["memory/events.jsonl", "memory/events-archive.000001.jsonl"]


def test_markdown_ranks_by_place_age_and_name(aios: AiosBuilder) -> None:
    for name, text, days in (
        ("body.md", "x\n\nthe gate", 0),
        ("heading.md", "# About\n\n## gate", 0),
        ("title.md", "# The gate", 0),
        ("old.md", "# The gate", 300),
        ("b.md", "gate", 10),
        ("a.md", "gate", 10),
    ):
        age(aios.write(f"vault/{name}", text), days)
    found = sources(search(aios, "gate", "vault"), "vault")
    assert found[:2] == ["vault/title.md", "vault/heading.md"]
    assert found.index("vault/a.md") < found.index("vault/b.md") < found.index("vault/old.md")


def test_a_file_with_every_term_beats_a_line_with_some(aios: AiosBuilder) -> None:
    aios.write("vault/both.md", "ship\n\n\n\ngate")
    aios.write("vault/one.md", "# ship ship ship")
    assert sources(search(aios, "ship gate", "vault"), "vault")[0] == "vault/both.md"


def test_sessions_newest_row_first_and_bodies_only_where_needed(aios: AiosBuilder) -> None:
    aios.session("s1", "2026-11-01T00:00:00Z", "needle inside", title="First")
    aios.session("s2", "2026-11-02T00:00:00Z", "nothing", title="Needle in the title")
    aios.session("s3", "2026-11-03T00:00:00Z", "nothing", title="x", agent="needle-agent")
    aios.session("s4", "2026-11-04T00:00:00Z", "nothing", title="x", project="needle")
    found = hits(search(aios, "NEEDLE", "sessions"), "sessions")
    assert [hit.session_id for hit in found if isinstance(hit, SessionHit)] == [
        "s4",
        "s3",
        "s2",
        "s1",
    ]
    body = found[-1]
    assert isinstance(body, SessionHit)
    assert body.matches[0].content == "needle inside"
    assert body.as_json()["date"] == "2026-11-01"
    assert search(aios, "needle", "sessions", limit=2).total == 2
    for options, expected in (
        (SessionFilters(agent="needle-agent"), ["s3"]),
        (SessionFilters(project="needle"), ["s4"]),
        (SessionFilters(since="2026-11-03"), ["s4", "s3"]),
        (SessionFilters(since="28d"), ["s4", "s3"]),
    ):
        answer = search(aios, "needle", "sessions", filters=options)
        shown = [hit.session_id for hit in hits(answer, "sessions") if isinstance(hit, SessionHit)]
        assert shown == expected


def test_session_snippets_are_cut_around_the_match(aios: AiosBuilder) -> None:
    aios.session("s", "2026-11-01T00:00:00Z", "a" * 100 + " needle " + "b" * 100, title="t")
    (hit,) = hits(search(aios, "needle", "sessions"), "sessions")
    assert isinstance(hit, SessionHit)
    assert hit.matches[0].content == "..." + "a" * 59 + " needle " + "b" * 59 + "..."


def test_sessions_without_a_readable_body(aios: AiosBuilder) -> None:
    rows = [
        {"title": "a", "path": "memory/sessions/2026-11-01/missing.md"},
        {"title": "b", "path": "memory/sessions/2026-13-01/x.md"},
        {"title": "c", "path": "context/identity.md"},
        {"title": "d", "path": 5},
        {"title": "e"},
        {"title": "needle", "path": 7, "agent": 5},
    ]
    aios.jsonl("memory/sessions/index.jsonl", *rows)
    answer = search(aios, "needle", "sessions")
    (hit,) = hits(answer, "sessions")
    assert isinstance(hit, SessionHit)
    assert (hit.file, hit.agent) == ("", None)
    assert "manual" in "\n".join(answer_lines(answer))


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "memory/sessions/../../x.md"])
def test_a_session_path_that_leaves_refuses(aios: AiosBuilder, path: str) -> None:
    aios.jsonl("memory/sessions/index.jsonl", {"title": "x", "path": path})
    assert failure(aios, "needle", scope="sessions") == "DOTAIOS_EVIDENCE_PATH_UNSAFE"


def test_since() -> None:
    assert since_instant("12h", NOW) == "2026-11-30T00:00:00.000Z"
    assert since_instant("2w", NOW) == "2026-11-16T12:00:00.000Z"
    assert since_instant("1m", NOW) == "2026-10-31T12:00:00.000Z"
    assert since_instant("2026-01-01", NOW) == "2026-01-01"
    assert since_instant("999999m", NOW) == ""


def test_secrets_are_left_out_and_counted(aios: AiosBuilder) -> None:
    aios.write("vault/a.md", f"# Gate\n\nclean gate\n\n\n\nkey {SECRET} gate\n")
    aios.write("vault/b.md", f"gate {SECRET}")
    aios.write("vault/c.md", f"# gate {SECRET}\n\n\n\nclean gate")
    aios.write(
        "vault/d.md",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\ngate"
        + "A" * 40
        + "\n-----END PRIVATE KEY-----\n",
    )
    aios.jsonl("memory/events.jsonl", {"summary": "gate", "token": SECRET}, {"summary": "gate ok"})
    aios.session("s", "2026-11-01T00:00:00Z", f"gate {SECRET}", title="t")
    answer = search(aios, "gate")
    shown = json.dumps([hit.as_json() for group in answer.groups for hit in group.hits])
    assert SECRET not in shown
    assert "A" * 40 not in shown
    assert sources(answer, "vault") == ["vault/a.md"]
    assert [hit.as_json()["summary"] for hit in hits(answer, "memory")] == ["gate ok"]
    assert sources(answer, "sessions") == []
    assert answer.withheld == 7  # in c.md the passage, then the file for its title
    assert "secrets: 7." in "\n".join(warning_lines(answer))


def test_hidden_characters_are_counted_and_safe_on_a_terminal(aios: AiosBuilder) -> None:
    aios.write("vault/a.md", "the gate \x1b[31m \u202e")
    answer = search(aios, "gate", "vault")
    assert answer.hidden_characters == 2
    text = "\n".join(answer_lines(answer))
    assert "\x1b" not in text
    assert "<U+202E>" in text
    assert "2." in "\n".join(warning_lines(answer))


def test_the_lines_for_a_person(full: AiosBuilder) -> None:
    full.session(
        "q", "2026-11-30T10:00:00Z", "the\n\nrelease policy", title="T" * 100, project="alpha"
    )
    full.jsonl("memory/signals/2026-11-30.jsonl", {"note": "release policy", "domain": "build"})
    answer = search(full, "release policy")
    text = "\n".join(answer_lines(answer))
    assert text.startswith("Memory: Shared\n\n-- sessions/ (1 match)\n")
    assert "  [2026-11-30] claude-code  [alpha]  q\n" in text
    assert "T" * 77 + "..." in text
    body = "\n".join(answer_lines(search(full, "RELEASE POLICY", "sessions")))
    assert "    the / >>release policy<<" in body
    assert "L3-5: ## Current Work / The >>release policy<<." in text
    assert "    > Source: context/work.md (excerpt; sha256:" in text
    assert "    > Follow: ds1." in text
    assert '  [?] ? (build): {"note":">>release policy<<","domain":"build"}' in text
    assert "    match: note = >>release policy<<" in text
    lines = list(answer_lines(search(full, "rollout", "memory")))
    assert "  [2026-11-30] plan (alpha): Planned the >>rollout<<" in lines
    assert text.endswith("results.")


def test_what_is_said_when_nothing_is_found(full: AiosBuilder) -> None:
    assert list(answer_lines(search(full, "absent")))[-1] == "No results."
    assert list(answer_lines(search(full, "Bet", "context")))[-1] == "1 result."
    full.write("vault/large.md", b"x" * (FILE_BYTES + 1))
    last = list(answer_lines(search(full, "absent")))[-1]
    assert last == "No results in what was searched. Not searched: vault."


def test_a_single_line_passage(aios: AiosBuilder) -> None:
    aios.write("vault/a.md", "---\ndescription: the gate " + "x" * 200 + "\n---\n")
    text = "\n".join(answer_lines(search(aios, "gate", "vault")))
    assert "    L1: description: the >>gate<< xxx" in text


def test_a_file_that_vanishes_while_its_folder_is_walked(full: AiosBuilder) -> None:
    path = full.root / "vault/wiki/rollout.md"
    layer = MeddlingLayer(("stamp", "rollout.md"), path.unlink, before=True)
    assert failure(full, access={"files": layer}) == "DOTAIOS_EVIDENCE_CHANGED"


def test_at_most_five_passages(aios: AiosBuilder) -> None:
    aios.write("vault/a.md", "\n\n\n".join(f"gate {number}" for number in range(9)))
    (hit,) = hits(search(aios, "gate", "vault"), "vault")
    assert isinstance(hit, MarkdownHit)
    assert len(hit.matches) == 5


def test_omissions_are_bounded() -> None:
    many = [forbidden(f"scope-{number}") for number in range(40)]
    kept = bounded(many)
    assert len(kept) == OMISSIONS + 1
    last = kept[-1].as_json()
    assert (last["scope"], last["reason"]) == ("all", "omissions_truncated")
    assert last["observed"] == {"files": 0, "bytes": 0, "entries": 8}
    assert kept[-1].recovery_code == "narrow_scope"
    assert bounded(many[:OMISSIONS]) == tuple(many[:OMISSIONS])


def test_a_vault_without_a_grant_leaves_only_itself_out(full: AiosBuilder, tmp_path: Path) -> None:
    outside = tmp_path / "notes"
    outside.mkdir()
    before = search(full, "rollout")
    full.write("aios.json", json.dumps({"vault_path": str(outside)}))
    answer = search(full, "rollout")
    assert [(o.scope, o.reason) for o in answer.omissions] == [("vault", "scope_not_granted")]
    assert answer.omissions[0].as_json()["recovery"] == {
        "code": "grant_vault",
        "message": "The vault lies outside the AIOS folder: see `agentic-os aios grant-vault`.",
    }
    assert sources(answer, "memory") == sources(before, "memory")
    assert "vault" not in [group.scope for group in answer.groups]
