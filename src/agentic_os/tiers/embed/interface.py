"""What an embedder is: a name, a width, a window, a fingerprint, and two ways to encode.

Invariants (design decision 14):

- Vectors are float32 rows of length one, so that a dot product is the cosine.
- Two embedders with one fingerprint give vectors that may stand in one index. The fingerprint
  covers everything that shapes a vector: weights, tokenizer, pooling, prompts and window.
  Vectors of two fingerprints are never mixed.
- A text longer than the window is cut at the window; nothing is averaged behind the caller's
  back.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

Pooling = Literal["mean", "cls", "max", "module"]
"""How token vectors become one; ``module``: the sentence-transformers modules decide."""

SHORT_FINGERPRINT_CHARS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that shapes a vector.

    ``weights_sha256`` and ``tokenizer_sha256`` are lower-case hex. ``max_tokens`` counts the
    special tokens too. The prompts stand before the text, separated by nothing.
    """

    weights_sha256: str
    tokenizer_sha256: str
    pooling: Pooling
    normalize: bool
    max_tokens: int
    document_prompt: str = ""
    query_prompt: str = ""

    @property
    def fingerprint(self) -> str:
        """SHA-256, lower-case hex, over the fields as JSON with sorted keys."""
        text = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()


class Embedder(Protocol):
    """Turns texts into vectors that can be compared; safe to use from several threads."""

    @property
    def name(self) -> str:
        """The model's name, as ``model list`` shows it."""

    @property
    def dimension(self) -> int:
        """Components of a vector."""

    @property
    def max_tokens(self) -> int:
        """The window in tokens, special tokens included; longer texts are cut."""

    @property
    def fingerprint(self) -> str:
        """SHA-256, lower-case hex, of what shapes a vector; see ``Recipe``."""

    def encode_documents(self, texts: Sequence[str]) -> "Vectors":
        """Encode passages; one row a text, in the order given.

        Raises:
            SemanticIndexError: the model could not be run.
        """

    def encode_query(self, text: str) -> "Vectors":
        """Encode one question as a vector of ``dimension`` components.

        Raises:
            SemanticIndexError: the model could not be run.
        """
