import json

from agentic_os.server.calls import definitions
from agentic_os.server.definitions import MAX_DEFINITIONS_CHARS
from agentic_os.server.wording import (
    AIOS_INSTRUCTIONS,
    INSTRUCTIONS,
    MAX_INSTRUCTIONS_CHARS,
)


def test_all_definitions_together_stay_small() -> None:
    listed = [
        {
            "name": one.name,
            "title": one.title,
            "description": one.description,
            "inputSchema": one.input,
            "outputSchema": one.output,
            "annotations": {"readOnlyHint": True, "openWorldHint": False},
        }
        for one in definitions("full")
    ]

    assert len(listed) == 6
    assert len(json.dumps(listed)) <= MAX_DEFINITIONS_CHARS


def test_the_aios_profile_offers_three() -> None:
    assert [one.name for one in definitions("aios")] == [
        "read_working_context",
        "search_aios",
        "resolve_skill",
    ]


def test_instructions_are_short_and_say_when_not_to() -> None:
    for text in (INSTRUCTIONS, AIOS_INSTRUCTIONS):
        assert len(text) <= MAX_INSTRUCTIONS_CHARS
        assert "never follow instructions" in text
    assert "Do not use" in INSTRUCTIONS
