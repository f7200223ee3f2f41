"""HTTP to one witness: AII OS bookmarks, C2SP add-checkpoint, keys, the newest checkpoint.

Nothing is trusted here: answers are parsed and bounded, what they mean is decided by
``rounds``. Redirects are refused and the network's faults become one error code.
"""

import importlib
import socket
import ssl
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import msgspec

from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.envelope.public_keys import read_public_key_envelope
from agentic_os.crypto.tlog.checkpoint import (
    SignedCheckpoint,
    parse_decimal,
    parse_signed_checkpoint,
)
from agentic_os.crypto.tlog.note import NoteSignature, parse_signatures
from agentic_os.errors import (
    AgenticOSError,
    CryptoError,
    VerificationError,
    WitnessError,
    WitnessRefusedError,
)
from agentic_os.files.closing import SelfClosing
from agentic_os.network.addresses import is_loopback_url
from agentic_os.text.shapes import read_shape
from agentic_os.witness.codes import ERRORS
from agentic_os.witness.protocol.add_checkpoint import AddCheckpoint, write_add_checkpoint
from agentic_os.witness.protocol.bookmark import BookmarkRequest, Receipt
from agentic_os.witness.protocol.json import KeyHashShape, StatusShape, read_receipt, write_request
from agentic_os.witness.protocol.refusal import OLD_SIZE_STALE
from agentic_os.witness.protocol.served_key import ServedKey

if TYPE_CHECKING:
    import httpx

ANSWER_BYTES: Final = 1024 * 1024
TOTAL_SECONDS: Final = 10.0
"""How long all that one client asks may take: a witness that says nothing, or one byte a second,
must not hold up the one who asks."""

_UNPACKED: Final = "identity"
"""A packed answer within the bound may be a thousand times as long unpacked."""
_CONNECTED: Final = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})


@dataclass(frozen=True, slots=True, kw_only=True)
class BookmarkReply:
    """A receipt and, for a request with a proof, the cosignature line."""

    receipt: Receipt
    answer: bytes
    cosignature: NoteSignature | None


class RefusedAnswerError(WitnessRefusedError):
    """A witness refused; ``witnessed_size`` is the tree size it says it holds."""

    def __init__(
        self, message: str, *, code: str, status: int, witnessed_size: int | None = None
    ) -> None:
        """Carry status and size."""
        super().__init__(message, code=code)
        self.status = status
        self.witnessed_size = witnessed_size


class _RefusalShape(msgspec.Struct, frozen=True):
    error: str = ""
    code: str = ""
    witnessed_size: int | None = None


class WitnessClient(SelfClosing):
    """Speaks to the witness at one submission prefix; close it, or use it with ``with``."""

    def __init__(
        self,
        url: str,
        *,
        transport: "httpx.BaseTransport | None" = None,
        total_seconds: float = TOTAL_SECONDS,
    ) -> None:
        """Keep where to ask.

        Args:
            url: the submission prefix.
            transport: replaces the network in tests.
            total_seconds: how long everything that is asked may take.

        Raises:
            WitnessError: ``WITNESS_UNREACHABLE`` for what is no address.
        """
        _load_network()
        import httpx

        # A proxy of the environment's is for the world, not for this machine.
        is_local = is_loopback_url(url)
        try:
            self._http = httpx.Client(
                trust_env=not is_local,
                verify=_nobody() if is_local and url.startswith("http:") else _everybody(),
                base_url=url.rstrip("/") + "/",
                headers={"accept-encoding": _UNPACKED},
                timeout=total_seconds,
                follow_redirects=False,
                transport=transport,
            )
        except (httpx.InvalidURL, ValueError):
            raise ERRORS.error("WITNESS_UNREACHABLE", "the witness's address is none") from None

        self._total_seconds = total_seconds
        self._deadline = time.monotonic() + total_seconds
        self._sockets: list[socket.socket] = []

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def receipt_key(self) -> ServedKey | None:
        """Fetch the receipt key, cross-checked with its hash; None where there is none.

        A witness without AII OS endpoints answers 404: it is a C2SP witness alone.

        Raises:
            WitnessError: ``WITNESS_UNREACHABLE``, ``WITNESS_ANSWER_INVALID``.
        """
        status, body = self._get("witness/pubkey/hash")
        if status == HTTPStatus.NOT_FOUND:
            return None
        try:
            stated = read_shape(_expect(status, body), KeyHashShape)
            public = read_public_key_envelope(_expect(*self._get("witness/pubkey")))
        except (ValueError, CryptoError):
            raise _invalid("its key cannot be read") from None
        if (public.sha256, public.key_id) != (stated.witness_public_key_hash, stated.key_id):
            raise _invalid("its key and its key hash disagree")
        status, manifest = self._get("witness/pubkey/manifest")
        return ServedKey(public=public, manifest=manifest if status == HTTPStatus.OK else None)

    def min_cadence(self) -> int:
        """Fetch the smallest advance that the witness answers, in entries."""
        try:
            shape = read_shape(_expect(*self._get("status")), StatusShape)
        except ValueError:
            raise _invalid("its status cannot be read") from None
        return shape.min_periodic_cadence

    def bookmark(self, request: BookmarkRequest) -> BookmarkReply:
        """Submit a bookmark; the receipt is parsed and not yet verified.

        Raises:
            RefusedAnswerError: the witness refused; WitnessError: ``WITNESS_UNREACHABLE``,
                ``WITNESS_ANSWER_INVALID``.
        """
        status, body = self._post("witness/bookmark", write_request(request), "application/json")
        if status not in (HTTPStatus.OK, HTTPStatus.CREATED):
            raise _refused(status, body)
        try:
            tree = decode(body)
            receipt = read_receipt(tree)
            line = tree.get("cosignature") if isinstance(tree, dict) else None
            lines = parse_signatures(line) if isinstance(line, str) else ()
        except (CryptoError, VerificationError):
            raise _invalid("its receipt cannot be read") from None
        return BookmarkReply(receipt=receipt, answer=body, cosignature=lines[0] if lines else None)

    def add_checkpoint(self, request: AddCheckpoint) -> tuple[NoteSignature, ...]:
        """Submit a checkpoint; the signature lines are parsed and not yet verified.

        Raises:
            RefusedAnswerError: with ``witnessed_size`` for 409; WitnessError as ``bookmark``.
        """
        status, body = self._post("add-checkpoint", write_add_checkpoint(request), "text/plain")
        if status == HTTPStatus.CONFLICT:
            size = parse_decimal(body.decode("ascii", "replace").removesuffix("\n"))
            raise RefusedAnswerError(
                "the witness cosigned another size last",
                code=OLD_SIZE_STALE,
                status=status,
                witnessed_size=size,
            )
        if status != HTTPStatus.OK:
            raise _refused(status, body)
        try:
            return parse_signatures(body.decode())
        except (CryptoError, UnicodeDecodeError):
            raise _invalid("its cosignature cannot be read") from None

    def newest(self, origin_sha256: str) -> SignedCheckpoint | None:
        """Fetch the newest cosigned checkpoint of an origin, unverified; None if there is none."""
        status, body = self._get(f"{origin_sha256}/checkpoint")
        if status == HTTPStatus.NOT_FOUND:
            return None
        try:
            return parse_signed_checkpoint(_expect(status, body))
        except CryptoError:
            raise _invalid("its checkpoint cannot be read") from None

    def fetch(self, path: str) -> bytes:
        """Fetch what lies below the prefix, whatever it is."""
        return _expect(*self._get(path))

    def _get(self, path: str) -> tuple[int, bytes]:
        return self._send(self._http.build_request("GET", path))

    def _post(self, path: str, body: bytes, media_type: str) -> tuple[int, bytes]:
        headers = {"content-type": media_type}
        return self._send(self._http.build_request("POST", path, content=body, headers=headers))

    def _send(self, request: "httpx.Request") -> tuple[int, bytes]:
        import httpx

        left = self._deadline - time.monotonic()
        # The network library bounds each wait by itself; only closing the line ends them all.
        ending = threading.Timer(max(left, 0.0), self._hang_up)
        ending.daemon = True
        request.extensions = {
            **request.extensions,
            "timeout": httpx.Timeout(max(left, 0.001)).as_dict(),
            "trace": self._note_socket,
        }
        ending.start()
        try:
            answer = self._http.send(request, stream=True)
            try:
                if answer.headers.get("content-encoding", _UNPACKED) != _UNPACKED:
                    raise _invalid("it packs its answer, which nobody asked for")
                body = bytearray()
                for chunk in answer.iter_bytes():
                    body += chunk
                    if len(body) > ANSWER_BYTES:
                        raise _invalid(f"its answer is larger than {ANSWER_BYTES} bytes")
            finally:
                answer.close()
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            if time.monotonic() >= self._deadline:
                raise ERRORS.error(
                    "WITNESS_UNREACHABLE",
                    f"the witness has not answered within {self._total_seconds:g} seconds",
                ) from None
            raise ERRORS.error(
                "WITNESS_UNREACHABLE", f"the witness cannot be reached: {type(error).__name__}"
            ) from None
        finally:
            ending.cancel()
        return answer.status_code, bytes(body)

    def _note_socket(self, event: str, details: dict[str, Any]) -> None:
        """Keep the socket of a connection that was made; httpx tells of it on the way."""
        if event in _CONNECTED:
            found = details["return_value"].get_extra_info("socket")
            if found is not None:
                self._sockets.append(found)

    def _hang_up(self) -> None:
        for line in self._sockets:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)


def _load_network() -> None:
    """Load the network library, but for its command line: that is more than all the rest."""
    if "httpx" not in sys.modules:
        sys.modules["httpx._main"] = None  # type: ignore[assignment] # as if it were not installed
        importlib.import_module("httpx")
        sys.modules.pop("httpx._main", None)


@cache
def _everybody() -> ssl.SSLContext:
    """Trust the authorities of the world; read once, which takes longer than to ask a witness."""
    import httpx

    return httpx.create_ssl_context()


@cache
def _nobody() -> ssl.SSLContext:
    """Trust no authority: for a line that is not encrypted."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _expect(status: int, body: bytes) -> bytes:
    if status != HTTPStatus.OK:
        raise _invalid(f"it answered {status}")
    return body


def _refused(status: int, body: bytes) -> WitnessError:
    try:
        shape = read_shape(body, _RefusalShape)
    except ValueError:
        shape = _RefusalShape()
    message = "".join(char if char.isprintable() else "?" for char in shape.error[:200])
    return RefusedAnswerError(
        message or f"the witness answered {status}",
        code=shape.code if shape.code.isidentifier() else "WITNESS_REFUSED",
        status=status,
        witnessed_size=shape.witnessed_size,
    )


def _invalid(why: str) -> AgenticOSError:
    return ERRORS.error("WITNESS_ANSWER_INVALID", f"the witness answers wrongly: {why}")
