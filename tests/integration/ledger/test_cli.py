"""``agentic-os ledger`` from birth to repair: words, documents, exit codes."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from agentic_os.crypto.canonical.texts import encode_base64, sha256_hex
from agentic_os.crypto.envelope.public_keys import make_named_envelope
from agentic_os.identity.documents import IDENTITY_DOCUMENTS
from agentic_os.results import Envelope
from agentic_os.witness.service.config import WitnessConfig
from support.ledger.builder import BORN, KEYS
from support.ledger.gold import gold_line
from support.ledger.root_bundle import CHANGES, LAWS, RootBundle, altered, make_root_bundle
from support.process.cli_call import call
from support.process.cli_process import Finished
from support.process.document_check import PUBLISHED
from support.process.document_check import data_of as data
from support.witness.actors import Serving, new_witness, serving

NOTE = '{"id": "note_%d", "content": "written on day %d"}'
PASSWORDS = {"AGENTIC_OS_KEY_PASSWORD": "open sesame"}
BACKUP = {"AGENTIC_OS_BACKUP_PASSWORD": "correct horse"}


def ledger(*words: str | Path, **more: Any) -> Finished:
    return call("ledger", *words, **more)


@pytest.fixture
def home(places: Path) -> Path:
    """Where an identity lives by default; born with the person's own laws."""
    laws = places / "laws.md"
    laws.write_text(LAWS)
    finished = ledger("init", "--domain", "example.org", "--laws", laws)
    assert finished.code == 0, finished.words
    return places / "data" / "identity"


def lines(home: Path) -> list[bytes]:
    return (home / "ledger.jsonl").read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("name", sorted(IDENTITY_DOCUMENTS))
def test_the_published_schemas_are_those_of_the_values(name: str) -> None:
    published = json.loads((PUBLISHED / f"{name}.json").read_text("utf-8"))
    data_type = IDENTITY_DOCUMENTS[name]
    made = msgspec.json.schema(Envelope[data_type])  # type: ignore[valid-type]  # a run-time table
    assert published.pop("$id") == f"agentic-os/{name}/v1"
    assert published.pop("$schema") == jsonschema.Draft202012Validator.META_SCHEMA["$schema"]
    assert published == json.loads(json.dumps(made))


def test_a_life_in_words(home: Path) -> None:
    appended = ledger("append", "working.note", NOTE % (1, 1))
    assert appended.code == 0
    assert appended.text.split("\t")[0] == "2"
    assert "working.note\tring 4\tidentity" in appended.text
    booted = ledger("boot")
    assert booted.code == 0
    assert "mode\tready" in booted.text
    assert "signatures\t2 checked, 0 not" in booted.text
    verified = ledger("verify")
    assert (verified.code, verified.words) == (0, "")
    assert "lines\t2" in verified.text
    proved = ledger("prove", "1")
    assert proved.text.count("proof\t") == 1
    assert ledger("repair").text.startswith("done\tnone")
    assert ledger("rotate", "identity", "--reason", "new laptop").code == 0
    assert ledger("verify", home / "ledger.jsonl").code == 0


def test_a_life_in_documents(places: Path, home: Path) -> None:
    shutil.rmtree(home)
    born = data(
        ledger("init", "--domain", "example.org", "--laws", places / "laws.md", "--json"),
        "ledger-init",
    )
    assert born["self_made_root"]
    assert born["origin"].startswith("example.org/ledger/")
    appended = data(ledger("append", "working.note", NOTE % (1, 1), "--json"), "ledger-append")
    assert (appended["lines"], appended["entries"][0]["entry"]["seq"]) == (2, 2)
    booted = data(ledger("boot", "--json"), "ledger-boot")
    assert (booted["mode"], booted["restored_from"]) == ("ready", "live")
    verified = data(ledger("verify", "--json"), "ledger-verify")
    assert (verified["lines"], verified["signatures_checked"], verified["findings"]) == (2, 2, [])
    assert verified["head_hash"] == appended["head_hash"]
    proved = data(ledger("prove", "2", "--json"), "ledger-prove")
    assert (proved["tree_size"], proved["root_hash"]) == (2, verified["root_hash"])
    rotated = data(ledger("rotate", "operator", "--json"), "ledger-rotate")
    assert (rotated["role"], rotated["seq"]) == ("operator", 3)
    assert data(ledger("repair", "--json"), "ledger-repair")["action"] == "none"


@pytest.mark.usefixtures("home")
def test_ring_one_needs_the_operator_and_says_so() -> None:
    policy = '{"key": "calls", "value": "not at night"}'
    shown = ledger("append", "policy.set", policy)
    assert shown.code == 1
    assert "RING_DENIED" in shown.words
    assert "operator" in shown.words
    assert ledger("append", "policy.set", policy, "--level", "operator").code == 0
    last = data(ledger("show", "--limit", "1", "--json"), "ledger-show")["entries"][0]
    assert (last["type"], last["ring"], last["role"]) == ("policy.set", 1, "operator")


@pytest.mark.usefixtures("home")
def test_what_ring_two_lacks_is_told() -> None:
    belief = '{"id": "belief_1", "statement": "Mornings are quiet.", "confidence": 0.9}'
    assert ledger("append", "belief.upsert", belief).code == 0
    promoted = ledger("append", "belief.promote", '{"id": "belief_1", "ring": 2}')
    assert promoted.code == 0
    assert "written as belief.upsert, not belief.promote" in promoted.words
    document = ledger("append", "belief.promote", '{"id": "belief_1", "ring": 2}', "--json")
    one = data(document, "ledger-append")["entries"][0]
    assert one["rewritten_from"] == "belief.promote"
    assert one["reason"]


@pytest.mark.usefixtures("home")
def test_lines_are_shown_by_filter() -> None:
    for day in range(1, 5):
        ledger("append", "working.note", NOTE % (day, day))
    ledger("append", "experience.create", '{"id": "exp_1", "content": "rain on day 2"}')

    def seqs(*words: str) -> list[int]:
        shown = data(ledger("show", *words, "--json"), "ledger-show")
        return [entry["seq"] for entry in shown["entries"]]

    assert seqs() == [1, 2, 3, 4, 5, 6]
    assert seqs("--type", "working.note") == [2, 3, 4, 5]
    assert seqs("--type", "experience.") == [6]
    assert seqs("--ring", "0", "--ring", "3") == [1, 6]
    assert seqs("--role", "platform") == [1]
    assert seqs("--from", "3", "--to", "4") == [3, 4]
    assert seqs("--contains", "day 2") == [3, 6]
    assert seqs("--limit", "2") == [5, 6]
    words = ledger("show", "--contains", "day 2")
    assert words.text.count("\n") == 2
    assert "2 of 2 lines that match, 6 in all" in words.words


def test_the_first_bad_line_is_named_with_its_reason(home: Path) -> None:
    for day in (1, 2, 3):
        ledger("append", "working.note", NOTE % (day, day))
    path = home / "ledger.jsonl"
    path.write_bytes(path.read_bytes().replace(b"day 2", b"day X"))
    verified = ledger("verify")
    assert verified.code == 3
    assert verified.words.startswith("line 3: LEDGER_HASH_WRONG")
    assert "lines\t2" in verified.text
    document = ledger("verify", "--json")
    assert document.code == 3
    found = data(document, "ledger-verify")["findings"]
    assert [(one["seq"], one["code"]) for one in found] == [(3, "LEDGER_HASH_WRONG")]
    booted = ledger("boot")
    assert booted.code == 3
    assert "mode\tsafe_mode" in booted.text
    assert "LEDGER_HASH_WRONG" in booted.words
    refused = ledger("append", "working.note", NOTE % (9, 9))
    assert refused.code == 1
    assert "SAFE_MODE" in refused.words
    assert "line 3" in refused.words
    assert ledger("show", "--from", "4").code == 0  # to read is allowed
    doctor = call("doctor")
    assert doctor.code == 3
    assert "fail identity.ledger: LEDGER_HASH_WRONG: line 3" in doctor.text
    assert "Restore a copy" in doctor.text


def test_doctor_knows_a_sound_identity(home: Path) -> None:
    checks = call("doctor", "--json", current=home.parent).data["checks"]
    by_id = {check["id"]: check for check in checks}
    assert by_id["identity.ledger"]["status"] == "ok"
    assert by_id["identity.witnessed"]["status"] == "warn"  # nobody elsewhere knows of it
    assert by_id["witness.health"]["status"] == "none"  # no witness is run here


def test_a_torn_last_line_is_cut(home: Path) -> None:
    with (home / "ledger.jsonl").open("ab") as file:
        file.write(b'{"entry":')
    assert "line 2: LEDGER_TAIL_TORN" in ledger("verify").words
    repaired = data(ledger("repair", "--json"), "ledger-repair")
    assert repaired["action"] == "tail_cut"
    assert (home / repaired["set_aside"]).read_bytes() == b'{"entry":'
    assert ledger("verify").code == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("init --domain example.org", 64, "BIRTH_INVALID"),
        ("init --domain EXAMPLE --laws {laws}", 64, "BIRTH_INVALID"),
        ("init --domain example.org --laws {empty}", 64, "BIRTH_INVALID"),
        ("init --domain example.org --laws nowhere.md", 64, "USAGE"),
        ("init --domain example.org --ring0 {laws}", 64, "belong together"),
        ("init --laws {laws}", 64, "USAGE"),
        ("boot", 1, "IDENTITY_MISSING"),
        ("append working.note {{}}", 1, "IDENTITY_MISSING"),
        ("append working.note {{bad", 64, "CANONICAL_INVALID"),
        ("append working.note {{}} --level boss", 64, "levels are"),
        ("show", 1, "ledger init makes one"),
        ("show --role king", 64, "roles are"),
        ("show --ring 6", 64, "USAGE"),
        ("verify", 1, "ledger init makes one"),
        ("verify --format gold", 64, "formats are"),
        ("prove 1", 1, "IDENTITY_MISSING"),
        ("prove 0", 64, "USAGE"),
        ("bookmark", 1, "IDENTITY_MISSING"),
        ("bookmark --witnesses {laws}", 1, "POLICY_INVALID"),
        ("rotate king", 64, "roles are"),
        ("repair", 1, "LEDGER_MISSING"),
        ("repair --conflict", 1, "NOTHING_LATCHED"),
        ("repair --from {laws}", 64, "belong together"),
        ("repair --conflict --from {laws} --checkpoint {laws}", 64, "stands alone"),
        ("backup x", 64, "AGENTIC_OS_BACKUP_PASSWORD"),
        ("restore {laws}", 1, "BACKUP_INVALID"),
    ],
)
def test_every_mistake_has_its_code_and_a_hint(
    places: Path, words: str, code: int, said: str
) -> None:
    (places / "laws.md").write_text(LAWS)
    (places / "empty.md").write_text(" \n")
    named = words.format(laws=places / "laws.md", empty=places / "empty.md").split()
    finished = ledger(*named)
    assert (finished.code, finished.text) == (code, ""), finished.words
    assert said in finished.words
    assert "Traceback" not in finished.words
    document = ledger(*named, "--json")
    assert document.code == code
    assert document.document["error"]["code"]
    assert str(places) not in document.document["error"]["message"].replace(named[-1], "")


def test_after_a_birth_mistakes_are_told_too(home: Path) -> None:
    for words, code, said in (
        ("append plugin.start {}", 1, "LEDGER_CATEGORY_FORBIDDEN"),
        ("append no.such {}", 1, "LEDGER_TYPE_UNKNOWN"),
        ('append working.note {"x":1}', 1, "LEDGER_PAYLOAD_INVALID"),
        ("append system.witnessed {}", 1, "Receipts are written by bookmark"),
        ("prove 7", 1, "LEDGER_SEQ_UNKNOWN"),
        ("prove 7 --output x", 1, "LEDGER_SEQ_UNKNOWN"),
        ("prove 1 --output x", 1, "NOT_COSIGNED"),
        ("bookmark", 1, "NO_WITNESSES"),
        ("init --domain example.org --laws laws.md", 1, "BIRTH_REFUSED"),
    ):
        finished = ledger(*words.split(), current=home.parents[1])
        assert (finished.code, said in finished.words) == (code, True), finished.words


@pytest.mark.usefixtures("home")
def test_the_payload_may_come_from_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    given = io.TextIOWrapper(io.BytesIO((NOTE % (1, 1)).encode()))
    monkeypatch.setattr(sys, "stdin", given)
    assert ledger("append", "working.note", "-").code == 0
    assert ledger("show", "--type", "working.note").text.count("\n") == 1


def test_keys_with_a_password(places: Path) -> None:
    (places / "laws.md").write_text(LAWS)
    born = ledger(
        "init", "--domain", "example.org", "--laws", places / "laws.md", environ=PASSWORDS
    )
    assert "not encrypted" not in born.text
    closed = ledger("boot")
    assert closed.code == 1
    assert "KEY_PASSWORD_REQUIRED" in closed.words
    assert "AGENTIC_OS_KEY_PASSWORD" in closed.words
    assert ledger("boot", environ=PASSWORDS).code == 0
    assert ledger("rotate", "platform", environ=PASSWORDS).code == 0
    assert ledger("boot", environ=PASSWORDS).code == 0


def test_a_backup_boots_elsewhere(places: Path, home: Path) -> None:
    ledger("append", "working.note", NOTE % (1, 1))
    archive = places / "identity.backup"
    made = data(ledger("backup", archive, "--json", environ=BACKUP), "ledger-backup")
    assert made["lines"] == 2
    assert b"written on day" in (home / "ledger.jsonl").read_bytes()
    again = ledger("backup", archive, environ=BACKUP)
    assert (again.code, "BACKUP_EXISTS" in again.words) == (1, True)
    there = places / "there"
    restored = data(ledger("restore", archive, "--folder", there, "--json"), "ledger-restore")
    assert restored["head_hash"] == made["head_hash"]
    opened = {"AGENTIC_OS_KEY_PASSWORD": BACKUP["AGENTIC_OS_BACKUP_PASSWORD"]}
    assert ledger("boot", "--folder", there, environ=opened).code == 0
    text = ledger("backup", places / "second", "--folder", there, environ={**BACKUP, **opened})
    assert "lines\t2" in text.text
    assert "origin\t" in ledger("restore", places / "second", "--folder", places / "third").text


def test_the_originals_lines_are_verified(places: Path) -> None:
    path = places / "gold.jsonl"
    path.write_bytes(b"{}\n")
    verified = ledger("verify", path, "--format", "aii-gold", "--json")
    assert verified.code == 3
    found = data(verified, "ledger-verify")
    assert found["format"] == "aii-gold"
    assert found["findings"][0]["seq"] == 1
    key = places / "identity.pub"
    published = make_named_envelope(KEYS["identity"].public, key_type="identity", created_at=BORN)
    for text in (published.document, encode_base64(KEYS["identity"].public.raw).encode() + b"\n"):
        key.write_bytes(text)
        path.write_bytes(gold_line(KEYS["identity"]) + b"\n")
        told = ledger("verify", path, "--format", "aii-gold", "--key", key)
        assert (told.code, "lines\t1" in told.text) == (0, True), told.words
    assert ledger("verify", path, "--format", "aii-gold").code == 3
    assert ledger("verify", "--key", key).code == 64


@pytest.mark.usefixtures("home")
def test_another_database_can_hold_the_projection(places: Path) -> None:
    url = f"sqlite:///{places}/elsewhere.db"
    assert ledger("append", "working.note", NOTE % (1, 1), "--projection-url", url).code == 0
    assert (places / "elsewhere.db").exists()
    booted = ledger("boot", "--projection-url", "mysql://x")
    assert (booted.code, "PROJECTION_URL" in booted.words) == (3, True)


# --- a constitution under a root of two algorithms -------------------------------------------


@pytest.fixture(scope="module")
def bundle() -> RootBundle:
    return make_root_bundle()


def born_under(places: Path, bundle: bytes, root_key: bytes) -> Finished:
    (places / "ring0.json").write_bytes(bundle)
    (places / "root.json").write_bytes(root_key)
    return ledger(
        "init",
        "--domain",
        "example.org",
        "--ring0",
        places / "ring0.json",
        "--root-key",
        places / "root.json",
        "--json",
    )


def test_a_genesis_from_a_signed_bundle_end_to_end(places: Path, bundle: RootBundle) -> None:
    born = data(born_under(places, bundle.bundle, bundle.root_key), "ledger-init")
    assert not born["self_made_root"]
    assert ledger("append", "working.note", NOTE % (1, 1)).code == 0
    booted = data(ledger("boot", "--json"), "ledger-boot")
    assert booted["mode"] == "ready"
    assert booted["verify"]["self_made_root"] is False
    verified = ledger("verify")
    assert verified.code == 0
    first = data(ledger("show", "--to", "1", "--json"), "ledger-show")["entries"][0]
    payload = json.loads(first["payload"])
    assert payload["ring0_envelope"]["payload"]["laws"] == LAWS
    algorithms = {one["alg"] for one in payload["ring0_envelope"]["signatures"]}
    assert algorithms == {"ML-DSA-87", "SLH-DSA-SHA2-256s"}
    # The bundle stands in line 1 with both signatures: whoever has the file can check them.
    home = places / "data" / "identity"
    text = signature_of(home, "SLH-DSA-SHA2-256s")
    path = home / "ledger.jsonl"
    path.write_bytes(path.read_bytes().replace(text[:40], b"A" * 40, 1))
    spoiled = ledger("verify")
    assert spoiled.code == 3
    assert spoiled.words.startswith("line 1: ")


def signature_of(home: Path, algorithm: str) -> bytes:
    envelope = json.loads(lines(home)[0])["entry"]["payload"]["ring0_envelope"]
    found = {one["alg"]: one["sig_b64"] for one in envelope["signatures"]}
    return str(found[algorithm]).encode()


@pytest.mark.parametrize("change", CHANGES)
def test_an_altered_bundle_bears_nobody(places: Path, bundle: RootBundle, change: str) -> None:
    refused = born_under(places, altered(bundle.bundle, change), bundle.root_key)
    assert refused.code in (1, 3)
    assert refused.document["error"]["code"]
    assert not (places / "data" / "identity").exists()


def test_a_bundle_of_another_root_bears_nobody(places: Path, bundle: RootBundle) -> None:
    key = json.loads(bundle.root_key)
    key["key_id"] = "aiii_ring0_20260101_k2"
    refused = born_under(places, bundle.bundle, json.dumps(key).encode())
    assert refused.code in (1, 3)
    assert not (places / "data" / "identity").exists()


# --- with witnesses ------------------------------------------------------------------------


@pytest.fixture
def witness(tmp_path: Path) -> Iterator[Serving]:
    folder = new_witness(tmp_path / "w1", name="witness.example/w1")
    with serving(WitnessConfig(folder=folder, port=0, requests_per_minute=0)) as running:
        yield running


@pytest.fixture
def witnessed(places: Path, home: Path, witness: Serving) -> Path:
    """The identity with a policy in the config folder."""
    name = witness.policy_line.split()[1]
    (places / "config").mkdir(exist_ok=True)
    (places / "config" / "witnesses.policy").write_text(f"{witness.policy_line}quorum {name}\n")
    return home


def test_a_bookmark_a_receipt_and_a_proof(places: Path, witnessed: Path) -> None:
    ledger("append", "working.note", NOTE % (1, 1))
    marked = ledger("bookmark", "--receipts", places / "receipts", "--json")
    assert marked.code == 0, marked.words
    found = data(marked, "ledger-bookmark")
    assert found["quorum"]
    assert [one["code"] for one in found["witnesses"]] == ["ACKNOWLEDGED"]
    (name,) = found["receipts"]
    kept = json.loads((places / "receipts" / name).read_bytes())
    assert kept["receipt"]["ledger_ordinal"] == found["ordinal"]
    text = ledger("bookmark", "--receipts", places / "receipts")
    assert f"receipt\t{name}" in text.text

    proof = places / "line-2.tlog-proof"
    exported = data(ledger("prove", "2", "--output", proof, "--json"), "ledger-prove-output")
    assert exported["file"] == proof.name
    assert "file\tline-2.tlog-proof" in ledger("prove", "2", "--output", proof).text
    policy = places / "config" / "witnesses.policy"
    key = data(ledger("prove", "1", "--json"), "ledger-prove")["checkpoint"]
    assert key.startswith("example.org/ledger/")
    (places / "line").write_bytes(lines(witnessed)[1])
    vkey = vkey_of(witnessed)
    checked = call(
        "witness", "verify-receipt", proof, "--policy", policy, "--log", vkey, "--line",
        places / "line", "--json",
    )  # fmt: skip
    report = data(checked, "witness-verify-receipt")
    assert (report["kind"], report["ordinal"], report["trust"]) == ("tlog-proof", 2, "policy")
    assert [one["name"] for one in report["cosigners"]] == ["witness.example/w1"]
    (places / "other").write_bytes(lines(witnessed)[0])
    other = call(
        "witness", "verify-receipt", proof, "--policy", policy, "--log", vkey, "--line",
        places / "other",
    )  # fmt: skip
    assert (other.code, "RECEIPT_INVALID" in other.words) == (3, True)


def vkey_of(home: Path) -> str:
    from agentic_os.crypto.keys.files import read_key
    from agentic_os.crypto.tlog.note_keys import NoteSigner

    origin = json.loads(lines(home)[0])["entry"]["payload"]["origin"]
    private = read_key(home / "keys" / "checkpoint.key")
    return NoteSigner(kind="note", name=origin, private=private).key.vkey


def test_a_line_above_the_cosigned_head_has_no_proof_yet(places: Path, witnessed: Path) -> None:
    ledger("bookmark")
    newest = len(lines(witnessed))
    refused = ledger("prove", str(newest), "--output", places / "x.tlog-proof")
    assert (refused.code, "NOT_COSIGNED" in refused.words) == (1, True)
    assert not (places / "x.tlog-proof").exists()


@pytest.mark.usefixtures("witnessed")
def test_too_few_witnesses_are_said_and_exit_with_2(places: Path) -> None:
    policy = places / "config" / "witnesses.policy"
    text = policy.read_text().replace("http://127.0.0.1:", "http://127.0.0.1:1")
    policy.write_text(text.replace("http://127.0.0.1:1", "http://127.0.0.1:1/"))
    marked = ledger("bookmark")
    assert marked.code == 2
    assert "UNREACHABLE" in marked.text
    assert marked.words.count("QUORUM_MISSING") == 1
    written = ledger("append", "working.note", '{"id": "late", "content": "after all"}')
    assert "after all" in written.text
    assert (written.code, "WITNESS_UNREACHABLE" in written.words) == (2, True)
    assert "QUORUM_MISSING" in written.words


@pytest.mark.usefixtures("places", "witnessed")
def test_a_conflict_at_the_end_of_an_append_is_said_and_exits_with_3(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from agentic_os.errors import WitnessConflictError
    from agentic_os.witness.client.asking import Asking

    def conflict(_: Asking, *__: object) -> None:
        raise WitnessConflictError("the witness holds another tree", code="WITNESS_FORK")

    monkeypatch.setattr(Asking, "bookmark", conflict)
    monkeypatch.setattr(Asking, "checkpoint", conflict)
    written = ledger("append", "working.note", '{"id": "late", "content": "after all"}')
    assert "after all" in written.text
    assert (written.code, "WITNESS_FORK" in written.words) == (3, True)
    assert ledger("boot").code == 3


@pytest.mark.usefixtures("witnessed")
def test_without_its_policy_a_witnessed_identity_is_in_safe_mode(places: Path) -> None:
    policy = places / "config" / "witnesses.policy"
    accepted = policy.read_text()
    assert ledger("bookmark").code == 0
    policy.write_text("quorum none\n")
    refused = ledger("boot")
    assert (refused.code, "WITNESS_POLICY_CHANGED" in refused.words) == (3, True)
    policy.unlink()
    assert ledger("boot").code == 0  # the copy in the identity's folder, as a backup restores it
    other = places / "other.policy"
    other.write_text(accepted + "group alone all witness.example-w1\n")
    changed = data(ledger("policy", other, "--reason", "alone", "--json"), "ledger-policy")
    assert (changed["epoch"], changed["witnesses"]) == (2, ["witness.example-w1"])
    assert ledger("boot").code == 0
    policy.write_text(accepted)
    assert "WITNESS_POLICY_CHANGED" in ledger("boot").words


def test_a_rollback_is_refused_repaired_and_left_behind(places: Path, witnessed: Path) -> None:
    """The way out of safe mode, verb by verb."""
    policy = places / "config" / "witnesses.policy"
    for day in (1, 2):
        ledger("append", "working.note", NOTE % (day, day))
    assert ledger("bookmark").code == 0
    newest = (witnessed / "ledger.jsonl").read_bytes()
    copy, note = places / "copy.jsonl", places / "head.note"
    copy.write_bytes(newest)
    note.write_bytes((witnessed / "witness-tail.json").read_bytes())  # as it is, nothing cut
    origin = json.loads(note.read_bytes())["checkpoint"].split("\n")[0]

    # Whoever has the machine rolls everything back, and what remembers it.
    (witnessed / "ledger.jsonl").write_bytes(b"".join(lines(witnessed)[:2]))
    for path in [*witnessed.glob("projection.db*"), *witnessed.glob("snapshot-*")]:
        path.unlink()
    for name in ("witness-tail.json", "verified-head.json"):
        (witnessed / name).unlink()
    booted = ledger("boot")
    assert booted.code == 3
    assert "WITNESS_AHEAD" in booted.words
    assert "Restore the newest copy" in booted.words
    assert "WITNESS_AHEAD" in call("doctor").text

    repaired = ledger("repair", "--from", copy, "--checkpoint", note, "--json")
    found = data(repaired, "ledger-repair")
    assert found["action"] == "prefix_restored"
    assert (witnessed / found["set_aside"]).exists()
    assert ledger("boot").code == 3  # a conflict is latched until the witness was heard
    assert ledger("repair", "--conflict").text.startswith("done\tlatch_released")
    ready = ledger("boot", "--witnesses", policy)
    assert ready.code == 0, ready.words
    assert ledger("append", "working.note", NOTE % (3, 3)).code == 0
    witness = policy.read_text().split("http", 1)[1].split()[0]
    address = f"http{witness.rstrip('/')}/{sha256_hex(origin.encode())}/checkpoint"
    again = ledger("repair", "--from", copy, "--checkpoint", address)
    assert (again.code, "LEDGER_INTACT" in again.words) == (1, True)
    lost = ledger("repair", "--from", copy, "--checkpoint", f"{address}s")
    assert (lost.code, "answered 404" in lost.words) == (64, True)
    note.write_text("{}")
    empty = ledger("repair", "--from", copy, "--checkpoint", note)
    assert (empty.code, "holds no checkpoint" in empty.words) == (64, True)


@pytest.mark.usefixtures("witnessed")
def test_the_witnesss_memory_is_in_the_backup(places: Path) -> None:
    ledger("append", "working.note", NOTE % (1, 1))
    assert ledger("bookmark").code == 0
    made = data(ledger("backup", places / "b", "--json", environ=BACKUP), "ledger-backup")
    assert "witness/witnesses.policy" in made["files"]  # without it a restored copy asks nobody
    assert len([name for name in made["files"] if name.startswith("witness/")]) > 1


# --- nothing skips verification ------------------------------------------------------------


def _switches() -> list[list[str]]:
    """Every option of ``verify`` and ``boot``, with values that somebody might try."""
    import typer

    from agentic_os.cli.commands.trust.ledger import app

    group: Any = typer.main.get_command(app)
    found: list[list[str]] = []
    for name in ("verify", "boot"):
        for parameter in group.commands[name].params:
            for option in parameter.opts:
                if not option.startswith("--") or option in ("--folder", "--help"):
                    continue
                values = [[]] if parameter.is_flag else [["0"], ["off"], [""], ["none"]]
                found += [[name, option, *value] for value in values]
    return found


def _variables() -> list[str]:
    """Every variable that the program names anywhere, and some that somebody might try."""
    import re

    import agentic_os

    source = Path(agentic_os.__file__).parent
    named: set[str] = set()
    for path in source.rglob("*.py"):
        named.update(re.findall(r"\b(?:AGENTIC_OS|DOTAIOS)_[A-Z_]+\b", path.read_text("utf-8")))
    places = {name for name in named if name.endswith("_DIR")} | {"DOTAIOS_PATH"}
    assert len(named - places) >= 3
    return [*sorted(named - places), "AGENTIC_OS_SKIP_VERIFY", "AGENTIC_OS_NO_VERIFY", "CI"]


def test_no_flag_variable_or_setting_skips_verification(places: Path, home: Path) -> None:
    """A signature in the middle is wrong: with whatever is set, it is found, in that line."""
    for day in (1, 2):
        ledger("append", "working.note", NOTE % (day, day))
    whole = lines(home)
    at = whole[1].index(b'"sig_b64":"') + 40
    other = b"A" if whole[1][at : at + 1] != b"A" else b"B"
    whole[1] = whole[1][:at] + other + whole[1][at + 1 :]
    (home / "ledger.jsonl").write_bytes(b"".join(whole))

    def found(*words: str, **more: Any) -> bool:
        finished = ledger(*words, **more)
        told = finished.text + finished.words
        return finished.code == 3 and "LEDGER_SIGNATURE_INVALID" in told and "line 2" in told

    assert found("verify")
    assert found("boot")
    for words in _switches():
        finished = ledger(*words)
        # What is refused as a wrong value, or is another format's findings, skipped nothing.
        assert finished.code != 0, words
        if finished.code == 3 and "PROJECTION_URL" not in finished.words:
            assert found(*words), words
    for name in _variables():
        for value in ("1", "0", "off"):
            assert found("boot", environ={name: value}), name
            assert found("verify", environ={name: value}), name
    settings = "[ledger]\nverify = false\nskip_verification = true\n[identity]\nverify = 'off'\n"
    for folder in (home, places / "config", places / "data"):
        folder.mkdir(exist_ok=True)
        for name in ("projects.toml", "ledger.toml", "identity.toml", "config.toml"):
            (folder / name).write_text(settings)
    assert found("boot")
    assert found("verify")
