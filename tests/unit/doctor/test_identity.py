"""Each case of safe mode has a check that says what to do; so has a witness that cannot serve."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentic_os.crypto.envelope.public_keys import make_identity_envelope
from agentic_os.crypto.keys.files import read_key
from agentic_os.crypto.keys.pairs import ML_DSA_87, generate_key
from agentic_os.doctor.identifiers import IDENTITY_CHECKS
from agentic_os.doctor.identity import LINES_UNACKNOWLEDGED, OwnPlaces, examine_identity
from agentic_os.errors import AgenticOSError, CryptoError
from agentic_os.identity.birth import give_birth
from agentic_os.ledger.file.storage import LEDGER_NAME
from agentic_os.ledger.layout import key_path
from agentic_os.results import Check
from support.ledger.actors import MemoryWitness, MemoryWitnesses, booted, born, notes
from support.witness.actors import new_witness

NOW = datetime(2030, 3, 17, 18, 0, tzinfo=UTC)  # an hour after what MemoryWitness says
SILENT = MemoryWitnesses(members=[MemoryWitness(is_reachable=False)])


@pytest.fixture
def places(tmp_path: Path) -> OwnPlaces:
    made = OwnPlaces(
        identity=tmp_path / "me", policy=tmp_path / "policy", witness=tmp_path / "witness"
    )
    born(made.identity)
    witnesses = MemoryWitnesses(members=[MemoryWitness()])
    with booted(made.identity, witnesses) as identity:
        identity.append("agent", notes(1, 2, 3))
        identity.bookmark()
    made.policy.write_bytes(witnesses.policy.document)
    return made


def looked(places: OwnPlaces, now: datetime = NOW) -> dict[str, list[Check]]:
    found: dict[str, list[Check]] = {}
    for check in examine_identity(places, now=now):
        found.setdefault(check.id, []).append(check)
    assert found.keys() == IDENTITY_CHECKS.keys()
    for checks in found.values():
        assert all(check.hint for check in checks if check.status not in {"ok", "none"})
    return found


def codes(places: OwnPlaces) -> list[str]:
    checks = looked(places)["identity.ledger"]
    return [check.message.split(":")[0] for check in checks if check.status == "fail"]


def test_nothing_here_is_nothing_wrong(tmp_path: Path) -> None:
    found = looked(OwnPlaces(identity=tmp_path, policy=tmp_path / "p", witness=tmp_path / "w"))
    assert [check.status for checks in found.values() for check in checks] == ["none"] * 3


def test_a_sound_identity_passes(places: OwnPlaces) -> None:
    seen: list[int] = []
    checks = list(examine_identity(places, progress=seen.append))
    assert {check.status for check in checks} <= {"ok", "none", "warn"}
    assert codes(places) == []
    assert seen[-1] == (places.identity / LEDGER_NAME).stat().st_size


def _lines(folder: Path) -> list[bytes]:
    return (folder / LEDGER_NAME).read_bytes().splitlines(keepends=True)


def _put(folder: Path, lines: list[bytes]) -> None:
    (folder / LEDGER_NAME).write_bytes(b"".join(lines))


def _forget_derived(folder: Path) -> None:
    for path in [*folder.glob("projection.db*"), *folder.glob("snapshot-*")]:
        path.unlink()


def edit(folder: Path) -> None:
    _put(folder, [line.replace(b"event 2", b"event X") for line in _lines(folder)])


def swap(folder: Path) -> None:
    first, second, third, *others = _lines(folder)
    _put(folder, [first, third, second, *others])


def cut(folder: Path) -> None:
    _put(folder, _lines(folder)[:2])


def cut_young(folder: Path) -> None:
    _put(folder, _lines(folder)[:-1])


def regrow(folder: Path) -> None:
    """Lines younger than the bookmark give way to others; what is derived stays."""
    other = folder.with_name("other")
    shutil.copytree(folder, other)
    _forget_derived(other)
    _put(other, _lines(other)[:-1])
    with booted(other, SILENT) as identity:
        identity.append("agent", notes(8, 9))
    _put(folder, _lines(other))


def fork(folder: Path) -> None:
    """As ``regrow``, below the bookmark and with nothing derived left."""
    other = folder.with_name("other")
    shutil.copytree(folder, other)
    _forget_derived(other)
    (other / "witness-tail.json").unlink()
    _put(other, _lines(other)[:2])
    with booted(other, SILENT) as identity:
        identity.append("agent", notes(5, 6, 7, 8, 9))
    _put(folder, _lines(other))
    _forget_derived(folder)


def tear(folder: Path) -> None:
    with (folder / LEDGER_NAME).open("ab") as file:
        file.write(b"{")


def empty(folder: Path) -> None:
    (folder / LEDGER_NAME).write_bytes(b"")


def noise(folder: Path) -> None:
    _put(folder, [_lines(folder)[0], b"{}\n"])


def swap_identity(folder: Path) -> None:
    other = born(folder.with_name("other"))
    shutil.copy(other / LEDGER_NAME, folder / LEDGER_NAME)
    _forget_derived(folder)
    (folder / "witness-tail.json").unlink()


def swap_envelope(folder: Path) -> None:
    made = make_identity_envelope(generate_key(ML_DSA_87).public, created_at=NOW)
    (folder / "identity-envelope.json").write_bytes(made.document)


def spoil(name: str) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        (folder / name).write_bytes(b"x")

    return act


def lose(name: str) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()

    return act


def expose(folder: Path) -> None:
    key_path(folder, "identity").chmod(0o644)


CASES: list[tuple[Callable[[Path], None], str]] = [
    (edit, "LEDGER_HASH_WRONG"),
    (swap, "LEDGER_SEQ_BROKEN"),
    (cut, "LEDGER_TRUNCATED"),
    (cut_young, "LEDGER_TRUNCATED"),
    (regrow, "LEDGER_REPLACED"),
    (fork, "WITNESS_FORK"),
    (empty, "LEDGER_EMPTY"),
    (noise, "LEDGER_LINE_INVALID"),
    (swap_identity, "KEY_MISMATCH"),
    (swap_envelope, "KEY_MISMATCH"),
    (spoil("identity-envelope.json"), "ENVELOPE_INVALID"),
    (spoil("witness-tail.json"), "WITNESS_TAIL_INVALID"),
    (spoil("witness-keys/x.json"), "WITNESS_KEY_INVALID"),
    (lose("witness-keys"), "LEDGER_WITNESS_KEY_UNKNOWN"),
    (spoil("safe-mode.json"), "SAFE_MODE_LATCHED"),
    (lose(LEDGER_NAME), "LEDGER_MISSING"),
    (lose("keys/identity.key"), "KEY_MISSING"),
    (spoil("keys/identity.key"), "KEY_INVALID"),
    (expose, "KEY_EXPOSED"),
]


@pytest.mark.parametrize(
    ("act", "code"), CASES, ids=[f"{n}-{code}" for n, (_, code) in enumerate(CASES)]
)
def test_what_boot_would_refuse_is_told_with_what_to_do(
    places: OwnPlaces, act: Callable[[Path], None], code: str
) -> None:
    act(places.identity)
    assert code in codes(places)
    assert booted_codes(places.identity) in (("safe mode", code), ("BOOT_HALTED", code))


def booted_codes(folder: Path) -> tuple[str, str]:
    """What boot says: halted for storage and keys, safe mode for the others."""
    try:
        with booted(folder, SILENT) as identity:
            reason = identity.report.reason
    except AgenticOSError as error:
        return error.code, error.hint.split(".")[0]
    return "safe mode", "" if reason is None or not reason.hint else reason.code


def test_a_torn_tail_is_told_although_boot_forgives_it(places: OwnPlaces) -> None:
    tear(places.identity)
    assert codes(places) == ["LEDGER_TAIL_TORN"]


def test_a_key_with_a_password_is_left_closed(tmp_path: Path) -> None:
    home = tmp_path / "closed"
    give_birth(home, domain="x.example", laws="Be.", passwords={"identity": "secret"})
    places = OwnPlaces(identity=home, policy=tmp_path / "p", witness=tmp_path / "w")
    with pytest.raises(CryptoError, match="has a password"):
        read_key(key_path(home, "identity"))
    assert codes(places) == []


def witnessed(places: OwnPlaces, now: datetime = NOW) -> tuple[str, str]:
    (check,) = looked(places, now)["identity.witnessed"]
    return check.status, check.message


def test_whether_anybody_could_notice_a_rollback_is_told(places: OwnPlaces) -> None:
    status, message = witnessed(places)
    assert (status, "acknowledged last" in message) == ("ok", True)
    with booted(places.identity, SILENT) as identity:
        identity.append("agent", notes(4, 5))
    soon, later = datetime.now(UTC), datetime.now(UTC) + timedelta(hours=25)
    assert witnessed(places, soon)[0] == "ok"
    assert witnessed(places, later)[0] == "warn"
    with booted(places.identity, SILENT) as identity:
        for first in range(10, 10 + LINES_UNACKNOWLEDGED, 50):
            identity.append("agent", notes(*range(first, first + 50)))
    assert "lines are younger" in witnessed(places, soon)[1]
    (places.identity / "witness-tail.json").unlink()
    assert "no witness has acknowledged" in witnessed(places)[1]
    places.policy.write_text("quorum none\n")
    status, message = witnessed(places)
    assert (status, message.split(":")[0]) == ("fail", "WITNESS_POLICY_CHANGED")
    places.policy.unlink()
    assert witnessed(places)[0] == "warn"  # the identity's own copy is the accepted one
    (places.identity / "witness" / "witnesses.policy").unlink()
    status, message = witnessed(places)
    assert (status, message.split(":")[0]) == ("fail", "WITNESS_POLICY_MISSING")


def test_an_identity_without_witnesses_is_told_so(tmp_path: Path) -> None:
    alone = OwnPlaces(
        identity=born(tmp_path / "alone"), policy=tmp_path / "p", witness=tmp_path / "w"
    )
    status, message = witnessed(alone)
    assert (status, "no witness policy" in message) == ("warn", True)


def test_an_own_witness_that_cannot_serve_is_told(places: OwnPlaces) -> None:
    new_witness(places.witness)
    (check,) = looked(places)["witness.health"]
    assert check.status == "fail"
    assert check.message.startswith("MANIFEST_INVALID")  # nobody's root vouches for this one
    (places.witness / "witness.db").unlink()
    told = [check.message.split(":")[0] for check in looked(places)["witness.health"]]
    assert told == ["DATABASE_MISSING", "MANIFEST_INVALID"]
