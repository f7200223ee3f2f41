"""Who vouches for a package (runtime and plugins, section 14)."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.canonical.texts import sha256_text
from agentic_os.crypto.envelope.public_keys import key_fingerprint
from agentic_os.crypto.envelope.signed import envelope_text
from agentic_os.errors import PackageRefusedError
from agentic_os.plugins.installing import PluginHouse
from agentic_os.plugins.trust import objects
from agentic_os.plugins.trust.tiers import Tier
from support.plugins.hosting import allow, open_house, trust, write_policy
from support.plugins.packages import Recipe
from support.plugins.signers import Hands, Signer

if TYPE_CHECKING:
    from agentic_os.crypto.canonical.values import JsonInput

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def hands() -> Hands:
    return Hands()


@pytest.fixture
def house(tmp_path: Path, hands: Hands) -> PluginHouse:
    house = open_house(tmp_path)
    write_policy(house, trust(house, hands.certifier, hands.reviewer, hands.platform))
    return house


def reason(house: PluginHouse, recipe: Recipe) -> str:
    with pytest.raises(PackageRefusedError) as caught:
        house.verify(recipe.packed())
    return caught.value.reason


def test_each_tier_is_reached_by_its_evidence(house: PluginHouse, hands: Hands) -> None:
    recipe = Recipe(capabilities=("ring4.kv",))

    published = house.verify(
        Recipe(capabilities=("ring4.kv",), trust=hands.published(recipe)).packed()
    )
    reviewed = house.verify(
        Recipe(capabilities=("ring4.kv",), trust=hands.reviewed(recipe, "ring4.kv")).packed()
    )
    platform = house.verify(
        Recipe(capabilities=("ring4.kv",), trust=hands.released(recipe)).packed()
    )

    assert published.verdict.tier is Tier.PUBLISHED
    assert published.verdict.publisher == "example"
    assert published.verdict.reviewed is None
    assert reviewed.verdict.tier is Tier.REVIEWED
    assert reviewed.verdict.reviewed == frozenset({"ring4.kv"})
    assert platform.verdict.tier is Tier.PLATFORM


def test_an_unsigned_package_runs_only_where_its_very_hash_is_listed(
    house: PluginHouse,
) -> None:
    assert reason(house, Recipe()) == "T0_REFUSED"

    allow(house, Recipe())
    assert house.verify(Recipe().packed()).verdict.tier is Tier.UNSIGNED
    assert reason(house, Recipe(version="0.1.1", module=b"\0asm\1\0\0\0\0")) == "T0_REFUSED"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda it: {k: it[k] for k in ("publisher.cert",)}, "TRUST_OBJECT_SHAPE_INVALID"),
        (lambda it: {k: it[k] for k in ("publisher.sig",)}, "TRUST_OBJECT_SHAPE_INVALID"),
        (
            lambda it: {"certifier.attestation": it["certifier.attestation"]},
            "TRUST_OBJECT_SHAPE_INVALID",
        ),
        (lambda it: {**it, "platform.sig": b"{}"}, "TRUST_OBJECT_SHAPE_INVALID"),
        (lambda it: {**it, "publisher.sig": b""}, "PUBLISHER_SIG_INVALID"),
        (lambda it: {**it, "publisher.cert": b""}, "PUBLISHER_CERT_INVALID"),
        (lambda it: {**it, "publisher.cert": b"{}"}, "PUBLISHER_CERT_INVALID"),
        (lambda it: {**it, "certifier.attestation": b""}, "ATTESTATION_INVALID"),
        (
            lambda it: {**it, "publisher.sig": it["publisher.sig"].replace(b"a", b"b", 1)},
            "PUBLISHER_SIG_INVALID",
        ),
        (lambda it: {**it, "publisher.sig": it["publisher.cert"]}, "PUBLISHER_SIG_INVALID"),
    ],
)
def test_broken_evidence_refuses_and_is_never_taken_for_a_lower_tier(
    house: PluginHouse,
    hands: Hands,
    change: Callable[[dict[str, bytes]], dict[str, bytes]],
    expected: str,
) -> None:
    allow_line = house.policy.read()
    assert allow_line.root
    recipe = Recipe()

    assert reason(house, Recipe(trust=change(hands.reviewed(recipe)))) == expected


def test_evidence_for_another_release_is_a_mismatch(house: PluginHouse, hands: Hands) -> None:
    other = Recipe(version="0.2.0")

    assert reason(house, Recipe(trust=hands.published(other))) == "QUARTET_MISMATCH"
    assert reason(house, Recipe(trust=hands.released(other))) == "QUARTET_MISMATCH"
    mixed = {
        **hands.published(Recipe()),
        "certifier.attestation": hands.reviewed(other)["certifier.attestation"],
    }
    assert reason(house, Recipe(trust=mixed)) == "QUARTET_MISMATCH"


def test_a_root_that_nobody_pinned_speaks_for_nothing(house: PluginHouse) -> None:
    strangers = Hands()

    assert reason(house, Recipe(trust=strangers.published(Recipe()))) == "TRUST_ROOT_UNAVAILABLE"


def test_a_fast_root_counts_only_where_the_person_says_so(house: PluginHouse, hands: Hands) -> None:
    write_policy(house, trust(house, hands.certifier).replace('profile = "FAST"\n', ""))

    assert reason(house, Recipe(trust=hands.published(Recipe()))) == "TRUST_ROOT_UNAVAILABLE"


def test_without_a_status_signed_tiers_are_unavailable(tmp_path: Path, hands: Hands) -> None:
    house = open_house(tmp_path)
    roots = trust(house, hands.certifier, status=False)
    recipe = Recipe()
    signed = Recipe(trust=hands.published(recipe))
    write_policy(
        house,
        'unsigned = "allow-listed"\n'
        + roots
        + f'[[allow]]\nplugin = "{recipe.plugin}"\npackage = "{recipe.package_hash}"\n',
    )

    assert reason(house, signed) == "REVOCATION_STATUS_UNAVAILABLE"
    # The same files without their signatures are another package, which the person allowed.
    assert house.verify(recipe.packed()).verdict.tier is Tier.UNSIGNED


def put_status(house: PluginHouse, root: Signer, data: bytes) -> None:
    house.places.status(root.envelope).write_bytes(data)


def test_what_a_root_revoked_is_refused(house: PluginHouse, hands: Hands) -> None:
    recipe = Recipe()
    evidence = hands.published(recipe)
    signed = Recipe(trust=evidence)
    house.verify(signed.packed())
    name = sha256_text(encode(decode(evidence["publisher.sig"])["payload"]))  # type: ignore[index,call-overload]

    put_status(house, hands.certifier, hands.certifier.status(2, [(objects.RELEASE_KIND, name)]))

    assert reason(house, signed) == "TRUST_PAYLOAD_REVOKED"


def test_epochs_only_grow_and_never_fork(house: PluginHouse, hands: Hands) -> None:
    signed = Recipe(trust=hands.published(Recipe()))
    root = hands.certifier
    for epoch in (1, 5):
        put_status(house, root, root.status(epoch))
        house.verify(signed.packed())

    put_status(house, root, root.status(4))
    assert reason(house, signed) == "REVOCATION_STATUS_UNAVAILABLE"
    put_status(house, root, root.status(5, [(objects.RELEASE_KIND, "sha256:" + "0" * 64)]))
    assert reason(house, signed) == "REVOCATION_STATUS_UNAVAILABLE"
    accepted = house.state.last(root.envelope.sha256)
    assert accepted is not None
    assert accepted.trust_epoch == 5
    put_status(house, root, root.status(5))
    assert house.verify(signed.packed()).verdict.tier is Tier.PUBLISHED


def test_entries_out_of_order_make_a_status_unusable(house: PluginHouse, hands: Hands) -> None:
    entries = [
        {"artifact_kind": objects.RELEASE_KIND, "payload_sha256": "sha256:" + digit * 64}
        for digit in "21"
    ]
    payload = {"schema_version": 1, "trust_epoch": 9, "revoked": entries}
    put_status(house, hands.certifier, hands.certifier.sign(objects.REVOCATION_KIND, payload))

    assert reason(house, Recipe(trust=hands.published(Recipe()))) == (
        "REVOCATION_STATUS_UNAVAILABLE"
    )


def test_native_variants_need_a_review_and_a_module_beside_them(house: PluginHouse) -> None:
    native = {
        **Recipe().manifest["variants"][0],
        "execution_runtime": "service_process",
        "admission_profile": "standard",
    }
    recipe = Recipe(changes={"variants": [native]})

    allow(house, recipe)
    assert reason(house, recipe) == "NATIVE_TRUST_TIER_INELIGIBLE"


def test_texts_and_fingerprints_are_those_of_the_published_values() -> None:
    empty: dict[str, JsonInput] = {"revoked": [], "schema_version": 1, "trust_epoch": 1}
    name = sha256_text(encode(empty))
    assert name == "sha256:75aa942e28c01900b5f540191738060d27802eabc07dc178246a44791c2670a1"

    def text(alg: str, key: str, fingerprint: str) -> str:
        return sha256_text(
            envelope_text(
                artifact_kind=objects.REVOCATION_KIND,
                signature_profile="AIII-PQ-SIGNATURE-V1-ROOT",
                alg=alg,
                key_id=key,
                public_key_fingerprint=f"sha256:{fingerprint}",
                payload_sha256=name,
            )
        ).removeprefix("sha256:")

    certifier = "aiii_plugin_publisher_certifier_vector_k1"
    slh = "9c05d14bb6b56354986106ac78261de5cb528048a799b0aef9fa8abfdd5bfd00"
    assert text(
        "ML-DSA-87", certifier, "11e5c61dd629c93ce9ae3e0fcd465e2ee62f758724302c37bf711ec5905d76b0"
    ) == ("a98d963569676de989ec97b74eee4b2d15db816e0e0f562577fd1ce65696c7eb")
    assert text("SLH-DSA-SHA2-256s", certifier, slh) == (
        "201fdbbc0b53d69e0ca8c052737cb96b4a3f29fc5d8cdc7c9808296a815f6a67"
    )
    assert text(
        "ML-DSA-87",
        "aiii_plugin_reviewer_t2_20260703_k15",
        "46c56189c5c3a5029a228455e96c90f91d0d9843d9ff284565aaef206673f19b",
    ) == ("080638802931f0f06104f90e4fe6e58a5286963eea3df436a1ad2a40df6cedf7")
    import base64

    raw = base64.b64decode(
        "bvyHWVVOyeww44hXXoIT9+Dw5Xtjz19sD1es3RlMDy/EbAcaHCf7sWEbFZhggnmgb10P5XOAA+WARh0FNKJlHA=="
    )
    assert key_fingerprint("SLH-DSA-SHA2-256s", certifier, raw) == f"sha256:{slh}"
    release = {
        "package_hash": Recipe().package_hash,
        "manifest_hash": Recipe().manifest_hash,
    }
    assert sha256_text(encode(release)) == (
        "sha256:01aeb441aa398c00e1eee905c14bc36dffd2efb2c2f9e1e7d469129fe9302b7a"
    )
