"""A summary is saved exactly once."""

import json

import pytest

from agentic_os.aios.folder.json_text import JsonObject, object_lines
from agentic_os.aios.folder.system import System
from agentic_os.aios.sessions.codec import parse
from agentic_os.aios.sessions.summary import REQUEST_BYTES, read_request, save_summary
from agentic_os.errors import AiosError
from support.aios.builder import SECRET, AiosBuilder
from support.aios.stopping import side_by_side, stopped_at_every_step

REQUEST = (
    b'{"version":1,"operation_id":"save-1","memory":{"mode":"shared"},'
    b'"session":{"agent":"codex","title":"T","summary":"# T\\n\\nOne line."}}\n'
)
HASH = "853f638ce85d4e6dc591e1b69fd8cea73bab6ac5bcc1ad1f26f1e7bd3510f55c"


def save(aios: AiosBuilder, data: bytes = REQUEST, system: System | None = None) -> JsonObject:
    return save_summary(aios.access(system=system), read_request(data))


def rows(aios: AiosBuilder) -> list[JsonObject | None]:
    return list(object_lines((aios.root / "memory/sessions/index.jsonl").read_text()))


def test_the_same_bytes_give_the_same_answer(aios: AiosBuilder) -> None:
    assert read_request(REQUEST).request_hash == HASH
    answer = save(aios)
    assert save(aios) == answer
    assert list(answer) == ["version", "status", "operation_id", "session_id", "path"]
    session = parse((aios.root / str(answer["path"])).read_bytes())
    assert (session.body, session.title, session.turns) == ("# T\n\nOne line.", "T", 0)
    with pytest.raises(AiosError) as caught:
        save(aios, json.dumps(json.loads(REQUEST), indent=2).encode())
    assert caught.value.code == "DOTAIOS_SESSION_REQUEST_DIFFERS"
    assert len(rows(aios)) == 1


def test_six_at_once(aios: AiosBuilder) -> None:
    side_by_side(*[lambda: save(aios)] * 6)
    assert len(rows(aios)) == 1
    assert len(list(aios.root.glob("memory/sessions/*/*.md"))) == 1


def test_stopped_at_every_step(aios: AiosBuilder) -> None:
    def prepare() -> None:
        for path in aios.root.glob("memory/sessions/**/*.*"):
            path.unlink()

    for _ in stopped_at_every_step(prepare, lambda system: save(aios, system=system)):
        answer = save(aios)
        assert save(aios) == answer
        assert len(rows(aios)) == 1
        assert len(list(aios.root.glob("memory/sessions/*/*.md"))) == 1


def test_a_document_without_its_row_gets_it_and_the_other_way_round_is_refused(
    aios: AiosBuilder,
) -> None:
    answer = save(aios)
    index = aios.root / "memory/sessions/index.jsonl"
    whole = index.read_bytes()
    index.unlink()
    assert save(aios) == answer
    assert index.read_bytes() == whole
    (aios.root / str(answer["path"])).unlink()
    with pytest.raises(AiosError) as caught:
        save(aios)
    assert caught.value.code == "DOTAIOS_SESSION_RECONCILIATION_REQUIRED"


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        (b'"mode":"shared"', b'"mode":"off"', "DOTAIOS_MEMORY_OFF"),
        (b'"version":1', b'"version":1,"v\\u0065rsion":1', "DOTAIOS_ARGUMENT_INVALID"),
        (b'"title":"T"', b'"title":"T","title":"T"', "DOTAIOS_ARGUMENT_INVALID"),
        (b'"version":1', b'"version":2', "DOTAIOS_ARGUMENT_INVALID"),
        (b'"version":1', b'"version":true', "DOTAIOS_ARGUMENT_INVALID"),
        (b'"version":1', b'"version":1,"extra":1', "DOTAIOS_ARGUMENT_INVALID"),
        (b'"mode":"shared"', b'"mode":"project"', "DOTAIOS_ARGUMENT_INVALID"),
        (b"save-1", b"-save", "DOTAIOS_ARGUMENT_INVALID"),
        (b'"title":"T"', b'"title":"a\\nb"', "DOTAIOS_ARGUMENT_INVALID"),
        (b"One line.", b"One\\rline", "DOTAIOS_ARGUMENT_INVALID"),
        (b"One line.", b"One\\u202eline", "DOTAIOS_ARGUMENT_INVALID"),
        (b"One line.", b"x" * REQUEST_BYTES, "DOTAIOS_ARGUMENT_INVALID"),
        (b"{", b"[", "DOTAIOS_ARGUMENT_INVALID"),
    ],
)
def test_requests_that_are_refused(before: bytes, after: bytes, code: str) -> None:
    with pytest.raises(AiosError) as caught:
        read_request(REQUEST.replace(before, after, 1))
    assert caught.value.code == code


def test_a_secret_is_refused(aios: AiosBuilder) -> None:
    with pytest.raises(AiosError) as caught:
        save(aios, REQUEST.replace(b"One line.", SECRET.encode()))
    assert caught.value.code == "DOTAIOS_SECRET_FOUND"
    assert not (aios.root / "memory").exists()
