"""Every row of the table reads its fixture: a row without one fails here."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.code.languages import BY_LANGUAGE, ROWS, grammars, row_of
from agentic_os.code.passages.chunks import chunk_source
from agentic_os.code.reading import language_of, read_source
from agentic_os.code.table_driven import read_tabled
from support.fleet.languages import SOURCES


def test_every_row_has_a_fixture_and_a_grammar() -> None:
    assert set(SOURCES) == {row.language for row in ROWS} == set(grammars())
    suffixes = [suffix for row in ROWS for suffix in row.suffixes]
    assert len(suffixes) == len(set(suffixes))


@pytest.mark.parametrize("language", sorted(SOURCES))
def test_definitions_and_imports(language: str) -> None:
    source = SOURCES[language]
    assert language_of(source.path) == language
    facts = read_source(source.path, source.text.encode())
    assert facts is not None
    assert (facts.language, facts.problems) == (language, ())
    found = [f"{one.qualname} {one.kind} {one.start}-{one.end}" for one in facts.symbols]
    assert found == list(source.symbols)
    assert [one.module for one in facts.imports] == list(source.imports)
    for one in facts.symbols:
        if one.parent >= 0:
            assert one.qualname.startswith(f"{facts.symbols[one.parent].qualname}.")


@pytest.mark.parametrize("language", sorted(SOURCES))
def test_passages_are_cut_at_definitions(language: str) -> None:
    source = SOURCES[language]
    chunks = chunk_source(source.path, source.text)
    names = {chunk.symbol for chunk in chunks}
    functions = {one.split()[0] for one in source.symbols if one.split()[1] == "function"}
    assert functions <= names
    lines = source.text.split("\n")
    held = [number for one in chunks for number in range(one.start, one.end + 1)]
    assert len(held) == len(set(held))
    assert {at for at, line in enumerate(lines, 1) if line.strip()} <= set(held)


@pytest.mark.parametrize("language", sorted(SOURCES))
@settings(deadline=None)  # the first parse of a language loads its grammar
@given(st.data())
def test_no_text_breaks_a_reader(language: str, data: st.DataObject) -> None:
    text = SOURCES[language].text
    at = data.draw(st.integers(0, len(text)))
    until = data.draw(st.integers(at, len(text)))
    noise = data.draw(st.text("(){}<>;:\"'#@=\n\t x\0é", max_size=20))
    broken = text[:at] + noise + text[until:]
    facts = read_tabled(broken.encode(), BY_LANGUAGE[language])
    lines = broken.count("\n") + 1
    for number, one in enumerate(facts.symbols):
        assert 1 <= one.start <= one.end <= lines
        assert -1 <= one.parent < number
        assert one.name


def test_other_files_are_nobodys() -> None:
    assert row_of("a/b.zig") is None
    assert row_of(".sh") is None
