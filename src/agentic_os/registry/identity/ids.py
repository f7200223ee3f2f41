"""Project ids. Pure.

Design decision 3: ``<slug>-<8 hex>`` of the normalised git remote and the sub-path in
the worktree; without a remote, of the path of the main checkout, so that its linked
worktrees have the same id. A submodule has its own remote, or its own path, and is
never a part of its super-project.

The slug names; the digest decides. Neither depends on the project's name, which anyone
may change. Keys are compared whole: two that share eight digits stay two projects.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agentic_os.text.secrets.redaction import Redactor

ID_DIGITS = 8
LONG_ID_DIGITS = 16
MAX_SLUG_CHARS = 40
FALLBACK_SLUG = "project"

_REDACTOR = Redactor()  # no allow-list: an id does not change with the settings
_UNFIT = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ProjectKey:
    """What makes a project itself: equal keys are one project.

    ``origin`` is the normalised remote, or the path of the main checkout or folder;
    ``subpath`` the POSIX path below it, empty for the top.
    """

    remote: bool
    origin: str
    subpath: str = ""

    @property
    def text(self) -> str:
        """The text that is hashed.

        With a remote, the separator keeps origin and sub-path apart. Without one it is
        the project's path alone: a folder keeps its id when git is initialised above it.
        """
        whole = f"{self.origin}/{self.subpath}"
        return whole if self.remote else whole.rstrip("/") or "/"

    @property
    def digest(self) -> str:
        """Lower-case hex SHA-256 of ``text``."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogateescape")).hexdigest()

    @property
    def slug(self) -> str:
        """The last component of the sub-path, else of the origin, as a slug."""
        last = (self.subpath or self.origin).rstrip("/").rpartition("/")[2]
        return slug_of(_REDACTOR.redact(last).text)


def slug_of(text: str) -> str:
    """Return text as ``a-z``, ``0-9`` and single inner hyphens; never empty."""
    plain = unicodedata.normalize("NFKD", text[: MAX_SLUG_CHARS * 4])
    ascii_text = plain.encode("ascii", "ignore").decode("ascii").lower()
    slug = _UNFIT.sub("-", ascii_text).strip("-")[:MAX_SLUG_CHARS].rstrip("-")
    return slug or FALLBACK_SLUG


def assign_ids(keys: Iterable[ProjectKey]) -> Mapping[ProjectKey, str]:
    """Give every key its id; keys that would share one are told apart by a longer digest.

    The first key in order keeps the short id.
    """
    ids: dict[ProjectKey, str] = {}
    taken: set[str] = set()
    for key in sorted(set(keys)):
        short = f"{key.slug}-{key.digest[:ID_DIGITS]}"
        chosen = short if short not in taken else f"{key.slug}-{key.digest[:LONG_ID_DIGITS]}"
        ids[key] = chosen
        taken.add(chosen)
    return ids


def is_long(identifier: str, key: ProjectKey) -> bool:
    """Whether an id was lengthened because another key has the short one."""
    return identifier == f"{key.slug}-{key.digest[:LONG_ID_DIGITS]}"
