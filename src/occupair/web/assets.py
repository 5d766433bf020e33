"""Static files of a page: the page's own folder, and the folder that all pages share.

``index.html`` is served at ``/``, every other file under ``/assets/``.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request, Response
from starlette.concurrency import run_in_threadpool

SHARED = Path(__file__).parent / "static"
"""Folder of the scripts and styles that all pages share."""

router = APIRouter(include_in_schema=False)
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
_CACHE_A_MONTH = "public, max-age=2592000"
_REVALIDATE = "no-cache"


@dataclass(frozen=True)
class Asset:
    """A file, ready to be sent."""

    media_type: str
    data: bytes
    compressed: bytes | None
    etag: str
    cache_control: str


class Assets:
    """Files of a page by name, each read once. Files outside the folders cannot be requested.

    Parameters
    ----------
    folder : Path
        The page's own files. `SHARED` files are added to them.
    libraries : mapping, optional
        Further files by name, from the package that installs them. Browsers may cache them for a month.
    """

    def __init__(self, folder: Path, *, libraries: Mapping[str, Path] | None = None) -> None:
        self.folder = folder
        self.libraries = libraries or {}
        self._loaded: dict[str, Asset] = {}

    def find(self, name: str) -> Asset | None:
        """Return a file by name, or None."""
        if name not in self._loaded:
            path = self._paths().get(name)
            if path is None:
                return None
            self._loaded[name] = _load(path, _CACHE_A_MONTH if name in self.libraries else _REVALIDATE)
        return self._loaded[name]

    def _paths(self) -> dict[str, Path]:
        return {
            path.relative_to(folder).as_posix(): path
            for folder in (SHARED, self.folder)
            for path in folder.rglob("*")
            if path.is_file()
        } | dict(self.libraries)


def _load(path: Path, cache_control: str) -> Asset:
    data = path.read_bytes()
    media_type = _MEDIA_TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    compressed = gzip.compress(data, 6, mtime=0)
    return Asset(
        media_type=media_type or "application/octet-stream",
        data=data,
        compressed=compressed if len(compressed) < 0.9 * len(data) else None,
        etag=f'"{hashlib.sha256(data).hexdigest()[:20]}"',
        cache_control=cache_control,
    )


@router.api_route("/", methods=["GET", "HEAD"])
async def page(request: Request) -> Response:
    """Return the page."""
    return await _respond(request, "index.html")


@router.api_route("/assets/{name:path}", methods=["GET", "HEAD"])
async def asset(request: Request, name: str) -> Response:
    """Return one of the page's files."""
    return await _respond(request, name)


async def _respond(request: Request, name: str) -> Response:
    assets: Assets = request.app.state.assets
    found = await run_in_threadpool(assets.find, name)
    if found is None:
        raise HTTPException(404, "file not found")
    headers = {"ETag": found.etag, "Cache-Control": found.cache_control, "Vary": "Accept-Encoding"}
    if found.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    body = found.data
    if found.compressed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        body = found.compressed
        headers["Content-Encoding"] = "gzip"
    headers["Content-Length"] = str(len(body))
    return Response(b"" if request.method == "HEAD" else body, headers=headers, media_type=found.media_type)
