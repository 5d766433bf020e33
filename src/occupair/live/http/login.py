"""Routes of the page's login: the token is stored in a cookie that scripts cannot read."""

from __future__ import annotations

import logging
import re
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request, Response

from occupair.live.http.dependencies import get_pipeline
from occupair.live.http.schemas import Login, Me
from occupair.web.access import CHALLENGE, COOKIE, Caller, match_token, require
from occupair.web.errors import error_responses, public_error_responses
from occupair.web.request_bodies import json_body, read_model

log = logging.getLogger(__name__)
router = APIRouter(prefix="/api", tags=["login"])
_COOKIE_SECONDS = 30 * 86_400


@router.get("/login", summary="Current caller", responses=error_responses())
async def me(caller: Annotated[Caller, Depends(require("read"))]) -> Me:
    """Return the name and role of the token; without tokens in the settings every caller is admin."""
    return Me(name=caller.name, role=caller.role)


@router.post(
    "/login",
    summary="Log in",
    openapi_extra=json_body(Login),
    responses=public_error_responses(401, 413, 415, 422),
)
async def login(request: Request, response: Response) -> Me:
    """Store a token in a cookie, for the page."""
    given = await read_model(request, Login)
    known: Caller | None = request.state.caller
    if known is not None and known.via in ("open", "ingress"):
        return Me(name="", role=known.role)
    caller = match_token(given.token, get_pipeline(request).config.tokens, "cookie")
    if caller is None:
        log.warning("login rejected", extra={"address": request.client.host if request.client else ""})
        raise HTTPException(401, "invalid token", CHALLENGE)
    response.set_cookie(
        COOKIE,
        given.token,
        max_age=_COOKIE_SECONDS,
        path=_cookie_path(request),
        httponly=True,
        samesite="strict",
        secure=request.scope["scheme"] == "https",
    )
    return Me(name=caller.name, role=caller.role)


@router.post(
    "/logout", summary="Log out", status_code=204, response_model=None, responses=public_error_responses(413)
)
async def logout(request: Request, response: Response) -> None:
    """Delete the cookie."""
    response.delete_cookie(COOKIE, path=_cookie_path(request), httponly=True, samesite="strict")


def _cookie_path(request: Request) -> str:
    """Return the path of the page, below which a proxy serves it, so that other pages do not get the cookie.

    A forged header changes only the cookie of the client that sends it.
    """
    prefix = request.headers.get("x-forwarded-prefix", "").rstrip("/")
    return f"{prefix}/" if re.fullmatch(r"(/[\w.~-]+)+", prefix, re.ASCII) else "/"
