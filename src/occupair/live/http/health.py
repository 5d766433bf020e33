"""Health check, for monitoring and load balancers."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from occupair.live.http.dependencies import get_pipeline
from occupair.live.http.schemas import Health
from occupair.web.access import Caller
from occupair.web.errors import public_error_responses

router = APIRouter(tags=["operation"])
_HEALTHY = ("ok", "connected", "off")


@router.get(
    "/healthz",
    response_model=Health,
    response_model_exclude_none=True,
    summary="Health check",
    responses=public_error_responses()
    | {
        200: {
            "description": "Working; `degraded` while the MQTT broker, a BACnet device or point is silent."
        },
        503: {"model": Health, "description": "Failing; `parts` names the failing part, with a valid token."},
    },
)
async def healthz(request: Request) -> JSONResponse:
    """Return the health of the service. Without a valid token, only the status is returned."""
    pipeline = get_pipeline(request)
    parts = dict(pipeline.part_status)
    status = overall_health(parts, pipeline.links)
    caller: Caller | None = request.state.caller
    body: dict[str, object] = {"status": status}
    if caller is not None:
        body["parts"] = parts
    if status == "failing":
        return JSONResponse(body, 503, headers={"Retry-After": "10"})
    return JSONResponse(body)


def overall_health(parts: Mapping[str, str], links: Set[str]) -> Literal["ok", "degraded", "failing"]:
    """Summarize the status of the parts.

    Without a link, such as the one to the MQTT broker, the service is only degraded: HTTP works, and a
    restart would not help.

    Examples
    --------
    >>> overall_health({"store": "ok", "mqtt": "connected"}, {"mqtt"})
    'ok'
    >>> overall_health({"store": "ok", "mqtt": "connecting"}, {"mqtt"})
    'degraded'
    """
    failing = {part for part, status in parts.items() if status not in _HEALTHY}
    if not failing:
        return "ok"
    return "degraded" if failing <= links else "failing"
