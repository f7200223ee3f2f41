import pytest

from agentic_os.crypto.canonical.texts import encode_base64
from agentic_os.witness.protocol.add_checkpoint import (
    AddCheckpoint,
    read_add_checkpoint,
    write_add_checkpoint,
)
from agentic_os.witness.protocol.refusal import RequestRefusedError
from support.witness.actors import Owner

LEDGER = Owner(seed=1).add(5).ledger()
NOTE = LEDGER.head(5).note.data.decode()
HASH = encode_base64(bytes(32))
PROOF_LINE = HASH + "\n"


@pytest.mark.parametrize("old", [0, 3, 5])
def test_a_body_is_read_as_it_was_written(old: int) -> None:
    request = AddCheckpoint(
        old_size=old, consistency=LEDGER.tree.consistency_proof(old), head=LEDGER.head(5)
    )

    assert read_add_checkpoint(write_add_checkpoint(request)) == request


def test_the_largest_proof_is_read() -> None:
    read = read_add_checkpoint(f"old 3\n{PROOF_LINE * 63}\n{NOTE}".encode())

    assert len(read.consistency) == 63


@pytest.mark.parametrize(
    "body",
    [
        "",
        "old 3\n",
        f"old 3\n{NOTE}",
        f"old 03\n\n{NOTE}",
        f"old -3\n\n{NOTE}",
        f"old +3\n\n{NOTE}",
        f"old  3\n\n{NOTE}",
        f"old 9223372036854775808\n\n{NOTE}",
        f"Old 3\n\n{NOTE}",
        f"3\n\n{NOTE}",
        f"old 3\r\n\r\n{NOTE}",
        f"old 3\n{HASH[:-4]}\n\n{NOTE}",
        f"old 3\n{HASH} \n\n{NOTE}",
        f"old 3\né\n\n{NOTE}",
        f"old 3\n{PROOF_LINE * 64}\n{NOTE}",
        "old 3\n\nnothing\n",
        "old 3\n\norigin\n1\n\n— a AAAAAAA=\n",
    ],
)
def test_malformed_bodies_are_refused(body: str) -> None:
    with pytest.raises(RequestRefusedError) as caught:
        read_add_checkpoint(body.encode())
    assert caught.value.refusal.status == 400
