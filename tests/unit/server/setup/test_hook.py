import json
from pathlib import Path

import pytest

from agentic_os.aggregate.workspace import Person
from agentic_os.aios.context.brief import read_brief
from agentic_os.aios.policy import resolve_policy
from agentic_os.server.scope.aios import person_access
from agentic_os.server.setup import hook
from agentic_os.server.setup.hook import (
    CUT,
    MAX_HOOK_CHARS,
    MAX_INPUT_BYTES,
    HookAnswer,
    session_start,
)
from support.aios.builder import AiosBuilder
from support.fleet.builder import FleetBuilder


def context(answer: HookAnswer) -> str:
    """The context of an answer that all three clients take."""
    value = json.loads(answer.line)
    assert "\n" not in answer.line
    assert value.keys() - {"systemMessage"} == {"hookSpecificOutput"}
    assert ("systemMessage" in value) == bool(answer.trouble)
    assert all(line in value.get("systemMessage", "") for line in answer.trouble)
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

    assert len(answer.line) <= MAX_HOOK_CHARS
    assert CUT in context(answer)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "got no input"),
        (b" \n", "got no input"),
        (b"[]", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b"{", "is not JSON"),
        (b"\xff", "is not JSON"),
        (b"[" * 60_000, "is not JSON"),
        (b" " * MAX_INPUT_BYTES + b"{}", "longer than"),
        (b'{"cwd": 7}', "not an absolute path"),
        (b'{"cwd": "shop"}', "not an absolute path"),
        (b'{"cwd": "/a\\u0000b"}', "not an absolute path"),
    ],
)
def test_broken_input_never_breaks_a_session_and_is_named(
    fleet: FleetBuilder, person: Person, data: bytes, said: str
) -> None:
    shop = fleet.project("shop")
    shop.fact("retry", "Four tries.", title="Retry")
    here = Person(environ=person.environ, home=person.home, current=shop.folder)

    answer = session_start(data, here, (str(fleet.root),))

    assert "- Retry (" in context(answer), "it answers for the folder that it runs in"
    assert [said in line for line in answer.trouble] == [True]
    assert str(fleet.root) not in answer.line


def test_input_without_trouble_is_answered_without_a_word(
    fleet: FleetBuilder, person: Person
) -> None:
    fleet.project("shop")

    answer = session_start(b'{"hook_event_name": "SessionStart"}', person, (str(fleet.root),))

    assert answer.trouble == ()
    assert context(answer) == ""


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
    monkeypatch.setattr(hook, "_aios", lambda *_: ('"\\' * (hook.AIOS_CHARS // 2), []))

    answer = session_start(
        json.dumps({"cwd": str(shop.folder)}).encode(), person, (str(fleet.root),)
    )

    assert len(answer.line) <= MAX_HOOK_CHARS
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


@pytest.fixture
def attached(places: Path, tmp_path: Path) -> Path:
    """A folder with two projects; the first is checked out on this machine."""
    (places / "aios").mkdir()
    built = AiosBuilder(places / "aios").complete()
    checkout = tmp_path / "code/alpha"
    (checkout / "src").mkdir(parents=True)
    found = checkout.stat()
    identity = {"type": "directory", "dev": str(found.st_dev), "ino": str(found.st_ino)}
    state = places / "data/aios/projects.json"
    state.parent.mkdir(parents=True)
    entry = {"path": str(checkout), "root_identity": identity}
    state.write_text(json.dumps({"version": 1, "paths": {"A1": entry}}))
    assert built.root.is_dir()
    return checkout


def asked_in(folder: Path) -> bytes:
    return json.dumps({"cwd": str(folder)}).encode()


def test_the_projection_is_that_of_the_working_directory_unchanged(
    fleet: FleetBuilder, person: Person, attached: Path
) -> None:
    roots = (str(fleet.root),)
    access = person_access(person.environ, person.home)

    def brief(project: str | None) -> str:
        policy = resolve_policy(project=project)
        return read_brief(access(policy), policy, budget=hook.AIOS_CHARS).text()

    within = context(session_start(asked_in(attached / "src"), person, roots))
    beside = context(session_start(asked_in(attached.parent), person, roots))

    assert within == brief("A1")
    assert within.count("Memory: This project") == 1
    assert beside == brief(None)
    assert beside.startswith("Memory: Shared")


def test_a_map_of_checkouts_that_cannot_be_trusted_closes_the_projection(
    fleet: FleetBuilder, person: Person, places: Path, attached: Path
) -> None:
    (places / "data/aios/projects.json").write_text("[]")

    answer = session_start(asked_in(attached), person, (str(fleet.root),))

    assert context(answer) == "The AIOS context was left out (DOTAIOS_PROJECT_STATE_INVALID)."
