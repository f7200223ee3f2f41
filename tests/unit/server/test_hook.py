import json
from pathlib import Path

import pytest
from fleet_builder import FleetBuilder

from agentic_os.aggregate.workspace import Person
from agentic_os.server import hook
from agentic_os.server.hook import CUT, MAX_HOOK_CHARS, session_start


def context(answer: str) -> str:
    value = json.loads(answer)
    assert value.keys() == {"hookSpecificOutput"}
    assert value["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    text: str = value["hookSpecificOutput"]["additionalContext"]
    return text


@pytest.mark.parametrize("harness", ["claude", "codex", "gemini"])
def test_the_block_is_about_the_project_of_the_working_directory(
    fleet: FleetBuilder, person: Person, harness: str
) -> None:
    shop = fleet.project("shop")
    shop.fact("retry", "Four tries.", title="Retry", description="How often")
    fleet.project("other").fact("x", "Nothing of the shop.")
    asked = {
        "session_id": harness,
        "transcript_path": "/x",
        "cwd": str(shop.folder / "src"),
        "hook_event_name": "SessionStart",
        "source": "startup",
    }

    text = context(session_start(json.dumps(asked).encode(), person, (str(fleet.root),)))

    assert text.startswith("## Fleet: shop (`shop-")
    assert "- Retry: How often (.agents/memory/retry.md)" in text
    assert str(fleet.root) not in text


def test_a_long_memory_is_cut_visibly_and_the_answer_stays_short(
    fleet: FleetBuilder, person: Person
) -> None:
    shop = fleet.project("shop")
    for number in range(60):
        shop.fact(f"fact-{number}", "text", title="t" * 150, description='"\\' * 60)

    answer = session_start(
        json.dumps({"cwd": str(shop.folder)}).encode(), person, (str(fleet.root),)
    )

    assert len(answer) <= MAX_HOOK_CHARS
    assert CUT in context(answer)


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"cwd": 7}', b"[" * 100_000, b"\xff"])
def test_broken_input_never_breaks_a_session(
    fleet: FleetBuilder, person: Person, data: bytes
) -> None:
    fleet.project("shop")

    assert context(session_start(data, person, (str(fleet.root),))) == ""


def test_a_missing_root_is_named(person: Person, tmp_path: Path) -> None:
    text = context(session_start(b"{}", person, (str(tmp_path / "nowhere"),)))

    assert "ROOT_MISSING" in text
    assert str(tmp_path) not in text


def test_a_project_without_memory_says_so(fleet: FleetBuilder, person: Person) -> None:
    shop = fleet.project("shop", "none")

    text = context(
        session_start(json.dumps({"cwd": str(shop.folder)}).encode(), person, (str(fleet.root),))
    )

    assert "keeps no memory" in text


def test_a_folder_that_is_no_aios_folder_is_left_out_with_its_code(
    fleet: FleetBuilder, person: Person, places: Path
) -> None:
    (places / "aios").mkdir()

    text = context(session_start(b"{}", person, (str(fleet.root),)))

    assert "The AIOS context was left out (DOTAIOS_" in text


def test_a_projection_that_escapes_too_long_is_left_out_whole(
    fleet: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = fleet.project("shop")
    shop.fact("retry", "Four tries.", title="Retry")
    monkeypatch.setattr(hook, "_aios", lambda _person: ('"\\' * (hook.AIOS_CHARS // 2), []))

    answer = session_start(
        json.dumps({"cwd": str(shop.folder)}).encode(), person, (str(fleet.root),)
    )

    assert len(answer) <= MAX_HOOK_CHARS
    assert context(answer).endswith("The AIOS context was left out (it does not fit).")
    assert "- Retry (" in context(answer), "the fleet has the room then"


def test_a_project_that_opted_out_says_so(fleet: FleetBuilder, person: Person) -> None:
    shop = fleet.project("shop", "none")

    answer = session_start(
        json.dumps({"cwd": str(shop.folder)}).encode(), person, (str(fleet.root),)
    )

    assert "This project keeps no memory." in context(answer)


def test_secrets_and_the_home_folder_are_kept_from_the_block(
    fleet: FleetBuilder, person: Person
) -> None:
    shop = fleet.project("shop")
    secret = "ghp_" + "k7Qz2Vb9Xn4Lm8Rt6Yw3Pd5Hs1Jc0Fa2Gu7E"
    shop.fact("a", "x", title=f"See {person.home}/plan", description=f"{secret} \u202e")

    text = context(
        session_start(json.dumps({"cwd": str(shop.folder)}).encode(), person, (str(fleet.root),))
    )

    assert "See ~/plan" in text
    assert secret not in text
    assert "\u202e" not in text


def test_a_project_whose_descriptor_is_broken_says_so(fleet: FleetBuilder, person: Person) -> None:
    shop = fleet.project("shop")
    shop.write(".agents/config.yaml", "project: [\n")

    answer = session_start(
        json.dumps({"cwd": str(shop.folder)}).encode(), person, (str(fleet.root),)
    )

    assert "Its descriptor cannot be read" in context(answer)
