"""Which facts a word means."""

import pytest

from agentic_os.aggregate.facts import facts_named
from agentic_os.errors import RegistryError
from agentic_os.results import FactView, MemoryData, Provenance


def fact(project: str, path: str, title: str, *, template: bool = False) -> FactView:
    return FactView(
        provenance=Provenance(project=project, path=path, lines=(1, 3), sha256="0" * 64),
        kind="index" if path.endswith("MEMORY.md") else "fact",
        title=title,
        description="",
        type="project",
        text=title,
        listed=True,
        template=template,
        group="",
    )


FACTS = (
    fact("shop-1", ".agents/memory/limits.md", "Rate limits"),
    fact("bank-2", ".agents/memory/limits.md", "What the bank allows"),
    fact("bank-2", ".agents/memory/user_role.md", "Role", template=True),
    fact("bank-2", ".agents/memory/MEMORY.md", "Index"),
    fact("bank-2", ".agents/memory/MEMORY.md", "limits"),
)
UNION = MemoryData(facts=FACTS, total=5, templates=1)


@pytest.mark.parametrize(
    ("word", "positions"),
    [
        ("shop-1:.agents/memory/limits.md", [0]),
        ("bank-2:.agents/memory/limits.md:1", [1]),
        (" .agents/memory/limits.md ", [0, 1]),
        (".agents/memory/limits.md:3", [0, 1]),
        ("limits.md", [0, 1]),
        ("LIMITS", [0, 1]),
        ("memory.md", [3, 4]),
        ("rate limits", [0]),
        ("Index", [3]),
        ("user_role", [2]),
    ],
)
def test_a_word_means_facts(word: str, positions: list[int]) -> None:
    found = facts_named(UNION, word)
    assert found.facts == tuple(FACTS[position] for position in positions)
    assert found.total == len(positions)
    assert found.templates == (2 in positions)


def test_near_titles_are_named() -> None:
    with pytest.raises(RegistryError) as raised:
        facts_named(UNION, "rate limts")
    assert (raised.value.code, raised.value.exit_code) == ("FACT_UNKNOWN", 1)
    assert raised.value.hint == "near titles: Rate limits, limits"


def test_nothing_near() -> None:
    with pytest.raises(RegistryError) as raised:
        facts_named(UNION, "zzz\n" + "q" * 200)
    assert raised.value.hint == "`agentic-os memory` lists them all."
    assert raised.value.message == f"no fact answers to 'zzz<U+000A>{'q' * 76}'"
