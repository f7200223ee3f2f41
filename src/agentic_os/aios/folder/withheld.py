"""What is held back from AIOS text, and what is only counted (design section 6).

AIOS text stays byte-exact: a section, row, snippet or page that holds a secret is left
out or refused and counted, never rewritten. Control, bidi and invisible characters stay
and are counted.
"""

from agentic_os.text.fencing import visible
from agentic_os.text.secrets.redaction import Redactor

_SPELT = "<U+"


class SecretGuard:
    """Finds text that holds a secret.

    Args:
        redactor: the rules, with the person's allow-list; the default allows nothing.
    """

    __slots__ = ("_redactor",)

    def __init__(self, redactor: Redactor | None = None) -> None:
        """Keep the rules."""
        self._redactor = Redactor() if redactor is None else redactor

    def holds_secret(self, *texts: str) -> bool:
        """Whether any of ``texts`` holds a secret."""
        return any(text and self._redactor.redact(text).findings for text in texts)

    def secret_rule(self, text: str) -> str | None:
        """Return the rule of the first secret in ``text``."""
        findings = self._redactor.redact(text).findings
        return findings[0].rule if findings else None

    def redacted(self, text: str) -> tuple[str, int]:
        """Return ``text`` with its secrets replaced, and how many there were."""
        found = self._redactor.redact(text)
        return found.text, len(found.findings)

    def secret_lines(self, text: str) -> frozenset[int]:
        """Return the lines of ``text``, from 1, that a redaction would change."""
        redacted = self._redactor.redact(text)
        if not redacted.findings:
            return frozenset()
        pairs = zip(text.split("\n"), redacted.text.split("\n"), strict=True)
        changed = {at for at, (before, after) in enumerate(pairs, 1) if before != after}
        return frozenset(changed | {finding.line for finding in redacted.findings})


def hidden_characters(text: str) -> int:
    """Count the control, bidi and invisible characters that a reader would not see."""
    return visible(text).count(_SPELT) - text.count(_SPELT)
