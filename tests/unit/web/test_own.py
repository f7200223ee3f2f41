"""What the page shows of the person's own identity, whose ledger nobody has verified yet."""

from pathlib import Path

from agentic_os.ledger.file.storage import LEDGER_NAME
from agentic_os.web import own
from agentic_os.web.question import Question
from agentic_os.web.served import Served
from support.ledger.builder import Builder


def unasked(*_: object) -> None:
    raise AssertionError


def test_a_receipt_of_another_shape_is_left_out(tmp_path: Path) -> None:
    story = Builder().genesis().experience(1)
    payload = b'{"content":"event 1","id":"exp_1"}'
    line = story.lines[1].replace(b"experience.create", b"system.witnessed")
    (tmp_path / LEDGER_NAME).write_bytes(
        story.lines[0] + b"\n" + line.replace(payload, b'{"receipt":1}') + b"\n"
    )
    served = Served(
        workspace=unasked,  # type: ignore[arg-type]
        sweep=unasked,  # type: ignore[arg-type]
        aios=unasked,  # type: ignore[arg-type]
        identity=tmp_path,
        clean=unasked,
    )
    shown = own.identity(served, Question(())).data
    assert shown is not None
    assert (shown.lines, shown.state, shown.witnesses) == (1, "damaged", ())
