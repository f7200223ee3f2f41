"""The rule of the chain: each condition failing once, and keys that change hands."""

from typing import Any

import pytest

from agentic_os.crypto.canonical.texts import encode_base64
from agentic_os.crypto.envelope.profiles import FAST_PROFILE
from agentic_os.crypto.envelope.public_keys import make_named_envelope, make_public_key_envelope
from agentic_os.crypto.envelope.signed import seal
from agentic_os.crypto.keys.pairs import ML_DSA_87
from agentic_os.crypto.keys.transition import transition_text
from agentic_os.crypto.tlog.merkle import leaf_hash
from agentic_os.crypto.tlog.merkle_tree import MerkleTree
from agentic_os.errors import VerificationError
from agentic_os.ledger.line.entry import assemble_line, draft, encode_entry, entry_hash, new_salt
from agentic_os.ledger.rule.chain import Chain
from support.ledger.builder import KEYS, Builder, key

from agentic_os.crypto.canonical.reader import decode  # isort: skip
from support.ledger.builder import BORN  # isort: skip


def _refused(builder: Builder, line: bytes, code: str) -> None:
    chain = builder.chain()
    before = (chain.size, chain.head_hash, chain.root, chain.tenures)
    with pytest.raises(VerificationError) as caught:
        chain.admit(line)
    assert caught.value.code == code
    assert (chain.size, chain.head_hash, chain.root, chain.tenures) == before


def _next(builder: Builder, **changes: Any) -> bytes:
    other = Builder(keys=builder.keys, lines=list(builder.lines), prev_hash=builder.prev_hash)
    other.put(draft("experience.create", {"id": "exp_9", "content": "event 9"}), **changes)
    return other.lines[-1]


def test_a_ledger_is_admitted_line_by_line(build: Builder) -> None:
    build.experience(1).experience(2)
    chain = build.chain()
    tree = MerkleTree()
    for line in build.lines:
        tree.append(leaf_hash(line))
    assert (chain.size, chain.head_hash, chain.root) == (3, build.prev_hash, tree.root())
    assert chain.origin == f"example.org/ledger/{KEYS['identity'].key_id[7:23]}"
    assert chain.key_for("operator") == KEYS["operator"].public
    assert [(one.role, one.from_seq) for one in chain.tenures] == [
        ("platform", 1),
        ("operator", 2),
        ("identity", 2),
    ]


def test_an_empty_chain_knows_nothing() -> None:
    chain = Chain()
    assert (chain.size, chain.origin, chain.key_for("identity")) == (0, "", None)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"seq": 3}, "LEDGER_SEQ_BROKEN"),
        ({"seq": 1}, "LEDGER_SEQ_BROKEN"),
        ({"prev_hash": "sha256:" + "1" * 64}, "LEDGER_CHAIN_BROKEN"),
        ({"key": key(9)}, "LEDGER_KEY_WRONG"),
        ({"role": "operator"}, "LEDGER_SIGNER_WRONG"),
        ({"role": "platform"}, "LEDGER_SIGNER_WRONG"),
    ],
)
def test_a_line_out_of_place_is_refused(build: Builder, changes: dict[str, Any], code: str) -> None:
    _refused(build, _next(build, **changes), code)


def test_a_changed_payload_breaks_the_hash(build: Builder) -> None:
    line = _next(build).replace(b"event 9", b"event 8")
    _refused(build, line, "LEDGER_HASH_WRONG")


def test_a_rehashed_payload_breaks_the_signature(build: Builder) -> None:
    line = _next(build)
    entry = encode_entry(
        draft("experience.create", {"id": "exp_9", "content": "forged"}),
        seq=2,
        ts="2026-01-01T00:00:01.000000000Z",
        salt=new_salt(),
    )
    signature = line[line.rfind(b'"sig_b64":"') + 11 : -3].decode()
    forged = assemble_line(
        entry,
        name=entry_hash(entry, build.prev_hash),
        prev_hash=build.prev_hash,
        role="identity",
        key_id=KEYS["identity"].key_id,
        sig_b64=signature,
    )
    _refused(build, forged, "LEDGER_SIGNATURE_INVALID")


def test_a_signature_that_is_no_base64_of_a_signature_is_refused(build: Builder) -> None:
    line = _next(build)
    at = line.rfind(b'"sig_b64":"') + 11
    for signature in (b"", b"AAAA", b"AB==", b"=" + line[at:-4]):
        _refused(build, line[:at] + signature + b'"}}', "LEDGER_SIGNATURE_INVALID")


def test_the_wrong_ring_or_layer_is_refused(build: Builder) -> None:
    good = draft("experience.create", {"id": "e", "content": "x"})
    entry = encode_entry(good, seq=2, ts="2026-01-01T00:00:01.000000000Z", salt=new_salt())
    for old, new in ((b'"ring":3', b'"ring":2'), (b'"layer":"identity"', b'"layer":"anchor"')):
        _refused(build, _next(build, entry=entry.replace(old, new)), "LEDGER_RING_WRONG")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        (b"experience.delete", "LEDGER_TYPE_UNKNOWN"),
        (b"plugin.loaded", "LEDGER_CATEGORY_FORBIDDEN"),
    ],
)
def test_types_outside_the_table_are_refused(build: Builder, name: bytes, code: str) -> None:
    entry = encode_entry(
        draft("experience.create", {"id": "e", "content": "x"}),
        seq=2,
        ts="2026-01-01T00:00:01.000000000Z",
        salt=new_salt(),
    )
    line = _next(build, entry=entry.replace(b"experience.create", name))
    _refused(build, line, code)


def test_a_payload_outside_its_schema_is_refused(build: Builder) -> None:
    bad = Builder(lines=list(build.lines), prev_hash=build.prev_hash)
    bad.add("experience.create", {"id": "e"})
    _refused(build, bad.lines[-1], "LEDGER_PAYLOAD_INVALID")


def test_line_one_and_no_other_is_the_genesis(build: Builder) -> None:
    first = Builder().experience(1)
    with pytest.raises(VerificationError) as caught:
        first.chain()
    assert caught.value.code == "LEDGER_GENESIS_INVALID"
    again = Builder(lines=list(build.lines), prev_hash=build.prev_hash).genesis()
    _refused(build, again.lines[-1], "LEDGER_GENESIS_INVALID")


def test_a_genesis_is_signed_by_the_platform_it_names() -> None:
    builder = Builder()
    builder.genesis()
    drafted = draft("ring0.genesis", decode(_payload_of(builder.lines[0])))
    other = Builder().put(drafted, role="platform", key=key(8))
    with pytest.raises(VerificationError) as caught:
        other.chain()
    assert caught.value.code == "LEDGER_KEY_WRONG"


def _payload_of(line: bytes) -> bytes:
    from agentic_os.ledger.line.frame import split_line

    return split_line(line).payload


def _transition(builder: Builder, role: str, new: Any, **changes: Any) -> bytes:
    old = builder.keys[role]
    text = transition_text(
        role=changes.get("stated", role), old_key_id=old.key_id, new_key_id=new.key_id
    )
    payload = {
        "role": changes.get("stated", role),
        "new_public_key_b64": encode_base64(new.public.raw),
        "new_sig_b64": encode_base64(changes.get("prover", new).sign(text)),
    }
    other = Builder(keys=builder.keys, lines=list(builder.lines), prev_hash=builder.prev_hash)
    return other.add("key.transition", payload, role=role).lines[-1]


@pytest.mark.parametrize("role", ["identity", "operator", "platform"])
def test_from_the_next_line_on_only_the_new_key_signs(build: Builder, role: str) -> None:
    new = key(7)
    build.raw(_transition(build, role, new))
    chain = build.chain()
    assert chain.key_for(role) == new.public  # type: ignore[arg-type]  # parametrised names
    assert chain.tenures[-1].from_seq == 3
    assert chain.origin.endswith(KEYS["identity"].key_id[7:23])
    if role == "identity":
        _refused(build, _next(build), "LEDGER_KEY_WRONG")
        build.keys = build.keys | {"identity": new}
        chain.admit(_next(build))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"stated": "operator"}, "LEDGER_TRANSITION_INVALID"),
        ({"prover": key(6)}, "LEDGER_TRANSITION_INVALID"),
    ],
)
def test_a_transition_needs_both_keys_of_one_role(
    build: Builder, changes: dict[str, Any], code: str
) -> None:
    _refused(build, _transition(build, "identity", key(7), **changes), code)


def test_a_key_that_was_used_before_is_no_new_key(build: Builder) -> None:
    _refused(build, _transition(build, "identity", KEYS["operator"]), "LEDGER_TRANSITION_INVALID")


def test_a_transition_to_bytes_that_are_no_key_is_refused(build: Builder) -> None:
    other = Builder(lines=list(build.lines), prev_hash=build.prev_hash)
    other.add(
        "key.transition",
        {
            "role": "identity",
            "new_public_key_b64": "?" * 3456,
            "new_sig_b64": "A" * 6172,
        },
        role="identity",
    )
    _refused(build, other.lines[-1], "LEDGER_TRANSITION_INVALID")


def test_after_an_unknown_schema_version_nothing_is_read(build: Builder) -> None:
    build.add("schema.declare", {"version": 1}).add("schema.declare", {"version": 2})
    assert build.chain().size == 3
    _refused(build, _next(build), "LEDGER_SCHEMA_UNKNOWN")


def _posture(
    signer: Any, published: Any, artifact: str = "ring5.bundle", posture: str = "watch out"
) -> dict[str, Any]:
    envelope = seal(
        artifact,
        {
            "purpose": "x",
            "ring5_version": 1,
            "ordinal": 1,
            "timestamp": 1,
            "posture": posture,
        },
        key=signer,
        envelope=published,
    )
    return {"ring5_envelope": envelope.to_json(), "ring5_key": decode(published.document)}


def test_a_posture_is_signed_by_the_platform(build: Builder) -> None:
    platform = KEYS["platform"]
    published = make_named_envelope(platform.public, key_type="ring5", created_at=BORN)
    build.add("posture.accept", _posture(platform, published))
    assert build.chain().size == 2
    other = make_named_envelope(key(9).public, key_type="ring5", created_at=BORN)
    for payload in (
        _posture(key(9), other),
        _posture(platform, published, artifact="ring0.bundle"),
        _posture(platform, published, posture=""),
    ):
        bad = Builder(lines=list(build.lines), prev_hash=build.prev_hash)
        bad.add("posture.accept", payload)
        _refused(build, bad.lines[-1], "LEDGER_POSTURE_INVALID")


def test_a_fork_goes_its_own_way(build: Builder) -> None:
    chain = build.experience(1).chain()
    fork = chain.fork()
    fork.admit(_next(build))
    assert (chain.size, fork.size) == (2, 3)
    assert chain.root != fork.root
    assert chain.head_hash == build.prev_hash
    chain.admit(_next(build))


def test_an_expired_root_refuses_a_genesis() -> None:
    platform = KEYS["platform"]
    published = make_public_key_envelope(
        key_id="k",
        key_type="ring0",
        profile=FAST_PROFILE,
        keys=[(ML_DSA_87, platform.public.raw)],
        created_at=BORN.replace(year=2020),
        valid_days=1,
    )
    from agentic_os.ledger.rule.genesis import self_made_bundle

    envelope, _ = self_made_bundle(laws="x", purpose="x", platform=platform, at=BORN)
    with pytest.raises(VerificationError) as caught:
        Builder().genesis(envelope=envelope, ring0_key=published).chain()
    assert caught.value.code == "LEDGER_GENESIS_INVALID"
