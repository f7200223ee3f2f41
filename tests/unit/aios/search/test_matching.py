import math

import pytest

from agentic_os.aios.search.matching import (
    TIER_WEIGHT,
    Corpus,
    Match,
    MatchKind,
    Query,
    decay,
    rank,
    rarity,
    stem,
)

DAY = 86_400_000.0


@pytest.mark.parametrize(
    ("text", "query", "kind", "score"),
    [
        ("Ship gate: ship gate passed", "ship gate", "phrase", 11),
        ("the gate to ship", "ship gate", "terms", 5),
        ("ship it", "ship gate", "partial", 1),
        ("we planned the rollout", "planning", "inflected", 1),
        ("a " * 20, "a", "phrase", 15),
        ("gate ship " + "ship " * 20, "ship gate", "terms", 10),
        ("SHIP   GATE", "Ship \n Gate", "terms", 5),
    ],
)
def test_match_kinds(text: str, query: str, kind: MatchKind, score: int) -> None:
    assert Query(query).match(text.lower()) == Match(kind=kind, score=score)


@pytest.mark.parametrize(
    ("text", "query"), [("he ran", "running"), ("anything", ""), ("anything", "   "), ("", "x")]
)
def test_no_match(text: str, query: str) -> None:
    assert Query(query).match(text) is None


def test_inflection_asks_for_every_term_at_the_start_of_a_word() -> None:
    assert Query("meetings planning").match("a meeting was planned") is not None
    assert Query("meetings planning").match("a meeting") is None
    assert Query("meetings xy").match("a meeting") is None
    assert Query("planning").match("unplanned") is None
    assert Query("planning").match("über-planned") is not None


@pytest.mark.parametrize(
    ("term", "folded"),
    [
        ("meetings", "meet"),
        ("planning", "plan"),
        ("running", "runn"),
        ("invoices", "invoic"),
        ("cases", "case"),
        ("case", None),
        ("fatture", "fattur"),
        ("migrations", "migr"),
        ("migration", "migr"),
        ("policy", None),
        ("abc-123", None),
        ("abc123s", None),
    ],
)
def test_stems(term: str, folded: str | None) -> None:
    assert stem(term) == folded


@pytest.mark.parametrize(
    ("count", "frequency", "weight"),
    [
        (21, 1, 2.685577),
        (21, 20, 0.070618),
        (2, 2, 0.182322),
        (13, 1, 2.233592),
        (13, 12, 0.113329),
    ],
)
def test_rarity(count: int, frequency: int, weight: float) -> None:
    assert rarity(count, frequency) == pytest.approx(weight, abs=5e-7)


def test_a_corpus_counts_whole_tokens() -> None:
    query = Query("ship gate ships c++")
    corpus = Corpus()
    assert corpus.weight("ship") == 1.0
    for text in ("ship ship gates", "shipping", "the ships c++", "un-ship"):
        corpus.add(query, text)
    assert corpus.count == 4
    assert corpus.weight("ship") == rarity(4, 1)
    assert corpus.weight("gate") == rarity(4, 0)
    assert corpus.weight("ships") == rarity(4, 1)
    assert corpus.weight("c++") == rarity(4, 0)  # not a token


@pytest.mark.parametrize(
    ("age", "left"),
    [
        (None, 1.0),
        (-5.0, 1.0),
        (math.nan, 1.0),
        (0.0, 1.0),
        (DAY - 1, 1.0),
        (30 * DAY, 0.5),
        (60 * DAY + 1, 0.25),
    ],
)
def test_decay_by_whole_days(age: float | None, left: float) -> None:
    assert decay(age) == left


def test_ranks_of_equal_matches_by_age() -> None:
    query = Query("ship gate")
    corpus = Corpus()
    for _ in range(2):
        corpus.add(query, "the ship gate")
    terms = query.present("the ship gate")
    fresh = rank("phrase", terms, corpus, age_ms=0)
    old = rank("phrase", terms, corpus, age_ms=180 * DAY)
    assert fresh == pytest.approx(4_000_000.364643, abs=1e-6)
    assert old == pytest.approx(4_000_000.005698, abs=1e-6)


def test_no_weight_crosses_a_tier() -> None:
    corpus = Corpus()
    best = rank("partial", ["x"], corpus, age_ms=0, structural=3_000_000)
    assert best == 3 * TIER_WEIGHT - 1
    assert best < rank("terms", (), corpus, age_ms=None)


def test_marks() -> None:
    assert Query("ship gate").mark("The Ship Gate ships") == "The >>Ship Gate<< ships"
    assert Query("ship gate").mark("gate to ship") == ">>gate<< to >>ship<<"
    assert Query("a.b").mark("axb") == "axb"
    assert Query("").mark("text") == "text"


def test_first_lines_by_word_or_stem() -> None:
    lines = ["nothing", "a meeting", "the planned", "a meeting"]
    assert Query("meetings planning").first_lines(lines) == [1, 2]
    assert Query("nothing absent").first_lines(lines) == [0]
