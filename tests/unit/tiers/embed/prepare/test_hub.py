import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.embed.prepare.hub import MAX_REDIRECTS, MINILM, HubModel, PinnedFile, fetch
from support.process.loopback import Loopback, loopback

BODY = b"weights" * 30_000
WORDS = b"words"


def pinned(path: str, name: str, body: bytes) -> PinnedFile:
    digest = hashlib.sha256(body).hexdigest()
    return PinnedFile(path=path, name=name, bytes=len(body), sha256=digest)


MODEL = HubModel(
    name="tiny",
    repository="some/tiny",
    revision="abc",
    files=(
        pinned("onnx/model.onnx", "model.onnx", BODY),
        pinned("t.json", "tokenizer.json", WORDS),
    ),
    pooling="mean",
    normalize=True,
    max_tokens=24,
    licence="",
)


@pytest.fixture
def hub() -> Iterator[Loopback]:
    with loopback() as server:
        server.answers = {
            "/some/tiny/resolve/abc/onnx/model.onnx": (200, BODY, {}),
            "/some/tiny/resolve/abc/t.json": (200, WORDS, {}),
        }
        yield server


def answer(hub: Loopback, status: int, body: bytes = b"", **headers: str) -> None:
    hub.answers["/some/tiny/resolve/abc/onnx/model.onnx"] = (status, body, headers)


def refused(hub: Loopback, folder: Path) -> SemanticIndexError:
    with pytest.raises(SemanticIndexError) as fault:
        fetch(MODEL, folder, lambda _done, _total: None, base_url=hub.url)
    return fault.value


def test_pinned_files_come_with_progress(hub: Loopback, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    fetch(MODEL, tmp_path, lambda done, total: told.append((done, total)), base_url=hub.url)
    assert (tmp_path / "model.onnx").read_bytes() == BODY
    assert (tmp_path / "tokenizer.json").read_bytes() == WORDS
    total = len(BODY) + len(WORDS)
    assert told[-1] == (total, total)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_redirect_on_the_same_machine_is_followed(hub: Loopback, tmp_path: Path) -> None:
    answer(hub, 302, location="/cdn/blob?sig=1")
    hub.answers["/cdn/blob?sig=1"] = (200, BODY, {})
    fetch(MODEL, tmp_path, lambda _done, _total: None, base_url=hub.url)
    assert (tmp_path / "model.onnx").read_bytes() == BODY


@pytest.mark.parametrize("place", ["http://192.0.2.1/x", "ftp://127.0.0.1/x", "file:///etc/passwd"])
def test_a_redirect_to_an_unsafe_address_is_refused(
    hub: Loopback, tmp_path: Path, place: str
) -> None:
    answer(hub, 307, location=place)
    fault = refused(hub, tmp_path)
    assert fault.code == "MODEL_FETCH_FAILED"
    assert "neither https" in fault.message


def test_redirects_in_a_circle_end(hub: Loopback, tmp_path: Path) -> None:
    answer(hub, 302, location="/some/tiny/resolve/abc/onnx/model.onnx")
    assert "redirects" in refused(hub, tmp_path).message
    assert len(hub.asked) == MAX_REDIRECTS + 1


@pytest.mark.parametrize("body", [BODY[:-1], BODY + b"x", BODY[:-1] + b"!", b""])
def test_other_bytes_than_the_pinned_are_refused(
    hub: Loopback, tmp_path: Path, body: bytes
) -> None:
    answer(hub, 200, body)
    fault = refused(hub, tmp_path)
    assert fault.code == "MODEL_HASH_WRONG"
    assert fault.hint


def test_no_more_than_the_pinned_length_is_written(hub: Loopback, tmp_path: Path) -> None:
    answer(hub, 200, BODY * 20)
    refused(hub, tmp_path)
    assert (tmp_path / "model.onnx").stat().st_size <= len(BODY)


@pytest.mark.parametrize("status", [401, 404, 500])
def test_a_refusal_of_the_hub_is_told(hub: Loopback, tmp_path: Path, status: int) -> None:
    answer(hub, status)
    fault = refused(hub, tmp_path)
    assert (fault.code, str(status) in fault.message) == ("MODEL_FETCH_FAILED", True)


def test_a_connection_that_breaks_is_told(hub: Loopback, tmp_path: Path) -> None:
    hub.answers["/some/tiny/resolve/abc/onnx/model.onnx"] = (
        200,
        BODY[:100],
        {"content-length": str(len(BODY))},
    )
    assert refused(hub, tmp_path).code == "MODEL_FETCH_FAILED"


def test_a_hub_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SemanticIndexError, match="ConnectError") as refusal:
        fetch(MODEL, tmp_path, lambda _done, _total: None, base_url="http://127.0.0.1:1")
    assert refusal.value.code == "MODEL_FETCH_FAILED"


def test_plain_http_elsewhere_is_refused_without_a_connection(tmp_path: Path) -> None:
    with pytest.raises(SemanticIndexError, match="neither https"):
        fetch(MODEL, tmp_path, lambda _done, _total: None, base_url="http://192.0.2.1")


def test_the_default_model_is_pinned_to_the_byte() -> None:
    assert len(MINILM.revision) == 40
    assert {file.name for file in MINILM.files} == {"model.onnx", "tokenizer.json"}
    assert all(len(file.sha256) == 64 for file in MINILM.files)
    assert MINILM.revision in MINILM.origin
    assert replace(MINILM, revision="x").origin != MINILM.origin
