"""Histories of an identity: real entries of every kind that a writer would let through."""

from typing import Any

from agentic_os.ledger.projection.rows import Event
from agentic_os.ledger.rule.chain import Chain, Step
from support.ledger.builder import Builder


def story(length: int = 40) -> Builder:
    """A ledger that touches every table, ``length`` or a few more lines long."""
    builder = Builder().genesis()
    builder.add("schema.declare", {"version": 1})
    builder.add("policy.set", {"key": "quiet", "value": True})
    builder.add("policy.set", {"key": "quiet", "value": "é"})
    builder.add("charter.amend", {"id": "art_1", "text": "first"})
    builder.add(
        "trust.epoch_accepted",
        {"root": "r", "trust_epoch": 1, "payload_sha256": "sha256:" + "0" * 64},
    )
    builder.add("belief.upsert", {"id": "b", "claim": "words", "confidence": 0.25})
    builder.add("belief.upsert", {"id": "c", "claim": "other", "confidence": 1})
    number = 0
    while len(builder.lines) < length:
        number += 1
        builder.experience(number, private=number % 3 == 0)
        edge = {"from_id": f"exp_{number}", "to_id": "b", "edge_type": "SUPPORTS"}
        builder.add("edge.create", edge)
        if number % 4 == 0:
            builder.add("edge.archive", edge)
        if number % 5 == 0:
            builder.add("belief.upsert", {"id": "b", "claim": f"words {number}"})
        builder.add("working.note", {"id": f"n{number % 3}", "content": f"{number} \U0001f600"})
    builder.add("belief.supersede", {"old_id": "c", "new_id": "b", "reason": "x"})
    return builder


def events_of(builder: Builder, **arguments: Any) -> list[Event]:
    """The events of a ledger's lines."""
    chain = Chain(**arguments)
    return [event_of(chain.admit(line)) for line in builder.lines]


def event_of(step: Step) -> Event:
    """The event of a line that the chain admitted."""
    frame = step.frame
    return Event(
        seq=step.seq,
        hash=frame.hash.decode(),
        ts=frame.ts.decode(),
        role=frame.role.decode(),
        kind=step.kind,
        payload=step.payload,
        payload_bytes=frame.payload,
    )
