import os
import selectors
import sys
import time
from pathlib import Path
from unittest.mock import patch

import pytest

from agentic_os.errors import ModelError
from agentic_os.files import processes
from agentic_os.language_models.choice import CommandChoice, provider_for
from agentic_os.language_models.interface import MAX_REPLY_CHARS, Prompt

PROMPT = Prompt(system="be brief", user="what\ud800 is it?")


def ask(code: str, *words: str, seconds: float = 30.0) -> tuple[str, bool]:
    choice = CommandChoice(words=(sys.executable, "-c", code, *words), limit_seconds=seconds)
    reply = provider_for(choice, {**os.environ, "SPOKEN": "yes"}).complete(PROMPT)
    return reply.text, reply.cut


def refused(code: str, *, seconds: float = 30.0) -> ModelError:
    with pytest.raises(ModelError) as fault:
        ask(code, seconds=seconds)
    return fault.value


def test_the_prompt_is_read_and_the_answer_taken() -> None:
    text, cut = ask("import sys; sys.stdout.write(sys.stdin.read().upper())")
    assert (text, cut) == ("BE BRIEF\n\nWHAT? IS IT?\n", False)


def test_words_are_not_for_a_shell() -> None:
    text, _ = ask("import sys; print(sys.argv[1:])", "$(id)", "; rm x", "*")
    assert text.strip() == "['$(id)', '; rm x', '*']"


def test_it_runs_in_an_empty_folder_that_is_gone_afterwards() -> None:
    code = "import os; print(os.getcwd()); print(os.listdir()); print(os.environ['SPOKEN'])"
    folder, names, spoken = ask(f"{code}; open('left', 'w').close()")[0].split("\n")[:3]
    assert (names, spoken) == ("[]", "yes")
    assert Path(folder).name.startswith("agentic-os-model-")
    assert not Path(folder).exists()


def test_its_words_on_stderr_are_not_seen(capfd: pytest.CaptureFixture[str]) -> None:
    ask("import sys; print('noise', file=sys.stderr); print('answer')")
    assert capfd.readouterr() == ("", "")


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert ask("import os; os.write(1, b'a\\xffb')")[0] == "a\ufffdb"


def test_a_command_that_fails() -> None:
    fault = refused("import sys; print('half'); sys.exit(3)")
    assert (fault.code, "exit code 3" in fault.message) == ("MODEL_REFUSED", True)


def test_a_command_that_says_nothing() -> None:
    assert refused("print(' ')").code == "MODEL_ANSWER_INVALID"


def test_a_command_that_is_not_there() -> None:
    lost = provider_for(CommandChoice(words=("/nonexistent/ask",)), {})
    with pytest.raises(ModelError, match="command ask cannot be started") as fault:
        lost.complete(PROMPT)
    assert fault.value.code == "MODEL_UNREACHABLE"


def gone(pid: int) -> bool:
    """Whether a process ended, waiting a while for it to be collected."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").exists() and ") Z " in Path(f"/proc/{pid}/stat").read_text():
            return True
        time.sleep(0.02)
    return False


SPAWNS = (
    "import os, subprocess, sys, time;"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
    "open({file!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}');"
)


def test_what_takes_too_long_is_ended_with_everything_it_started(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    fault = refused(SPAWNS.format(file=str(file)) + "time.sleep(600)", seconds=2)
    assert fault.code == "MODEL_TIMED_OUT"
    for pid in map(int, file.read_text().split()):
        assert gone(pid)


def test_a_child_that_keeps_stdout_open_does_not_hang_the_caller(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    fault = refused(SPAWNS.format(file=str(file)) + "print('done', flush=True)", seconds=2)
    assert fault.code == "MODEL_TIMED_OUT"
    for pid in map(int, file.read_text().split()):
        assert gone(pid)


def test_what_closes_stdout_and_lingers_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "END_SECONDS", 0.05)
    code = "import os, time; os.write(1, b'x'); os.close(1); time.sleep(600)"
    assert refused(code, seconds=1).code == "MODEL_TIMED_OUT"


def test_what_says_too_much_is_cut_and_ended() -> None:
    code = "import os\nwhile True: os.write(1, b'x' * 65536)"
    text, cut = ask(code)
    assert (len(text), cut) == (MAX_REPLY_CHARS, True)


def test_an_interruption_ends_the_command(tmp_path: Path) -> None:
    file = tmp_path / "pids"

    def interrupted(*_: object) -> None:
        while not file.exists() or " " not in file.read_text():
            time.sleep(0.01)
        raise KeyboardInterrupt

    code = SPAWNS.format(file=str(file)) + "time.sleep(600)"
    with (
        patch.object(selectors.DefaultSelector, "select", interrupted),
        pytest.raises(KeyboardInterrupt),
    ):
        ask(code)
    for pid in map(int, file.read_text().split()):
        assert gone(pid)
