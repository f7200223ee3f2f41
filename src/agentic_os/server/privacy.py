"""The last redaction of fleet answers, whatever was done before (design section 6).

Every text of an answer has its hidden characters spelt out, its secrets replaced, and the person's
home folder named ``~``: paths that the server itself states are relative to their project, but a
project's own text may quote a place below the home folder, and with it the user name. Texts of the
AIOS folder have a rule of their own and never pass here.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentic_os.aggregate.workspace import Person
from agentic_os.errors import SettingsError
from agentic_os.text.fencing import visible
from agentic_os.text.secrets.redaction import Redactor
from agentic_os.text.secrets.values_of import rewritten


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRedaction:
    """What is kept from answers to one person."""

    redactor: Redactor
    home: Path

    def value(self, value: Any) -> Any:
        """Clean every text of a JSON value, keys included."""
        return rewritten(value, self.text)

    def text(self, text: str) -> str:
        """Clean one text."""
        shown = self.redactor.redact(visible(text)).text
        home = str(self.home)
        if self.home == self.home.parent or home not in shown:
            return shown
        # Not within a longer name: /home/ada is not in /home/adam, nor /root in src/root.
        return re.sub(rf"(?<![\w.~-]){re.escape(home)}(?!\w)", "~", shown)


def last_redaction(person: Person) -> LastRedaction:
    """Make the redaction for a person, with their allow-list if it can be read."""
    from agentic_os.files.places import places_from
    from agentic_os.settings.location import load_settings

    try:
        allowed = load_settings(places_from(person.environ), home=person.home).redaction_allow
    except SettingsError:
        allowed = frozenset()
    return LastRedaction(redactor=Redactor(allowed), home=person.home)
