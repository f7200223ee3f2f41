"""The writing verbs from the command line: previews change nothing, MCP offers none of them."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentic_os.cli.commands.person.aios import app
from agentic_os.cli.entry import main
from agentic_os.errors import AiosError
from agentic_os.server.tools.definitions import AIOS
from support.aios.builder import SECRET, tree
from support.aios.talk import claude_rows, codex_rows, gemini_messages, lines

RUNNER = CliRunner()
TALK = [("user", "Rename the flag"), ("assistant", "Done.")]


def run(*words: str, given: str = "") -> tuple[int, str, str]:
    result = RUNNER.invoke(app, list(words), input=given)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def applied(*words: str) -> str:
    """Preview, then apply exactly that."""
    document = json.loads(run(*words, "--json")[1])["data"]
    proof = ("--operation-id", document["operation_id"])
    return run(*words, "--apply", *proof, "--plan-fingerprint", document["plan_fingerprint"])[1]


@pytest.fixture
def home(places: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home folder with a fresh AIOS folder in it."""
    person = places / "person"
    person.mkdir()
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.setenv("DOTAIOS_PATH", str(person / "aios"))
    assert run("init", "--yes")[0] == 0
    return person


def test_previews_change_no_byte_mode_or_time(home: Path) -> None:
    lines(home / ".claude/projects/-a/one.jsonl", claude_rows(TALK))
    (home / ".claude/settings.json").write_text("{}\n")
    run("capture", "import", "claude-code")
    run("update", "something")
    session = json.loads(run("capture", "list", "--json")[1])["data"]["sessions"][0]
    (home / "aios/skills/today/SKILL.md").unlink()
    run("brief")
    before = tree(home)
    for words in (
        ("init", "--dry-run", "--force"),
        ("brief", "--dry-run"),
        ("undo",),
        ("skills", "update"),
        ("capture", "delete", session["session_id"]),
        ("capture", "reconcile"),
        ("capture", "status"),
        ("capture", "enable"),
        ("capture", "disable"),
    ):
        assert run(*words)[0] == 0, words
        assert tree(home) == before, words


def test_every_agent_is_imported_once(home: Path) -> None:
    lines(home / ".claude/projects/-a/one.jsonl", claude_rows(TALK))
    lines(home / ".codex/sessions/2026/11/30/rollout-a.jsonl", codex_rows(TALK))
    chat = home / ".gemini/tmp/x/chats/session-a.json"
    lines(chat, [])
    chat.write_text(json.dumps({"projectHash": "x", "messages": gemini_messages(TALK)}))
    for agent in ("claude-code", "codex", "gemini"):
        assert run("capture", "import", agent, "--all")[1].startswith("created\t")
        assert run("capture", "import", agent, "--since", "2d")[1].startswith("idempotent\t")
    note = home / "note.txt"
    note.write_text(f"Remember the rollout. {SECRET}\n")
    assert "Secrets replaced" in run("capture", "import", "file", str(note))[2]
    assert run("capture", "import", "paste", given="# comment\nPasted words\n")[1].startswith(
        "created\t"
    )
    assert run("capture", "import", "paste", given="Pasted words\n")[1].startswith("idempotent\t")
    listed = json.loads(run("capture", "list", "--json")[1])["data"]["sessions"]
    assert sorted(one["agent"] for one in listed) == [
        "claude-code", "codex", "gemini", "manual", "manual",
    ]  # fmt: skip
    found = run("search", "flag", "--scope", "sessions")[1]
    assert "Rename the >>flag<<" in found
    assert str(home) not in (home / "aios/memory/sessions/index.jsonl").read_text()
    assert "conflict copies" in run("capture", "status")[1]


def test_the_hook_captures_and_never_fails(home: Path) -> None:
    path = lines(home / ".claude/projects/-a/one.jsonl", claude_rows(TALK))
    settings = home / ".claude/settings.json"
    settings.write_text('{\n    "model": "x"\n}\n')
    applied("capture", "enable", "claude-code")
    command = json.loads(settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert command.endswith("aios capture hook claude-code")
    given = json.dumps({"transcript_path": str(path), "cwd": "/x", "session_id": "s"})
    done = subprocess.run(
        shlex.split(command), input=given, text=True, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(list((home / "aios/memory/sessions").rglob("*.md"))) == 1
    outside = lines(home / "elsewhere.jsonl", claude_rows(TALK))
    for bad in ("", "{", json.dumps({"transcript_path": str(outside)}), '{"transcript_path":7}'):
        assert run("capture", "hook", "claude-code", given=bad)[0] == 0
    assert len(list((home / "aios/memory/sessions").rglob("*.md"))) == 1
    gone = json.dumps({"transcript_path": str(path.with_name("gone.jsonl"))})
    assert run("capture", "hook", "claude-code", given=gone)[0] == 0
    assert run("capture", "hook", "claude-code", given=gone)[0] == 0
    assert run("capture", "status")[2].count("SOURCE_UNAVAILABLE") == 1
    big = claude_rows([("user", f"{at} " + "x" * 60_000) for at in range(20)])
    large = lines(home / ".claude/projects/-a/large.jsonl", big)
    at_large = json.dumps({"transcript_path": str(large)})
    assert run("capture", "hook", "claude-code", given=at_large)[0] == 0
    assert run("capture", "import", "claude-code", "--all")[0] == 0
    assert run("capture", "status")[2].count("DOCUMENT_TOO_LARGE") == 1
    applied("capture", "disable", "claude-code")
    assert settings.read_text() == '{\n    "model": "x"\n}\n'


def test_a_summary_from_standard_input(home: Path) -> None:
    request = json.dumps(
        {
            "version": 1,
            "operation_id": "op-1",
            "memory": {"mode": "shared"},
            "session": {"agent": "codex", "title": "T", "summary": "Words."},
        }
    )
    answer = json.loads(run("capture", "save-summary", given=request)[1])
    assert answer["status"] == "verified"
    assert (home / "aios" / answer["path"]).exists()


def test_undo_and_what_a_change_says(home: Path) -> None:
    run("daily", "set", "--section", "Focus", given="Ship it\n")
    note = next((home / "aios/memory/daily").glob("*.md"))
    assert "Ship it" in note.read_text()
    assert "removed" in applied("undo")
    assert not note.exists()
    assert main(["aios", "undo", "--apply"]) == 64


def test_a_change_outside_the_folder_is_undone_there(home: Path) -> None:
    settings = home / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": "x"}')
    document = json.loads(run("capture", "enable", "--json")[1])["data"]
    operation = document["operation_id"]
    proof = ("--operation-id", operation, "--plan-fingerprint", document["plan_fingerprint"])
    run("capture", "enable", "--apply", *proof)
    assert "hook" in settings.read_text()
    shown = run("undo", operation)
    assert "would be replaced settings.json" in shown[1]
    assert "replaced settings.json" in applied("undo", operation)
    assert settings.read_text() == '{"model": "x"}'


@pytest.mark.parametrize("verb", ["update", "brief", "promote", "import"])
def test_a_crowded_log_is_tidied_after_every_event(home: Path, verb: str) -> None:
    aios = home / "aios"
    run("capture", "import", "paste", given="Pasted words\n")
    session = json.loads(run("capture", "list", "--json")[1])["data"]["sessions"][0]["session_id"]
    fact = home / ".claude/projects/-a/memory/style.md"
    fact.parent.mkdir(parents=True)
    fact.write_text("Releases are named by date.\n")
    old = '{"ts":"2026-11-01T00:00:00Z","type":"update","summary":"old"}\n'
    (aios / "memory/events.jsonl").write_text(old * 120)
    promotion = ("promote", session, "--to", "context", "--destination", "work.md")
    words = {
        "update": ("update", "new"),
        "brief": ("brief",),
        "promote": ("memory", *promotion, "--summary", "Learnt."),
        "import": ("import", "memories"),
    }[verb]
    if verb in {"promote", "import"}:
        assert run(*words)[0] == 0
        assert not (aios / "memory/events-archive.jsonl").exists()
        applied(*words)
    else:
        assert run(*words)[0] == 0
    assert len((aios / "memory/events.jsonl").read_text().splitlines()) == 51
    assert (aios / "memory/events-archive.jsonl").read_text() == old * 71


def test_the_command_that_a_preview_prints_is_the_one_that_applies_it(home: Path) -> None:
    run("capture", "import", "paste", given="Pasted words\n")
    session = json.loads(run("capture", "list", "--json")[1])["data"]["sessions"][0]["session_id"]
    words = ("memory", "promote", session, "--to", "context", "--destination", "new.md")
    shown = run(*words, "--summary", "It's Friday.")[2]
    command = shlex.split(shown.partition("agentic-os aios ")[2])
    assert run(*command)[0] == 0
    assert "It's Friday." in (home / "aios/context/new.md").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ("update", "x", "--memory", "off"),
        ("daily", "set", "--section", "Focus", "--memory", "off"),
        ("daily", "carry", "--memory", "off"),
        ("capture", "import", "paste", "--memory", "off"),
        ("capture", "import", "codex", "--memory", "off"),
    ],
)
def test_off_writes_nothing(home: Path, words: tuple[str, ...]) -> None:
    before = tree(home)
    assert main(["aios", *words]) == 1
    assert tree(home) == before


def test_a_refusal_is_1_and_a_wrong_command_line_64(home: Path) -> None:
    note = home / "aios/memory/daily"
    run("daily", "set", "--section", "Focus", given="Ship it\n")
    assert list(note.glob("*.md"))
    cases = [
        (("update", f"key {SECRET}"), 1),
        (("memory", "promote", "zzzz", "--to", "context", "--summary", "x"), 1),
        (("capture", "delete", "zzzz"), 1),
        (("migrate", "--apply", "nonsense"), 1),
        (("update", "x", "--type", "Not A Type"), 64),
        (("capture", "enable", "codex"), 64),
        (("undo", "--apply"), 64),
        (("memory", "promote", "zzzz", "--to", "moon", "--summary", "x"), 64),
    ]
    for words, code in cases:
        assert main(["aios", *words]) == code, words


def test_answers_that_are_refused_make_nothing(places: Path) -> None:
    folder = places / "new"
    words = ("init", "--path", str(folder), "--answers", "-")
    with pytest.raises(AiosError, match="twice"):
        run(*words, given='{"name":"A","name":"B"}')
    assert not folder.exists()


def test_a_private_chat_is_no_failure(home: Path) -> None:
    talk = [("user", "Private chat: my taxes"), ("assistant", "Yes.")]
    path = lines(home / ".claude/projects/-a/one.jsonl", claude_rows(talk))
    before = tree(home / "aios")
    code, printed, _ = run("capture", "import", "claude-code", "--all")
    assert (code, printed) == (0, "refused\tone.jsonl\tprivate\n")
    assert run("capture", "import", "file", str(path))[0] == 0
    given = json.dumps({"transcript_path": str(path)})
    assert run("capture", "hook", "claude-code", given=given)[0] == 0
    assert tree(home / "aios") == before


def test_no_writing_verb_over_mcp() -> None:
    assert sorted(tool.name for tool in AIOS) == [
        "read_working_context",
        "resolve_skill",
        "search_aios",
    ]
    code = (
        "import sys, agentic_os.server.application;"
        "print([n for n in sys.modules if 'aios.writing.' in n or 'aios.sessions.store' in n])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
