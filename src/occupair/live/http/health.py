"""Whether the service works, for whoever watches over it."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from occupair.live.http.access import Who
from occupair.live.http.answers import open_may_answer
from occupair.live.http.models import Health
from occupair.live.http.parts import pipeline_of

router = APIRouter(tags=["operation"])
_FINE = ("ok", "connected", "off")


@router.get(
    "/healthz",
    response_model=Health,
    response_model_exclude_none=True,
    summary="Does it work?",
    responses=open_may_answer()
    | {
        503: {"model": Health, "description": "Something is wrong; `parts` says what, to those who may read."}
    },
)
async def healthz(request: Request) -> JSONResponse:
    """Say whether all parts work; needs no token, and then says no more."""
    parts = dict(pipeline_of(request).healthy)
    fine = works(parts)
    who: Who | None = request.state.who
    said: dict[str, object] = {"status": "ok" if fine else "failing"}
    if who is not None:
        said["parts"] = parts
    return JSONResponse(said, 200 if fine else 503, headers=None if fine else {"Retry-After": "10"})


def works(parts: Mapping[str, str]) -> bool:
    """Tell whether all parts work.

    Examples
    --------
    >>> works({"store": "ok", "mqtt": "connected"}), works({"store": "ok", "mqtt": "connecting"})
    (True, False)
    """
    return all(said in _FINE for said in parts.values())
