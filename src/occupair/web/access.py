"""Access control: tokens and roles, cross-site requests, rate limits and body size limits.

Every request passes through the `AccessControl` middleware, so no route can omit it. A route only states the
role it requires, with `require`.
"""

from __future__ import annotations

import math
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import HTTPException, Request, Security
from fastapi.responses import JSONResponse
from fastapi.security import APIKeyCookie, HTTPBearer
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from occupair.web.errors import describe_value, error_response
from occupair.web.hosts import LOOPBACK_HOSTS, is_own_host
from occupair.web.limits import BODY_BYTES
from occupair.web.tokens import Role, StoredToken, find_token

COOKIE = "occupair"
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="occupair"'}
_RANK: dict[Role, int] = {"read": 0, "write": 1, "admin": 2}
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_HEALTH_PATH = "/healthz"
_ROLE_ATTRIBUTE = "required_role"

_bearer = HTTPBearer(scheme_name="token", auto_error=False, description="An access token from the settings.")
_cookie = APIKeyCookie(
    scheme_name="cookie", name=COOKIE, auto_error=False, description="The same token, in the page's cookie."
)


@dataclass(frozen=True)
class AccessRules:
    """Current access settings of a server.

    Parameters
    ----------
    host : str
        Address that the server listens on.
    tokens : sequence of StoredToken
        Without tokens, every local user has the role admin, and only requests to loopback names or to
        ``host`` are accepted.
    body_bytes : int
        Maximum size of a request body [bytes].
    ingress : str, optional
        Address of Home Assistant's ingress proxy, which has authenticated the users of its requests. With it
        and without tokens, all other addresses are refused, except for health checks.
    ingress_role : {"read", "write", "admin"}
        Role of these users.
    """

    host: str = "127.0.0.1"
    tokens: Sequence[StoredToken] = ()
    body_bytes: int = BODY_BYTES
    ingress: str | None = None
    ingress_role: Role = "admin"


@dataclass(frozen=True)
class Caller:
    """Identity and role behind a request.

    Parameters
    ----------
    name : str
        Name of the token; empty if there is none.
    role : {"read", "write", "admin"}
    via : {"bearer", "cookie", "ingress", "open"}
        How the caller was identified: by a header, which another site cannot send; by a cookie, which the
        browser sends on its own; by Home Assistant, also with a cookie; or not at all, because the server has
        no tokens.
    """

    name: str
    role: Role
    via: Literal["bearer", "cookie", "ingress", "open"]


class RateLimiter:
    """Token-bucket rate limit for each client.

    Parameters
    ----------
    per_minute : float
        Requests a client may send per minute, and at most at once; 0 means no limit.
    max_clients : int
        Number of clients that are tracked; the least recently seen is dropped first.
    """

    def __init__(self, per_minute: float, *, max_clients: int = 10_000) -> None:
        self.per_minute = per_minute
        self.max_clients = max_clients
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # requests left, at time [s]

    def take(self, client: str, now: float) -> float:
        """Count one request and return how long the client has to wait [s]; 0 if it is allowed.

        Examples
        --------
        >>> limiter = RateLimiter(2)
        >>> [limiter.take("a", now) for now in (0, 0, 0, 30)]
        [0.0, 0.0, 30.0, 0.0]
        """
        if self.per_minute <= 0:
            return 0.0
        left, since = self._buckets.pop(client, (self.per_minute, now))
        left = min(self.per_minute, left + (now - since) * self.per_minute / 60)
        wait = 0.0 if left >= 1 else (1 - left) * 60 / self.per_minute
        self._buckets[client] = (left if wait else left - 1, now)
        if len(self._buckets) > self.max_clients:
            self._buckets.popitem(last=False)
        return wait


class AccessControl:
    """ASGI middleware that rejects forbidden requests and identifies the caller of the others.

    Parameters
    ----------
    app : ASGI application
    rules : callable
        Returns the current `AccessRules`; called for every request, so changed settings take effect.
    rate_limiter : RateLimiter
    upload_limits : mapping, optional
        Maximum body size [bytes] of paths that match a pattern, instead of ``AccessRules.body_bytes``.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        rules: Callable[[], AccessRules],
        rate_limiter: RateLimiter,
        upload_limits: Mapping[re.Pattern[str], int] | None = None,
    ) -> None:
        self.app = app
        self.rules = rules
        self.rate_limiter = rate_limiter
        self.upload_limits = upload_limits or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        rules, request = self.rules(), Request(scope)
        caller = identify(request, rules)
        path = scope["path"]  # not that of request.url, which contains the Host header of the client
        limits = (size for pattern, size in self.upload_limits.items() if pattern.fullmatch(path))
        limit = next(limits, rules.body_bytes)
        rejection = (
            _reject_outside_ingress(request, rules, caller)
            or _reject_foreign_host(request, rules)
            or self._reject_over_rate(request, caller)
            or _reject_cross_site(request, caller)
            or _reject_large_body(request, limit)
        )
        if rejection is not None:
            await rejection(scope, receive, send)
            return
        request.state.caller = caller
        await self.app(scope, _limited(receive, limit), send)

    def _reject_over_rate(self, request: Request, caller: Caller | None) -> JSONResponse | None:
        address = request.client.host if request.client else ""
        client = f"token {caller.name}" if caller is not None and caller.name else f"address {address}"
        if caller is not None and caller.via == "ingress":  # all users have the address of the proxy
            client = f"user {request.headers.get('x-remote-user-id', '')[:100]}"
        wait = math.ceil(self.rate_limiter.take(client, time.monotonic()))
        if not wait:
            return None
        limit = f"rate limit of {self.rate_limiter.per_minute:g} requests per minute exceeded"
        return error_response(429, f"{limit}, retry in {wait} s", {"Retry-After": str(wait)})


def _reject_outside_ingress(
    request: Request, rules: AccessRules, caller: Caller | None
) -> JSONResponse | None:
    """Reject other addresses of Home Assistant's network; the container checks its own health."""
    if rules.ingress is None or rules.tokens or caller is not None or request.scope["path"] == _HEALTH_PATH:
        return None
    return error_response(403, "requests must come through Home Assistant, because there are no tokens")


def _reject_foreign_host(request: Request, rules: AccessRules) -> JSONResponse | None:
    """Reject names that reach this machine by DNS rebinding, where neither token nor login protects it."""
    host = request.headers.get("host", "")
    if rules.tokens or rules.ingress is not None or is_own_host(host, rules.host):
        return None
    return error_response(
        403, f"Host must be {', '.join(LOOPBACK_HOSTS)}, got {describe_value(host.lower())}"
    )


def _reject_cross_site(request: Request, caller: Caller | None) -> JSONResponse | None:
    """Reject writes that another site's page sends through the user's browser (CSRF)."""
    if request.method in _SAFE_METHODS or (caller is not None and caller.via == "bearer"):
        return None
    same = is_same_site(request, caller)
    if same or (same is None and (caller is None or caller.via == "open")):
        return None
    return error_response(403, "cross-site request rejected: changes must come from this service's own page")


def _reject_large_body(request: Request, limit: int) -> JSONResponse | None:
    if request.method in _SAFE_METHODS:
        return None  # the body is never read
    length = request.headers.get("content-length", "0")
    if length.isascii() and length.isdigit() and len(length) < 20 and int(length) <= limit:
        return None
    return error_response(413, _size_error(limit))


def identify(request: Request, rules: AccessRules) -> Caller | None:
    """Return the caller of a request, or None if it has no valid token."""
    if rules.ingress is not None and request.client is not None and request.client.host == rules.ingress:
        return Caller("", rules.ingress_role, "ingress")
    tokens = rules.tokens
    if not tokens:
        return Caller("", "admin", "open") if rules.ingress is None else None
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme:
        return match_token(token.strip(), tokens, "bearer") if scheme.lower() == "bearer" else None
    return match_token(request.cookies.get(COOKIE, ""), tokens, "cookie")


def match_token(token: str, tokens: Sequence[StoredToken], via: Literal["bearer", "cookie"]) -> Caller | None:
    """Return the caller that a token belongs to, or None."""
    found = find_token(token, tokens) if token else None
    return None if found is None else Caller(found.name, found.role, via)


def is_same_site(request: Request, caller: Caller | None = None) -> bool | None:
    """Whether a request comes from this server's own page; None if the headers do not tell.

    Browsers send ``Sec-Fetch-Site`` over HTTPS and to loopback only. A proxy in front of Home Assistant may
    change ``Host``, and names the host of the page in ``X-Forwarded-Host``.
    """
    fetched = request.headers.get("sec-fetch-site")
    if fetched is not None:
        return fetched in ("same-origin", "none")
    origin = request.headers.get("origin")
    if origin is None:
        return None
    hosts = [request.headers.get("host", "").lower()]
    if caller is not None and caller.via == "ingress":
        hosts.append(request.headers.get("x-forwarded-host", "").lower())
    return _netloc(origin) in hosts


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


async def current_caller(
    request: Request,
    _bearer_token: Annotated[object, Security(_bearer)] = None,
    _cookie_token: Annotated[object, Security(_cookie)] = None,
) -> Caller:
    """Return the caller, or respond 401. The unused parameters document the schemes in OpenAPI."""
    caller: Caller | None = request.state.caller
    if caller is None:
        given = "authorization" in request.headers or COOKIE in request.cookies
        detail = "invalid token" if given else "token required: Authorization: Bearer ..."
        raise HTTPException(401, detail, headers=CHALLENGE)
    return caller


def require(role: Role) -> Callable[[Caller], Awaitable[Caller]]:
    """Return a route dependency that requires a role."""

    async def check(caller: Annotated[Caller, Security(current_caller)]) -> Caller:
        if _RANK[caller.role] < _RANK[role]:
            who = "Home Assistant" if caller.via == "ingress" else f"token {caller.name!r}"
            raise HTTPException(403, f"role {role} required, {who} has role {caller.role}")
        return caller

    check.__dict__[_ROLE_ATTRIBUTE] = role
    return check


def required_role(dependency: object) -> Role | None:
    """Return the role that a route dependency requires; None if it is not from `require`.

    Examples
    --------
    >>> required_role(require("write"))
    'write'
    """
    role: Role | None = getattr(dependency, _ROLE_ATTRIBUTE, None)
    return role


def _limited(receive: Receive, limit: int) -> Receive:
    """Count received bytes: a body can be longer than its Content-Length, or have none."""
    received = 0

    async def receive_limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise HTTPException(413, _size_error(limit))
        return message

    return receive_limited


def _size_error(limit: int) -> str:
    return f"the request body must be at most {limit} bytes"
