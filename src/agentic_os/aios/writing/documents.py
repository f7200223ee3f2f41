"""The documents that the writing verbs print with ``--json``, by command."""

from typing import Final

from agentic_os.aios.writing.plan import ChangeData

CHANGE_DOCUMENTS: Final = dict.fromkeys(
    (
        "aios-brief",
        "aios-daily",
        "aios-import",
        "aios-init",
        "aios-memory-promote",
        "aios-memory-skills",
        "aios-skills",
        "aios-undo",
    ),
    ChangeData,
)
