"""A reverse proxy that serves another server below a path prefix, as Home Assistant and nginx do."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

INGRESS_PREFIX = "/api/hassio_ingress/3Zq-kT_w9"
_NOT_PASSED_ON = ("content-length", "content-encoding", "transfer-encoding", "connection", "date", "server")


@dataclass
class Proxy:
    """A running proxy.

    Parameters
    ----------
    address : str
        Of the proxy itself, whose page shows the other server's page in a frame, as Home Assistant does.
    prefix : str
        Path below which the other server is.
    outside : list of str
        Paths that were requested outside the prefix, and are not there.
    """

    address: str
    prefix: str
    outside: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Address of the other server's page."""
        return f"{self.address}{self.prefix}/"


@contextmanager
def prefix_proxy(target: str, *, prefix: str = INGRESS_PREFIX, ingress: bool = True) -> Iterator[Proxy]:
    """Serve another server below a prefix, on a free loopback port.

    Parameters
    ----------
    target : str
        Address of the other server.
    prefix : str
        Is removed from the paths that the other server receives.
    ingress : bool
        Whether to send the headers of Home Assistant's ingress, else ``X-Forwarded-Prefix``.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = Proxy(f"http://127.0.0.1:{listener.getsockname()[1]}", prefix)
        app = _make_app(proxy, target.rstrip("/"), ingress)
        config = uvicorn.Config(app, log_config=None, log_level="warning", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield proxy
        finally:
            server.should_exit = True
            thread.join(timeout=90)


def _make_app(proxy: Proxy, target: str, ingress: bool) -> Starlette:
    client = httpx.AsyncClient(timeout=None)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with client:
            yield

    async def frame(request: Request) -> Response:
        style = "position:fixed;inset:0;width:100%;height:100%;border:0"
        page = f'<iframe title="app" src="{proxy.prefix}/" style="{style}"></iframe>'
        viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
        return HTMLResponse(f"<!doctype html>{viewport}<link rel=icon href=data:,><title>frame</title>{page}")

    async def pass_on(request: Request) -> Response:
        headers = dict(request.headers)
        headers["x-forwarded-for"] = request.client.host if request.client else ""
        headers["x-forwarded-host"] = request.headers["host"]
        headers["x-forwarded-proto"] = request.url.scheme
        if ingress:
            headers |= {"x-ingress-path": proxy.prefix, "x-remote-user-id": "a1b2"}
        else:
            headers["x-forwarded-prefix"] = proxy.prefix
        for name in ("content-length", "connection", "accept-encoding"):
            headers.pop(name, None)
        url = f"{target}/{request.path_params['path']}"
        if request.url.query:
            url += f"?{request.url.query}"
        sent = client.build_request(request.method, url, headers=headers, content=await request.body())
        answer = await client.send(sent, stream=True)

        async def body() -> AsyncIterator[bytes]:
            try:
                async for chunk in answer.aiter_bytes():
                    yield chunk
            finally:
                await answer.aclose()

        response = StreamingResponse(body(), answer.status_code)
        response.raw_headers = [
            (name, value) for name, value in answer.headers.raw if name.decode().lower() not in _NOT_PASSED_ON
        ]
        return response

    async def outside(request: Request) -> Response:
        proxy.outside.append(request.url.path)
        return Response("outside of the prefix", 404)

    methods = ["GET", "HEAD", "POST", "PUT", "DELETE"]
    routes = [
        Route("/", frame),
        Route(proxy.prefix + "/{path:path}", pass_on, methods=methods),
        Route("/{path:path}", outside, methods=methods),
    ]
    return Starlette(routes=routes, lifespan=lifespan)
