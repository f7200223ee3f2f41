"""The error tree: one base class, one family a room, stable codes.

::

    AgenticOSError                 exit 1
    |-- UsageError                 exit 64  the command line or a request is malformed
    |-- SettingsError              exit 1   projects.toml or another file of the person's is wrong
    |-- FilesError                 exit 1   a file could not be read or published safely
    |-- RegistryError              exit 1   roots, projects, names
    |   |-- RootMissingError       exit 1   a root that was named does not exist
    |   `-- UnknownProjectError    exit 1   no project answers to a name; near names are listed
    |-- StoreError                 exit 1   the derived store cannot be used
    |   |-- StoreLockedError       exit 1   another process is writing it
    |   `-- StoreTooOldError       exit 1   this machine's SQLite lacks what the store needs
    |-- GraphError                 exit 1   the code graph cannot answer
    |-- SemanticIndexError         exit 1   the semantic index or its model cannot be used
    |-- IncompleteError            exit 2   evidence that was asked for could not be read
    |-- AiosError                  exit 1   the AIOS folder fails closed
    |   `-- AiosUsageError         exit 64  a request to it is malformed; the folder was not asked
    |-- CryptoError                exit 1   keys, signatures, canonical form
    |-- LedgerError                exit 1   the identity ledger refuses
    |   `-- VerificationError      exit 3   a ledger, receipt or proof does not verify
    |-- WitnessError               exit 1   the witness service or its client
    |   `-- WitnessRefusedError    exit 3   a witness refused a bookmark
    |       `-- WitnessConflictError exit 3 what a witness holds contradicts the ledger
    |-- IdentityError              exit 1   boot, safe mode
    |-- ModelError                 exit 1   a language-model provider
    |-- PluginError                exit 1   a plugin cannot be installed or run
    |   `-- PackageRefusedError    exit 3   a package does not verify
    |-- ServerError                exit 1   MCP server, hooks, client set-up
    `-- OperationInterruptedError exit 130 the person pressed Ctrl-C

Every error carries a ``code`` (stable, UPPER_SNAKE; a room may narrow its family's
code per instance), an ``exit_code`` (design decision 13) and a ``hint`` that says
what to do next. Messages never carry an absolute path: name things relative to a
root, or by project id. Where one file is at fault, ``path`` (relative) and ``line`` name it
beside the message.
"""

from collections.abc import Iterator, Mapping
from typing import ClassVar, NamedTuple


class AgenticOSError(Exception):
    """Base of every error that a person is meant to read.

    Args:
        message: what happened, in one sentence, without an absolute path.
        code: a narrower stable code than the class's own.
        hint: what the reader can do next; empty when there is nothing to do.
    """

    default_code: ClassVar[str] = "AGENTIC_OS_ERROR"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, code: str | None = None, hint: str = "") -> None:
        """Keep the message, the code and the hint."""
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.hint = hint
        self.path = ""
        self.line: int | None = None

    def locate(self, path: str, line: int | None = None) -> None:
        """Name the file that is at fault, relative to a root; the first place named stays."""
        if not self.path:
            self.path = path
            self.line = line if self.line is None else self.line


class UsageError(AgenticOSError):
    """The command line or a request is malformed."""

    default_code = "USAGE"
    exit_code = 64


class SettingsError(AgenticOSError):
    """A file on the person's side (projects.toml, grants) is wrong."""

    default_code = "SETTINGS_INVALID"


class FilesError(AgenticOSError):
    """A file could not be read or published safely; see ``agentic_os.files``."""

    default_code = "FILE_UNREADABLE"


class RegistryError(AgenticOSError):
    """Roots, projects and their names."""

    default_code = "REGISTRY_ERROR"


class RootMissingError(RegistryError):
    """A root that was named does not exist or is not a folder."""

    default_code = "ROOT_MISSING"


class UnknownProjectError(RegistryError):
    """No project, or more than one, answers to a name."""

    default_code = "PROJECT_UNKNOWN"


class StoreError(AgenticOSError):
    """The derived store cannot be used."""

    default_code = "STORE_UNUSABLE"


class StoreLockedError(StoreError):
    """Another process is writing the store."""

    default_code = "STORE_LOCKED"


class StoreTooOldError(StoreError):
    """The SQLite of this machine lacks what the store needs."""

    default_code = "SQLITE_TOO_OLD"


class GraphError(AgenticOSError):
    """The code graph cannot answer."""

    default_code = "GRAPH_ERROR"


class SemanticIndexError(AgenticOSError):
    """The semantic index or its embedding model cannot be used."""

    default_code = "INDEX_ERROR"


class IncompleteError(AgenticOSError):
    """Evidence that was asked for could not be read."""

    default_code = "INCOMPLETE"
    exit_code = 2


class AiosError(AgenticOSError):
    """The AIOS folder fails closed."""

    default_code = "AIOS_ERROR"


class AiosUsageError(AiosError):
    """A request to the AIOS folder is malformed; said before the folder is looked at."""

    default_code = "AIOS_USAGE"
    exit_code = 64


class CryptoError(AgenticOSError):
    """Keys, signatures, canonical form."""

    default_code = "CRYPTO_ERROR"


class LedgerError(AgenticOSError):
    """The identity ledger refuses."""

    default_code = "LEDGER_ERROR"


class VerificationError(LedgerError):
    """A ledger, a receipt or a proof does not verify."""

    default_code = "VERIFICATION_FAILED"
    exit_code = 3


class WitnessError(AgenticOSError):
    """The witness service or its client."""

    default_code = "WITNESS_ERROR"


class WitnessRefusedError(WitnessError):
    """A witness refused a bookmark."""

    default_code = "WITNESS_REFUSED"
    exit_code = 3


class WitnessConflictError(WitnessRefusedError):
    """What a witness holds contradicts the ledger, or what it signed before."""

    default_code = "REFUSED_CONFLICT"


class IdentityError(AgenticOSError):
    """Boot and safe mode of the identity."""

    default_code = "IDENTITY_ERROR"


class ModelError(AgenticOSError):
    """A language-model provider."""

    default_code = "MODEL_ERROR"


class PluginError(AgenticOSError):
    """A plugin cannot be installed or run."""

    default_code = "PLUGIN_ERROR"


class PackageRefusedError(PluginError):
    """A plugin's package does not verify; ``reason`` is the bare word of the package format."""

    default_code = "PLUGIN_REFUSED"
    exit_code = 3

    @property
    def reason(self) -> str:
        """The code as the package format spells it."""
        return self.code.removeprefix("PLUGIN_")


class ServerError(AgenticOSError):
    """The MCP server, its hooks and the client set-up."""

    default_code = "SERVER_ERROR"


class OperationInterruptedError(AgenticOSError):
    """The person interrupted a command."""

    default_code = "INTERRUPTED"
    exit_code = 130


class ErrorRow(NamedTuple):
    """One code of a room: its family, what it means, and what to do about it.

    The hint is empty where it depends on the case; then whoever raises it says what to do.
    """

    code: str
    family: type[AgenticOSError]
    meaning: str
    hint: str = ""


class ErrorTable(Mapping[str, ErrorRow]):
    """The errors of one room, in the order in which the reference page prints them."""

    def __init__(
        self,
        *rows: tuple[str, type[AgenticOSError], str] | tuple[str, type[AgenticOSError], str, str],
    ) -> None:
        """Build the table from ``(code, family, meaning[, hint])`` rows."""
        self._rows = {row[0]: ErrorRow(*row) for row in rows}

    def __getitem__(self, code: str) -> ErrorRow:
        """Return the row of a code."""
        return self._rows[code]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the codes."""
        return iter(self._rows)

    def __len__(self) -> int:
        """Return the number of codes."""
        return len(self._rows)

    def error(self, code: str, message: str = "", *, hint: str = "") -> AgenticOSError:
        """Build an error; family and hint come from the table.

        Args:
            code: must stand in the table.
            message: what happened; the meaning of the code by default.
            hint: what to do, for a code whose row leaves it to the case.
        """
        row = self._rows[code]
        return row.family(message or row.meaning, code=code, hint=row.hint or hint)
