import hashlib
import re

import pytest

from agentic_os.registry.identity.ids import ProjectKey, assign_ids, is_long, slug_of


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("shop", "shop"),
        ("My Shop", "my-shop"),
        ("a__b--c", "a-b-c"),
        ("-x-", "x"),
        ("Café Ünïon", "cafe-union"),
        ("日本語", "project"),
        ("🚀", "project"),
        ("", "project"),
        ("...", "project"),
        ("a" * 100, "a" * 40),
        ("a" * 39 + "-b", "a" * 39),
        ("../../etc", "etc"),
        ("\udcff", "project"),
    ],
)
def test_slugs(text: str, slug: str) -> None:
    assert slug_of(text) == slug


def test_the_id_is_the_slug_and_eight_digits_of_the_key() -> None:
    key = ProjectKey(remote=True, origin="github.com/acme/Shop", subpath="packages/api")
    digest = hashlib.sha256(b"github.com/acme/Shop/packages/api").hexdigest()
    assert assign_ids([key]) == {key: f"api-{digest[:8]}"}


def test_the_slug_comes_from_the_remote_or_the_path() -> None:
    assert ProjectKey(remote=True, origin="github.com/acme/shop").slug == "shop"
    assert ProjectKey(remote=False, origin="/home/ann/code/My Shop").slug == "my-shop"
    assert ProjectKey(remote=False, origin="/").slug == "project"


def test_sub_path_and_origin_are_kept_apart() -> None:
    keys = [
        ProjectKey(remote=True, origin="github.com/a/b", subpath="c"),
        ProjectKey(remote=True, origin="github.com/a/b/c"),
        ProjectKey(remote=True, origin="github.com/a/b"),
    ]
    assert len(set(assign_ids(keys).values())) == 3


def test_a_folder_keeps_its_id_when_git_is_initialised_above_it() -> None:
    plain = ProjectKey(remote=False, origin="/code/mono/api")
    inside = ProjectKey(remote=False, origin="/code/mono", subpath="api")
    assert plain.text == inside.text == "/code/mono/api"
    assert assign_ids([plain])[plain] == assign_ids([inside])[inside]
    assert len(set(assign_ids([plain, inside]).values())) == 2
    assert ProjectKey(remote=False, origin="/").text == "/"


def test_a_path_that_is_no_text_has_an_id() -> None:
    key = ProjectKey(remote=False, origin="/x/caf\udce9")
    assert re.fullmatch(r"caf-[0-9a-f]{8}", assign_ids([key])[key])


def test_keys_that_would_share_an_id_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    first = ProjectKey(remote=True, origin="host/a/shop")
    second = ProjectKey(remote=True, origin="host/b/shop")
    digests = {first: "0" * 64, second: "0" * 8 + "1" * 56}
    monkeypatch.setattr(ProjectKey, "digest", property(lambda self: digests[self]))
    assert assign_ids([second, first]) == {
        first: "shop-00000000",
        second: "shop-0000000011111111",
    }
    assert not is_long("shop-00000000", first)
    assert is_long("shop-0000000011111111", second)


def test_equal_keys_are_one() -> None:
    key = ProjectKey(remote=True, origin="host/a/shop")
    assert len(assign_ids([key, ProjectKey(remote=True, origin="host/a/shop")])) == 1
