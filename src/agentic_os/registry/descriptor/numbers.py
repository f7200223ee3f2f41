"""Whole numbers as descriptors write them.

Producer contract, section 3: a numeric string and an integral float are tolerated; a
boolean, a fraction, an infinity and a word are malformed, never coerced.
"""

import re

from agentic_os.registry.descriptor.yaml_nodes import Scalar

MAX_NUMBER_CHARS = 24
_WHOLE = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")


def whole_number(value: Scalar | None) -> int | None:
    """Return the number that a scalar writes in decimal digits, or nothing."""
    if value is None or value.kind == "boolean" or len(value.text) > MAX_NUMBER_CHARS:
        return None
    match = _WHOLE.fullmatch(value.text.strip())
    return int(match[1]) if match else None
