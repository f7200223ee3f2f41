"""The witness as a Starlette application.

Routes: the AII OS endpoints (formats, section 4.1), C2SP ``add-checkpoint`` and the
monitoring read (c2sp.org/tlog-witness), the operator's root, a page with the keys, health,
metrics and the OpenAPI document. Bodies are bounded in size and time; a refusal of the AII OS
dialect is JSON, one of the C2SP dialect plain text.
"""

import re
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

import msgspec

from agentic_os.crypto.canonical.json import encode
from agentic_os.network.addresses import client_address, share_of
from agentic_os.witness.protocol.json import BODY_BYTES, ErrorShape, HealthShape
from agentic_os.witness.protocol.refusal import Refusal, RequestRefusedError
from agentic_os.witness.service.desk import Reply, WitnessDesk
from agentic_os.witness.service.key_page import key_page
from agentic_os.witness.service.limits import Rates, read_body
from agentic_os.witness.service.logs import log_defect, log_request
from agentic_os.witness.service.metrics import CONTENT_TYPE, Metrics
from agentic_os.witness.service.openapi import openapi_document
from agentic_os.witness.service.work import Acknowledged

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

JSON: Final = "application/json"
TEXT: Final = "text/plain; charset=utf-8"
NO_ROUTE: Final = "none"
"""The route of what reached no route, in log and metrics."""
LOG_SIZE: Final = "text/x.tlog.size"

_ORIGIN_HASH: Final = re.compile(r"[0-9a-f]{64}")


class WitnessService:
    """The handlers of one witness; ``app`` is what a server runs."""

    def __init__(self, desk: WitnessDesk) -> None:
        """Build the application around a desk."""
        self._desk = desk
        self.config = desk.config
        self._metrics = Metrics()
        self._clients = Rates(limit=desk.config.client_requests_per_minute)
        self._openapi = openapi_document(name=desk.keys.name)
        self.app = self._application()

    def _application(self) -> "Starlette":
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException

        keys = self._desk.keys
        fixed: dict[str, tuple[bytes, str]] = {
            "/": (key_page(keys), TEXT),
            "/openapi.json": (self._openapi, JSON),
            "/status": (
                encode({"min_periodic_cadence": self.config.min_cadence}),
                JSON,
            ),
            "/witness/pubkey": (keys.receipt_public.document, JSON),
            "/witness/pubkey/hash": (
                encode(
                    {
                        "witness_public_key_hash": keys.receipt_public.sha256,
                        "key_id": keys.receipt_public.key_id,
                    }
                ),
                JSON,
            ),
            "/witness/pubkey/manifest": (keys.manifest, JSON),
            "/genesis/pubkey": (keys.root_public, JSON),
        }
        # The first that fits is taken, so what is asked most is tried first.
        routes = [
            self._route("/add-checkpoint", "POST", self._add_checkpoint),
            self._route("/witness/bookmark", "POST", self._bookmark),
            self._route("/{origin_sha256}/checkpoint", "GET", self._checkpoint),
            self._route("/healthz", "GET", self._health),
            self._route("/metrics", "GET", self._show_metrics),
            *(self._fixed(path, body, kind) for path, (body, kind) in fixed.items()),
        ]
        return Starlette(routes=routes, exception_handlers={HTTPException: self._elsewhere})

    def _fixed(self, path: str, body: bytes, media_type: str) -> "Route":
        from starlette.responses import Response

        async def handler(_request: "Request") -> "Response":
            return Response(body, media_type=media_type)

        return self._route(path, "GET", handler)

    def _route(
        self, path: str, method: str, handler: "Callable[[Request], Awaitable[Response]]"
    ) -> "Route":
        from starlette.requests import ClientDisconnect
        from starlette.responses import Response
        from starlette.routing import Route

        async def endpoint(request: "Request") -> "Response":
            started = time.perf_counter()
            try:
                response = await handler(request)
            except ClientDisconnect:
                response = Response(status_code=400)
            except Exception as error:  # noqa: BLE001 - a defect of ours: answered, counted and logged
                log_defect(path, error)
                request.state.code = "INTERNAL"
                self._metrics.refused("INTERNAL")
                response = Response("an error of the witness\n", status_code=500, media_type=TEXT)
            self._account(
                path,
                method,
                response.status_code,
                code=getattr(request.state, "code", ""),
                subject=getattr(request.state, "subject", ""),
                seconds=time.perf_counter() - started,
            )
            return response

        return Route(path, endpoint, methods=[method])

    def account(self, status: int, code: str) -> None:
        """Count and log an answer that was given before a request reached a route."""
        self._metrics.refused(code)
        self._account(NO_ROUTE, "", status, code=code)

    def _account(
        self,
        route: str,
        method: str,
        status: int,
        *,
        code: str = "",
        subject: str = "",
        seconds: float = 0.0,
    ) -> None:
        self._metrics.answered(route=route, status=status, seconds=seconds)
        log_request(
            route=route, method=method, status=status, code=code, subject=subject, seconds=seconds
        )

    async def _elsewhere(self, _request: "Request", error: Exception) -> "Response":
        """Answer a path or a method that there is not."""
        from starlette.responses import Response

        status = getattr(error, "status_code", 404)
        # Neither path nor method is logged: they are the client's words.
        self.account(status, "NO_ROUTE")
        return Response(
            "nothing here\n",
            status_code=status,
            media_type=TEXT,
            headers=getattr(error, "headers", None),
        )

    async def _bookmark(self, request: "Request") -> "Response":
        reply = await self._replied(request, self._desk.bookmark)
        return self._answer(request, reply, dialect="aii-os")

    async def _add_checkpoint(self, request: "Request") -> "Response":
        reply = await self._replied(request, self._desk.add_checkpoint)
        return self._answer(request, reply, dialect="c2sp")

    async def _replied(
        self, request: "Request", ask: Callable[[bytes, str], Awaitable[Reply]]
    ) -> Reply:
        client = share_of(
            client_address(
                request.client.host if request.client else "",
                request.headers.getlist("x-forwarded-for"),
                self.config.trusted_proxies,
            )
        )
        try:
            self._clients.require(client)
            body = await read_body(
                request.stream(),
                stated=request.headers.get("content-length"),
                limit_bytes=BODY_BYTES,
                seconds=self.config.body_seconds,
            )
        except RequestRefusedError as error:
            return Reply(result=error.refusal)
        return await ask(body, client)

    def _answer(self, request: "Request", reply: Reply, *, dialect: str) -> "Response":
        from starlette.responses import Response

        result = reply.result
        request.state.subject = reply.subject
        if isinstance(result, Acknowledged):
            request.state.code = result.outcome
            self._metrics.acknowledged(dialect=dialect, outcome=result.outcome)
            media_type = JSON if dialect == "aii-os" else TEXT
            return Response(result.body, status_code=result.status, media_type=media_type)
        request.state.code = result.code
        self._metrics.refused(result.code)
        body, media_type = _refusal_body(result, dialect)
        # As a header, not as media_type: text/x.tlog.size must not get a charset (tlog-witness).
        headers = {"content-type": media_type}
        if result.retry_seconds:
            headers["retry-after"] = str(result.retry_seconds)
        return Response(body, status_code=result.status, headers=headers)

    async def _checkpoint(self, request: "Request") -> "Response":
        from starlette.responses import Response

        origin_sha256 = request.path_params["origin_sha256"]
        try:
            is_hash = _ORIGIN_HASH.fullmatch(origin_sha256) is not None
            note = self._desk.note(origin_sha256) if is_hash else None
        except RequestRefusedError as error:
            return self._answer(request, Reply(result=error.refusal), dialect="c2sp")
        if note is None:
            return Response("nothing cosigned\n", status_code=404, media_type=TEXT)
        return Response(note, media_type=TEXT)

    async def _health(self, _request: "Request") -> "Response":
        from starlette.responses import Response

        frozen = self._desk.store.frozen
        shape = HealthShape(status="frozen", reason=frozen) if frozen else HealthShape(status="ok")
        return Response(
            msgspec.json.encode(shape), status_code=503 if frozen else 200, media_type=JSON
        )

    async def _show_metrics(self, _request: "Request") -> "Response":
        from starlette.responses import Response

        text = self._metrics.render(
            commits=self._desk.store.counts,
            totals=self._desk.store.read.totals(),
            is_frozen=self._desk.store.frozen is not None,
        )
        return Response(text, media_type=CONTENT_TYPE)


def _refusal_body(refusal: Refusal, dialect: str) -> tuple[bytes, str]:
    if dialect == "aii-os":
        shape = ErrorShape(
            error=refusal.message, code=refusal.code, witnessed_size=refusal.witnessed_size
        )
        return msgspec.json.encode(shape), JSON
    if refusal.witnessed_size is not None:
        return f"{refusal.witnessed_size}\n".encode(), LOG_SIZE
    return f"{refusal.message}\n".encode(), TEXT
