"""The routes: pages, built files, the login, documents, and the stream of changes."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from agentic_os.errors import AgenticOSError, StoreLockedError, UsageError
from agentic_os.results import Answer, Envelope, ErrorView
from agentic_os.web import documents, own
from agentic_os.web.codes import ERRORS
from agentic_os.web.gate import LOGIN_PATH, STATIC_PATH, Gate
from agentic_os.web.live import Watcher
from agentic_os.web.question import Question
from agentic_os.web.served import Served
from agentic_os.web.session import LoginDesk, cookie_name
from agentic_os.web.shells import PAGES, Build

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

MAX_ANSWER_BYTES: Final = 8_388_608
MAX_CODE_CHARS: Final = 128
OWN: Final[dict[str, documents.OwnDocument]] = {
    "aios-context": own.context,
    "identity": own.identity,
    "ledger-show": own.ledger,
}
_BAD_REQUEST, _NOT_FOUND, _FAILED, _BUSY = 400, 404, 500, 503


def make_application(
    served: Served, *, port: int, desk: LoginDesk, build: Build, watcher: Watcher
) -> "Starlette":
    """Build the guarded application that serves one person on one port."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.routing import Route

    @asynccontextmanager
    async def watched(_app: Starlette) -> AsyncIterator[None]:
        watcher.start()
        try:
            yield
        finally:
            watcher.stop()

    api = partial(_document, served, watcher)
    return Starlette(
        routes=[
            *(Route(path, partial(_page, build, name)) for path, name in PAGES.items()),
            Route(LOGIN_PATH, partial(_login_page, build), methods=["GET"]),
            Route(LOGIN_PATH, partial(_login, desk, port), methods=["POST"]),
            Route(STATIC_PATH + "{name}", partial(_static, build)),
            Route("/open", partial(_open, served)),
            Route("/api/events", partial(_events, watcher)),
            Route("/api/{name}", api),
        ],
        middleware=[Middleware(Gate, port=port, desk=desk)],
        lifespan=watched,
        exception_handlers={_NOT_FOUND: _unknown},
    )


async def _page(build: Build, name: str, _request: "Request") -> "Response":
    from starlette.responses import HTMLResponse

    return HTMLResponse(build.page(name), headers={"Cache-Control": "no-store"})


async def _login_page(build: Build, _request: "Request") -> "Response":
    from starlette.responses import HTMLResponse

    return HTMLResponse(build.login(), headers={"Cache-Control": "no-store"})


async def _login(desk: LoginDesk, port: int, request: "Request") -> "Response":
    from starlette.responses import Response

    code = (await request.body()).decode("ascii", "replace")
    session = desk.exchange(code) if len(code) <= MAX_CODE_CHARS else None
    if session is None:
        return _refusal(ERRORS.error("LOGIN_REFUSED"), status=403)
    answer = Response(status_code=204, headers={"Cache-Control": "no-store"})
    answer.set_cookie(cookie_name(port), session, path="/", httponly=True, samesite="strict")
    return answer


async def _static(build: Build, request: "Request") -> "Response":
    from starlette.responses import Response

    file = build.files.get(request.path_params["name"])
    if file is None:
        return _refusal(ERRORS.error("PAGE_UNKNOWN"), status=_NOT_FOUND)
    # The name holds the hash of the content, so the content never changes.
    kept = {"Cache-Control": "private, max-age=31536000, immutable"}
    return Response(file.data, media_type=file.media_type, headers=kept)


async def _events(watcher: Watcher, _request: "Request") -> "Response":
    from starlette.responses import StreamingResponse

    return StreamingResponse(
        watcher.events(), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


async def _document(served: Served, watcher: Watcher, request: "Request") -> "Response":
    from starlette.concurrency import run_in_threadpool

    name = request.path_params["name"]
    question = Question(pairs=tuple(request.query_params.multi_items()))
    answer: Callable[[], Answer[Any]]
    if (fleet := documents.FLEET.get(name)) is not None:
        answer = _of_fleet(served, fleet, question)
    elif (mine := OWN.get(name)) is not None:
        answer = partial(mine, served, question)
    else:
        return _refusal(ERRORS.error("DOCUMENT_UNKNOWN"), status=_NOT_FOUND)
    return await run_in_threadpool(_answered, served, watcher, name, answer)


async def _open(served: Served, request: "Request") -> "Response":
    """Send the person's browser to their editor."""
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import RedirectResponse, Response

    question = Question(pairs=tuple(request.query_params.multi_items()))

    def redirect() -> Response:
        try:
            with served.workspace() as workspace:
                address = documents.editor_address(workspace, question)
        except AgenticOSError as fault:
            return _refusal(_cleaned(served, fault), status=_status(fault))
        return RedirectResponse(address, 303, {"Cache-Control": "no-store"})

    return await run_in_threadpool(redirect)


def _of_fleet(
    served: Served, document: documents.FleetDocument, question: Question
) -> Callable[[], Answer[Any]]:
    def answer() -> Answer[Any]:
        with served.workspace() as workspace:
            return document(workspace, question)

    return answer


def _answered(
    served: Served, watcher: Watcher, name: str, answer: Callable[[], Answer[Any]]
) -> "Response":
    """Ask the service function, and write its document or its refusal."""
    from starlette.responses import Response

    generation = watcher.generation
    try:
        found = answer()
    except AgenticOSError as fault:
        return _refusal(_cleaned(served, fault), status=_status(fault), name=name)
    document = Envelope(
        schema=f"agentic-os/{name}/v1",
        data=found.data,
        omissions=found.omissions,
        warnings=found.warnings,
    )
    plain = served.clean(msgspec.to_builtins(document, str_keys=True))
    body = msgspec.json.encode(plain)
    if len(body) > MAX_ANSWER_BYTES:
        return _refusal(ERRORS.error("ANSWER_TOO_LARGE"), status=_FAILED)
    headers = {"Cache-Control": "no-store", "X-Generation": str(generation)}
    return Response(body, media_type="application/json", headers=headers)


def _cleaned(served: Served, fault: AgenticOSError) -> AgenticOSError:
    fault.message = served.clean(fault.message)
    return fault


def _status(fault: AgenticOSError) -> int:
    if isinstance(fault, UsageError):
        return _BAD_REQUEST
    return _BUSY if isinstance(fault, StoreLockedError) else _FAILED


async def _unknown(_request: "Request", _fault: Exception) -> "Response":
    return _refusal(ERRORS.error("PAGE_UNKNOWN"), status=_NOT_FOUND)


def _refusal(fault: AgenticOSError, *, status: int, name: str = "page") -> "Response":
    from starlette.responses import Response

    document: Envelope[None] = Envelope(
        schema=f"agentic-os/{name}/v1",
        data=None,
        error=ErrorView(code=fault.code, message=fault.message, hint=fault.hint),
    )
    body = msgspec.json.encode(document)
    return Response(body, status, {"Cache-Control": "no-store"}, "application/json")
