"""Web application of the counting page, for this machine only."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware

from occupair.errors import InputError
from occupair.groundtruth.counting.counts import lock_counts
from occupair.groundtruth.counting.session import CountingSession, Outdated
from occupair.web import assets as pages
from occupair.web.access import AccessControl, AccessRules, RateLimiter
from occupair.web.assets import Assets
from occupair.web.errors import error_response, ignore_disconnects
from occupair.web.hosts import is_loopback
from occupair.web.request_bodies import read_model
from occupair.web.security_headers import SECURITY_HEADERS, SecurityHeaders
from occupair.web.server import ConnectionLimits, LimitedServer

log = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "static"
PORT = 8097
_ABOUT_A_MINUTE = ("change", "counted", "nobody", "unsure", "skipped", "delete", "go")
_PICTURES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp"}


class Press(BaseModel):
    """An action, with the minute and the revision that the page showed."""

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


class SharedSession:
    """Thread-safe access to the session of a folder."""

    def __init__(self, session: CountingSession) -> None:
        self._session = session
        self._lock = threading.Lock()

    def state(self) -> dict[str, Any]:
        """Return the complete state for the page."""
        with self._lock:
            return self._session.state()

    def press(self, press: Press) -> dict[str, Any]:
        """Apply an action; its changes are on disk when this returns."""
        with self._lock:
            session = self._session
            if press.revision != session.revision:
                raise Outdated
            digest = session.digest
            changed = _do(session, press)
            answer = session.progress() | {"changed": [session.row(number) for number in sorted(changed)]}
            return answer if session.digest == digest else answer | {"minutes": session.rows()}

    def picture(self, door: str, minute: str) -> tuple[bytes, str] | None:
        """Return the picture of a minute and its media type, or None."""
        with self._lock:
            sheet = self._session.sheet(door, minute)
        kind = None if sheet is None else _PICTURES.get(sheet.suffix.lower())
        if sheet is None or kind is None:
            return None
        with contextlib.suppress(FileNotFoundError):  # deleted meanwhile
            return sheet.read_bytes(), kind
        return None


def _do(session: CountingSession, press: Press) -> list[int]:
    if press.do in _ABOUT_A_MINUTE and not 0 <= press.number < len(session.minutes):
        raise InputError(f"number must be the number of a minute, got {press.number}")
    match press.do:
        case "change":
            return session.change(press.number, entered=press.entered, left=press.left)
        case "nobody":
            return session.decide(press.number, "counted", nobody=True)
        case "counted" | "unsure" | "skipped":
            return session.decide(press.number, press.do)
        case "add":
            return session.add(press.door, press.minute)
        case "undo":
            return session.undo()
        case "go":
            return session.go(press.number)
        case "step":
            return session.step(press.by)
        case "review":
            return session.review()
        case "order":
            return session.set_order(press.order)
        case "deletes":
            return session.set_deletes(press.on)
        case "delete":
            return session.delete(press.number)


def make_counting_app(folder: Path | str, *, host: str = "127.0.0.1") -> FastAPI:
    """Create the web application for a folder.

    It uses the access control of `occupair.web` without tokens: host names other than loopback (DNS
    rebinding) and cross-site requests are rejected.
    """
    session = SharedSession(CountingSession(folder))
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.assets = Assets(STATIC)
    app.include_router(pages.router)
    app.add_middleware(GZipMiddleware, minimum_size=1_000, compresslevel=1)
    app.add_middleware(AccessControl, rules=lambda: AccessRules(host=host), rate_limiter=RateLimiter(0))
    app.add_middleware(SecurityHeaders)
    _handle_errors(app)

    @app.get("/api/counting")
    def counting() -> JSONResponse:
        return JSONResponse(session.state())

    @app.post("/api/keys")
    async def key(request: Request) -> JSONResponse:
        press = await read_model(request, Press)
        return JSONResponse(await run_in_threadpool(session.press, press))

    @app.get("/api/picture")  # by door and time: the number changes when a minute is added
    def picture(door: str = "", minute: str = "") -> Response:
        found = session.picture(door, minute)
        if found is None:
            raise HTTPException(404, "picture not found")
        return Response(found[0], media_type=found[1])

    return app


def _handle_errors(app: FastAPI) -> None:
    async def on_outdated(request: Request, error: Exception) -> JSONResponse:
        return error_response(409, "the counts were changed in another window; this window now shows them")

    async def on_input_error(request: Request, error: Exception) -> JSONResponse:
        return error_response(422, str(error))

    async def on_os_error(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, OSError)
        log.warning("counts were not saved: %s", error)
        return error_response(507, f"not saved, counts.json cannot be written: {error.strerror or error}")

    async def on_unexpected_error(request: Request, error: Exception) -> JSONResponse:
        return error_response(
            500, "internal error of the counting page; see the terminal for details", SECURITY_HEADERS
        )

    ignore_disconnects(app)
    app.add_exception_handler(Outdated, on_outdated)
    app.add_exception_handler(InputError, on_input_error)
    app.add_exception_handler(OSError, on_os_error)
    app.add_exception_handler(Exception, on_unexpected_error)


def serve_counting(
    folder: Path | str,
    host: str = "127.0.0.1",
    port: int = PORT,
    open_browser: bool = True,
    *,
    started: Callable[[str], None] | None = None,
) -> None:
    """Serve the counting page of a folder until Ctrl-C.

    Parameters
    ----------
    folder : path
        As written by ``occupair groundtruth scan``; ``counts.json`` is stored in it.
    host : str
        A loopback address: pictures of people must not leave this machine.
    port : int
        0 for any free port.
    open_browser : bool
        Whether to open the page in a browser.
    started : callable, optional
        Called with the address of the page when the server is ready.

    Raises
    ------
    InputError
        It is not an events folder, another program counts it, or the address is not available.
    """
    if not is_loopback(host):
        raise InputError(
            f"--host must be a loopback address (127.0.0.1, ::1 or localhost), because pictures of people "
            f"must not leave this machine, got {host!r}"
        )
    with lock_counts(Path(folder)), _listening(host, port) as listener:
        app = make_counting_app(folder, host=host)
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listener.getsockname()[1]}/"
        limits = ConnectionLimits.of_this_process()
        announce = partial(_announce, address, open_browser, started)
        server = LimitedServer(app, limits, stop_seconds=2, on_ready=announce)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


def _announce(address: str, open_browser: bool, started: Callable[[str], None] | None) -> None:
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
            raise InputError(f"cannot listen on {host}:{port}: {why}; choose another --port") from None
        yield listener
