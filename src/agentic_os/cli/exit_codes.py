"""Exit codes of a command that ends well, although not with a plain yes."""

from typing import Final

INCOMPLETE: Final = 2
"""An answer that is incomplete, a refusal, or a witness that could not be heard."""
FINDINGS: Final = 3
"""A check or a verification with findings, safe mode, a refusal by a witness."""
