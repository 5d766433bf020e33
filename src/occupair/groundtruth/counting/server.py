"""The counting page's web application: for the person at this machine, and for nobody else."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware

from occupair.errors import InputError
from occupair.groundtruth.counting.lock import alone
from occupair.groundtruth.counting.walk import Outdated, Walk
from occupair.web import assets as pages
from occupair.web.access import AccessControl, AccessRules, RateLimiter
from occupair.web.assets import Assets
from occupair.web.errors import error_response
from occupair.web.hosts import is_loopback
from occupair.web.request_bodies import read_model
from occupair.web.security_headers import SECURITY_HEADERS, SecurityHeaders

log = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "static"
PORT = 8097
_ABOUT_A_MINUTE = ("change", "counted", "nobody", "unsure", "skipped", "delete", "go")
_PICTURES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp"}


class Press(BaseModel):
    """A key, and the minute and the revision that the person saw when pressing it."""

    revision: str
    do: Literal[
        "change", "counted", "nobody", "unsure", "skipped", "delete", "go",  # about a minute
        "add", "undo", "step", "review", "order", "deletes",
    ]  # fmt: skip
    number: int = Field(default=-1, ge=-1)
    entered: int = Field(default=0, ge=-1, le=1)
    left: int = Field(default=0, ge=-1, le=1)
    door: str = Field(default="", max_length=500)
    minute: str = Field(default="", max_length=40)
    by: int = Field(default=1, ge=-1, le=1)
    order: Literal["time", "door"] = "time"
    on: bool = False


class Table:
    """The walk of one folder, for requests that may come at the same time."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._lock = threading.Lock()

    def state(self) -> dict[str, Any]:
        """Give all that the page shows."""
        with self._lock:
            return self._walk.state()

    def press(self, press: Press) -> dict[str, Any]:
        """Do what a key says; what it changed is on the disk when this returns."""
        with self._lock:
            walk = self._walk
            if press.revision != walk.revision:
                raise Outdated
            digest = walk.digest
            changed = _do(walk, press)
            answer = walk.progress() | {"changed": [walk.row(number) for number in sorted(changed)]}
            return answer if walk.digest == digest else answer | {"minutes": walk.rows()}

    def picture(self, door: str, minute: str) -> tuple[bytes, str] | None:
        """Read the picture of a minute, and its kind; None: there is none."""
        with self._lock:
            sheet = self._walk.sheet(door, minute)
        kind = None if sheet is None else _PICTURES.get(sheet.suffix.lower())
        if sheet is None or kind is None:
            return None
        with contextlib.suppress(FileNotFoundError):  # deleted just now
            return sheet.read_bytes(), kind
        return None


def _do(walk: Walk, press: Press) -> list[int]:
    if press.do in _ABOUT_A_MINUTE and not 0 <= press.number < len(walk.minutes):
        raise InputError(f"number must be that of a minute, got {press.number}")
    match press.do:
        case "change":
            return walk.change(press.number, entered=press.entered, left=press.left)
        case "nobody":
            return walk.decide(press.number, "counted", nobody=True)
        case "counted" | "unsure" | "skipped":
            return walk.decide(press.number, press.do)
        case "add":
            return walk.add(press.door, press.minute)
        case "undo":
            return walk.undo()
        case "go":
            return walk.go(press.number)
        case "step":
            return walk.step(press.by)
        case "review":
            return walk.review()
        case "order":
            return walk.set_order(press.order)
        case "deletes":
            return walk.set_deletes(press.on)
        case "delete":
            return walk.delete(press.number)


def make_counting_app(folder: Path | str, *, host: str = "127.0.0.1") -> FastAPI:
    """Make the web application that counts a folder.

    Requests are let in by the live service's own gate, as it is without tokens: names other than loopback's
    are refused (DNS rebinding), and so is what a page of another site has a browser send.
    """
    table = Table(Walk(folder))
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.assets = Assets(STATIC)
    app.include_router(pages.router)
    app.add_middleware(GZipMiddleware, minimum_size=1_000, compresslevel=1)
    app.add_middleware(AccessControl, rules=lambda: AccessRules(host=host), rate_limiter=RateLimiter(0))
    app.add_middleware(SecurityHeaders)
    _handle_errors(app)

    @app.get("/api/counting")
    def counting() -> JSONResponse:
        return JSONResponse(table.state())

    @app.post("/api/keys")
    async def key(request: Request) -> JSONResponse:
        press = await read_model(request, Press)
        return JSONResponse(await run_in_threadpool(table.press, press))

    @app.get("/api/picture")  # by its name: the number of a minute changes when one is added
    def picture(door: str = "", minute: str = "") -> Response:
        found = table.picture(door, minute)
        if found is None:
            raise HTTPException(404, "picture not found")
        return Response(found[0], media_type=found[1])

    return app


def _handle_errors(app: FastAPI) -> None:
    async def outdated(request: Request, error: Exception) -> JSONResponse:
        return error_response(409, "the counts were changed in another window; this window now shows them")

    async def breaks_a_rule(request: Request, error: Exception) -> JSONResponse:
        return error_response(422, str(error))

    async def not_written(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, OSError)
        log.warning("counts were not saved: %s", error)
        return error_response(507, f"not saved, counts.json cannot be written: {error.strerror or error}")

    async def broken(request: Request, error: Exception) -> JSONResponse:
        return error_response(
            500, "internal error of the counting page; see the terminal for details", SECURITY_HEADERS
        )

    app.add_exception_handler(Outdated, outdated)
    app.add_exception_handler(InputError, breaks_a_rule)
    app.add_exception_handler(OSError, not_written)
    app.add_exception_handler(Exception, broken)


def serve_counting(
    folder: Path | str,
    host: str = "127.0.0.1",
    port: int = PORT,
    open_browser: bool = True,
    *,
    started: Callable[[str], None] | None = None,
) -> None:
    """Serve the counting page of a folder on this machine until Ctrl-C.

    Parameters
    ----------
    folder : path
        As written by ``occupair groundtruth scan``; ``counts.json`` is kept in it.
    host : str
        An address of loopback: pictures of people never leave this machine, so there is no other.
    port : int
        0: any that is free.
    open_browser : bool
        Whether to show the page.
    started : callable, optional
        Called with the page's address once it can be opened.

    Raises
    ------
    InputError
        It is no events folder, somebody counts it already, or the address cannot be had.
    """
    if not is_loopback(host):
        raise InputError(
            f"--host must be an address of this machine alone (127.0.0.1, ::1 or localhost): "
            f"pictures of people do not leave it, got {host!r}"
        )
    with alone(Path(folder)), _listening(host, port) as listener:
        app = make_counting_app(folder, host=host)
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listener.getsockname()[1]}/"
        config = uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=2
        )
        server = _Server(config, lambda: _tell(address, open_browser, started))
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


class _Server(uvicorn.Server):
    """A web server that says when it can be asked."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


def _tell(address: str, open_browser: bool, started: Callable[[str], None] | None) -> None:
    if started is not None:
        started(address)
    if open_browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


@contextlib.contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, port))
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise InputError(f"cannot listen on {host}:{port}: {why}: give another --port") from None
        yield listener
