import hashlib
from dataclasses import replace

import pytest

from agentic_os.tiers.embed.interface import Recipe

RECIPE = Recipe(
    weights_sha256="a" * 64,
    tokenizer_sha256="b" * 64,
    pooling="mean",
    normalize=True,
    max_tokens=256,
)


def test_the_fingerprint_is_the_hash_of_the_fields_as_sorted_json() -> None:
    text = (
        '{"document_prompt":"","max_tokens":256,"normalize":true,"pooling":"mean",'
        f'"query_prompt":"","tokenizer_sha256":"{"b" * 64}","weights_sha256":"{"a" * 64}"}}'
    )
    assert hashlib.sha256(text.encode()).hexdigest() == RECIPE.fingerprint


@pytest.mark.parametrize(
    "changed",
    [
        replace(RECIPE, weights_sha256="c" * 64),
        replace(RECIPE, tokenizer_sha256="c" * 64),
        replace(RECIPE, pooling="cls"),
        replace(RECIPE, normalize=False),
        replace(RECIPE, max_tokens=128),
        replace(RECIPE, document_prompt="passage: "),
        replace(RECIPE, query_prompt="query: "),
    ],
)
def test_whatever_shapes_a_vector_changes_the_fingerprint(changed: Recipe) -> None:
    assert changed.fingerprint != RECIPE.fingerprint
    assert len(changed.fingerprint) == 64


def test_prompts_do_not_change_places() -> None:
    one = replace(RECIPE, document_prompt="x: ")
    other = replace(RECIPE, query_prompt="x: ")
    assert one.fingerprint != other.fingerprint


def test_prompts_outside_ascii_have_a_fingerprint() -> None:
    assert replace(RECIPE, query_prompt="Frage: ü").fingerprint
