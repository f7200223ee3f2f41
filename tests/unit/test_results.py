"""The shared values: frozen, JSON-ready, and whole after a journey through JSON."""

from typing import get_args

import msgspec
import pytest

from agentic_os import results
from agentic_os.results import (
    DOCUMENTS,
    KINDS,
    MODES,
    Answer,
    CapabilityVariant,
    CapabilityView,
    Coverage,
    Diagnostic,
    Envelope,
    ErrorView,
    Hit,
    Kind,
    Omission,
    Provenance,
    SearchData,
    SearchMode,
)

VALUES = [
    value
    for value in vars(results).values()
    if isinstance(value, type) and issubclass(value, msgspec.Struct)
]


@pytest.mark.parametrize("value", VALUES, ids=[each.__name__ for each in VALUES])
def test_values_are_frozen_and_keyword_only(value: type) -> None:
    with pytest.raises(TypeError, match="positional"):
        value("by position")
    assert value.__struct_config__.frozen  # type: ignore[attr-defined]  # of every struct
    assert value.__doc__


def test_the_lists_of_words_are_complete() -> None:
    assert get_args(Kind) == KINDS
    assert get_args(SearchMode) == MODES


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_document_has_a_schema(name: str) -> None:
    data = DOCUMENTS[name]
    schema = msgspec.json.schema(Envelope[data])  # type: ignore[valid-type]  # a run-time table

    definition = schema["$defs"][schema["$ref"].rpartition("/")[2]]
    assert set(definition["properties"]) == {"schema", "data", "omissions", "warnings", "error"}
    assert definition["required"] == ["schema", "data"]


def test_an_answer_survives_json() -> None:
    hit = Hit(
        project="p-00000000",
        name="Größe 🚀",
        kind="memory",
        tier=0,
        path=".agents/memory/f.md",
        lines=(2, 3),
        snippet="a\nb",
        score=1.5,
        sha256="0" * 64,
        confirmed=True,
        indexed_at="2026-01-01T00:00:00+00:00",
        stale=False,
    )
    envelope = Envelope(
        schema="agentic-os/search/v1",
        data=SearchData(
            query="q",
            total=1,
            hits=(hit,),
            coverage=Coverage(projects_searched=1, surfaces={"memory": 1}),
        ),
        omissions=(Omission(code="A", scope="b", reason="c"),),
        warnings=(Diagnostic(code="A", severity="info", message="m"),),
        error=ErrorView(code="A", message="m"),
    )

    encoded = msgspec.json.encode(envelope)

    assert msgspec.json.decode(encoded, type=Envelope[SearchData]) == envelope
    assert b'"lines":[2,3]' in encoded


def test_a_capability_differs_by_wording_or_by_invocation() -> None:
    source = Provenance(project="p", path="x", lines=(1, 1), sha256="0")
    one = CapabilityVariant(detail="a", sources=(source,))
    two = CapabilityVariant(detail="b", sources=(source,))

    def view(
        variants: tuple[CapabilityVariant, ...], invocations: tuple[CapabilityVariant, ...] = ()
    ) -> CapabilityView:
        return CapabilityView(
            section="skill",
            name="n",
            projects=("p",),
            variants=variants,
            invocations=invocations,
        )

    assert not view((one,)).differs
    assert view((one, two)).differs
    assert view((one,), (one, two)).differs
    # An inventory quotes the command, a harness's file tells the transport: never the same words.
    assert not view((one,), (two,)).differs


def test_an_answer_is_complete_unless_it_says_otherwise() -> None:
    answer = Answer(data=1)

    assert (answer.omissions, answer.warnings, answer.incomplete) == ((), (), False)
