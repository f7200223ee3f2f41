"""What a sync tool leaves where two machines wrote: which documents say the same, and which stay.

Pure rules. Documents of one source are compared by what their turns say. One that continues another
is the same conversation: it stays once, under the identity of its first capture, with the longest
text. Anything else stays as a conversation of its own; a copy of a document that went another way
gets an id of its own, the same one on every machine. The tool's own names for a copy ("conflicted
copy", ".sync-conflict-", " 2") do not matter: a document whose name is not the one that its front
matter gives it is a copy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from agentic_os.aios.folder.tree import SESSION_INDEX, SESSIONS
from agentic_os.aios.sessions.codec import Session, sha256
from agentic_os.aios.sessions.store import portable

Said = Sequence[tuple[str, str]]

_INDEX_STEM, _INDEX_SUFFIX = SESSION_INDEX.removeprefix(f"{SESSIONS}/").split(".")
_ID_CHARS: Final = 8
_SHORT_CHARS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What the documents come to.

    Args:
        documents: what lies under each path in the end.
        placed: the paths of those that are written or grow.
        redundant: the files whose words another one holds.
        undecided: copies that are left where they are.
    """

    documents: dict[str, Session]
    placed: tuple[str, ...]
    redundant: tuple[str, ...]
    undecided: tuple[str, ...]


def settle(found: Mapping[str, Session], home: str | None) -> Settlement:
    """Decide which of the documents stay, by path, and under which identity."""
    chains: dict[str, list[_Chain]] = {}
    undecided: list[str] = []
    for path, session in sorted(found.items(), key=_first_captured):
        alike = chains.setdefault(_source(session, home), [])
        if any(chain.takes(path, session) for chain in alike):
            continue
        if session.operation_id is not None and path != session.path:
            undecided.append(path)  # a summary is what its request says; nobody else may decide
            continue
        alike.append(_Chain(session=session, said=_said(session), paths=[path]))
    documents: dict[str, Session] = {}
    every = [chain for alike in chains.values() for chain in alike]
    every.sort(key=lambda chain: chain.session.path not in chain.paths)
    for chain in every:
        session = chain.session
        if session.path in documents:
            session = _renamed(session, documents)
        documents[session.path] = session
    paths = [path for chain in every for path in chain.paths]
    return Settlement(
        documents=documents,
        placed=tuple(sorted(at for at, one in documents.items() if found.get(at) != one)),
        redundant=tuple(sorted(path for path in paths if path not in documents)),
        undecided=tuple(undecided),
    )


def continues(before: Said, said: Said) -> bool:
    """Whether what was said goes on from before; the last turn of before may have grown as well.

    >>> continues([("user", "a")], [("user", "a"), ("assistant", "b")])
    True
    >>> continues([("user", "a")], [("user", "ab")])
    True
    >>> continues([("user", "a"), ("assistant", "b")], [("user", "a")])
    False
    """
    at = len(before) - 1
    return said[: len(before)] == before or (
        0 <= at < len(said)
        and before[:at] == said[:at]
        and before[at][0] == said[at][0]
        and said[at][1].startswith(before[at][1])
    )


def is_index_copy(name: str) -> bool:
    """Whether a name beside the index is that of a copy of it.

    >>> is_index_copy("index 2.jsonl"), is_index_copy("index.jsonl")
    (True, False)
    """
    return (
        name.startswith(_INDEX_STEM)
        and name.endswith(f".{_INDEX_SUFFIX}")
        and f"{SESSIONS}/{name}" != SESSION_INDEX
    )


@dataclass(slots=True, kw_only=True)
class _Chain:
    """One conversation: the identity of its first capture, the longest text, its files."""

    session: Session
    said: Said
    paths: list[str] = field(default_factory=list)

    def takes(self, path: str, session: Session) -> bool:
        """Take a document that says the same, or less, or more."""
        said = _said(session)
        if not continues(said, self.said):
            if not continues(self.said, said):
                return False
            self.session = replace(
                self.session,
                title=self.session.title or session.title,
                body=session.body,
                turns=session.turns,
            )
            self.said = said
        self.paths.append(path)
        return True


def _first_captured(item: tuple[str, Session]) -> tuple[str, str, bool, str]:
    path, session = item
    return (session.captured_at, session.session_id, path != session.path, path)


def _source(session: Session, home: str | None) -> str:
    """Name what documents must share to be compared: the source, else the very text."""
    if session.source_path is None or session.turns == 0:
        return f"{session.operation_id or ''}\n{session.content_hash}"
    return portable(session.source_path, home)


def _said(session: Session) -> Said:
    return session.said() if session.turns else (("", session.body),)


def _renamed(session: Session, documents: Mapping[str, Session]) -> Session:
    """Give a session the first free id that its old one and its words lead to."""
    taken = {one.session_id[:_SHORT_CHARS] for one in documents.values()}
    seed = f"{session.session_id} {session.content_hash}"
    identifier = sha256(seed)[:_ID_CHARS]
    while identifier[:_SHORT_CHARS] in taken:
        seed += " again"
        identifier = sha256(seed)[:_ID_CHARS]
    return replace(session, session_id=identifier)
