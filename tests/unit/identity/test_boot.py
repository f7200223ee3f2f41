"""Boot: verify, restore, replay, ready; halt or safe mode, and no way around it."""

import inspect
import json
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

import agentic_os.identity
import agentic_os.ledger
from agentic_os.crypto.canonical.json import encode
from agentic_os.errors import IdentityError, LedgerError
from agentic_os.identity import restoring
from agentic_os.identity.birth import give_birth
from agentic_os.identity.boot import BootOptions, boot
from agentic_os.ledger.file import verify
from agentic_os.ledger.file.show import LineFilter
from agentic_os.ledger.file.storage import LEDGER_NAME
from agentic_os.ledger.writing import request
from support.ledger.actors import MemoryWitness, MemoryWitnesses, abandon, booted, born, notes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return born(tmp_path / "me")


@pytest.fixture
def grown(folder: Path) -> Path:
    with booted(folder) as identity:
        identity.append("agent", notes(1, 2, 3))
    return folder


def test_ready_means_it_can_write(folder: Path) -> None:
    with booted(folder) as identity:
        data = identity.append("agent", notes(1))
        assert (data.lines, data.entries[0].entry.seq) == (2, 2)
        assert identity.refusal is None
        assert identity.show(LineFilter()).lines == 2


def test_the_tables_come_from_where_they_can(grown: Path) -> None:
    with booted(grown) as identity:
        assert (identity.report.restored_from, identity.report.replayed) == ("live", 0)
        live = identity.projection.digest()
    (grown / "projection.db").unlink()
    with booted(grown) as identity:
        assert (identity.report.restored_from, identity.report.replayed) == ("snapshot", 0)
        assert identity.projection.digest() == live
    (grown / "projection.db").unlink()
    for path in grown.glob("snapshot-*"):
        path.unlink()
    with booted(grown) as identity:
        assert (identity.report.restored_from, identity.report.replayed) == ("ledger", 4)
        assert identity.projection.digest() == live


def test_after_a_crash_what_is_newer_is_replayed(grown: Path) -> None:
    identity = booted(grown)
    identity.append("agent", notes(4, 5))
    kept = identity.projection.digest()
    abandon(identity)  # the process dies here: no seal, no snapshot
    identity._projection.close()
    with booted(grown) as again:
        assert (again.report.restored_from, again.report.replayed) == ("snapshot", 2)
        assert again.projection.digest() == kept


def test_a_projection_that_somebody_changed_is_not_believed(grown: Path) -> None:
    with booted(grown) as identity:
        honest = identity.projection.digest()
        identity.projection.db.execute("UPDATE entities SET text = 'forged' WHERE id = 'exp_1'")
        forged = identity.projection.digest()
        assert forged != honest
    with booted(grown) as identity:
        assert identity.report.restored_from == "snapshot"
        assert identity.projection.digest() == honest


def _lines(folder: Path) -> list[bytes]:
    return (folder / LEDGER_NAME).read_bytes().splitlines(keepends=True)


def _reason(folder: Path, options: BootOptions | None = None) -> str:
    with boot(folder, options) as identity:
        return "" if identity.report.reason is None else identity.report.reason.code


def test_lines_that_were_cut_off_are_known_to_what_was_derived(grown: Path) -> None:
    (grown / LEDGER_NAME).write_bytes(b"".join(_lines(grown)[:-1]))
    assert _reason(grown) == "LEDGER_TRUNCATED"
    (grown / "projection.db").unlink()
    assert _reason(grown) == "LEDGER_TRUNCATED"  # a snapshot knows it, too
    for path in grown.glob("snapshot-*"):
        path.unlink()
    assert _reason(grown) == ""  # and nothing else on this machine does


def test_tables_without_a_seal_know_it_too(grown: Path) -> None:
    identity = booted(grown)
    identity.append("agent", notes(4))
    abandon(identity)  # the process dies here: no seal, no snapshot
    identity._projection.close()
    (grown / LEDGER_NAME).write_bytes(b"".join(_lines(grown)[:-1]))
    assert _reason(grown) == "LEDGER_TRUNCATED"


def test_lines_that_were_replaced_are_known_to_what_was_derived(
    grown: Path, tmp_path: Path
) -> None:
    shorter = tmp_path / "shorter" / "me"
    shutil.copytree(grown, shorter)
    for path in [*shorter.glob("snapshot-*"), *shorter.glob("projection.db*")]:
        path.unlink()
    (shorter / LEDGER_NAME).write_bytes(b"".join(_lines(grown)[:-2]))
    with booted(shorter) as identity:
        identity.append("agent", notes(7, 8, 9))
    (grown / LEDGER_NAME).write_bytes((shorter / LEDGER_NAME).read_bytes())
    assert _reason(grown) == "LEDGER_REPLACED"
    (grown / "projection.db").unlink()
    assert _reason(grown) == "LEDGER_REPLACED"


def test_a_database_elsewhere_remembers_what_the_folder_forgot(grown: Path, tmp_path: Path) -> None:
    elsewhere = BootOptions(projection_url=f"sqlite:///{tmp_path}/elsewhere.db")
    assert _reason(grown, elsewhere) == ""
    (grown / LEDGER_NAME).write_bytes(b"".join(_lines(grown)[:-1]))
    for path in [*grown.glob("snapshot-*"), *grown.glob("projection.db*")]:
        path.unlink()
    assert _reason(grown, elsewhere) == "LEDGER_TRUNCATED"


def test_tables_of_another_ledger_say_nothing_about_this_one(grown: Path, tmp_path: Path) -> None:
    other = born(tmp_path / "other")
    for name in ("projection.db", *(path.name for path in grown.glob("snapshot-*"))):
        shutil.copy(grown / name, other / name)
    with booted(other) as identity:
        assert identity.report.reason is None
        assert identity.report.restored_from == "ledger"


def test_a_forged_snapshot_is_not_believed(grown: Path) -> None:
    import gzip

    (grown / "projection.db").unlink()
    path = next(grown.glob("snapshot-*"))
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b"event 1", b"lie")))
    with booted(grown) as identity:
        assert identity.report.restored_from == "ledger"
        shown = identity.projection.db.execute("SELECT text FROM entities WHERE id = 'exp_1'")
        assert shown == [("event 1",)]


def test_a_projection_of_unusable_bytes_is_made_anew(grown: Path) -> None:
    (grown / "projection.db").write_bytes(b"not a database" * 1000)
    with booted(grown) as identity:
        assert identity.report.mode == "ready"
        assert identity.report.restored_from == "snapshot"


def test_another_database_can_hold_the_tables(grown: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/elsewhere.db"
    with boot(grown, BootOptions(projection_url=url)) as identity:
        assert identity.report.mode == "ready"
    with boot(grown, BootOptions(projection_url="mysql://x")) as identity:
        assert identity.report.mode == "safe_mode"
        assert identity.report.reason is not None
        assert identity.report.reason.code == "PROJECTION_URL"


def test_progress_is_told(grown: Path) -> None:
    seen: list[int] = []
    with boot(grown, BootOptions(progress=seen.append)):
        assert seen[-1] == (grown / LEDGER_NAME).stat().st_size


def test_a_torn_tail_is_told(grown: Path) -> None:
    with (grown / LEDGER_NAME).open("ab") as file:
        file.write(b'{"entry":')
    with booted(grown) as identity:
        assert identity.report.mode == "ready"
        assert identity.report.torn_aside.startswith("ledger.jsonl.torn-")


def _lose_ledger(folder: Path) -> None:
    (folder / LEDGER_NAME).unlink()


def _ledger_is_a_folder(folder: Path) -> None:
    (folder / LEDGER_NAME).unlink()
    (folder / LEDGER_NAME).mkdir()


def _lose_key(folder: Path) -> None:
    (folder / "keys" / "identity.key").unlink()


def _lose_checkpoint_key(folder: Path) -> None:
    (folder / "keys" / "checkpoint.key").unlink()


def _open_key(folder: Path) -> None:
    (folder / "keys" / "identity.key").chmod(0o644)


def _damage_key(folder: Path) -> None:
    path = folder / "keys" / "identity.key"
    path.write_bytes(b"no key")


@pytest.mark.parametrize(
    ("damage", "cause"),
    [
        (_lose_ledger, "LEDGER_MISSING"),
        (_ledger_is_a_folder, "LEDGER_UNREADABLE"),
        (_lose_key, "KEY_MISSING"),
        (_lose_checkpoint_key, "KEY_MISSING"),
        (_open_key, "KEY_EXPOSED"),
        (_damage_key, "KEY_INVALID"),
    ],
)
def test_unreadable_storage_or_keys_halt(
    grown: Path, damage: Callable[[Path], None], cause: str
) -> None:
    damage(grown)
    for _ in range(2):
        with pytest.raises(IdentityError) as caught:
            booted(grown)
        assert caught.value.code == "BOOT_HALTED"
        assert cause in caught.value.hint


def test_a_second_process_does_not_boot(grown: Path) -> None:
    with booted(grown):
        with pytest.raises(LedgerError) as caught:
            booted(grown)
        assert caught.value.code == "LEDGER_LOCKED"
    with booted(grown) as identity:
        assert identity.report.mode == "ready"


def _edit(folder: Path) -> None:
    path = folder / LEDGER_NAME
    path.write_bytes(path.read_bytes().replace(b"event 2", b"event X"))


def _empty(folder: Path) -> None:
    (folder / LEDGER_NAME).write_bytes(b"")


def _another_ledger(folder: Path) -> None:
    other = born(folder.parent / "other")
    (folder / LEDGER_NAME).write_bytes((other / LEDGER_NAME).read_bytes())


def _another_ledger_and_keys(folder: Path) -> None:
    other = born(folder.parent / "other")
    for name in (LEDGER_NAME, "keys/identity.key", "keys/checkpoint.key"):
        (folder / name).write_bytes((other / name).read_bytes())


def _damage_envelope(folder: Path) -> None:
    (folder / "identity-envelope.json").write_bytes(b"{}")


def _damage_tail(folder: Path) -> None:
    (folder / "witness-tail.json").write_bytes(b"{}")


def _future_tail(folder: Path) -> None:
    (folder / "witness-tail.json").write_bytes(
        b'{"ledger_hash":"%b","ledger_ordinal":99,"witnessed_at":"2026-01-01T00:00:00Z"}'
        % (b"0" * 64)
    )


def _other_tail(folder: Path) -> None:
    (folder / "witness-tail.json").write_bytes(
        b'{"ledger_hash":"%b","ledger_ordinal":2,"witnessed_at":"2026-01-01T00:00:00Z"}'
        % (b"0" * 64)
    )


def _damage_witness_key(folder: Path) -> None:
    (folder / "witness-keys").mkdir()
    (folder / "witness-keys" / "x.json").write_bytes(b"{}")


def _latched(folder: Path) -> None:
    (folder / "safe-mode.json").write_bytes(b"damaged")


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (_edit, "LEDGER_HASH_WRONG"),
        (_empty, "LEDGER_EMPTY"),
        (_another_ledger, "KEY_MISMATCH"),
        (_another_ledger_and_keys, "KEY_MISMATCH"),
        (_damage_envelope, "ENVELOPE_INVALID"),
        (_damage_tail, "WITNESS_TAIL_INVALID"),
        (_future_tail, "LEDGER_TRUNCATED"),
        (_other_tail, "WITNESS_FORK"),
        (_damage_witness_key, "WITNESS_KEY_INVALID"),
        (_latched, "SAFE_MODE_LATCHED"),
    ],
)
def test_everything_else_that_fails_is_safe_mode(
    grown: Path, damage: Callable[[Path], None], code: str
) -> None:
    damage(grown)
    before = {path.name: path.read_bytes() for path in grown.iterdir() if path.is_file()}
    with booted(grown) as identity:
        reason = identity.report.reason
        assert identity.report.mode == "safe_mode"
        assert reason is not None
        assert reason.code == code
        assert reason.hint
        for verb in (
            lambda: identity.append("agent", notes(9)),
            lambda: identity.unlock("operator"),
            lambda: identity.prove(1),
            identity.bookmark,
            lambda: identity.rotate("identity"),
            identity.settle_receipts,
            identity.seal,
        ):
            with pytest.raises(IdentityError) as caught:
                verb()
            assert caught.value.code == "SAFE_MODE"
            assert code in caught.value.hint
        with pytest.raises(LedgerError):
            identity.projection.db.execute("DELETE FROM entities")
    unchanged = {"ledger.jsonl", "identity-envelope.json", "witness-tail.json", "safe-mode.json"}
    for name in unchanged & set(before):
        assert (grown / name).read_bytes() == before[name], name


def test_safe_mode_still_shows(grown: Path) -> None:
    _latched(grown)
    with booted(grown) as identity:
        assert identity.show(LineFilter()).lines == 4
        rows = identity.projection.db.execute("SELECT COUNT(*) FROM entities")
        assert rows == [(4,)]


def test_safe_mode_without_tables_shows_empty_ones(grown: Path) -> None:
    _edit(grown)
    (grown / "projection.db").unlink()
    with booted(grown) as identity:
        assert identity.report.mode == "safe_mode"
        assert identity.projection.cursor.seq == 0
    with boot(grown, BootOptions(projection_url=f"sqlite:///{grown}/x.db")) as identity:
        assert identity.projection.cursor.seq == 0


def test_safe_mode_is_left_by_repair_and_restart(grown: Path) -> None:
    whole = (grown / LEDGER_NAME).read_bytes()
    _edit(grown)
    with booted(grown) as identity:
        (grown / LEDGER_NAME).write_bytes(whole)
        with pytest.raises(IdentityError):
            identity.append("agent", notes(9))
    with booted(grown) as identity:
        assert identity.report.mode == "ready"


def test_a_signed_entry_that_applies_to_nothing_is_safe_mode(folder: Path) -> None:
    from agentic_os.crypto.keys.files import read_key
    from agentic_os.ledger.file.journal import SignedDraft
    from agentic_os.ledger.file.opening import open_journal
    from agentic_os.ledger.line.entry import draft

    key = read_key(folder / "keys" / "identity.key")
    with open_journal(folder) as journal:
        nothing = draft("belief.archive", {"id": "nothing", "reason": "x"})
        journal.append([SignedDraft(nothing, "identity")], {"identity": key})
    with booted(folder) as identity:
        assert identity.report.reason is not None
        assert identity.report.reason.code == "REPLAY_FAILED"


def test_a_closed_identity_does_nothing_more(folder: Path) -> None:
    identity = booted(folder)
    identity.close()
    identity.close()
    with pytest.raises(IdentityError) as caught:
        identity.append("agent", notes(1))
    assert caught.value.code == "IDENTITY_CLOSED"


def test_passwords_open_keys(tmp_path: Path) -> None:
    folder = tmp_path / "me"
    give_birth(folder, domain="d", laws="x", passwords={"identity": "one", "operator": "two"})
    with pytest.raises(IdentityError) as caught:
        booted(folder)
    assert "KEY_PASSWORD_REQUIRED" in caught.value.hint
    with boot(folder, BootOptions(passwords={"identity": "one"})) as identity:
        identity.unlock("operator", password="two")
        policy = request("policy.set", {"key": "k", "value": 1})
        assert identity.append("operator", [policy]).lines == 2


def test_verbs_of_their_own_are_not_appended(folder: Path) -> None:
    with booted(folder) as identity:
        for name in ("system.witnessed", "key.transition"):
            with pytest.raises(LedgerError) as caught:
                identity.append("platform", [request(name, {})])
            assert caught.value.code == "RING_DENIED"
            assert caught.value.hint


def test_nothing_can_be_told_to_skip_verification() -> None:
    names = {field.name for field in fields(BootOptions)}
    assert names == {"passwords", "witnesses", "projection_url", "progress"}
    assert set(inspect.signature(boot).parameters) == {"folder", "options"}
    for package in (agentic_os.identity, agentic_os.ledger):
        for path in Path(str(package.__file__)).parent.rglob("*.py"):
            source = path.read_text()
            assert "environ" not in source, path.name
            assert "getenv" not in source, path.name
            assert not re.search(r"\b(skip|no)_(verif|check|sign)", source), path.name


def test_a_head_without_a_pinned_witness_spares_nothing(grown: Path) -> None:
    witnesses = MemoryWitnesses(members=[MemoryWitness()])
    with booted(grown, witnesses) as identity:
        identity.bookmark()
    assert (grown / "verified-head.json").exists()
    for others in (None, MemoryWitnesses(members=[MemoryWitness(seed=b"x")])):
        with booted(grown, others) as identity:
            assert identity.report.verify is not None
            assert identity.report.verify.cosigned_size == 0
            assert identity.report.verify.signatures_skipped == 0


def test_a_cosigned_head_spares_signatures_and_says_so(
    grown: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    witnesses = MemoryWitnesses(members=[MemoryWitness(gives_receipts=False)])
    with booted(grown, witnesses) as identity:
        identity.bookmark()
    monkeypatch.setattr(verify, "SKIP_ABOVE_LINES", 2)
    with booted(grown, witnesses) as identity:
        found = identity.report.verify
        assert found is not None
        assert (found.lines, found.signatures_skipped, found.cosigned_size) == (5, 2, 4)


def test_a_head_that_a_quorum_did_not_cosign_spares_nothing(
    grown: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of two witnesses, who must both agree, is taken off the note; all else holds."""
    members = [MemoryWitness(gives_receipts=False), MemoryWitness(name="w2", seed=b"v")]
    witnesses = MemoryWitnesses(members=members)
    with booted(grown, witnesses) as identity:
        identity.bookmark()
    monkeypatch.setattr(verify, "SKIP_ABOVE_LINES", 2)
    head = grown / "verified-head.json"
    document = json.loads(head.read_bytes())
    signed = document["checkpoint"].splitlines(keepends=True)
    for kept, size in ((signed, 4), (signed[:-1], 0)):
        head.write_bytes(encode({**document, "checkpoint": "".join(kept)}))
        with booted(grown, witnesses) as identity:
            found = identity.report.verify
            assert found is not None
            assert found.cosigned_size == size
            assert bool(found.signatures_skipped) == bool(size)


def test_a_ledger_that_changes_between_verifying_and_replaying_is_safe_mode(
    grown: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = grown / LEDGER_NAME
    data = path.read_bytes()
    lines = data.split(b"\n")
    changes = {
        "edited": data.replace(b"event 1", b"event X"),
        "cut": b"\n".join(lines[:3]) + b"\n",
        "grown": data + lines[1] + b"\n",
    }
    for changed in changes.values():
        path.write_bytes(data)
        for leftover in [grown / "projection.db", *grown.glob("snapshot-*")]:
            leftover.unlink()

        def swap_then_restore(*arguments: object, new: bytes = changed) -> object:
            path.write_bytes(new)
            return restoring.restore(*arguments)  # type: ignore[arg-type]  # passed through

        with monkeypatch.context() as patch:
            patch.setattr(sys.modules["agentic_os.identity.boot"], "restore", swap_then_restore)
            with booted(grown) as identity:
                assert identity.report.reason is not None
                assert identity.report.reason.code == "LEDGER_CHANGED"
        path.write_bytes(data)
        with booted(grown) as identity:
            assert identity.report.mode == "ready"


def test_long_histories_are_replayed_in_batches(
    grown: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring, "REPLAY_LINES", 2)
    for leftover in [grown / "projection.db", *grown.glob("snapshot-*")]:
        leftover.unlink()
    with booted(grown) as identity:
        assert (identity.report.restored_from, identity.report.replayed) == ("ledger", 4)


def test_safe_mode_never_touches_tables_that_it_cannot_read(grown: Path) -> None:
    path = grown / "projection.db"
    connection = sqlite3.connect(path)
    connection.execute("UPDATE meta SET value = 'old' WHERE name = 'schema'")
    connection.commit()
    connection.close()
    _damage_witness_key(grown)  # noticed before the tables are opened
    for content in (path.read_bytes(), b"not a database" * 1000):
        path.write_bytes(content)
        with booted(grown) as identity:
            assert identity.report.mode == "safe_mode"
            assert identity.projection.cursor.seq == 0
        assert path.read_bytes() == content
