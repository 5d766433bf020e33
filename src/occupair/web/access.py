"""Who gets in: tokens and their roles, requests of other sites, and how often and how much one may ask.

Every request passes the `Gate`, so that no route can forget it; a route says only which role it `needs`.
"""

from __future__ import annotations

import math
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

from fastapi import HTTPException, Request, Security
from fastapi.responses import JSONResponse
from fastapi.security import APIKeyCookie, HTTPBearer
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from occupair.live.config import Role, ServiceConfig, TokenConfig
from occupair.live.tokens import check_token
from occupair.web.errors import problem
from occupair.web.json_text import in_json_words

if TYPE_CHECKING:
    from occupair.live.pipeline import Pipeline

COOKIE = "occupair"
MODEL_BYTES = 20_000_000
_RANK: dict[Role, int] = {"read": 0, "write": 1, "admin": 2}
_SAFE = ("GET", "HEAD", "OPTIONS")
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_UPLOAD = re.compile(r"/api/rooms/[^/]+/models")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(:\d+)?")

_bearer = HTTPBearer(scheme_name="token", auto_error=False, description="A token of the settings.")
_cookie = APIKeyCookie(
    scheme_name="cookie", name=COOKIE, auto_error=False, description="The same, as the page keeps it."
)


@dataclass(frozen=True)
class Who:
    """Who asks.

    Parameters
    ----------
    name : str
        Of the token; empty where none is needed.
    role : {"read", "write", "admin"}
    by : {"bearer", "cookie", "open"}
        How we know: a header, which no other site can send; a cookie, which the browser sends by itself;
        or no tokens are set, and who is on this machine may do everything.
    """

    name: str
    role: Role
    by: Literal["bearer", "cookie", "open"]


class Buckets:
    """A bucket of requests for each client, which fills at a steady rate.

    Parameters
    ----------
    per_minute : float
        How many requests a bucket gains in a minute, and how many it holds; 0: no limit.
    clients : int
        How many clients are remembered; the one that has been away for longest is forgotten first.
    """

    def __init__(self, per_minute: float, *, clients: int = 10_000) -> None:
        self.per_minute = per_minute
        self.clients = clients
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str, now: float) -> float:
        """Take one request out of a client's bucket; gives how long to wait [s], 0 if there was one.

        Examples
        --------
        >>> buckets = Buckets(2)
        >>> [buckets.take("a", now) for now in (0, 0, 0, 30)]
        [0.0, 0.0, 30.0, 0.0]
        """
        if self.per_minute <= 0:
            return 0.0
        left, since = self._left.pop(client, (self.per_minute, now))
        left = min(self.per_minute, left + (now - since) * self.per_minute / 60)
        wait = 0.0 if left >= 1 else (1 - left) * 60 / self.per_minute
        self._left[client] = (left if wait else left - 1, now)
        if len(self._left) > self.clients:
            self._left.popitem(last=False)
        return wait


class Gate:
    """ASGI: turns away who may not come in, and says to the rest who is asking.

    Parameters
    ----------
    app : ASGI application
    pipeline : Pipeline
        For the settings as they are now.
    buckets : Buckets
    """

    def __init__(self, app: ASGIApp, *, pipeline: Pipeline, buckets: Buckets) -> None:
        self.app = app
        self.pipeline = pipeline
        self.buckets = buckets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        config, request = self.pipeline.config, Request(scope)
        who = identify(request, config.tokens)
        limit = MODEL_BYTES if _UPLOAD.fullmatch(request.url.path) else config.limits.body_bytes
        refusal = (
            self._other_host(request, config)
            or self._too_often(request, who)
            or self._other_site(request, who)
            or self._too_long(request, limit)
        )
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        request.state.who = who
        await self.app(scope, _at_most(receive, limit), send)

    def _other_host(self, request: Request, config: ServiceConfig) -> JSONResponse | None:
        """Refuse names that lead to this machine only by a trick (DNS rebinding), where no token protects."""
        if config.tokens:
            return None
        asked = request.headers.get("host", "").lower()
        name = _HOST.fullmatch(asked)
        known = {*_LOOPBACK, config.host.lower(), f"[{config.host.lower()}]"}
        if name is not None and name[1] in known:
            return None
        return problem(403, f"Host must be {', '.join(_LOOPBACK)}, got {in_json_words(asked)}")

    def _too_often(self, request: Request, who: Who | None) -> JSONResponse | None:
        address = request.client.host if request.client else ""
        client = f"token {who.name}" if who is not None and who.name else f"address {address}"
        wait = math.ceil(self.buckets.take(client, time.monotonic()))
        if not wait:
            return None
        often = f"at most {self.buckets.per_minute:g} requests a minute, try again in {wait} s"
        return problem(429, often, {"Retry-After": str(wait)})

    def _other_site(self, request: Request, who: Who | None) -> JSONResponse | None:
        """Refuse what a page of another site has a browser do in a person's name."""
        if request.method in _SAFE or (who is not None and who.by == "bearer"):
            return None
        same = is_same_site(request)
        if same or (same is None and (who is None or who.by == "open")):
            return None
        return problem(403, "a request that changes something must come from this service's own page")

    def _too_long(self, request: Request, limit: int) -> JSONResponse | None:
        if request.method in _SAFE:
            return None  # nobody reads it
        length = request.headers.get("content-length", "0")
        if length.isascii() and length.isdigit() and len(length) < 20 and int(length) <= limit:
            return None
        return problem(413, _too_much(limit))


def identify(request: Request, tokens: Sequence[TokenConfig]) -> Who | None:
    """Tell who asks; None: nobody that we know."""
    if not tokens:
        return Who("", "admin", "open")
    scheme, _, shown_token = request.headers.get("authorization", "").partition(" ")
    if scheme:
        return match_token(shown_token.strip(), tokens, "bearer") if scheme.lower() == "bearer" else None
    return match_token(request.cookies.get(COOKIE, ""), tokens, "cookie")


def match_token(token: str, tokens: Sequence[TokenConfig], by: Literal["bearer", "cookie"]) -> Who | None:
    """Find whose token it is."""
    found = [one for one in tokens if token and check_token(token, (one,)) is not None]
    return Who(found[-1].name, found[-1].role, by) if found else None


def is_same_site(request: Request) -> bool | None:
    """Tell whether a request comes from our own page; None: no browser says so, or it does not tell."""
    fetched = request.headers.get("sec-fetch-site")
    if fetched is not None:
        return fetched in ("same-origin", "none")
    origin = request.headers.get("origin")
    if origin is None:
        return None
    return _netloc(origin) == request.headers.get("host", "").lower()


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


async def who_asks(
    request: Request,
    _header: Annotated[object, Security(_bearer)] = None,
    _kept: Annotated[object, Security(_cookie)] = None,
) -> Who:
    """Give who asks, or answer 401; the unused parameters are for OpenAPI."""
    who: Who | None = request.state.who
    if who is None:
        given = "authorization" in request.headers or COOKIE in request.cookies
        line = "this token is not known here" if given else "a token is needed: Authorization: Bearer ..."
        raise HTTPException(401, line, headers={"WWW-Authenticate": 'Bearer realm="occupair"'})
    return who


def needs(role: Role) -> Callable[[Who], Awaitable[Who]]:
    """Make the dependency of routes that need a role."""

    async def check(who: Annotated[Who, Security(who_asks)]) -> Who:
        if _RANK[who.role] < _RANK[role]:
            raise HTTPException(403, f"this needs the role {role}, the token {who.name!r} has {who.role}")
        return who

    return check


def _at_most(receive: Receive, limit: int) -> Receive:
    """Count what comes, for a body may be longer than its header says, or have none."""
    came = 0

    async def counted() -> Message:
        nonlocal came
        message = await receive()
        came += len(message.get("body", b""))
        if came > limit:
            raise HTTPException(413, _too_much(limit))
        return message

    return counted


def _too_much(limit: int) -> str:
    return f"the body must be at most {limit} bytes"
