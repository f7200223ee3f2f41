"""What changes while plugins run: which are installed, keys and values, faults, receipts, epochs.

One SQLite file of the person's. Losing it loses history, values and the list of what is installed;
nothing that was refused becomes allowed by that, save that a root's epochs are learnt again (with
an identity they stand in its ledger as well).
"""

import sqlite3
import threading
import time
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agentic_os.files.closing import SelfClosing
from agentic_os.files.publishing import private_folder
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.rights.broker import Receipt
from agentic_os.plugins.trust.revocation import AcceptedEpoch

STATE_NAME: Final = "state.db"
TABLES_VERSION: Final = 1
FAULTS_TO_DISABLE: Final = 3
FAULT_WINDOW_NS: Final = 600 * 1_000_000_000
RECEIPT_ROWS: Final = 100_000
RECEIPT_NS: Final = 90 * 86_400 * 1_000_000_000
PROPOSAL_ROWS: Final = 1_000
_LOCKED_MILLISECONDS = 5_000
_TABLES = """
CREATE TABLE IF NOT EXISTS installed(
  plugin TEXT PRIMARY KEY, version TEXT NOT NULL, package TEXT NOT NULL,
  envelope TEXT NOT NULL, at_ns INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS kept(
  plugin TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY(plugin, key)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS fault(
  plugin TEXT NOT NULL, which TEXT NOT NULL, at_ns INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS disabled(plugin TEXT PRIMARY KEY, at_ns INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS receipt(
  at_ns INTEGER NOT NULL, plugin TEXT NOT NULL, operation TEXT NOT NULL, target TEXT NOT NULL,
  outcome TEXT NOT NULL, detail TEXT NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS receipt_age ON receipt(at_ns);
CREATE TABLE IF NOT EXISTS epoch(
  root TEXT PRIMARY KEY, trust_epoch INTEGER NOT NULL, payload TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS proposal(
  plugin TEXT NOT NULL, text TEXT NOT NULL, at_ns INTEGER NOT NULL,
  UNIQUE(plugin, text)) STRICT;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """A package that was installed; one release of a plugin at a time."""

    plugin: str
    version: str
    package: str
    envelope: frozenset[str]
    at_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A limit or rule that a guest broke."""

    plugin: str
    which: str
    at_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a plugin observed; of external provenance, and true only if the person says so."""

    plugin: str
    text: str
    at_ns: int


class PluginState(SelfClosing):
    """The file, open. Threads take turns."""

    def __init__(self, folder: Path) -> None:
        """Open the file in a private folder, making both where they are missing.

        Raises:
            PluginError: ``PLUGIN_STATE_UNUSABLE``.
            FilesError: the folder cannot be made.
        """
        path = private_folder(folder) / STATE_NAME
        self._turn = threading.RLock()
        try:
            path.touch(mode=0o600)
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._connection.execute(f"PRAGMA busy_timeout={_LOCKED_MILLISECONDS}")
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=FULL")
            self._prepare()
        except (OSError, sqlite3.Error) as fault:
            raise _unusable(str(fault)) from None

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        self._connection.close()

    def installed(self) -> tuple[Installed, ...]:
        """Return what is installed, by name."""
        rows = self._rows("SELECT plugin, version, package, envelope, at_ns FROM installed")
        return tuple(sorted((_installed(row) for row in rows), key=lambda one: one.plugin))

    def find(self, plugin: str) -> Installed:
        """Return one installed plugin.

        Raises:
            PluginError: ``PLUGIN_UNKNOWN``.
        """
        found = next((one for one in self.installed() if one.plugin == plugin), None)
        if found is None:
            raise ERRORS.error("PLUGIN_UNKNOWN", f"no plugin {plugin} is installed")
        return found

    def put(self, installed: Installed) -> None:
        """Note what is installed, in place of another release."""
        self._change(
            "INSERT OR REPLACE INTO installed VALUES(?, ?, ?, ?, ?)",
            installed.plugin,
            installed.version,
            installed.package,
            "\n".join(sorted(installed.envelope)),
            installed.at_ns,
        )

    def forget(self, plugin: str) -> None:
        """Forget a plugin with its values, faults and proposals; its receipts stay as history."""
        with self._transaction():
            for table in ("installed", "kept", "fault", "disabled", "proposal"):
                self._connection.execute(f"DELETE FROM {table} WHERE plugin=?", (plugin,))  # noqa: S608 - names of our own tables

    def values_of(self, plugin: str) -> MutableMapping[str, str]:
        """Return a plugin's keys and values; what is written there is kept at once."""
        return _Kept(self, plugin)

    def keep_fault(self, plugin: str, which: str) -> bool:
        """Note a fault; return whether it was one too many, so that the plugin is disabled."""
        now = time.time_ns()
        with self._transaction():
            self._connection.execute("INSERT INTO fault VALUES(?, ?, ?)", (plugin, which, now))
            self._connection.execute("DELETE FROM fault WHERE at_ns < ?", (now - RECEIPT_NS,))
            recent = self._connection.execute(
                "SELECT count(*) FROM fault WHERE plugin=? AND at_ns > ?",
                (plugin, now - FAULT_WINDOW_NS),
            ).fetchone()[0]
            if recent >= FAULTS_TO_DISABLE:
                self._connection.execute(
                    "INSERT OR REPLACE INTO disabled VALUES(?, ?)", (plugin, now)
                )
        return bool(recent >= FAULTS_TO_DISABLE)

    def faults(self, plugin: str) -> tuple[Fault, ...]:
        """Return a plugin's faults, oldest first."""
        rows = self._rows(
            "SELECT plugin, which, at_ns FROM fault WHERE plugin=? ORDER BY at_ns", plugin
        )
        return tuple(Fault(plugin=row[0], which=row[1], at_ns=row[2]) for row in rows)

    def is_disabled(self, plugin: str) -> bool:
        """Return whether a plugin failed too often."""
        return bool(self._rows("SELECT 1 FROM disabled WHERE plugin=?", plugin))

    def enable(self, plugin: str) -> None:
        """Let a plugin run again, its faults forgotten."""
        with self._transaction():
            self._connection.execute("DELETE FROM disabled WHERE plugin=?", (plugin,))
            self._connection.execute("DELETE FROM fault WHERE plugin=?", (plugin,))

    def keep_receipt(self, receipt: Receipt) -> None:
        """Note what the host did, or refused; old receipts go."""
        with self._transaction():
            self._connection.execute(
                "INSERT INTO receipt VALUES(?, ?, ?, ?, ?, ?)",
                (
                    receipt.at_ns,
                    receipt.plugin,
                    receipt.operation,
                    receipt.target,
                    receipt.outcome,
                    receipt.detail,
                ),
            )
            self._connection.execute(
                "DELETE FROM receipt WHERE at_ns < ?"
                " OR rowid <= (SELECT max(rowid) FROM receipt) - ?",
                (receipt.at_ns - RECEIPT_NS, RECEIPT_ROWS),
            )

    def receipts(self, plugin: str | None, limit: int) -> tuple[Receipt, ...]:
        """Return the last receipts, of one plugin or of all, newest first."""
        rows = self._rows(
            "SELECT at_ns, plugin, operation, target, outcome, detail FROM receipt"
            " WHERE ?1 IS NULL OR plugin=?1 ORDER BY rowid DESC LIMIT ?2",
            plugin,
            limit,
        )
        return tuple(
            Receipt(
                at_ns=at, plugin=name, operation=operation, target=target, outcome=out, detail=why
            )
            for at, name, operation, target, out, why in rows
        )

    def propose(self, plugin: str, texts: Sequence[str]) -> int:
        """Queue observations; the same words of the same plugin stand once."""
        now = time.time_ns()
        with self._transaction():
            before = self._connection.total_changes
            self._connection.executemany(
                "INSERT OR IGNORE INTO proposal VALUES(?, ?, ?)",
                [(plugin, text, now) for text in texts],
            )
            taken = self._connection.total_changes - before
            self._connection.execute(
                "DELETE FROM proposal WHERE at_ns < ? OR rowid IN (SELECT rowid FROM proposal"
                " WHERE plugin=? ORDER BY rowid DESC LIMIT -1 OFFSET ?)",
                (now - RECEIPT_NS, plugin, PROPOSAL_ROWS),
            )
        return taken

    def proposals(self) -> tuple[Proposal, ...]:
        """Return what waits for the person, oldest first."""
        rows = self._rows("SELECT plugin, text, at_ns FROM proposal ORDER BY rowid")
        return tuple(Proposal(plugin=row[0], text=row[1], at_ns=row[2]) for row in rows)

    def drop_proposals(self, plugin: str | None) -> int:
        """Forget proposals, of one plugin or all; return how many."""
        with self._transaction():
            found = self._connection.execute(
                "DELETE FROM proposal WHERE ?1 IS NULL OR plugin=?1", (plugin,)
            )
        return found.rowcount

    def last(self, root: str) -> AcceptedEpoch | None:
        """Return the epoch of a root that was accepted last."""
        rows = self._rows("SELECT trust_epoch, payload FROM epoch WHERE root=?", root)
        return AcceptedEpoch(trust_epoch=rows[0][0], payload_sha256=rows[0][1]) if rows else None

    def accept(self, root: str, epoch: AcceptedEpoch) -> None:
        """Keep the epoch of a root."""
        self._change(
            "INSERT OR REPLACE INTO epoch VALUES(?, ?, ?)",
            root,
            epoch.trust_epoch,
            epoch.payload_sha256,
        )

    def _prepare(self) -> None:
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version > TABLES_VERSION:
            raise _unusable("a newer version of the program wrote it")
        self._connection.executescript(
            f"BEGIN IMMEDIATE;{_TABLES}PRAGMA user_version={TABLES_VERSION};COMMIT;"
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._turn:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    yield
                except BaseException:
                    self._connection.execute("ROLLBACK")
                    raise
                self._connection.execute("COMMIT")
            except sqlite3.Error as fault:
                raise _unusable(str(fault)) from None

    def _change(self, statement: str, *values: str | int) -> None:
        with self._transaction():
            self._connection.execute(statement, values)

    def _rows(self, statement: str, *values: str | int | None) -> list[tuple[Any, ...]]:
        try:
            with self._turn:
                return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as fault:
            raise _unusable(str(fault)) from None


class _Kept(MutableMapping[str, str]):
    """A plugin's keys and values in the file."""

    def __init__(self, state: PluginState, plugin: str) -> None:
        self._state = state
        self._plugin = plugin

    def __getitem__(self, key: str) -> str:
        rows = self._state._rows(  # noqa: SLF001 - this mapping is a view of that object
            "SELECT value FROM kept WHERE plugin=? AND key=?", self._plugin, key
        )
        if not rows:
            raise KeyError(key)
        return str(rows[0][0])

    def __setitem__(self, key: str, value: str) -> None:
        self._state._change(  # noqa: SLF001
            "INSERT OR REPLACE INTO kept VALUES(?, ?, ?)", self._plugin, key, value
        )

    def __delitem__(self, key: str) -> None:
        self._state._change(  # noqa: SLF001
            "DELETE FROM kept WHERE plugin=? AND key=?", self._plugin, key
        )

    def __iter__(self) -> Iterator[str]:
        rows = self._state._rows(  # noqa: SLF001
            "SELECT key FROM kept WHERE plugin=? ORDER BY key", self._plugin
        )
        return iter([str(row[0]) for row in rows])

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _installed(row: tuple[Any, ...]) -> Installed:
    plugin, version, package, envelope, at_ns = row
    return Installed(
        plugin=plugin,
        version=version,
        package=package,
        envelope=frozenset(envelope.split()),
        at_ns=at_ns,
    )


def _unusable(why: str) -> Exception:
    return ERRORS.error("PLUGIN_STATE_UNUSABLE", f"the state of plugins cannot be used: {why}")
