"""One Unicode form for comparing: what looks the same is the same.

A file system or a keyboard may spell one character in two ways, ``é`` as one code point or as
two. Names, links and words are compared in the composed form (NFC); what is shown stays as it is.

>>> composed("Cafe\N{COMBINING ACUTE ACCENT}") == "Café", "Café" == composed("Café")
(True, True)
>>> folded("CAFE\N{COMBINING ACUTE ACCENT}")
'café'
"""

import re
import unicodedata

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
"""A control character, C0 or C1."""
SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character, which no encoding holds."""
CONTROL_OR_SURROGATE = re.compile(f"{CONTROL.pattern}|{SURROGATE.pattern}")


def composed(text: str) -> str:
    """Return a text in the composed form."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def folded(text: str) -> str:
    """Return a text in the composed form and without case, for comparing."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
