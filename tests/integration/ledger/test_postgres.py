"""The projection in a real PostgreSQL: equal to SQLite's, line by line and after a restart."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentic_os.crypto.canonical.texts import bare_hash
from agentic_os.errors import LedgerError
from agentic_os.identity.boot import BootOptions, boot
from agentic_os.ledger.file.storage import LEDGER_NAME
from agentic_os.ledger.line.frame import read_line
from agentic_os.ledger.line.payloads import BeliefPromote
from agentic_os.ledger.projection.database import SqliteDatabase
from agentic_os.ledger.projection.evidence import evidence_of
from agentic_os.ledger.projection.postgres import PostgresDatabase
from agentic_os.ledger.projection.snapshot import make_seal, restore_snapshot, write_snapshot
from agentic_os.ledger.projection.tables import Projection
from agentic_os.ledger.writing import request
from support.ledger.actors import MemoryWitness, MemoryWitnesses, born, notes
from support.ledger.builder import KEYS
from support.ledger.stories import events_of, story

PROMOTION = BeliefPromote(id="b", ring=2)

pytestmark = pytest.mark.services
SERVER_USER = "postgres" if "postgres" in {one.pw_name for one in pwd.getpwall()} else "nobody"
"""Whom a package makes for the server; an image that holds the package may lack the user."""


def _as_server_user(*command: str) -> None:
    """Run a command of the server's; it refuses to run as root."""
    prefix = ["runuser", "-u", SERVER_USER, "--"] if os.geteuid() == 0 else []
    # Not captured: the server would inherit the pipe and hold it open.
    quiet = subprocess.DEVNULL
    subprocess.run([*prefix, *command], check=True, stdout=quiet, stderr=quiet, timeout=60)


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        candidates = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
        assert candidates, f"PostgreSQL's {name} is not installed"
        found = str(candidates[-1])
    return found


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of our own on a socket of our own; no port is opened."""
    base = Path("/tmp") if os.geteuid() == 0 else tmp_path_factory.mktemp("pg")  # noqa: S108 - the server's user must reach it
    data = base / f"agentic-os-pg-{os.getpid()}"
    data.mkdir()
    if os.geteuid() == 0:
        shutil.chown(data, SERVER_USER)
    data.chmod(0o700)
    try:
        _as_server_user(_program("initdb"), "-D", str(data / "db"), "-A", "trust", "-U", "me")
        options = f"-c listen_addresses='' -c unix_socket_directories='{data}'"
        _as_server_user(
            _program("pg_ctl"),
            *("-D", str(data / "db"), "-l", str(data / "log"), "-o", options, "-w", "-s", "start"),
        )
        try:
            yield f"postgresql://me@/postgres?host={data}"
        finally:
            _as_server_user(_program("pg_ctl"), "-D", str(data / "db"), "-m", "fast", "stop", "-s")
    finally:
        shutil.rmtree(data, ignore_errors=True)


@pytest.fixture
def postgres(url: str) -> Iterator[PostgresDatabase]:
    db = PostgresDatabase(url, schema="test")
    db.begin()
    db.clear()
    db.commit()
    yield db
    db.close()


def test_both_databases_say_the_same(postgres: PostgresDatabase) -> None:
    builder = story(60)
    ours, theirs = Projection(postgres), Projection(SqliteDatabase(None))
    for one in (ours, theirs):
        one.apply(events_of(builder))
    assert ours.digest() == theirs.digest()
    assert ours.cursor == theirs.cursor
    assert evidence_of(ours.db, PROMOTION) == evidence_of(theirs.db, PROMOTION)
    theirs.close()


def test_a_snapshot_of_one_restores_into_the_other(
    postgres: PostgresDatabase, tmp_path: Path
) -> None:
    theirs = Projection(SqliteDatabase(None))
    theirs.apply(events_of(story(60)))
    seal = make_seal(theirs, origin="o", key=KEYS["identity"])
    path = write_snapshot(theirs, tmp_path, seal)
    ours = Projection(postgres)
    assert restore_snapshot(ours, path, seal)
    assert ours.digest() == theirs.digest()
    theirs.close()


def test_transactions_and_trials(postgres: PostgresDatabase) -> None:
    projection = Projection(postgres)
    events = events_of(story(20))
    projection.apply(events[:5])
    before = projection.digest()
    with pytest.raises(LedgerError):
        projection.apply([events[5], events[5]])
    with projection.trial():
        postgres.execute("DELETE FROM entities")
    assert projection.digest() == before
    postgres.rollback()
    with pytest.raises(LedgerError):
        postgres.execute("SELEC")
    with pytest.raises(LedgerError):
        postgres.execute_many("SELEC", [()])
    postgres.begin()
    with pytest.raises(LedgerError):
        list(postgres.stream("SELEC"))
    postgres.rollback()


def _schema(folder: Path) -> str:
    line = read_line((folder / LEDGER_NAME).read_bytes().split(b"\n", 1)[0])
    genesis = line.payload.decode()
    return "identity_" + genesis.split("/ledger/")[1][:16]


def test_two_identities_of_one_folder_name_share_a_database(url: str, tmp_path: Path) -> None:
    options = BootOptions(projection_url=url)
    folders = [born(tmp_path / place / "me") for place in ("one", "two")]
    for number, folder in enumerate(folders):
        with boot(folder, options) as identity:
            assert identity.report.mode == "ready"
            identity.append("agent", notes(number))
    for number, folder in enumerate(folders):
        with boot(folder, options) as identity:
            assert identity.report.restored_from == "live"
        replica = PostgresDatabase(url, schema=_schema(folder))
        rows = replica.execute("SELECT id FROM entities WHERE kind = 'experience'")
        replica.close()
        assert rows == [(f"exp_{number}",)]


def test_a_server_that_lies_signs_and_decides_nothing(url: str, tmp_path: Path) -> None:
    """Its owner changes hashes and evidence as they are written; nobody here reads them back."""
    options = BootOptions(projection_url=url, witnesses=MemoryWitnesses(members=[MemoryWitness()]))
    folder = born(tmp_path / "me")
    with boot(folder, options) as identity:
        identity.append("agent", notes(1))
    server = PostgresDatabase(url, schema=_schema(folder))
    server.execute(
        "CREATE FUNCTION lie() RETURNS trigger AS $$ BEGIN "
        "IF TG_TABLE_NAME = 'mirror' THEN NEW.hash := 'sha256:' || repeat('0', 64); "
        "ELSE NEW.authorship := 'operator'; END IF; RETURN NEW; END $$ LANGUAGE plpgsql"
    )
    for table in ("mirror", "entities"):
        server.execute(
            f"CREATE TRIGGER lie BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION lie()"
        )
    with boot(folder, options) as identity:
        identity.append("agent", notes(2, 3, 4))
        believed = request("belief.upsert", {"id": "b", "claim": "x"})
        edges = [
            request("edge.create", {"from_id": f"exp_{one}", "to_id": "b", "edge_type": "SUPPORTS"})
            for one in (1, 2, 3)
        ]
        promotion = request("belief.promote", {"id": "b", "ring": 2})
        answer = identity.append("agent", [believed, *edges, promotion])
        assert answer.entries[-1].rewritten_from == "belief.promote"
        lines = (folder / LEDGER_NAME).read_bytes().split(b"\n")[:-1]
        marked = identity.bookmark()
        assert marked.ledger_hash == bare_hash(read_line(lines[-1]).hash)
    rows = server.execute("SELECT COUNT(*) FROM mirror WHERE hash = ?", ("sha256:" + "0" * 64,))
    server.close()
    assert rows[0][0] > 0


def test_a_server_that_remembers_more_is_an_alarm(url: str, tmp_path: Path) -> None:
    options = BootOptions(projection_url=url)
    folder = born(tmp_path / "me")
    with boot(folder, options) as identity:
        identity.append("agent", notes(1, 2))
    path = folder / LEDGER_NAME
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    for derived in [*folder.glob("projection.db*"), *folder.glob("snapshot-*")]:
        derived.unlink()
    with boot(folder, options) as identity:
        assert identity.report.reason is not None
        assert identity.report.reason.code == "LEDGER_TRUNCATED"
