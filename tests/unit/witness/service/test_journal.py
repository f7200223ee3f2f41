import asyncio
from pathlib import Path

import pytest

from agentic_os.errors import WitnessError
from agentic_os.witness.client.submission import build_bookmark
from agentic_os.witness.protocol.json import write_request
from agentic_os.witness.service.config import WitnessConfig
from agentic_os.witness.service.journal import read_journal
from support.witness.actors import Owner, desk_of, new_witness


def test_an_operator_sees_bookmarks_heads_and_conflicts(tmp_path: Path) -> None:
    folder = new_witness(tmp_path / "w")
    owner = Owner(seed=1).add(5)
    with desk_of(WitnessConfig(folder=folder)) as desk:
        for source, old in ((owner, 0), (owner.forked(2), 5)):
            request = build_bookmark(source.ledger(), ordinal=5, old_size=old, binds=True)
            asyncio.run(desk.bookmark(write_request(request)))
        shown = read_journal(folder)

    (identity,), (origin,), (conflict,) = shown.identities, shown.origins, shown.evidence
    assert (identity.identity_id, identity.ordinal, identity.proved) == (
        owner.ledger().identity_id,
        5,
        True,
    )
    assert (origin.origin, origin.size, origin.root) == (owner.origin, 5, owner.tree().root().hex())
    assert (conflict.subject, conflict.code) == (identity.identity_id, "ROLLBACK_OR_FORK")


def test_a_folder_without_a_witness_or_with_a_damaged_one_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(WitnessError) as caught:
        read_journal(tmp_path)
    assert caught.value.code == "WITNESS_MISSING"
    (tmp_path / "witness.db").write_bytes(b"junk" * 100)
    with pytest.raises(WitnessError) as caught:
        read_journal(tmp_path)
    assert caught.value.code == "DATABASE_INVALID"
