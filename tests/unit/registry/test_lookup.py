from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentic_os.errors import UnknownProjectError
from agentic_os.registry.descriptor.values import Descriptor
from agentic_os.registry.lookup import containing_project, find_project, short_ids
from agentic_os.registry.project import Project
from agentic_os.results import Checkout, Surfaces

NOWHERE = Path("/nowhere")


def project(
    name: str, folder: str = "", *, aliases: tuple[str, ...] = (), also: str = ""
) -> Project:
    folder = folder or f"/r/{name}"
    return Project(
        id=f"{name.lower()}-12345678",
        name=name,
        root=Path("/r"),
        folder=Path(folder),
        relative=folder.removeprefix("/r/"),
        descriptor=Descriptor(layout=".agents", name=name),
        surfaces=Surfaces(),
        checkouts=(Checkout(path=also, kind="clone", chosen=False),) if also else (),
        aliases=aliases,
    )


SHOP = project("Shop", "/r/work/shop", aliases=("Storefront",), also="/r/copies/shop-2")
API = project("api", "/r/work/shop/packages/api")
SITE = project("site", aliases=("api",))
FLEET = (SHOP, API, SITE)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("shop-12345678", SHOP),
        ("SHOP-12345678", SHOP),
        ("storefront", SHOP),
        ("shop", SHOP),
        (" Shop ", SHOP),
        ("work/shop", SHOP),
        ("./work/shop/", SHOP),
        ("/r/work/shop", SHOP),
        ("/r/copies/shop-2", SHOP),
        ("site", SITE),
        ("work/shop/packages/api", API),
    ],
)
def test_a_project_answers_to_id_alias_name_and_path(text: str, found: Project) -> None:
    assert find_project(FLEET, text, current=NOWHERE) is found


def numbered(first: str, digits: str, **named: Any) -> Project:
    return replace(
        project(first, f"/r/{first}-{digits}", **named), id=f"{first}-{digits}", name="x"
    )


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["shop", "shop-12", "a", "api"]),
            st.text("01", min_size=8, max_size=8) | st.text("01", min_size=16, max_size=16),
            st.sampled_from([(), ("shop",), ("API",), ("shop-0000",)]),
        ),
        min_size=1,
        max_size=8,
        unique_by=lambda item: item[:2],
    )
)
def test_a_short_id_is_accepted_back_and_means_that_project(
    rows: list[tuple[str, str, tuple[str, ...]]],
) -> None:
    fleet = [numbered(first, digits, aliases=aliases) for first, digits, aliases in rows]

    short = short_ids(fleet)

    for one in fleet:
        assert one.id.startswith(short[one.id])
        assert find_project(fleet, short[one.id], current=NOWHERE) is one
        assert find_project(fleet, one.id, current=NOWHERE) is one


def test_ids_are_as_short_as_they_can_be() -> None:
    fleet = [
        numbered("shop", "4849f98a"),
        numbered("shop", "4849a00a"),
        numbered("dock", "00000000"),
        replace(project("mine"), id="team-shop"),
    ]

    assert list(short_ids(fleet).values()) == ["shop-4849f", "shop-4849a", "dock", "team-shop"]


def test_too_few_digits_mean_several() -> None:
    fleet = [numbered("shop", "4849f98a"), numbered("shop", "4849a00a")]

    with pytest.raises(UnknownProjectError) as raised:
        find_project(fleet, "shop-4849", current=NOWHERE)
    assert raised.value.code == "PROJECT_AMBIGUOUS"
    assert find_project(fleet, "shop-4849f", current=NOWHERE) is fleet[0]


def test_what_the_person_gave_comes_before_what_a_project_calls_itself() -> None:
    assert find_project(FLEET, "API", current=NOWHERE) is SITE


def test_an_alias_comes_before_a_name() -> None:
    twins = (project("app"), project("other", aliases=("App",)))
    assert find_project(twins, "app", current=NOWHERE).name == "other"


def test_paths_are_taken_from_the_current_folder() -> None:
    assert find_project(FLEET, "packages/api", current=Path("/r/work/shop")) is API
    assert find_project(FLEET, "..", current=Path("/r/work/shop/packages")) is SHOP
    assert find_project(FLEET, ".", current=Path("/r/site")) is SITE


def test_a_text_that_may_come_from_a_model_is_no_path_on_this_machine() -> None:
    for text in ("/r/work/shop", ".", "../site"):
        with pytest.raises(UnknownProjectError):
            find_project(FLEET, text, current=Path("/r/site"), paths=False)
    assert find_project(FLEET, "work/shop", current=NOWHERE, paths=False) is SHOP
    assert find_project(FLEET, "site", current=NOWHERE, paths=False) is SITE


def test_an_ambiguous_word_is_refused_with_the_candidates() -> None:
    same = [
        replace(project("x", f"/r/{folder}/x"), id=f"x-{folder}", name=name)
        for folder, name in (("a", "x"), ("b", "X"))
    ]
    with pytest.raises(UnknownProjectError) as caught:
        find_project(same, "X", current=NOWHERE)
    assert caught.value.code == "PROJECT_AMBIGUOUS"
    assert caught.value.message == "'X' means 2 projects"
    assert caught.value.hint == "use an id: x-a (a/x), x-b (b/x)"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("shp", "near names: Shop (shop-12345678)"),
        ("storefrnt", "near names: Shop (shop-12345678)"),
        (
            "zzzzzz",
            "projects: Shop (shop-12345678), api (api-12345678), site (site-12345678)",
        ),
    ],
)
def test_an_unknown_word_lists_near_names(text: str, hint: str) -> None:
    with pytest.raises(UnknownProjectError) as caught:
        find_project(FLEET, text, current=NOWHERE)
    assert caught.value.code == "PROJECT_UNKNOWN"
    assert caught.value.message == f"no project answers to '{text}'"
    assert caught.value.hint == hint


def test_a_long_fleet_is_not_listed_whole() -> None:
    many = [project(f"p{number}") for number in range(9)]
    with pytest.raises(UnknownProjectError) as caught:
        find_project(many, "zzz", current=NOWHERE)
    assert caught.value.hint.endswith("p4 (p4-12345678), …")


def test_an_empty_fleet_says_so() -> None:
    with pytest.raises(UnknownProjectError) as caught:
        find_project((), "shop", current=NOWHERE)
    assert caught.value.hint == "no project was found below the roots"


@pytest.mark.parametrize("text", ["", "  ", "a\0b", "\x1b[31m", "x" * 10_000, "/", "\udcff"])
def test_odd_words_are_unknown_and_shown_safely(text: str) -> None:
    with pytest.raises(UnknownProjectError) as caught:
        find_project(FLEET, text, current=NOWHERE)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/r/work/shop", SHOP),
        ("/r/work/shop/src/a.py", SHOP),
        ("/r/work/shop/packages/api/src", API),
        ("/r/copies/shop-2/src", SHOP),
        ("/r/work/shopping", None),
        ("/r/work", None),
        ("/elsewhere", None),
        ("/r/site/../work/shop", SHOP),
    ],
)
def test_the_innermost_project_holds_a_path(path: str, found: Project | None) -> None:
    assert containing_project(FLEET, Path(path)) is found


def test_a_project_at_the_very_top_holds_everything() -> None:
    top = project("top", "/")
    assert containing_project((top, SHOP), Path("/x/y")) is top
    assert containing_project((top, SHOP), Path("/r/work/shop/x")) is SHOP


def test_a_path_through_a_link_is_resolved(tmp_path: Path) -> None:
    folder = tmp_path / "real"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    real = project("real", str(folder.resolve()))
    assert containing_project((real,), tmp_path / "link/src") is real
