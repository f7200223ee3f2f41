import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.server.tools.links import Source, read_source_uri, source_uri

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(TEXTS.filter(lambda one: "/" not in one), TEXTS, st.none() | st.just((3, 9)))
def test_a_link_leads_back(project: str, path: str, lines: tuple[int, int] | None) -> None:
    uri = source_uri(project, path, lines)

    assert read_source_uri(uri) == Source(project=project, path=path, lines=lines)


@pytest.mark.parametrize("query", ["", "lines=", "lines=9-3", "lines=0-3", "line=3-4", "3-4"])
def test_other_lines_are_none(query: str) -> None:
    assert read_source_uri(f"fleet://source/shop/m.md?{query}") is None
