"""Birth and restoration under SIGKILL, before every change of the disk.

A kill leaves the whole identity or none. What it leaves beside the place is one folder for the
owner alone, recognised by its name; doctor names it, and the next ledger command of that place
deletes it. A birth leaves no private key there as long as the ledger is not complete.
"""

import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from agentic_os.cli.actions.trust.ledger.opening import home
from agentic_os.doctor.identity import OwnPlaces, examine_identity
from agentic_os.identity.birth import give_birth
from agentic_os.identity.services import backup_identity, restore_identity, verify_ledger
from support.aios.stopping import spawn
from support.ledger.actors import DOMAIN, LAWS, booted, born

CHANGES = (
    "open", "mkdir", "write", "pwrite", "ftruncate", "fsync", "fdatasync", "fchmod", "chmod",
    "rename", "replace", "link", "unlink", "rmdir",
)  # fmt: skip
PASSWORD = "correct horse"
PLAIN_KEY = b"BEGIN PRIVATE KEY"


def _stopped_before(number: int, action: Callable[[], object]) -> Callable[[], object]:
    """The action in a process that kills itself before its n-th change of the disk."""

    def run() -> object:
        left = number

        def stopping(real: Callable[..., object]) -> Callable[..., object]:
            def call(*args: object, **named: object) -> object:
                nonlocal left
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1
                return real(*args, **named)

            return call

        for name in CHANGES:
            real = getattr(os, name)
            setattr(os, name, stopping(real))
            for supported in (os.supports_dir_fd, os.supports_follow_symlinks, os.supports_fd):
                if real in supported:
                    supported.add(getattr(os, name))
        return action()

    return run


def _killed_at_every_step(
    place: Callable[[int], Path], action: Callable[[Path], object]
) -> Iterator[Path]:
    """Yield the place of every action that was killed; ends when one ran through."""
    step = 0
    while True:
        folder = place(step)
        status = os.waitpid(spawn(_stopped_before(step, partial(action, folder))), 0)[1]
        if not os.WIFSIGNALED(status):
            assert os.WEXITSTATUS(status) == 0
            return
        assert os.WTERMSIG(status) == signal.SIGKILL
        yield folder
        step += 1


def _identity_checks(folder: Path) -> str:
    nowhere = folder / "nowhere"
    places = OwnPlaces(identity=folder, policy=nowhere, witness=nowhere)
    return " ".join(check.message for check in examine_identity(places))


def _plain_keys(folder: Path) -> list[Path]:
    return [one for one in folder.rglob("*") if one.is_file() and PLAIN_KEY in one.read_bytes()]


def _left_behind(folder: Path) -> Path | None:
    """What lies beside the place, which must be recognised and the owner's alone."""
    others = [one for one in folder.parent.iterdir() if one != folder]
    if not others:
        return None
    (left,) = others
    assert left.name == f".{folder.name}.unfinished"
    assert "BIRTH_UNFINISHED" in _identity_checks(folder)
    for path in [left, *left.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path
    return left


def test_a_birth_that_is_killed_at_any_step_leaves_all_or_nothing(tmp_path: Path) -> None:
    seen = {"whole": 0, "nothing": 0, "without keys": 0, "with keys": 0}

    def place(step: int) -> Path:
        (tmp_path / f"step-{step}").mkdir()
        return tmp_path / f"step-{step}" / "me"

    def birth(folder: Path) -> object:
        return give_birth(folder, domain=DOMAIN, laws=LAWS)

    for folder in _killed_at_every_step(place, birth):
        left = _left_behind(folder)
        if folder.exists():
            seen["whole"] += 1
            assert left is None
            with booted(folder) as identity:
                assert identity.report.mode == "ready"
            continue
        if left is None:
            seen["nothing"] += 1
        elif _plain_keys(left):
            seen["with keys"] += 1
            assert verify_ledger(left).verified  # all else is there: the name alone is missing
            assert home(str(folder)) == folder  # as every ledger command begins
            assert not left.exists()
        else:
            seen["without keys"] += 1
        birth(folder)
        assert [one.name for one in folder.parent.iterdir()] == ["me"]
    assert all(seen.values()), seen
    print(f"{sum(seen.values())} kills: {seen}")  # noqa: T201 - for -rP


def test_a_restoration_that_is_killed_at_any_step_leaves_all_or_nothing(tmp_path: Path) -> None:
    archive = tmp_path / "a.backup"
    backup_identity(born(tmp_path / "origin" / "me"), archive, password=PASSWORD)
    kills = 0

    def place(step: int) -> Path:
        (tmp_path / f"step-{step}").mkdir()
        return tmp_path / f"step-{step}" / "me"

    for folder in _killed_at_every_step(place, lambda folder: restore_identity(archive, folder)):
        kills += 1
        left = _left_behind(folder)
        if folder.exists():
            assert left is None
            assert verify_ledger(folder).verified
            continue
        assert left is None or not _plain_keys(left)
        restore_identity(archive, folder)
        assert [one.name for one in folder.parent.iterdir()] == ["me"]
        assert _plain_keys(folder) == []
    assert kills


@pytest.mark.parametrize("password", [None, PASSWORD])
def test_the_product_leaves_no_draft_of_a_key(tmp_path: Path, password: str | None) -> None:
    folder = tmp_path / "me"
    passwords = {} if password is None else dict.fromkeys(("identity", "operator"), password)
    give_birth(folder, domain=DOMAIN, laws=LAWS, passwords=passwords)  # type: ignore[arg-type]
    names = sorted(one.name for one in (folder / "keys").iterdir())
    assert names == ["checkpoint.key", "identity.key", "operator.key", "platform.key"]
