"""The network side: paths, tokens, limits and one line for whatever is refused."""

from __future__ import annotations

import asyncio
import calendar
import json
import logging
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from surefoot._io.printable import printable, printable_value
from surefoot.render import html
from surefoot.service import batches, kept
from surefoot.service.exposition import CONTENT_TYPE, exposition, numbers_of
from surefoot.service.limits import Rate, read_body
from surefoot.service.openapi import document
from surefoot.service.origin import check_origin
from surefoot.service.pages import index_page, line_of, stream_page
from surefoot.service.refused import Refused
from surefoot.service.service import Service
from surefoot.service.tokens import Grant
from surefoot.service.totals import by_day, by_hour

log = logging.getLogger("surefoot.service")

_COOKIE = "surefoot_token"
_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
}
_TIME = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}))?")
#: Bytes of a body from which it is parsed beside the event loop; how many such bodies, which take many times their
#: size, and how many answers at once.
_LARGE, _PARSERS, _READERS = 32 << 10, 2, 4
_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,200}")
#: What a page answers to whoever has a browser, and no token that is valid.
NO_TOKEN = """This page needs a valid token.

Open the address that the server printed at its first start: it ends in /?token=...
For another token, type on the machine of the server

    surefoot serve --store STORE --new-token '*:read'

and open /?token=TOKEN with what it prints. Your browser remembers it.
"""
Endpoint = Callable[[Request], Awaitable[Response]]


class App:
    """The paths of the service.

    Parameters
    ----------
    service : Service
        What is behind them.
    is_open : bool
        Whether requests need no token, which the command line allows on this machine only.
    rate : float
        Requests a second that a client may make.
    """

    def __init__(self, service: Service, *, is_open: bool = False, rate: float = 1_000) -> None:
        self.service, self.is_open, self._rate = service, is_open, Rate(rate)
        #: Reports and pages wait for each other, and never for rows that come in, nor these for them.
        self._readers = anyio.CapacityLimiter(_READERS)
        self._parsers = anyio.CapacityLimiter(_PARSERS)
        of_stream = "/v1/models/{model}/{version}"
        self.asgi = Starlette(
            routes=[
                self._route("/", self.index, "GET", is_page=True),
                self._route("/models/{model}/{version}", self.page, "GET", is_page=True),
                self._route("/healthz", self.health, "GET"),
                self._route("/readyz", self.ready, "GET"),
                self._route("/metrics", self.metrics, "GET"),
                self._route("/openapi.json", self.describe, "GET"),
                self._route("/v1/models", self.models, "GET"),
                self._route(f"{of_stream}/predictions", self.predictions, "POST"),
                self._route(f"{of_stream}/labels", self.labels, "POST"),
                self._route(f"{of_stream}/state", self.state, "GET"),
                self._route(f"{of_stream}/report", self.report, "GET"),
                self._route(f"{of_stream}/tally", self.tally, "GET"),
                self._route(f"{of_stream}/rows", self.rows, "GET"),
                self._route(f"{of_stream}/reference", self.reference, "PUT"),
            ],
            exception_handlers={HTTPException: _plain_error},
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        self.service.start()
        yield
        await run_sync(self.service.stop)

    def _route(self, path: str, endpoint: Endpoint, method: str, *, is_page: bool = False) -> Route:
        async def served(request: Request) -> Response:
            try:
                response = await endpoint(request)
            except Refused as refused:
                response = _refusal(refused, is_page=is_page)
            for name, value in _HEADERS.items():
                response.headers.setdefault(name, value)
            return response

        return Route(path, served, methods=[method])

    # -- rows come in ------------------------------------------------------------------------------------------------

    async def predictions(self, request: Request) -> Response:
        """Store predictions."""
        return await self._add(request, "predictions", batches.predictions)

    async def labels(self, request: Request) -> Response:
        """Store labels."""
        return await self._add(request, "labels", batches.labels)

    async def _add(self, request: Request, scope: str, parse: Callable[[bytes, str], Any]) -> Response:
        model, version = _names(request)
        await self._check(request, scope, model)
        body = await _body(request)
        kind = request.headers.get("content-type", "")
        if len(body) < _LARGE:
            rows = parse(body, kind)
        else:
            rows = await run_sync(parse, body, kind, limiter=self._parsers)
        if not rows:
            return JSONResponse({"counted": 0, "repeated": 0})
        if scope == "predictions" and any(row.correct is not None for row in rows):
            # whether a prediction was correct is a label, whichever path it comes by
            await self._check(request, "labels", model)
        receipt = await asyncio.wrap_future(self.service.add(model, version, rows))
        return JSONResponse({"counted": receipt.counted, "repeated": receipt.repeated})

    async def reference(self, request: Request) -> Response:
        """Keep a tally that the model is compared with."""
        model, version = _names(request)
        await self._check(request, "reference", model)
        body = await _body(request)
        return JSONResponse({"rows": await self._read(self.service.keep_reference, model, version, body)})

    # -- what is known -----------------------------------------------------------------------------------------------

    async def models(self, request: Request) -> Response:
        """The models that the token may read."""
        grant = await self._check(request, "read", None, any_model=True)
        streams = [one for one in await self._read(self.service.store.streams) if grant(one.model)]
        return JSONResponse({"models": [{"model": one.model, "version": one.version} for one in streams]})

    async def state(self, request: Request) -> Response:
        """Where a stream stands."""
        model, version = _names(request)
        await self._check(request, "read", model)

        def read() -> dict[str, Any]:
            stream = self.service.find(model, version)
            found = self.service.state(stream)
            return {**found, "days": by_day(by_hour(self.service.database, stream))}

        return JSONResponse(await self._read(read))

    async def report(self, request: Request) -> Response:
        """The report of a window, as HTML or JSON."""
        return await self._window(request, self._report, "format")

    def _report(self, request: Request, which: dict[str, Any], model: str, version: str) -> Response:
        kind = request.query_params.get("format", "html")
        if kind not in ("html", "json"):
            raise Refused(400, f"format is {printable_value(kind)}; there are html and json")
        assessment = self.service.assessment(self.service.find(model, version), **which)
        return JSONResponse(assessment.to_dict()) if kind == "json" else HTMLResponse(html.report(assessment))

    async def tally(self, request: Request) -> Response:
        """The tally of a window, as ``Tally.load`` reads it."""
        return await self._window(request, self._tally)

    def _tally(self, request: Request, which: dict[str, Any], model: str, version: str) -> Response:
        total = self.service.total(self.service.find(model, version), **which)
        return Response(total.to_text(), media_type="application/json")

    async def rows(self, request: Request) -> Response:
        """The last labelled rows, for what needs rows and not a tally."""
        model, version = _names(request)
        await self._check(request, "read", model)
        _check_query(request, "since")
        since = _hour(request, "since") or 0

        def read() -> str:
            return kept.as_lines(kept.labelled_rows(self.service.database, self.service.find(model, version), since))

        return PlainTextResponse(await self._read(read), media_type=batches.LINES)

    async def _window(self, request: Request, answer: Callable[..., Response], *more: str) -> Response:
        model, version = _names(request)
        await self._check(request, "read", model)
        _check_query(request, "since", "until", "slice", *more)
        part = batches.check_slice(request.query_params.get("slice"))
        since, until = _hour(request, "since"), _hour(request, "until")
        if since is not None and until is not None and until <= since:
            raise Refused(400, "until is not after since; the rows before until are taken")
        which = {"part": part, "since": since, "until": until}
        response: Response = await self._read(answer, request, which, model, version)
        return response

    async def metrics(self, request: Request) -> Response:
        """The numbers for Prometheus."""
        grant = await self._check(request, "read", None, any_model=True)

        def read() -> str:
            found = []
            for stream in self.service.store.streams():
                if grant(stream.model):
                    with self.service.looking(stream) as follower:
                        found.append(numbers_of(stream, follower))
            return exposition(found)

        return PlainTextResponse(await self._read(read), media_type=CONTENT_TYPE)

    # -- pages -------------------------------------------------------------------------------------------------------

    async def index(self, request: Request) -> Response:
        """The models, for people. A token in the query moves into a cookie that scripts cannot read."""
        if (token := request.query_params.get("token")) is not None:
            if not _TOKEN.fullmatch(token):
                raise Refused(401, "this is no token; use the address that the server printed")
            response = RedirectResponse("/", status_code=303)
            response.set_cookie(_COOKIE, token, httponly=True, samesite="strict", secure=request.url.scheme == "https")
            return response
        grant = await self._check(request, "read", None, any_model=True)
        url = _base_url(request)

        def read() -> str:
            found = []
            for stream in self.service.store.streams():
                if grant(stream.model):
                    with self.service.looking(stream) as follower:
                        found.append(line_of(stream, follower))
            return index_page(found, url)

        return HTMLResponse(await self._read(read))

    async def page(self, request: Request) -> Response:
        """One model, for people."""
        model, version = _names(request)
        await self._check(request, "read", model)

        def read() -> str:
            stream = self.service.find(model, version)
            return stream_page(self.service, stream)

        return HTMLResponse(await self._read(read))

    async def health(self, request: Request) -> Response:
        """Whether the process answers."""
        return PlainTextResponse("ok")

    async def ready(self, request: Request) -> Response:
        """Whether the store answers."""

        def ask() -> Response:
            try:
                self.service.store.streams()
            except Exception as error:
                # whoever asks needs no token, so why it does not is for the log alone
                log.warning("the store does not answer: %s", printable(" ".join(str(error).split()), 200))
                raise Refused(503, "the store does not answer") from error
            return PlainTextResponse("ok")

        # it reads the store, and anybody may ask
        self._rate.check(request.client.host if request.client else "")
        return await run_sync(ask)

    async def describe(self, request: Request) -> Response:
        """The OpenAPI document."""
        return JSONResponse(document())

    # -- who may -----------------------------------------------------------------------------------------------------

    async def _check(
        self, request: Request, scope: str, model: str | None, *, any_model: bool = False
    ) -> Callable[[str], bool]:
        """Raise unless the token allows it; what comes back says which models it may read."""
        client = request.client.host if request.client else ""
        if self.is_open:
            check_origin(request.headers.get("host", ""), request.headers.get("origin"))
            self._rate.check(client)
            return lambda name: True
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            # a cookie may read and no more: other sites cannot make a browser write
            token = request.cookies.get(_COOKIE, "") if scope == "read" else ""
        grant = await self._grant(token, client)
        if scope not in grant.scopes or not (any_model or grant.allows(scope, model)):
            raise Refused(403, f"this token does not allow {scope} of {model or 'this'}")
        return lambda name: grant.allows(scope, name)

    async def _grant(self, token: str, client: str) -> Grant:
        """What a token allows. Who guesses tokens is counted before the store is asked."""
        grant = self.service.tokens.known(token)
        self._rate.check(client if grant is None else token)
        if grant is None and _TOKEN.fullmatch(token):
            grant = await run_sync(self.service.tokens.grant_of, token)
        if grant is None:
            raise Refused(401, "no valid token; send the header 'Authorization: Bearer TOKEN'")
        return grant

    async def _read(self, answer: Callable[..., Any], *arguments: Any) -> Any:
        """Compute an answer beside the event loop, a few at a time."""
        return await run_sync(answer, *arguments, limiter=self._readers)


def _base_url(request: Request) -> str:
    """The address that the browser used, if it is one."""
    try:
        return str(request.base_url)
    except ValueError:
        return "/"


async def _body(request: Request) -> bytes:
    """What a request holds."""
    packed = request.headers.get("content-encoding", "identity")
    if packed.lower() != "identity":
        raise Refused(415, f"bodies packed by {printable(packed, 40)} are not read; send it unpacked")
    return await read_body(request.stream(), request.headers.get("content-length"))


def _names(request: Request) -> tuple[str, str]:
    model, version = request.path_params["model"], request.path_params["version"]
    return batches.check_name("model", model), batches.check_name("version", version)


def _check_query(request: Request, *known: str) -> None:
    """Raise if something is asked that would be left out: the answer would be one to another question."""
    names = [name for name, _ in request.query_params.multi_items()]
    for name in names:
        if name not in known:
            raise Refused(400, f"{printable_value(name)} is not known here; there are {', '.join(known)}")
        if names.count(name) > 1:
            raise Refused(400, f"{name} is given {names.count(name)} times")


def _hour(request: Request, name: str) -> int | None:
    """A day or an hour in UTC, as hours since 1970."""
    text = request.query_params.get(name)
    if text is None:
        return None
    found = _TIME.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        year, month, day, hour = (int(part or 0) for part in found.groups())
        parsed = time.strptime(f"{year:04}-{month:02}-{day:02}T{hour:02}", "%Y-%m-%dT%H")
    except ValueError:
        raise Refused(400, f"{name} is {printable(text)!r}; send a day or an hour such as 2026-03-01T14") from None
    return calendar.timegm(parsed) // 3600


def _refusal(refused: Refused, *, is_page: bool = False) -> Response:
    headers = {"retry-after": "1"} if refused.status in (429, 503) else {}
    if refused.status == 401:
        headers["www-authenticate"] = "Bearer"
        if is_page:
            # whoever has a browser can send no header
            return PlainTextResponse(NO_TOKEN, status_code=401, headers=headers)
    # what came from outside is in the message: no browser may take it for markup, whatever it thinks of the type
    body = json.dumps({"error": refused.message}).replace("<", "\\u003c")
    return Response(body, status_code=refused.status, media_type="application/json", headers=headers)


async def _plain_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {404: "there is nothing here; /openapi.json lists the paths", 405: "this path takes another method"}
    return _refusal(Refused(error.status_code, words.get(error.status_code, str(error.detail))))
