"""Follow references (``ds1.``): a locator of one version of one source.

A reference is derived from an accepted read and is no permission: ``aios.follow.request`` checks
everything again. Text form: ``ds1.`` and base64url (no padding) of compact JSON
with the keys ``v, source, scope, project, root, file, digest, offset`` in that order.
Hashes are lower-case hex SHA-256 over JavaScript's number texts (DotAIOS convention,
follow references).
"""

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass, replace
from typing import Final, Literal

from agentic_os.aios.folder.eligibility import is_skipped
from agentic_os.aios.folder.json_text import JsonObject, compact, number_text, parse_object
from agentic_os.aios.folder.layer import Stamp
from agentic_os.aios.folder.reader import SourceRead
from agentic_os.text.budget import utf16_length

ReferenceScope = Literal["shared", "project"]
FollowReason = Literal["source_too_large", "source_reference_too_large"]

REFERENCE_CHARS: Final = 1536
"""UTF-16 units of a reference, with the largest offset that its source can have."""
SOURCE_CHARS: Final = 512
"""UTF-16 units of a source path."""
HEADER_SOURCE_BYTES: Final = 1024 * 1024
"""Size of a context header or a project README that can be followed."""
SOURCE_BYTES: Final = 4 * 1024 * 1024
"""Size of any other source that can be followed."""
MAX_OFFSET_BYTES: Final = 2**53 - 1

_PREFIX: Final = "ds1."
_REFERENCE_VERSION: Final = 1
_KEYS: Final = ("v", "source", "scope", "project", "root", "file", "digest", "offset")
_SHAPE = re.compile(r"ds1\.[A-Za-z0-9_-]+")
_HASH = re.compile(r"[a-f0-9]{64}")
_DIGEST = re.compile(r"sha256:[a-f0-9]{64}")
_UNSAFE = re.compile(r"[\\\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_PLACE = re.compile(r"(?:context/|projects/[^/]+/)")
_HEADER = re.compile(
    r"context/(?:identity|priorities|work)\.md|projects/[^/]+/README\.md", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a reference says: which source, in which scope, in which version, from where."""

    source: str
    scope: ReferenceScope
    project: str | None
    root: str
    file: str
    digest: str
    offset: int

    def at(self, offset: int) -> "Reference":
        """Return the reference to another byte offset of the same version."""
        return replace(self, offset=offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEvidence:
    """Where an excerpt comes from and how to follow it; ``follow`` or ``reason`` is set."""

    source: str
    version: str
    follow: str | None
    reason: FollowReason | None

    @property
    def provenance(self) -> str:
        """The readable line beneath an excerpt."""
        return f"> Source: {self.source} (excerpt; {self.version})"

    def as_json(self) -> JsonObject:
        """Return the JSON form, ``reason`` only where there is one."""
        value: JsonObject = {
            "source": self.source,
            "version": self.version,
            "coverage": {"kind": "excerpt"},
            "follow": self.follow,
        }
        if self.reason is not None:
            value["reason"] = self.reason
        return value


def root_hash(stamp: Stamp) -> str:
    """Hash the identity of the root folder: device and inode, exact digits."""
    return _sha256(f"{stamp.device}:{stamp.inode}")


def file_hash(stamp: Stamp) -> str:
    """Hash the generation of a file: device, inode, size, mtime and ctime in milliseconds."""
    numbers: tuple[float, ...] = (
        stamp.device,
        stamp.inode,
        stamp.size,
        _milliseconds(stamp.mtime_ns),
        _milliseconds(stamp.ctime_ns),
    )
    return _sha256(":".join(number_text(number) for number in numbers))


def digest_of(data: bytes) -> str:
    """Return the version of a content: ``sha256:`` and the hex hash of its bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def is_eligible(source: str) -> bool:
    """Whether a path names Markdown of ``context/`` or of a project that can be followed."""
    return (
        utf16_length(source) <= SOURCE_CHARS
        and _UNSAFE.search(source) is None
        and source.lower().endswith(".md")
        and all(part not in {"", ".", ".."} and not is_skipped(part) for part in source.split("/"))
        and _PLACE.match(source) is not None
    )


def byte_limit(source: str) -> int:
    """Return the size up to which ``source`` can be followed."""
    return HEADER_SOURCE_BYTES if _HEADER.fullmatch(source) else SOURCE_BYTES


def encode(reference: Reference) -> str:
    """Write a reference."""
    document: JsonObject = {
        "v": _REFERENCE_VERSION,
        "source": reference.source,
        "scope": reference.scope,
        "project": reference.project,
        "root": reference.root,
        "file": reference.file,
        "digest": reference.digest,
        "offset": reference.offset,
    }
    encoded = base64.urlsafe_b64encode(compact(document).encode("utf-8"))
    return _PREFIX + encoded.decode("ascii").rstrip("=")


def decode(text: str) -> Reference:
    """Read a reference; only the canonical text of a valid one is accepted.

    Raises:
        ValueError: it is not one.
    """
    if len(text) > REFERENCE_CHARS or _SHAPE.fullmatch(text) is None:
        raise ValueError("not a reference")
    body = text.removeprefix(_PREFIX)
    try:
        raw = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        raise ValueError("not a reference") from None
    document = parse_object(raw)
    if document is None or tuple(document) != _KEYS or document["v"] != _REFERENCE_VERSION:
        raise ValueError("not a reference")
    reference = _validated(document)
    if encode(reference) != text:
        raise ValueError("not a canonical reference")
    return reference


def evidence_of(
    *, source: str, read: SourceRead, root: str, project_id: str | None
) -> SourceEvidence | None:
    """Make the evidence of an excerpt of ``read``; ``None`` where a source has none.

    ``context/`` gives a shared reference, a project with an id a project reference.
    """
    in_context = source.startswith("context/")
    if not is_eligible(source) or (not in_context and project_id is None):
        return None
    version = digest_of(read.data)
    size = len(read.data)
    if size > byte_limit(source):
        return SourceEvidence(
            source=source, version=version, follow=None, reason="source_too_large"
        )
    reference = Reference(
        source=source,
        scope="shared" if in_context else "project",
        project=None if in_context else project_id,
        root=root,
        file=file_hash(read.stamp),
        digest=version,
        offset=0,
    )
    # The digits of a later page's offset must fit as well, or paging would get stuck.
    if len(encode(reference.at(size))) > REFERENCE_CHARS:
        return SourceEvidence(
            source=source, version=version, follow=None, reason="source_reference_too_large"
        )
    return SourceEvidence(source=source, version=version, follow=encode(reference), reason=None)


def _validated(document: JsonObject) -> Reference:
    source, scope, project = document["source"], document["scope"], document["project"]
    root, file, digest = document["root"], document["file"], document["digest"]
    offset = document["offset"]
    if (
        not (isinstance(source, str) and is_eligible(source))
        or not (isinstance(root, str) and _HASH.fullmatch(root))
        or not (isinstance(file, str) and _HASH.fullmatch(file))
        or not (isinstance(digest, str) and _DIGEST.fullmatch(digest))
        or not (isinstance(offset, int) and not isinstance(offset, bool))
        or not 0 <= offset <= MAX_OFFSET_BYTES
        or not (project is None or isinstance(project, str))
    ):
        raise ValueError("not a reference")
    if scope == "shared" and project is None and source.startswith("context/"):
        kind: ReferenceScope = "shared"
    elif scope == "project" and project is not None and source.startswith("projects/"):
        kind = "project"
    else:
        raise ValueError("not a reference")
    return Reference(
        source=source,
        scope=kind,
        project=project,
        root=root,
        file=file,
        digest=digest,
        offset=offset,
    )


def _milliseconds(nanoseconds: int) -> float:
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return seconds * 1000 + rest / 1e6


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()
