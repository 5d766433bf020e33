"""The page's files, from the package, and Plotly's JavaScript from its own wheel."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request, Response
from starlette.concurrency import run_in_threadpool

from occupair.live.page import STATIC

router = APIRouter(include_in_schema=False)
_PLOTLY = "plotly.min.js"
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
_LONG = "public, max-age=2592000"  # a month: Plotly changes with its version only
_ASK = "no-cache"  # kept by the browser, but asked about each time


@dataclass(frozen=True)
class Asset:
    """A file, ready to be sent."""

    kind: str
    data: bytes
    packed: bytes | None
    tag: str
    keep: str


class Assets:
    """The page's files by name, each read once. What is not in the folder cannot be asked for."""

    def __init__(self, folder: Path = STATIC) -> None:
        self.folder = folder
        self._ready: dict[str, Asset] = {}

    def find(self, name: str) -> Asset | None:
        """Give a file; None if there is none of that name."""
        if name not in self._ready:
            path = self._paths().get(name)
            if path is None:
                return None
            self._ready[name] = _asset(path, _LONG if name == _PLOTLY else _ASK)
        return self._ready[name]

    def _paths(self) -> Mapping[str, Path]:
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path for path in files} | {_PLOTLY: _plotly()}


def _plotly() -> Path:
    import plotly

    return Path(plotly.__file__).parent / "package_data" / _PLOTLY


def _asset(path: Path, keep: str) -> Asset:
    data = path.read_bytes()
    kind = _KINDS.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    packed = gzip.compress(data, 6, mtime=0)
    smaller = packed if len(packed) < 0.9 * len(data) else None
    return Asset(kind, data, smaller, f'"{hashlib.sha256(data).hexdigest()[:20]}"', keep)


@router.api_route("/", methods=["GET", "HEAD"])
async def page(request: Request) -> Response:
    """Give the page."""
    return await _give(request, "index.html")


@router.api_route("/assets/{name:path}", methods=["GET", "HEAD"])
async def asset(request: Request, name: str) -> Response:
    """Give one of its files."""
    return await _give(request, name)


async def _give(request: Request, name: str) -> Response:
    assets: Assets = request.app.state.assets
    found = await run_in_threadpool(assets.find, name)
    if found is None:
        raise HTTPException(404, "there is no such file")
    headers = {"ETag": found.tag, "Cache-Control": found.keep, "Vary": "Accept-Encoding"}
    if found.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    packs = found.packed is not None and "gzip" in request.headers.get("accept-encoding", "")
    body = found.packed if packs and found.packed is not None else found.data
    headers["Content-Length"] = str(len(body))
    if packs:
        headers["Content-Encoding"] = "gzip"
    return Response(b"" if request.method == "HEAD" else body, headers=headers, media_type=found.kind)
