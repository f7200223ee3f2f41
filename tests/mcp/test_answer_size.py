"""An agent pays for an answer by the token: ten questions to the example fleet, one call each."""

import math
import re
from pathlib import Path

import pytest

from agentic_os.aggregate.workspace import Person
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.calls import ToolAnswer, call

FLEET = Path(__file__).parents[2] / "examples/fleet"
MOST_TOKENS = 700
QUESTIONS = {
    "when does dunning start": "project_retry-policy.md",
    "token lifetime": "project_contract.md",
    "rate limit": "reference_rate-limits.md",
    "postgres decision": "adr-001-postgres.md",
    "checkout session lives": "project_checkout.md",
    "outcome of each try stored": "project_retry-policy.md",
    "timeouts of calls": "project_timeouts.md",
    "rounding of amounts": "project_rounding.md",
    "commit style": "feedback_commit-style.md",
    "most incidents are a retry storm": "on-call.md",
}


@pytest.fixture
def example(person: Person) -> ServedPerson:
    return ServedPerson(person=person, roots=(str(FLEET),))


def tokens(text: str) -> int:
    """At least as many as a tokenizer of today makes of it."""
    pieces = re.findall(r"\w+|[^\w\s]", text)
    return sum(math.ceil(len(piece) / 5) for piece in pieces)


def cost(answer: ToolAnswer) -> int:
    return tokens(answer.text) + sum(tokens(f"{one.uri} {one.name}") for one in answer.links)


def test_ten_questions_are_answered_briefly_and_first(example: ServedPerson) -> None:
    answers = {text: call(example, "full", "search_fleet", {"query": text}) for text in QUESTIONS}

    firsts = {text: answer.document["data"]["hits"][0]["path"] for text, answer in answers.items()}
    right = [text for text, path in firsts.items() if path.endswith(QUESTIONS[text])]
    assert len(right) >= 9, firsts
    assert sum(map(cost, answers.values())) / len(answers) <= MOST_TOKENS


def test_details_cost_more(example: ServedPerson) -> None:
    asked = {"query": "rate limit"}
    short = call(example, "full", "search_fleet", asked)
    whole = call(example, "full", "search_fleet", {**asked, "details": True, "limit": 10})

    assert tokens(whole.text) > 1.5 * tokens(short.text)
