"""``agentic-os witness``: keys, manifest, memory and receipts from the command line."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentic_os.cli.actions.trust import witness as actions
from agentic_os.crypto.keys.files import encode_key, read_key
from agentic_os.witness.client.rounds import WitnessRounds
from agentic_os.witness.service.config import WitnessConfig
from support.process.cli_call import call
from support.process.cli_process import MODULE, Finished
from support.process.document_check import data_of as data
from support.witness.actors import Owner, new_witness, policy_of, serving

NAME = "witness.example/w1"
PASSWORD = {"AGENTIC_OS_WITNESS_PASSWORD": "open sesame"}


def witness(*words: str | Path, **more: Any) -> Finished:
    return call("witness", *words, **more)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a witness and its root; signing with the root takes seconds."""
    place = tmp_path_factory.mktemp("made")
    finished = witness(
        "keygen", "--name", NAME, "--folder", place / "witness", "--root", place / "witness-root"
    )
    assert finished.code == 0, finished.words
    assert f"name\t{NAME}" in finished.text
    return place


@pytest.fixture
def home(places: Path, made: Path) -> Path:
    """The same where the command line looks for it."""
    for name in ("witness", "witness-root"):
        shutil.copytree(made / name, places / "data" / name)
    return places / "data" / "witness"


def test_a_manifest_is_renewed_and_no_key_changes(home: Path) -> None:
    keys = {path.name: path.read_bytes() for path in home.iterdir() if path.is_file()}
    time.sleep(1.1)  # the manifest says the second in which it was made
    renewed = data(witness("keygen", "--renew", "--json"), "witness-keygen")
    assert renewed["renewed"]
    now = {path.name: path.read_bytes() for path in home.iterdir() if path.is_file()}
    assert {name for name in keys if keys[name] != now[name]} == {"manifest.json"}
    checks = {check["id"]: check for check in call("doctor", "--json").data["checks"]}
    assert checks["witness.health"]["status"] == "ok"


def test_a_name_or_a_renewal(home: Path) -> None:
    for words in (["keygen"], ["keygen", "--renew", "--name", NAME]):
        finished = witness(*words)
        assert (finished.code, "--renew stands without it" in finished.words) == (64, True)
    again = witness("keygen", "--name", NAME)
    assert (again.code, "WITNESS_EXISTS" in again.words) == (1, True)
    (home / "witness.db").unlink()
    assert "DATABASE_MISSING" in call("doctor").text


def test_what_it_remembers_is_shown_and_an_origin_closed(home: Path, tmp_path: Path) -> None:
    owner = Owner(seed=1).add(9)
    with serving(WitnessConfig(folder=home, port=0)) as running:
        rounds = WitnessRounds(policy=policy_of(running), folder=tmp_path / "c", clock=time.time)
        assert rounds.witness(owner.ledger()).is_quorum
        fork = WitnessRounds(policy=policy_of(running), folder=tmp_path / "d", clock=time.time)
        fork.witness(owner.forked(3).add(2).ledger())
        shown = data(witness("log", "--json"), "witness-log")  # while the service runs
        assert [one["ordinal"] for one in shown["identities"]] == [9]
        assert [(one["origin"], one["size"]) for one in shown["origins"]] == [(owner.origin, 9)]
        assert len(shown["evidence"]) == 1

        closed = witness("log", "--close-origin", owner.origin)
        assert closed.code == 0
        assert f"closed\t{owner.origin}\t9" in closed.text
        assert "bookmark\tdid:aiii" in closed.text
        refused = rounds.witness(owner.add(1).ledger())
        assert [one.code for one in refused.outcomes] != ["ACKNOWLEDGED"]
    twice = witness("log", "--close-origin", owner.origin)
    assert (twice.code, "ORIGIN_UNKNOWN" in twice.words) == (1, True)
    nobody = witness("log", "--close-origin", "x.example/ledger/0123456789abcdef")
    assert (nobody.code, "ORIGIN_UNKNOWN" in nobody.words) == (1, True)


def test_no_witness_is_said_so(places: Path) -> None:
    for words in (["log"], ["serve"], ["log", "--close-origin", "x"]):
        finished = witness(*words)
        assert (finished.code, "WITNESS_MISSING" in finished.words) == (1, True), finished.words
        assert "witness keygen" in finished.words
    assert not (places / "data" / "witness").exists()


def test_a_receipt_verifies_by_the_operators_root(home: Path, tmp_path: Path) -> None:
    owner = Owner(seed=1).add(3)
    with serving(WitnessConfig(folder=home, port=0)) as running:
        rounds = WitnessRounds(policy=policy_of(running), folder=tmp_path / "c", clock=time.time)
        assert rounds.witness(owner.ledger()).is_quorum
    (name,) = rounds.export_receipts(tmp_path / "out")
    file, root = tmp_path / "out" / name, home / "root.public.json"
    report = data(
        witness("verify-receipt", file, "--root", root, "--json"), "witness-verify-receipt"
    )
    assert (report["kind"], report["ordinal"], report["trust"]) == ("receipt", 3, "root")
    words = witness("verify-receipt", file, "--root", root)
    assert "trust\troot" in words.text

    unsure = witness("verify-receipt", file)
    assert (unsure.code, "TRUST_MISSING" in unsure.words) == (3, True)
    receipt = json.loads(file.read_bytes())
    receipt["receipt"]["ledger_ordinal"] = 4
    file.write_text(json.dumps(receipt))
    edited = witness("verify-receipt", file, "--root", root)
    assert (edited.code, "RECEIPT_INVALID" in edited.words) == (3, True)
    file.write_text("c2sp.org/tlog-proof@v1\nindex 0\nnonsense")
    policy = tmp_path / "policy"
    policy.write_text("quorum none\n")
    broken = witness("verify-receipt", file, "--policy", policy)
    assert broken.code == 3
    for wrong, code in (
        ([file, "--root", tmp_path / "none"], 64),
        ([tmp_path / "none", "--root", root], 1),
        ([file, "--root", file], 1),
    ):
        assert witness("verify-receipt", *map(str, wrong)).code == code


def test_a_root_must_vouch_where_the_person_keeps_one(
    places: Path, home: Path, tmp_path: Path
) -> None:
    (places / "laws.md").write_text("# Laws\n")
    born = call("ledger", "init", "--domain", "example.org", "--laws", places / "laws.md")
    assert born.code == 0
    roots = places / "config" / "witness-roots"
    roots.mkdir(parents=True)
    stranger = new_witness(tmp_path / "stranger", name="witness.example/w2")
    with serving(WitnessConfig(folder=home, port=0)) as running:
        name = running.policy_line.split()[1]
        policy = places / "config" / "witnesses.policy"
        policy.write_text(f"{running.policy_line}quorum {name}\n")
        assert call("ledger", "bookmark").code == 0  # pinned as it was seen: the how-to's order
        shutil.copy(stranger / "root.public.json", roots / f"{name}.json")
        refused = call("ledger", "bookmark")
        assert (refused.code, "MANIFEST_INVALID" in refused.text) == (3, True)
        shutil.copy(home / "root.public.json", roots / f"{name}.json")
        assert call("ledger", "bookmark").code == 0


def test_keys_with_a_password(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    new_witness(folder)
    # As keygen with the variable writes them; a real root would take seconds again.
    for name in ("receipt.key", "cosigner.key"):
        key = read_key(folder / name)
        (folder / name).write_bytes(encode_key(key, password="open sesame"))
    closed = witness("serve", "--folder", folder)
    assert (closed.code, "KEY_PASSWORD_REQUIRED" in closed.words) == (1, True)
    assert "AGENTIC_OS_WITNESS_PASSWORD" in closed.words
    close = witness("log", "--close-origin", "x", "--folder", folder, environ=PASSWORD)
    assert "ORIGIN_UNKNOWN" in close.words


def test_it_serves_until_it_is_told_to_stop(home: Path) -> None:
    process = subprocess.Popen(
        [*MODULE, "witness", "serve", "--port", "0", "--folder", str(home)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ,
    )
    try:
        assert process.stdout
        said = process.stdout.readline().decode()
        assert said.startswith("listening on http://127.0.0.1:")
        assert httpx.get(said.split()[-1] + "/healthz").json() == {"status": "ok"}
    finally:
        process.send_signal(signal.SIGTERM)
        _, words = process.communicate(timeout=30)
    assert process.returncode == 0
    events = [json.loads(line) for line in words.splitlines()]
    assert [event["event"] for event in events if event["event"] != "request"] == [
        "listening",
        "stopped",
    ]


def test_what_listens_is_said_in_process_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[WitnessConfig] = []

    def serve(
        config: WitnessConfig, *, started: Callable[[str, int], None], trusts_clock: bool
    ) -> None:
        assert not trusts_clock
        asked.append(config)
        started(config.host, config.port)

    monkeypatch.setattr(actions, "serve_witness", serve)
    (home / "witness.toml").write_text('host = "127.0.0.2"\nport = 1234\n')
    assert witness("serve").text == "listening on http://127.0.0.2:1234\n"
    moved = witness("serve", "--host", "127.0.0.1", "--port", "4321")
    assert moved.text == "listening on http://127.0.0.1:4321\n"
    assert [one.folder for one in asked] == [home, home]
    (home / "witness.toml").write_text("port = 'x'\n")
    wrong = witness("serve")
    assert (wrong.code, "CONFIG_INVALID" in wrong.words) == (1, True)
