"""The server of ``inert view``: starlette on a loopback socket, read-only.

Knows: HTTP, the table of addresses, which thread works and which waits. Refuses to know: what an answer means (answers.py and the files
that it names).

Answers are worked out in threads, so that a long one never holds up another. A stream is a line of JSON for each step and one for the end;
it stops working when nobody listens any more.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from importlib.resources import files as resources
from secrets import token_urlsafe
from threading import Semaphore, Thread

from starlette.applications import Starlette
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ..errors import InertError, LimitError, UnsupportedError
from ..report.plain import printable
from . import compare, objects, overview, records, tensors, work
from .answers import BadRequest, Words, integer
from .guard import Guard
from .opened import Opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence
    from typing import Any

    from starlette.requests import Request

ANSWERS = {
    "overview": overview.overview,
    "scan": overview.scan,
    "tensors": tensors.columns,
    "tensor": tensors.tensor,
    "image": tensors.image,
    "values": tensors.values,
    "object": objects.node,
    "parts": records.parts,
    "bytes": records.octets,
    "pickle": records.pickle,
}
STREAMS = {"stats": work.statistics, "verify": work.verification}
PAIRS = {"compare": compare.compare, "compare/tensor": compare.tensor}  # streams, too
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
TYPES |= {".svg": "image/svg+xml"}
WORKERS = Semaphore(2)  # streams that work at a time: the rest of the page must stay quick


class Page:
    """The application for some files."""

    def __init__(self, opened: Sequence[Opened]) -> None:
        self.opened = opened
        self.static = resources(__package__) / "static"
        routes = [
            Route("/", self._static),
            Route("/static/{name}", self._static),
            Route("/api/files", self._files),
            Route("/api/compare", self._pair),
            Route("/api/compare/tensor", self._pair),
            Route("/api/{index}/npy", self._npy),
            Route("/api/{index}/{question}", self._file),
        ]
        self.application = Starlette(routes=routes)
        self.application.router.redirect_slashes = False  # an address is right or wrong

    async def _static(self, request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        suffix = os.path.splitext(name)[1]
        file = self.static / name
        if suffix not in TYPES or not file.is_file():
            return Response("there is no such file\n", 404, media_type="text/plain")
        return Response(file.read_bytes(), media_type=TYPES[suffix])

    async def _files(self, request: Request) -> Response:
        return await self._answer(lambda: overview.listing(self.opened))

    async def _file(self, request: Request) -> Response:
        opened, question = self._opened(request), request.path_params["question"]
        if opened is None:
            return _problem(BadRequest("there is no such file here"), 404)
        words = Words(request.query_params)
        if question in STREAMS:
            function = STREAMS[question]
            return _stream(lines(lambda: function(opened, words)))
        if question not in ANSWERS:
            return _problem(BadRequest("there is no such question"), 404)
        return await self._answer(lambda: ANSWERS[question](opened, words))

    async def _pair(self, request: Request) -> Response:
        words = Words(request.query_params)
        function = PAIRS[request.url.path.partition("/api/")[2]]
        most = len(self.opened) - 1
        try:
            first, second = (self.opened[words.number(name, high=most)] for name in ("a", "b"))
        except BadRequest as error:
            return _problem(error)
        return _stream(lines(lambda: function(first, second, words)))

    async def _npy(self, request: Request) -> Response:
        opened = self._opened(request)
        if opened is None:
            return _problem(BadRequest("there is no such file here"), 404)
        try:
            name, size, pieces = await run_in_threadpool(work.npy, opened, Words(request.query_params))
        except InertError as error:
            return _problem(error)
        headers = {"content-disposition": f'attachment; filename="{name}"', "content-length": str(size)}
        return StreamingResponse(_closed(pieces), media_type="application/octet-stream", headers=headers)

    def _opened(self, request: Request) -> Opened | None:
        index = integer(request.path_params["index"])
        return self.opened[index] if index is not None and 0 <= index < len(self.opened) else None

    async def _answer(self, work: Callable[[], Any]) -> Response:
        try:
            return JSONResponse(await run_in_threadpool(work))
        except (InertError, OSError) as error:
            return _problem(error)


def _problem(error: Exception, status: int = 0) -> Response:
    """An error as the page reads it. 422: the question is right, and the file is why there is no answer."""
    if not status:
        status = 400 if isinstance(error, BadRequest) else 413 if isinstance(error, LimitError) else 422
    code = "unsupported" if isinstance(error, UnsupportedError) else type(error).__name__
    return JSONResponse({"error": printable(str(error)), "code": code}, status)


def _stream(steps: Iterator[bytes]) -> Response:
    return StreamingResponse(_closed(steps), media_type="application/x-ndjson")


async def _closed(steps: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The steps, each made in a thread. A reader who leaves ends the work at its next step."""
    try:
        async for step in iterate_in_threadpool(steps):
            yield step
    finally:
        getattr(steps, "close", lambda: None)()


def lines(begin: Callable[[], Iterator[dict[str, Any]]]) -> Iterator[bytes]:
    """The steps of a long answer as lines of JSON; an error is the last of them. Closing it ends the work."""
    with WORKERS:
        try:
            for step in begin():
                yield json.dumps(step).encode() + b"\n"
        except (InertError, OSError) as error:
            yield json.dumps({"error": printable(str(error)), "code": type(error).__name__}).encode() + b"\n"


def _ahead(opened: Sequence[Opened]) -> None:
    """Work out what the page will ask for first, while the browser starts."""
    for one in opened[:1]:
        with suppress(InertError, OSError):  # the answer says so
            overview.overview(one, Words({}))


def guarded(opened: Sequence[Opened], token: str, port: int) -> Guard:
    return Guard(Page(opened).application, token, port)


def serve(opened: Sequence[Opened], port: int, ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C. ``port`` 0: a free one. ``ready`` is told the address, token and all, once it answers. OSError: port taken."""
    import asyncio
    import socket

    import uvicorn

    token = token_urlsafe(24)
    Thread(target=_ahead, args=(opened,), name="inert-ahead", daemon=True).start()
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen(64)
        port = listening.getsockname()[1]
        config = uvicorn.Config(
            guarded(opened, token, port),
            log_level="critical",
            access_log=False,
            lifespan="off",
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)

        async def run() -> None:
            task = asyncio.ensure_future(server.serve(sockets=[listening]))
            while not server.started and not task.done():
                await asyncio.sleep(0.005)
            if server.started:
                ready(f"http://127.0.0.1:{port}/{token}/")
            await task

        asyncio.run(run())
