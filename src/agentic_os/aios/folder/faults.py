"""The refusals of the AIOS folder: stable codes, messages that never name a path.

The folder fails closed (design section 6). Codes are those of the DotAIOS convention
(docs/reference/aios.md), so that a caller of either program reads the same ones; the
words are ours. Three families:

- read faults, raised by the contained reader (``DOTAIOS_UNSAFE_READ_PATH`` ...);
- evidence faults, the same seen from search, skills and follow (``DOTAIOS_EVIDENCE_*``);
- the one working-context fault, which stands for every read fault of a projection.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from agentic_os.errors import AiosError, AiosUsageError

UNSAFE_PATH: Final = "DOTAIOS_UNSAFE_READ_PATH"
SOURCE_CHANGED: Final = "DOTAIOS_CONTEXT_SOURCE_CHANGED"
SOURCE_TOO_LARGE: Final = "DOTAIOS_CONTEXT_SOURCE_TOO_LARGE"
INVALID_UTF8: Final = "DOTAIOS_INVALID_UTF8"
NOT_REGULAR: Final = "DOTAIOS_NOT_REGULAR_FILE"
READ_UNAVAILABLE: Final = "DOTAIOS_BOUNDED_READ_UNAVAILABLE"
READ_FAILED: Final = "DOTAIOS_READ_FAILED"
BUDGET_EXCEEDED: Final = "DOTAIOS_PROJECTION_READ_BUDGET_EXCEEDED"
SIGNAL_FOLDER_LIMIT: Final = "DOTAIOS_SIGNAL_DIRECTORY_LIMIT_EXCEEDED"
SIGNAL_FILE_LIMIT: Final = "DOTAIOS_SIGNAL_FILE_LIMIT_EXCEEDED"
PROJECT_FOLDER_LIMIT: Final = "DOTAIOS_PROJECT_DIRECTORY_LIMIT_EXCEEDED"
CATALOG_INVALID: Final = "DOTAIOS_PROJECT_CATALOG_INVALID"
FRONT_MATTER_INVALID: Final = "DOTAIOS_FRONTMATTER_INVALID"

WORKING_CONTEXT_FAILED: Final = "DOTAIOS_WORKING_CONTEXT_READ_FAILED"
FOLDER_MISSING: Final = "DOTAIOS_FOLDER_MISSING"

EVIDENCE_PATH_UNSAFE: Final = "DOTAIOS_EVIDENCE_PATH_UNSAFE"
EVIDENCE_CHANGED: Final = "DOTAIOS_EVIDENCE_CHANGED"
EVIDENCE_INVALID_UTF8: Final = "DOTAIOS_EVIDENCE_INVALID_UTF8"
EVIDENCE_NOT_REGULAR: Final = "DOTAIOS_EVIDENCE_NOT_REGULAR_FILE"
EVIDENCE_UNAUTHORIZED: Final = "DOTAIOS_EVIDENCE_ROOT_UNAUTHORIZED"
EVIDENCE_FRONT_MATTER: Final = "DOTAIOS_EVIDENCE_FRONTMATTER_INVALID"
EVIDENCE_CONFIG: Final = "DOTAIOS_EVIDENCE_CONFIG_INVALID"
EVIDENCE_UNAVAILABLE: Final = "DOTAIOS_EVIDENCE_BOUNDED_READ_UNAVAILABLE"
EVIDENCE_FAILED: Final = "DOTAIOS_EVIDENCE_READ_FAILED"
EVIDENCE_FILE_TOO_LARGE: Final = "DOTAIOS_EVIDENCE_FILE_TOO_LARGE"
EVIDENCE_FOLDER_TOO_LARGE: Final = "DOTAIOS_EVIDENCE_DIRECTORY_TOO_LARGE"
EVIDENCE_BYTES: Final = "DOTAIOS_EVIDENCE_BYTE_BUDGET_EXCEEDED"
EVIDENCE_FILES: Final = "DOTAIOS_EVIDENCE_FILE_COUNT_EXCEEDED"
EVIDENCE_ENTRIES: Final = "DOTAIOS_EVIDENCE_ENTRY_COUNT_EXCEEDED"

POLICY_INVALID: Final = "DOTAIOS_MEMORY_POLICY_INVALID"
ARGUMENT_INVALID: Final = "DOTAIOS_ARGUMENT_INVALID"
AMBIGUOUS_PROJECT: Final = "DOTAIOS_AMBIGUOUS_PROJECT"
STATE_INVALID: Final = "DOTAIOS_PROJECT_STATE_INVALID"
SELECTOR_INVALID: Final = "DOTAIOS_PROJECT_SELECTOR_INVALID"
SELECTOR_UNKNOWN: Final = "DOTAIOS_PROJECT_SELECTOR_UNKNOWN"
SELECTOR_AMBIGUOUS: Final = "DOTAIOS_PROJECT_SELECTOR_AMBIGUOUS"

MESSAGES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        UNSAFE_PATH: (
            "a source of the AIOS folder is not a contained regular file",
            "put the file itself in the place of the link",
        ),
        SOURCE_CHANGED: ("a source of the AIOS folder changed while it was read", "try again"),
        SOURCE_TOO_LARGE: (
            "a source of the AIOS folder is larger than its limit",
            "split it, or move older material elsewhere",
        ),
        INVALID_UTF8: (
            "a source of the AIOS folder is not valid UTF-8",
            "save it as UTF-8",
        ),
        NOT_REGULAR: (
            "a source of the AIOS folder is not a regular file",
            "remove it, or put a regular file in its place",
        ),
        READ_UNAVAILABLE: (
            "this platform has no handle-bound file reads",
            "run on Linux or macOS",
        ),
        READ_FAILED: (
            "a source of the AIOS folder could not be read",
            "look at its permissions",
        ),
        BUDGET_EXCEEDED: ("the AIOS folder exceeds what one projection may read", ""),
        SIGNAL_FOLDER_LIMIT: ("the signals folder holds more entries than the limit", ""),
        SIGNAL_FILE_LIMIT: ("today and yesterday have more signal files than the limit", ""),
        PROJECT_FOLDER_LIMIT: ("the projects folder holds more entries than the limit", ""),
        CATALOG_INVALID: (
            "the project catalog of the AIOS folder is not valid",
            "give every project a slug as folder name and an id of its own",
        ),
        FRONT_MATTER_INVALID: (
            "a front matter of the AIOS folder is not valid",
            "correct the YAML between its --- lines; a value that holds a colon needs quotes",
        ),
        WORKING_CONTEXT_FAILED: (
            "the working context could not be read safely",
            "look for links, special files, oversized files or invalid UTF-8 in the AIOS folder",
        ),
        FOLDER_MISSING: (
            "there is no AIOS folder at the configured path",
            "pass --path, or set DOTAIOS_PATH to a folder that holds aios.json",
        ),
        EVIDENCE_PATH_UNSAFE: (
            "the request met a link or a path that leaves the AIOS folder",
            "put the file itself there, or move the link out of the searched part",
        ),
        EVIDENCE_CHANGED: ("the AIOS folder changed during the request", "try again"),
        EVIDENCE_INVALID_UTF8: ("a file of the AIOS folder is not valid UTF-8", "save it as UTF-8"),
        EVIDENCE_NOT_REGULAR: ("the request met something that is not a regular file", ""),
        EVIDENCE_UNAUTHORIZED: (
            "the vault lies outside the AIOS folder and was not granted",
            "see: agentic-os aios grant-vault; or search a scope other than vault",
        ),
        EVIDENCE_FRONT_MATTER: ("a front matter of the AIOS folder is not valid", ""),
        EVIDENCE_CONFIG: ("aios.json is not valid", "restore it from a copy, or correct the JSON"),
        EVIDENCE_UNAVAILABLE: (
            "this platform has no handle-bound file reads",
            "run on Linux or macOS",
        ),
        EVIDENCE_FAILED: ("the AIOS folder could not be read safely", ""),
        EVIDENCE_FILE_TOO_LARGE: (
            "a file is larger than one request may read",
            "split it, or move it out of the folder",
        ),
        EVIDENCE_FOLDER_TOO_LARGE: (
            "a folder holds more entries than one request may list",
            "move some of them elsewhere",
        ),
        EVIDENCE_BYTES: ("the folder holds more bytes than one request may read", ""),
        EVIDENCE_FILES: ("the folder holds more files than one request may read", ""),
        EVIDENCE_ENTRIES: ("the folder holds more entries than one request may read", ""),
        AMBIGUOUS_PROJECT: ("the project selector fits several projects", "use the stable id"),
        STATE_INVALID: ("the machine-local map of project checkouts is not valid", ""),
        SELECTOR_INVALID: ("the project selector is not a slug or a stable id", ""),
        SELECTOR_UNKNOWN: ("no project of the AIOS folder answers to the selector", ""),
        SELECTOR_AMBIGUOUS: ("the project selector fits several projects", "use the stable id"),
    }
)

_AS_EVIDENCE: Mapping[str, str] = MappingProxyType(
    {
        UNSAFE_PATH: EVIDENCE_PATH_UNSAFE,
        SOURCE_CHANGED: EVIDENCE_CHANGED,
        SOURCE_TOO_LARGE: EVIDENCE_FILE_TOO_LARGE,
        INVALID_UTF8: EVIDENCE_INVALID_UTF8,
        NOT_REGULAR: EVIDENCE_NOT_REGULAR,
        READ_UNAVAILABLE: EVIDENCE_UNAVAILABLE,
        READ_FAILED: EVIDENCE_FAILED,
        FRONT_MATTER_INVALID: EVIDENCE_FRONT_MATTER,
    }
)


def fault(code: str, *, cause: AiosError | None = None) -> AiosError:
    """Make the error of ``code`` with its fixed message and hint.

    Args:
        code: one of this module.
        cause: the fault that it stands for; its file, line and mend are carried over.
    """
    message, hint = MESSAGES[code]
    made = AiosError(message, code=code, hint=hint if cause is None else cause.hint or hint)
    if cause is not None:
        made.locate(cause.path, cause.line)
    return made


def fault_at(code: str, path: str, line: int | None = None) -> AiosError:
    """Make the error of ``code`` for one file of the folder."""
    made = fault(code)
    made.locate(path, line)
    return made


def argument_fault(message: str, *, code: str = ARGUMENT_INVALID, hint: str = "") -> AiosUsageError:
    """Make the error of a request that is malformed (exit 64, like any wrong command line)."""
    return AiosUsageError(message, code=code, hint=hint)


def as_evidence(error: AiosError) -> AiosError:
    """Translate a read fault into the evidence family; other errors pass unchanged."""
    code = _AS_EVIDENCE.get(error.code)
    return error if code is None else fault(code, cause=error)
