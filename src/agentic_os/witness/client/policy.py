"""Quorum policy files: which logs and witnesses are trusted, and how many must agree.

The format is C2SP tlog-policy, whole: ``log <vkey> [<url>]``, ``witness <name> <vkey>
[<url>]``, ``group <name> all|any|<k> <member>…``, ``quorum <name>|none``; names are defined
before they are used, belong to one group at most, and public keys appear once.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from agentic_os.crypto.canonical.texts import sha256_text
from agentic_os.crypto.tlog.note import SignedNote, open_note
from agentic_os.crypto.tlog.note_keys import NoteKey, parse_vkey
from agentic_os.errors import AgenticOSError, CryptoError
from agentic_os.witness.codes import ERRORS

POLICY_BYTES: Final = 1024 * 1024
POLICY_ENTRIES: Final = 256
"""Logs, witnesses and groups together; the specification asks for 32 of each."""
NO_QUORUM: Final = "none"

_LOG_WORDS: Final = (2, 3)
_WITNESS_WORDS: Final = (3, 4)
_GROUP_WORDS: Final = 4
_FORBIDDEN: Final = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyLog:
    """A log whose checkpoints are accepted; its origin is the key's name."""

    key: NoteKey
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyWitness:
    """A witness: the name that groups use, its cosignature key and its submission prefix."""

    name: str
    key: NoteKey
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyGroup:
    """A group that agrees when ``threshold`` of its members do."""

    name: str
    threshold: int
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumPolicy:
    """A policy file as values."""

    logs: tuple[PolicyLog, ...]
    witnesses: tuple[PolicyWitness, ...]
    groups: tuple[PolicyGroup, ...]
    quorum: str

    @property
    def witness_keys(self) -> tuple[NoteKey, ...]:
        """The cosignature keys."""
        return tuple(witness.key for witness in self.witnesses)

    @property
    def digest(self) -> str:
        """The ``sha256:`` name of what is trusted: keys, groups and quorum, without addresses.

        A witness may move to another address; a client that remembers the digest still notices
        when a key, a threshold or the quorum is another one.
        """
        return sha256_text(self._text(with_urls=False))

    @property
    def document(self) -> bytes:
        """The policy as a file; reading it gives the same policy."""
        return self._text(with_urls=True)

    def _text(self, *, with_urls: bool) -> bytes:
        lines = [
            *(("log", one.key.vkey, one.url) for one in self.logs if with_urls),
            *(("witness", one.name, one.key.vkey, one.url) for one in self.witnesses),
            *(("group", one.name, str(one.threshold), *one.members) for one in self.groups),
            ("quorum", self.quorum),
        ]
        if not with_urls:
            lines = [(*line[:3], None) if line[0] == "witness" else line for line in lines]
        texts = (" ".join(word for word in line if word is not None) for line in lines)
        return "".join(f"{text}\n" for text in texts).encode("utf-8", "surrogateescape")

    def agrees(self, cosigners: Collection[str]) -> bool:
        """Return whether these vkeys are a quorum that holds at least one witness."""
        return bool(cosigners) and self.is_satisfied(cosigners)

    def has_cosigned(self, note: SignedNote) -> bool:
        """Return whether such a quorum has cosigned a note."""
        try:
            return self.agrees({one.key.vkey for one in open_note(note, self.witness_keys)})
        except CryptoError:
            return False

    def is_satisfied(self, cosigners: Collection[str]) -> bool:
        """Whether cosignatures of the keys with these vkeys make a quorum."""
        agreed = {item.name for item in self.witnesses if item.key.vkey in cosigners}
        for group in self.groups:  # members stand before their group
            if len(agreed.intersection(group.members)) >= group.threshold:
                agreed.add(group.name)
        return self.quorum == NO_QUORUM or self.quorum in agreed


class _Reader:
    """Collects the lines of one policy file."""

    def __init__(self) -> None:
        self.logs: list[PolicyLog] = []
        self.witnesses: list[PolicyWitness] = []
        self.groups: list[PolicyGroup] = []
        self.quorum: str | None = None
        self._names: set[str] = set()
        self._grouped: set[str] = set()
        self._keys: dict[str, set[bytes]] = {"log": set(), "witness": set()}

    def read(self, words: list[str]) -> None:
        """Read one line's words."""
        if len(self.logs) + len(self._names) >= POLICY_ENTRIES:
            raise ValueError(f"more than {POLICY_ENTRIES} entries")
        match words[0]:
            case "log" if len(words) in _LOG_WORDS:
                key = self._key("log", words[1])
                self.logs.append(PolicyLog(key=key, url=_optional(words, 2)))
            case "witness" if len(words) in _WITNESS_WORDS:
                key = self._key("witness", words[2])
                name = self._define(words[1])
                self.witnesses.append(PolicyWitness(name=name, key=key, url=_optional(words, 3)))
            case "group" if len(words) >= _GROUP_WORDS:
                self._group(words[1], words[2], words[3:])
            case "quorum" if len(words) == len(("quorum", "name")):
                self._quorum(words[1])
            case _:
                raise ValueError("not a line of a policy")

    def _key(self, role: str, vkey: str) -> NoteKey:
        key = parse_vkey(vkey)
        if key.kind != ("note" if role == "log" else "cosignature"):
            raise ValueError(f"a {role} needs a key of another signature type")
        if key.public.raw in self._keys[role]:
            raise ValueError(f"the key of a {role} appears twice")
        self._keys[role].add(key.public.raw)
        return key

    def _define(self, name: str) -> str:
        if name == NO_QUORUM or name in self._names:
            raise ValueError("a name is defined twice, or reserved")
        self._names.add(name)
        return name

    def _group(self, name: str, threshold_text: str, members: list[str]) -> None:
        for member in members:
            if member not in self._names or member in self._grouped:
                raise ValueError("a member is not defined above, or already in a group")
            self._grouped.add(member)
        words = {"all": len(members), "any": 1}
        threshold = words.get(threshold_text) or _count(threshold_text)
        if not 1 <= threshold <= len(members):
            raise ValueError("a group's threshold is 1 to the number of its members")
        self.groups.append(
            PolicyGroup(name=self._define(name), threshold=threshold, members=tuple(members))
        )

    def _quorum(self, name: str) -> None:
        if self.quorum is not None:
            raise ValueError("a second quorum line")
        if name != NO_QUORUM and name not in self._names:
            raise ValueError("the quorum is not defined above")
        self.quorum = name


def parse_policy(data: bytes) -> QuorumPolicy:
    """Read a policy file.

    Raises:
        WitnessError: ``POLICY_INVALID``; the message names the line.
    """
    if len(data) > POLICY_BYTES or _FORBIDDEN.search(data):
        raise _invalid("too large, or with control characters", 0)
    reader = _Reader()
    # Names are octets to the format; surrogateescape keeps any of them apart.
    for number, line in enumerate(data.decode("utf-8", "surrogateescape").split("\n"), start=1):
        words = [word for word in re.split(r"[ \t]+", line) if word]
        if not words or words[0].startswith("#"):
            continue
        try:
            reader.read(words)
        except (ValueError, CryptoError) as error:
            raise _invalid(str(error), number) from None
    if reader.quorum is None:
        raise _invalid("no quorum line", 0)
    return QuorumPolicy(
        logs=tuple(reader.logs),
        witnesses=tuple(reader.witnesses),
        groups=tuple(reader.groups),
        quorum=reader.quorum,
    )


def _optional(words: list[str], index: int) -> str | None:
    return words[index] if index < len(words) else None


def _count(text: str) -> int:
    return int(text) if re.fullmatch(r"[1-9][0-9]{0,3}", text) else 0


def _invalid(why: str, line: int) -> AgenticOSError:
    where = f"line {line}: " if line else ""
    return ERRORS.error("POLICY_INVALID", f"the witness policy is wrong: {where}{why}")
