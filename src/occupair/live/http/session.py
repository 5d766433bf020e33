"""The page's login: a token goes into a cookie that scripts cannot read."""

from __future__ import annotations

import logging
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request, Response

from occupair.live.http.dependencies import pipeline_of
from occupair.live.http.schemas import Login, Me
from occupair.web.access import COOKIE, Caller, match_token, require
from occupair.web.errors import error_responses, public_error_responses
from occupair.web.request_bodies import json_body, read_model

log = logging.getLogger(__name__)
router = APIRouter(prefix="/api", tags=["login"])
_DAYS_30 = 30 * 86_400


@router.get("/login", summary="Caller am I?", responses=error_responses())
async def me(who: Annotated[Caller, Depends(require("read"))]) -> Me:
    """Tell the name of the token and its role; without tokens in the settings everybody is admin."""
    return Me(name=who.name, role=who.role)


@router.post(
    "/login",
    summary="Log in",
    openapi_extra=json_body(Login),
    responses=public_error_responses(401, 413, 415, 422),
)
async def login(request: Request, response: Response) -> Me:
    """Keep a token in a cookie, for the page."""
    given = await read_model(request, Login)
    tokens = pipeline_of(request).config.tokens
    if not tokens:
        return Me(name="", role="admin")
    who = match_token(given.token, tokens, "cookie")
    if who is None:
        log.warning("login refused", extra={"address": request.client.host if request.client else ""})
        raise HTTPException(401, "invalid token", {"WWW-Authenticate": 'Bearer realm="occupair"'})
    response.set_cookie(
        COOKIE,
        given.token,
        max_age=_DAYS_30,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return Me(name=who.name, role=who.role)


@router.post("/logout", summary="Log out", status_code=204, responses=public_error_responses(413))
async def logout(response: Response) -> None:
    """Drop the cookie."""
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
