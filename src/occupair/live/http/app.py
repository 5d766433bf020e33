"""The web application of the live service."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Match

from occupair._version import __version__
from occupair.errors import InputError
from occupair.live.config import ServiceConfig
from occupair.live.http import (
    air,
    events,
    floors,
    health,
    hours,
    labels,
    login,
    metrics,
    readings,
    rooms,
    training,
)
from occupair.live.http import models as models_routes
from occupair.live.http.dependencies import RoomElsewhere, get_exchange
from occupair.live.http.events import Streams
from occupair.live.http.forwarding import forward
from occupair.live.http.forwarding import log as forwarding_log
from occupair.live.http.schemas import LabelIn, Login, PlaceIn, Problem, ReadingIn
from occupair.live.http.state_json import StateEncoder
from occupair.live.http.today import TodayUse
from occupair.live.page import STATIC, plotly_script
from occupair.live.pipeline import Pipeline
from occupair.live.room_pipeline import BacklogFull
from occupair.live.store import StoreError
from occupair.web import assets as pages
from occupair.web.access import AccessControl, AccessRules, RateLimiter, required_role
from occupair.web.assets import Assets
from occupair.web.errors import describe_validation_error, error_response, ignore_disconnects
from occupair.web.log_throttle import LogThrottle
from occupair.web.request_bodies import SCHEMA_REFERENCE
from occupair.web.security_headers import SECURITY_HEADERS, SecurityHeaders

if TYPE_CHECKING:
    from occupair.live.sharding.exchange import ShardExchange

log = logging.getLogger(__name__)
_ROUTERS = (
    rooms,
    hours,
    floors,
    readings,
    labels,
    air,
    models_routes,
    training,
    events,
    login,
    health,
    metrics,
    pages,
)
_REFERENCED = (ReadingIn, LabelIn, PlaceIn, Login, Problem)  # schemas that routes refer to by name
_DESCRIPTION = """Occupancy of rooms, estimated from CO2.

Times are RFC 3339, in UTC. Errors are one line of text: `{"detail": "there is no room 'attic'"}`. Reading
requires the role read; posting readings and labels the role write; models, training and floor plans the role
admin. The
`reason` of a state is in English, or in German with `Accept-Language: de`.
"""


def make_app(
    pipeline: Pipeline,
    config: ServiceConfig,
    *,
    durable_within: float = 10.0,
    streams: Streams | None = None,
    exchange: ShardExchange | None = None,
) -> FastAPI:
    """Create the web application.

    Parameters
    ----------
    pipeline : Pipeline
    config : ServiceConfig
        Rooms, tokens and limits follow ``pipeline.config`` when the settings are reloaded, except for the
        rate limit.
    durable_within : float
        Maximum time until posted readings are stored [s]; the response is then 503.
    streams : Streams, optional
        Limits of event streams. ``app.state.streams.stop()`` closes them, before the server is stopped.
    exchange : ShardExchange, optional
        The exchange with other shards, whose rooms are then shown as well.
    """
    app = _make_routes()
    app.state.pipeline = pipeline
    app.state.exchange = exchange
    app.state.durable_within = durable_within
    app.state.streams = streams or Streams()
    app.state.encoder = StateEncoder()
    app.state.today = TodayUse()
    app.state.assets = Assets(STATIC, libraries={"plotly.min.js": plotly_script()})
    app.state.registry = metrics.make_registry(pipeline, app.state.streams)
    app.add_middleware(GZipMiddleware, minimum_size=1_000, compresslevel=5)
    app.add_middleware(
        AccessControl,
        rules=lambda: _access_rules(pipeline.config),
        rate_limiter=RateLimiter(config.limits.requests_per_minute),
        upload_limits={
            models_routes.UPLOAD_PATH: models_routes.MAX_MODEL_BYTES,
            floors.UPLOAD_PATH: floors.MAX_PLAN_BYTES,
        },
    )
    app.add_middleware(SecurityHeaders)
    _handle_errors(app)
    for one in (log, forwarding_log):
        LogThrottle.install(one)  # while the store or a shard is unavailable, every request fails
    return app


def openapi_document() -> dict[str, Any]:
    """Return the OpenAPI document of the service, which needs no pipeline."""
    return _make_routes().openapi()


def _make_routes() -> FastAPI:
    """Create an application with all routes and their OpenAPI document, and nothing behind them."""
    app = FastAPI(
        title="occupair",
        version=__version__,
        description=_DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages load scripts from a CDN
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    for part in _ROUTERS:
        app.include_router(part.router)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _access_rules(config: ServiceConfig) -> AccessRules:
    return AccessRules(
        host=config.host,
        tokens=config.tokens,
        body_bytes=config.limits.body_bytes,
        ingress=config.ingress,
        ingress_role=config.ingress_role,
    )


def _handle_errors(app: FastAPI) -> None:
    async def on_http_error(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        headers = dict(error.headers or {})
        if error.status_code == 405:
            headers["Allow"] = ", ".join(_allowed_methods(request))
        detail = str(error.detail)
        if detail == "Not Found":
            detail = "path not found"
        elif detail == "Method Not Allowed":
            detail = f"method not allowed, use {headers.get('Allow')}"
        return error_response(error.status_code, detail, headers)

    async def on_validation_error(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return error_response(422, describe_validation_error(error))

    async def on_input_error(request: Request, error: Exception) -> JSONResponse:
        return error_response(422, str(error))

    async def on_store_error(request: Request, error: Exception) -> JSONResponse:
        log.warning("request failed: %s", error)
        return error_response(503, "the database is not available, retry later", {"Retry-After": "10"})

    async def on_room_elsewhere(request: Request, error: Exception) -> Response:
        assert isinstance(error, RoomElsewhere)
        exchange = get_exchange(request)
        assert exchange is not None
        return await forward(request, error.room, exchange)

    async def on_unexpected_error(request: Request, error: Exception) -> JSONResponse:
        return error_response(500, "internal error; see the service log for details", SECURITY_HEADERS)

    ignore_disconnects(app)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(RequestValidationError, on_validation_error)
    app.add_exception_handler(StoreError, on_store_error)
    app.add_exception_handler(BacklogFull, on_store_error)
    app.add_exception_handler(InputError, on_input_error)
    app.add_exception_handler(RoomElsewhere, on_room_elsewhere)
    app.add_exception_handler(Exception, on_unexpected_error)


def _allowed_methods(request: Request) -> list[str]:
    """Return the methods that a path supports."""
    found: set[str] = set()
    for route in (route for part in _ROUTERS for route in part.router.routes):
        if route.matches(request.scope)[0] != Match.NONE:
            found |= set(getattr(route, "methods", None) or ())
    return sorted(found) or ["GET", "HEAD"]


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Return FastAPI's OpenAPI schema, with our errors and the bodies that routes parse themselves."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        schemas = schema["components"]["schemas"]
        named = models_json_schema(
            [(model, "validation") for model in _REFERENCED], ref_template=SCHEMA_REFERENCE
        )
        schemas |= named[1]["$defs"]
        for route in (route for part in _ROUTERS for route in part.router.routes):
            if isinstance(route, APIRoute) and route.include_in_schema:
                _add_role(schema["paths"][route.path_format], route)
        for operation in (one for path in schema["paths"].values() for one in path.values()):
            if "HTTPValidationError" in str(operation["responses"].get("422")):
                del operation["responses"]["422"]
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        app.openapi_schema = schema
    return app.openapi_schema


def _add_role(operations: dict[str, Any], route: APIRoute) -> None:
    """Add the role that a route requires to its operations."""
    roles = [required_role(one.call) for one in route.dependant.dependencies]
    for role in filter(None, roles):
        for method in route.methods or ():
            operations[method.lower()]["x-required-role"] = role
