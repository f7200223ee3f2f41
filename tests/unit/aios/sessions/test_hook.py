"""The Stop hook of Claude Code's settings: ours alone is added and removed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.aios.sessions.hook import changed
from agentic_os.errors import AiosError

COMMAND = "/usr/bin/python3 -I -m agentic_os aios capture hook claude-code"
THEIRS = {
    "model": "é",
    "hooks": {
        "Stop": [{"matcher": "x", "hooks": [{"type": "command", "command": "say done"}]}],
        "Start": [],
    },
}


def test_added_once_and_removed_without_a_trace() -> None:
    text = json.dumps(THEIRS, indent=4, ensure_ascii=False) + "\n"
    added = changed(text, COMMAND)
    assert changed(added, COMMAND) == added
    assert json.loads(added)["hooks"]["Stop"][1] == {
        "hooks": [{"type": "command", "command": COMMAND, "timeout": 10}]
    }
    assert '\n    "model": "é"' in added
    assert changed(added, None) == text
    assert changed("{}\n", None) == "{}\n"
    assert changed(changed("{}\n", COMMAND), None) == "{}\n"


def test_an_older_command_is_replaced() -> None:
    added = changed(changed("{}", "old capture hook claude-code"), COMMAND)
    assert json.loads(added)["hooks"]["Stop"] == [
        {"hooks": [{"type": "command", "command": COMMAND, "timeout": 10}]}
    ]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["hooks", "Stop", "command", "a"]), inner, max_size=3)
        ),
    )
)
def test_any_settings_survive_or_are_refused(settings: object) -> None:
    text = json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
    try:
        added = changed(text, COMMAND)
    except AiosError:
        return
    removed = json.loads(changed(added, None))
    assert isinstance(settings, dict)
    without = {name: value for name, value in settings.items() if name != "hooks"}
    assert {name: value for name, value in removed.items() if name != "hooks"} == without


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"a":1,"a":2}', '{"hooks":[]}', '{"hooks":{"Stop":{}}}']
)
def test_settings_that_are_refused(text: str) -> None:
    with pytest.raises(AiosError) as caught:
        changed(text, COMMAND)
    assert caught.value.code == "DOTAIOS_HOOK_SETTINGS_INVALID"
