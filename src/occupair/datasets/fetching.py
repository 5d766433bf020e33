"""Download of data sets from their publishers, with verified checksums."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException, HTTPResponse
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

from occupair.atomic_files import replacing, write_atomically
from occupair.datasets.catalogue import data_set_called
from occupair.datasets.data_set import DataSet, RemoteFile
from occupair.errors import InputError
from occupair.progress import track

CHUNK = 1 << 16  # bytes per progress step
TIMEOUT = 60.0  # s without a response
_FIGSHARE = re.compile(r"/v2/collections/\d+/articles$")


def fetch(name: str, folder: str | Path, *, data_set: DataSet | None = None) -> list[Path]:
    """Download a data set from its publisher into ``folder``.

    Existing files with the right checksum (plain or gzipped) are not downloaded again. Other files are
    put in place once their checksum is verified. Progress is reported to `occupair.progress`.

    Parameters
    ----------
    name : str
        A name in ``DATASETS``.
    folder : path
        Folder of the files, created if needed.
    data_set : DataSet, optional
        Data set to download instead of ``DATASETS[name]``.

    Returns
    -------
    list of Path
        Paths of the files, in the order of the data set.

    Raises
    ------
    InputError
        For an unknown data set, a network error or a wrong checksum.
    """
    data_set = data_set or data_set_called(name)
    is_new, folder = not Path(folder).exists(), _made(Path(folder))
    missing = [file for file in data_set.files if _present(folder, file) is None]
    try:
        for url in dict.fromkeys(file.url for file in missing):
            _fetch_from(url, [file for file in missing if file.url == url], folder, data_set)
    except InputError:
        if is_new:  # an empty folder would be taken for the data set
            with suppress(OSError):
                folder.rmdir()
        raise
    return [_present(folder, file) or folder / file.name for file in data_set.files]


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot create folder: {error.strerror}") from None
    return folder


def _present(folder: Path, file: RemoteFile) -> Path | None:
    """Return the path of the file, plain or gzipped, if its checksum is right."""
    plain, wrapped = folder / file.name, folder / f"{file.name}.gz"
    if plain.is_file() and _sha256(plain.read_bytes()) == file.sha256:
        return plain
    try:
        unwrapped = gzip.decompress(wrapped.read_bytes()) if wrapped.is_file() else b""
    except (OSError, EOFError, zlib.error):
        return None
    return wrapped if _sha256(unwrapped) == file.sha256 else None


def _fetch_from(url: str, files: list[RemoteFile], folder: Path, data_set: DataSet) -> None:
    if _FIGSHARE.search(url):
        url = _archive_of(url, data_set)
    elif not urlsplit(url).path.endswith(".zip"):
        for file in files:
            with replacing(folder / file.name) as scratch:
                with scratch.open("wb") as stream:
                    _download(url, stream, data_set)
                _check(scratch.read_bytes(), file, url)
        return
    with tempfile.TemporaryFile() as archive:
        _download(url, archive, data_set)
        contents = [_member(archive, file, url) for file in files]
    for file, content in zip(files, contents, strict=True):
        write_atomically(folder / file.name, content)


def _download(url: str, stream: IO[bytes], data_set: DataSet) -> None:
    """Download ``url`` into ``stream``."""
    response = _open(url, data_set)
    with response:
        length = int(response.headers.get("Content-Length") or 0)
        steps = track(range(-(-length // CHUNK)), f"downloading {data_set.name}", show=None)
        for chunk in _chunks(response, steps, url):
            stream.write(chunk)


def _open(url: str, data_set: DataSet) -> HTTPResponse:
    by_hand = f"download it by hand from {data_set.page}"
    try:
        response: HTTPResponse = urlopen(url, timeout=TIMEOUT)
    except HTTPError as error:
        error.close()
        raise InputError(f"{url}: the server responded {error.code} {error.reason}; {by_hand}") from None
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise InputError(f"{url}: cannot connect, {reason}; {by_hand}") from None
    return response


def _chunks(response: HTTPResponse, steps: Iterator[int], url: str) -> Iterator[bytes]:
    """Yield the announced number of chunks, then any remaining data."""
    try:
        for _ in steps:
            yield response.read(CHUNK)
        while chunk := response.read(CHUNK):
            yield chunk
    except (OSError, HTTPException) as error:
        raise InputError(f"{url}: the download was interrupted, {error}") from None


def _member(archive: IO[bytes], file: RemoteFile, url: str) -> bytes:
    """Return the content of a file in a zip, from the folder whose copy has the right checksum."""
    try:
        with zipfile.ZipFile(archive) as members:
            names = [name for name in members.namelist() if name.rpartition("/")[2] == file.name]
            contents = [members.read(name) for name in names]
    except zipfile.BadZipFile as error:
        raise InputError(f"{url}: is not a valid zip file, {error}") from None
    if not contents:
        raise InputError(f"{url}: does not contain {file.name}")
    right = [content for content in contents if _sha256(content) == file.sha256]
    return right[0] if right else _check(contents[0], file, url)


def _archive_of(articles_url: str, data_set: DataSet) -> str:
    """Return the address of the zip of a figshare collection."""
    api = articles_url.partition("/collections/")[0]
    by_hand = f"download it by hand from {data_set.page}"
    try:
        for article in _json(articles_url, data_set):
            for file in _json(f"{api}/articles/{article['id']}", data_set)["files"]:
                if file["name"].endswith(".zip"):
                    return str(file["download_url"])
    except (json.JSONDecodeError, UnicodeDecodeError, TypeError, KeyError):
        rule = "the response is not a list of files"
        raise InputError(f"{articles_url}: {rule}; {by_hand}") from None
    raise InputError(f"{articles_url}: lists no zip file; {by_hand}")


def _json(url: str, data_set: DataSet) -> Any:
    stream = BytesIO()
    _download(url, stream, data_set)
    return json.loads(stream.getvalue())


def _check(content: bytes, file: RemoteFile, url: str) -> bytes:
    if (got := _sha256(content)) != file.sha256:
        raise InputError(f"{url}: {file.name} has SHA-256 {got}, expected {file.sha256}")
    return content


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
