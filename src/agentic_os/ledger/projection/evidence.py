"""What an entry rests on: the tables' answers to the gate's questions.

A source counts by where it comes from, not by its id::

    root       what a source goes back to over edges of any state; a source without such edges is
               its own root. Roots of equal words are one root; the subject is nobody's root
    class      of a root: the weakest authorship on any way from it: external, resident, operator
    source     live, of ring 2 or 3 (a law and a passing note are no evidence), joined to the
               subject by a live edge that is younger than the subject's present words
"""

from functools import singledispatch
from typing import Final, NamedTuple

from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.canonical.values import Number
from agentic_os.ledger.line import payloads as p
from agentic_os.ledger.line.payloads import relationship_words
from agentic_os.ledger.projection.database import Database
from agentic_os.ledger.projection.rows import GONE
from agentic_os.ledger.rule.gate import NO_EVIDENCE, AuthorshipClass, Evidence, Weight

SUPPORTING: Final[tuple[p.EdgeType, ...]] = ("SUPPORTS", "REINFORCED_BY", "DERIVED_FROM")
AGAINST: Final[tuple[p.EdgeType, ...]] = ("CONTRADICTS",)

_WEAKEST_FIRST: Final[tuple[AuthorshipClass, ...]] = ("external", "resident", "operator")
_LINEAGE: Final = """
WITH RECURSIVE lineage (source, id) AS (
  SELECT edges.from_id, edges.from_id FROM edges
  JOIN entities ON entities.id = edges.from_id
  WHERE edges.to_id = ? AND edges.from_id <> ? AND edges.state = 'live' AND edges.seq >= ?
    AND edges.edge_type IN ({types}) AND entities.ring IN (2, 3)
    AND entities.state NOT IN ('archived', 'superseded')
  UNION
  SELECT lineage.source, edges.from_id FROM lineage
  JOIN edges ON edges.to_id = lineage.id
  WHERE lineage.id <> ? AND edges.edge_type NOT IN ('CONTRADICTS', 'SUPERSEDES')
)
SELECT lineage.source, entities.authorship, entities.text, entities.state,
  EXISTS (
    SELECT 1 FROM edges WHERE edges.to_id = lineage.id
    AND edges.edge_type NOT IN ('CONTRADICTS', 'SUPERSEDES')
  )
FROM lineage JOIN entities ON entities.id = lineage.id
"""


class _Subject(NamedTuple):
    id: str
    ring: int
    state: str
    text: str
    details: str
    confidence: float | None
    updated_seq: int
    worded_seq: int


def evidence_of(db: Database, payload: p.Payload) -> Evidence:
    """Return what an entry about an entity could rest on now."""
    return _evidence(payload, db)


@singledispatch
def _evidence(_payload: p.Payload, _db: Database) -> Evidence:
    return NO_EVIDENCE


@_evidence.register
def _(payload: p.BeliefPromote, db: Database) -> Evidence:
    return _of_subject(db, _find(db, payload.id))


@_evidence.register
def _(payload: p.RelationshipUpsert, db: Database) -> Evidence:
    """Evidence is for these very words: under the id, or under an id that the gate gave them."""
    words = relationship_words(payload)
    own = _find(db, payload.id)
    if own is None or own.text == words:
        return _of_subject(db, own)
    rows = db.execute(
        "SELECT id FROM entities WHERE text = ? AND kind = 'experience' ORDER BY created_seq DESC",
        (words,),
    )
    for (other,) in rows:
        stem, _, number = str(other).rpartition(".")
        if stem == payload.id and number.isdigit():
            return _of_subject(db, _find(db, str(other)))
    return Evidence(text=own.text)


@_evidence.register
def _(payload: p.BeliefArchive, db: Database) -> Evidence:
    return _of_subject(db, _find(db, payload.id))


@_evidence.register
def _(payload: p.BeliefSupersede, db: Database) -> Evidence:
    return _of_subject(db, _find(db, payload.old_id))


@_evidence.register
def _(payload: p.BeliefUpsert, db: Database) -> Evidence:
    return _of_subject(db, _find(db, payload.belief_id), refs=payload.evidence_refs)


def _of_subject(db: Database, found: _Subject | None, *, refs: tuple[str, ...] = ()) -> Evidence:
    if found is None:
        return NO_EVIDENCE
    is_retired = found.state in GONE
    return Evidence(
        support=_weight(db, found, SUPPORTING),
        against=_weight(db, found, AGAINST),
        contradicted=_is_contradicted(db, found.id),
        text=None if is_retired else found.text,
        confidence=_stated_confidence(found.details),
        has_confidence=found.confidence,
        ring=found.ring,
        retired_seq=found.updated_seq if is_retired else None,
        newest_ref_seq=_newest(db, refs),
    )


def _find(db: Database, entity_id: str) -> _Subject | None:
    rows = db.execute(
        "SELECT id, ring, state, text, details, confidence, updated_seq, worded_seq "
        "FROM entities WHERE id = ?",
        (entity_id,),
    )
    return _Subject(*rows[0]) if rows else None


def _weight(db: Database, subject: _Subject, types: tuple[p.EdgeType, ...]) -> Weight:
    marks = ", ".join("?" for _ in types)
    rows = db.execute(
        _LINEAGE.format(types=marks),
        (subject.id, subject.id, subject.worded_seq, *types, subject.id),
    )
    weakest: dict[str, AuthorshipClass] = {}
    for source, own, *_ in rows:
        authorship: AuthorshipClass = own
        weakest[source] = _weaker(authorship, weakest.get(source, authorship))
    roots: dict[str, AuthorshipClass] = {}
    for source, _, text, state, has_parents in rows:
        words = _same_words(text)
        if not has_parents and state not in GONE and words != _same_words(subject.text):
            roots[words] = _weaker(weakest[source], roots.get(words, weakest[source]))
    return Weight(roots=len(roots), classes=frozenset(roots.values()))


def _weaker(one: AuthorshipClass, other: AuthorshipClass) -> AuthorshipClass:
    return min(one, other, key=_WEAKEST_FIRST.index)


def _same_words(text: str) -> str:
    """Return the words apart from case and space: a copy is no second source."""
    return " ".join(text.split()).casefold()


def _is_contradicted(db: Database, entity_id: str) -> bool:
    rows = db.execute(
        "SELECT COUNT(*) FROM edges WHERE edge_type = 'CONTRADICTS' AND state = 'live' "
        "AND (to_id = ? OR from_id = ?)",
        (entity_id, entity_id),
    )
    return int(rows[0][0]) > 0


def _newest(db: Database, refs: tuple[str, ...]) -> int:
    return max(
        (
            int(row[0])
            for ref in refs
            for row in db.execute("SELECT created_seq FROM entities WHERE id = ?", (ref,))
        ),
        default=0,
    )


def _stated_confidence(details: str) -> int | Number | None:
    payload = decode(details.encode())
    value = payload.get("confidence") if isinstance(payload, dict) else None
    return value if isinstance(value, int | Number) else None
