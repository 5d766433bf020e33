"""Whether the service works, for whoever watches over it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from occupair.live.http.dependencies import pipeline_of
from occupair.live.http.schemas import Health
from occupair.web.access import Caller
from occupair.web.errors import public_error_responses

router = APIRouter(tags=["operation"])
_FINE = ("ok", "connected", "off")


@router.get(
    "/healthz",
    response_model=Health,
    response_model_exclude_none=True,
    summary="Does it work?",
    responses=public_error_responses()
    | {
        200: {"description": "It works; `degraded` while it has no link to the broker, which it looks for."},
        503: {"model": Health, "description": "It fails; `parts` says what does, to those who may read."},
    },
)
async def healthz(request: Request) -> JSONResponse:
    """Say whether it works; needs no token, and then says no more."""
    parts = dict(pipeline_of(request).healthy)
    status = health_of(parts)
    who: Caller | None = request.state.caller
    said: dict[str, object] = {"status": status}
    if who is not None:
        said["parts"] = parts
    if status == "failing":
        return JSONResponse(said, 503, headers={"Retry-After": "10"})
    return JSONResponse(said)


def health_of(parts: Mapping[str, str]) -> Literal["ok", "degraded", "failing"]:
    """Sum up how the parts are.

    Without a link to the broker it is only degraded: HTTP goes on, and a restart would not bring it back.

    Examples
    --------
    >>> health_of({"store": "ok", "mqtt": "connected"}), health_of({"store": "ok", "mqtt": "connecting"})
    ('ok', 'degraded')
    """
    broken = {part for part, said in parts.items() if said not in _FINE}
    if not broken:
        return "ok"
    return "degraded" if broken == {"mqtt"} else "failing"
