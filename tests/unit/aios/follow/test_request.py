import os
from pathlib import Path

import pytest

from agentic_os.aios.context.selection import read_working_context
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.json_text import compact
from agentic_os.aios.follow.pages import (
    MAX_PAGE_CHARS,
    MIN_PAGE_CHARS,
    SourceAnswer,
    SourceOff,
    SourcePage,
    SourceRefusal,
)
from agentic_os.aios.follow.references import HEADER_SOURCE_BYTES, Reference, decode, encode
from agentic_os.aios.follow.request import follow_source
from agentic_os.aios.policy import resolve_policy
from agentic_os.text.budget import utf16_length
from support.aios.builder import SECRET, AiosBuilder, CountingLayer, MeddlingLayer, RaisingLayer

SHARED = resolve_policy()
ALPHA = resolve_policy(project="A1")


def offered(aios: AiosBuilder, section: str, project: str | None = None) -> str:
    context = read_working_context(aios.access(), resolve_policy(project=project))
    found = {source.section: source.evidence.follow for source in context.sources}[section]
    assert found is not None
    return found


def follow(
    aios: AiosBuilder,
    reference: str,
    project: str | None = None,
    budget: int = 6000,
    **access: object,
) -> SourceAnswer:
    return follow_source(
        aios.access(**access),
        resolve_policy(project=project),
        reference=reference,
        budget=budget,
    )


def reason(answer: SourceAnswer) -> str:
    assert isinstance(answer, SourceRefusal)
    return answer.reason


def page(answer: SourceAnswer) -> SourcePage:
    assert isinstance(answer, SourcePage), answer
    return answer


def test_a_page_is_the_exact_source(full: AiosBuilder) -> None:
    text = "\ufeff# Work\r\n\n## Current Work\nA rule.\r\n"
    full.write("context/work.md", text)
    found = page(follow(full, offered(full, "currentWork")))
    assert found.text == text
    size = len(text.encode())
    assert (found.start, found.end, found.total, found.following) == (0, size, size, None)
    document = found.as_json()
    assert list(document) == [
        "kind",
        "status",
        "receipt",
        "source",
        "version",
        "coverage",
        "text",
        "next",
        "budget",
    ]
    assert found.used == utf16_length(compact(document))


def test_pages_join_to_the_source(full: AiosBuilder) -> None:
    text = 'Ship é "quoted" \\ back 😀\n' * 1500
    full.write("context/work.md", text)
    reference: str | None = offered(full, "currentWork")
    parts: list[str] = []
    end = 0
    while reference is not None:
        found = page(follow(full, reference, budget=MIN_PAGE_CHARS))
        assert found.start == end
        assert found.end > found.start
        assert found.used == utf16_length(compact(found.as_json())) <= MIN_PAGE_CHARS
        assert found.following is None or found.used > MIN_PAGE_CHARS - 20
        parts.append(found.text)
        end, reference = found.end, found.following
    assert "".join(parts) == text
    assert "\ufffd" not in "".join(parts)


def test_an_empty_source_and_a_reference_to_the_end(full: AiosBuilder) -> None:
    reference = decode(offered(full, "identity"))
    size = (full.root / "context/identity.md").stat().st_size
    found = page(follow(full, encode(reference.at(size))))
    assert (found.text, found.following) == ("", None)
    assert reason(follow(full, encode(reference.at(size + 1)))) == "invalid_reference"


def test_an_offset_inside_a_character(full: AiosBuilder) -> None:
    full.write("context/identity.md", "é")
    reference = decode(offered(full, "identity"))
    assert reason(follow(full, encode(reference.at(1)))) == "invalid_reference"


def test_a_project_source(full: AiosBuilder) -> None:
    reference = offered(full, "activeProject", "A1")
    found = page(follow(full, reference, "alpha"))
    assert found.source == "projects/alpha/README.md"
    assert found.receipt == "Memory: This project"
    assert reason(follow(full, reference)) == "scope_mismatch"
    assert reason(follow(full, reference, "beta")) == "scope_mismatch"
    assert reason(follow(full, reference, "nobody")) == "project_unavailable"
    assert reason(follow(full, offered(full, "identity"), "A1")) == "scope_mismatch"
    full.project("alpha", "x", id="A2")
    assert reason(follow(full, reference, "alpha")) == "scope_mismatch"
    full.project("alpha", "x", name="without id")
    assert reason(follow(full, reference, "alpha")) == "project_unavailable"


def test_staleness(full: AiosBuilder) -> None:
    reference = offered(full, "identity")
    full.write("context/priorities.md", "a sibling was edited")
    assert page(follow(full, reference)).text.startswith("---")
    full.write("context/identity.md", "edited")
    layer = CountingLayer()
    assert reason(follow(full, reference, files=layer)) == "source_changed"
    assert layer.opened == []
    path = full.root / "context/identity.md"
    path.unlink()
    assert reason(follow(full, reference)) == "source_unavailable"
    path.symlink_to(full.root / "aios.json")
    assert reason(follow(full, reference)) == "unsafe_source"
    path.unlink()
    os.mkfifo(path)
    assert reason(follow(full, reference)) == "unsafe_source"
    (full.root / "aios.json").unlink()
    assert reason(follow(full, reference)) == "source_unavailable"


def test_a_replaced_root(full: AiosBuilder, tmp_path: Path) -> None:
    reference = offered(full, "identity")
    full.root.rename(tmp_path / "moved")
    assert reason(follow(full, reference)) == "source_unavailable"
    AiosBuilder(full.root).complete()
    assert reason(follow(full, reference)) == "source_changed"


@pytest.mark.parametrize(
    "step", [("open_file", "identity.md"), ("read", "identity.md"), ("stamp", "identity.md")]
)
@pytest.mark.parametrize("change", ["source", "authority", "root"])
def test_changes_during_a_follow(full: AiosBuilder, step: tuple[str, str], change: str) -> None:
    reference = offered(full, "identity")
    changes = {
        "source": lambda: full.write("context/identity.md", "x"),
        "authority": lambda: full.write("aios.json", "{}"),
        "root": lambda: full.root.rename(full.root.parent / "moved"),
    }
    layer = MeddlingLayer(step, changes[change])
    assert reason(follow(full, reference, files=layer)) == "source_changed"
    assert layer.done


def test_the_project_is_checked_again_after_the_read(full: AiosBuilder) -> None:
    reference = offered(full, "activeProject", "A1")
    layer = MeddlingLayer(("read", "README.md"), lambda: full.project("gamma", id="A1"), skip=2)
    assert reason(follow(full, reference, "A1", files=layer)) == "source_changed"


def test_ceilings_and_text(full: AiosBuilder) -> None:
    def forged(data: bytes) -> str:
        from agentic_os.aios.folder.layer import stamp_of
        from agentic_os.aios.follow.references import digest_of, file_hash, root_hash

        path = full.write("context/work.md", data)
        return encode(
            Reference(
                source="context/work.md",
                scope="shared",
                project=None,
                root=root_hash(stamp_of(full.root.lstat())),
                file=file_hash(stamp_of(path.lstat())),
                digest=digest_of(data),
                offset=0,
            )
        )

    large = b"x" * (HEADER_SOURCE_BYTES + 1)
    assert reason(follow(full, forged(large))) == "source_too_large"
    assert reason(follow(full, forged(b"\xff"))) == "unsupported_text"
    assert page(follow(full, forged(b"ok"))).text == "ok"
    assert reason(follow(full, forged(b"ok")[:-1])) == "invalid_reference"


def test_a_forged_digest(full: AiosBuilder) -> None:
    from dataclasses import replace

    reference = replace(decode(offered(full, "identity")), digest="sha256:" + "0" * 64)
    assert reason(follow(full, encode(reference))) == "source_changed"


@pytest.mark.parametrize("budget", [0, MIN_PAGE_CHARS - 1, MAX_PAGE_CHARS + 1])
def test_budgets_outside_their_range(full: AiosBuilder, budget: int) -> None:
    answer = follow(full, offered(full, "identity"), budget=budget)
    assert reason(answer) == "insufficient_budget"
    assert answer.as_json()["minimum"] == 3530
    assert answer.as_json()["maximum"] == 32_000


def test_a_page_with_no_room_for_a_character(full: AiosBuilder) -> None:
    # A source of 512 units and a project id of 200 leave little room; the smallest legal
    # budget still fits one character, so the rule is asked for directly.
    from agentic_os.aios.folder.withheld import SecretGuard
    from agentic_os.aios.follow.pages import FollowRefusedError, make_page

    reference = decode(offered(full, "identity"))
    with pytest.raises(FollowRefusedError) as caught:
        make_page(("é" * 1000).encode(), reference, "Memory: Shared", 300, SecretGuard())
    assert caught.value.reason == "insufficient_budget"
    assert caught.value.minimum is not None
    fits = make_page(
        ("é" * 1000).encode(), reference, "Memory: Shared", caught.value.minimum, SecretGuard()
    )
    assert fits.text == "é"
    assert fits.used == caught.value.minimum


def test_a_page_that_holds_a_secret_is_refused(full: AiosBuilder) -> None:
    full.write("context/identity.md", f"clean\n{'x' * 20000}\nkey {SECRET}\n")
    first = page(follow(full, offered(full, "identity"), budget=6000))
    assert first.following is not None
    last = decode(first.following).at(20006)
    assert reason(follow(full, encode(last))) == "unsafe_source"


def test_a_key_is_refused_from_any_of_its_lines(full: AiosBuilder) -> None:
    body = "\n".join("A" * 60 for _ in range(200))
    key = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"
    full.write("context/identity.md", "start\n" + "y" * 900 + "\n" + key)
    reference = decode(offered(full, "identity"))
    assert reason(follow(full, encode(reference.at(5000)), budget=3530)) == "unsafe_source"


def test_off_touches_nothing(full: AiosBuilder) -> None:
    answer = follow_source(
        AiosAccess(root=Path("/nowhere"), files=RaisingLayer()),
        resolve_policy(mode="off"),
        reference=offered(full, "identity"),
    )
    assert isinstance(answer, SourceOff)
    assert answer.as_json() == {
        "kind": "dotaios.source-evidence/v1",
        "status": "off",
        "receipt": "Memory: Off",
        "notice": answer.notice,
    }


def test_a_refusal_says_what_to_do(full: AiosBuilder) -> None:
    answer = follow(full, "ds1.x")
    document = answer.as_json()
    assert list(document) == ["kind", "receipt", "status", "reason", "recovery"]
    assert document["status"] == "refused"
    assert "text" not in document
