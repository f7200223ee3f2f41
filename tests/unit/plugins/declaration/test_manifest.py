"""Manifests, names and descriptors (runtime and plugins, section 13)."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.crypto.canonical.json import encode
from agentic_os.errors import PackageRefusedError
from agentic_os.plugins.declaration.manifest import read_manifest
from agentic_os.plugins.declaration.names import interface_reference, version_key
from agentic_os.plugins.declaration.operations import read_operations, sums_of
from agentic_os.plugins.declaration.schema import faults, read_schema
from agentic_os.plugins.trust.release import check_package
from support.plugins.packages import DESCRIPTORS, ECHO_OPERATION, Recipe


def changed(**members: Any) -> bytes:
    return encode({**Recipe().manifest, **members})


def variant(**members: Any) -> list[dict[str, Any]]:
    return [{**Recipe().manifest["variants"][0], **members}]


def interface(**members: Any) -> dict[str, Any]:
    return {"core": [{**Recipe().manifest["interfaces"]["core"][0], **members}]}


@pytest.mark.parametrize(
    "members",
    [
        {"colour": "red"},
        {"kind": "service"},
        {"id": "Upper.case"},
        {"id": "a..b"},
        {"version": "1.0"},
        {"version": "1.0.0-rc1"},
        {"plugin_family": "other"},
        {"bbb_protocol_version": 1},
        {"package_hash": "dafe"},
        {"interfaces": {"core": []}},
        {"interfaces": {"core": [], "extra": []}},
        {"interfaces": interface(id="echo")},
        {"interfaces": interface(version=0)},
        {"interfaces": interface(methods=[])},
        {"interfaces": interface(methods=[f"core.m{n}" for n in range(17)])},
        {"capability_envelope": [f"a.b{n}" for n in range(33)]},
        {"capability_envelope": ["Ring4"]},
        {"variants": variant(admission_profile="standard")},
        {"variants": variant(entrypoint="variants/other/plugin.wasm")},
        {"variants": variant(platform="beos")},
        {"variants": variant(implements={"core": ["core.other@1"]})},
        {"variants": [*variant(), *variant()]},
        {"aiios_min_version": "2.0.0", "aiios_max_exclusive_version": "1.9.9"},
        {"requirements": {"magic": ["x"]}},
        {"interfaces": None},
    ],
)
def test_what_is_no_manifest_is_refused(members: dict[str, Any]) -> None:
    with pytest.raises(PackageRefusedError) as caught:
        read_manifest(changed(**members))

    assert caught.value.reason == "MANIFEST_SCHEMA_INVALID"


def test_extensions_assets_and_long_version_numbers_are_read() -> None:
    assert read_manifest(changed(**{"x-colour": "red"})).manifest.id == Recipe().plugin
    assert read_manifest(changed(kind="asset", asset_type="theme")).manifest.kind == "asset"
    digits = "9" * 36
    long = read_manifest(
        changed(aiios_min_version="00.01.006", aiios_max_exclusive_version=f"0.{digits}.0")
    )
    assert long.manifest.aiios_min_version == "00.01.006"
    assert version_key("00.01.006") == (0, 1, 6)


def test_the_pages_names_are_aliases() -> None:
    assert interface_reference("web@1") == interface_reference("core.web@1") == ("core.web", 1)
    assert interface_reference("echo@1") is None
    assert interface_reference("core.web@0") is None


def test_a_key_that_stands_twice_is_refused() -> None:
    text = encode(Recipe().manifest).replace(b'"kind":', b'"kind":"plugin","kind":')

    with pytest.raises(PackageRefusedError):
        read_manifest(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
        max_leaves=12,
    ),
    st.sampled_from(sorted(Recipe().manifest)),
)
def test_any_value_of_any_member_is_read_or_refused(value: Any, member: str) -> None:
    text = json.dumps({**Recipe().manifest, member: value}).encode()
    try:
        read_manifest(text)
    except PackageRefusedError:
        with pytest.raises(PackageRefusedError, match="not a plugin's manifest"):
            read_manifest(text)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(PackageRefusedError):
        read_manifest(data)


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [{**ECHO_OPERATION, "id": "core.other"}],
        [ECHO_OPERATION, ECHO_OPERATION],
        [{**ECHO_OPERATION, "effects": "magic"}],
        [{**ECHO_OPERATION, "input": {"$ref": "#"}}],
        [{**ECHO_OPERATION, "input": {"anyOf": []}}],
        [{**ECHO_OPERATION, "input": {"type": "thing"}}],
        [{**ECHO_OPERATION, "max_result_bytes": 0}],
        [{**ECHO_OPERATION, "unknown": 1}],
        {"id": "core.echo"},
    ],
)
def test_descriptors_that_do_not_fit_are_a_mismatch(rows: Any) -> None:
    text = json.dumps(rows).encode()
    manifest = read_manifest(
        changed(interfaces=interface(schema_hash=sums_of({"x": text})["x"]))
    ).manifest

    with pytest.raises(PackageRefusedError) as caught:
        read_operations(manifest, {DESCRIPTORS: text}, sums_of({DESCRIPTORS: text}))

    assert caught.value.reason == "INTERFACE_SCHEMA_MISMATCH"


def test_a_method_without_a_descriptor_is_a_mismatch() -> None:
    data = Recipe(changes={"interfaces": interface(methods=["core.echo", "core.more"])}).packed()

    with pytest.raises(PackageRefusedError) as caught:
        check_package(io.BytesIO(data))

    assert caught.value.reason == "INTERFACE_SCHEMA_MISMATCH"


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        ({"type": "integer"}, True, False),
        ({"type": "integer"}, 1.5, False),
        ({"type": "number", "minimum": 0.5}, 0.5, True),
        ({"type": "number", "exclusiveMinimum": 0.5}, 0.5, False),
        ({"type": "number", "maximum": 2, "exclusiveMaximum": 2}, 2, False),
        ({"enum": [1, "a", None]}, True, False),
        ({"enum": [1, "a", None]}, None, True),
        ({"const": False}, 0, False),
        ({"type": "string", "minLength": 2, "maxLength": 3}, "abcd", False),
        ({"type": "string", "pattern": "^a+$"}, "aaa", True),
        ({"type": "string", "pattern": "^a+$"}, "b", False),
        ({"type": "string", "pattern": "("}, "b", False),
        ({"type": "array", "items": {"type": "null"}, "maxItems": 1}, [None, None], False),
        ({"type": "array", "items": {"type": "null"}}, [1], False),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"b": 1}, False),
    ],
)
def test_values_are_held_against_the_subset(schema: Any, value: Any, fits: bool) -> None:
    read = read_schema(schema)

    assert read is not None
    assert (not list(faults(read, value))) is fits


def test_a_pattern_costs_linear_time() -> None:
    read = read_schema({"type": "string", "pattern": "^(a+)+$"})

    assert read is not None
    assert list(faults(read, "a" * 200_000 + "b"))


def test_schemas_nest_to_a_bound() -> None:
    schema: dict[str, Any] = {}
    for _ in range(20):
        schema = {"items": schema}

    with pytest.raises(ValueError, match="nested"):
        read_schema(schema)
