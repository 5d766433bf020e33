"""The folder that models, results and estimates are written to: on this machine, or any fsspec URL.

Every write is atomic. A file system renames a complete temporary file; an object store such as S3 shows an
object only once it is complete. A process that is killed while writing leaves the earlier file, or none.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from occupair.atomic_files import abandoned_files, write_atomically
from occupair.errors import InputError

OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "oss", "memory"}
"""Protocols whose objects appear only once they are complete."""
ABANDONED_AFTER = 3600.0
"""Age from which on a temporary file cannot belong to a running program [s]."""
SCRATCH = ".tmp"
"""Suffix of temporary files of a remote file system."""
LONGEST_REASON = 500
"""Longest reason of a failed room [characters]."""
LONGEST_NAME = 120
"""Longest file name made of a room name, without suffix [characters]."""


class OutputError(InputError):
    """Results cannot be written. It ends a run, because it concerns all rooms."""


class Storage:
    """Files below a folder or URL; names are relative to it.

    Parameters
    ----------
    url : str
        Folder, or a URL that fsspec knows, such as ``s3://bucket/models``.

    Examples
    --------
    >>> import tempfile
    >>> storage = Storage(tempfile.mkdtemp())
    >>> storage.write("rooms/lab.json", b"{}")
    >>> storage.read("rooms/lab.json"), storage.read("rooms/office.json"), storage.names("rooms")
    (b'{}', None, ['rooms/lab.json'])
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/") or "/"
        self._local = local_path(url)

    def __str__(self) -> str:
        return self.url

    def locate(self, name: str) -> str:
        """Return the path or URL of a file."""
        return f"{self.url}/{name}"

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if there is none."""
        try:
            if self._local is not None:
                return (self._local / name).read_bytes()
            system, path = open_url(self.locate(name))
            return bytes(system.cat_file(path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read_all(self, names: Sequence[str]) -> dict[str, bytes]:
        """Return the contents of files that exist; an object store reads many of them at a time."""
        if self._local is not None or not names:
            return {name: content for name in names if (content := self.read(name)) is not None}
        system, root = open_url(self.url)
        paths = {f"{root.rstrip('/')}/{name}": name for name in names}
        found = system.cat(list(paths), on_error="omit")
        return {paths[path]: bytes(content) for path, content in found.items()}

    def write(self, name: str, content: bytes) -> None:
        """Write a file atomically; folders are made.

        Raises
        ------
        OutputError
            If it cannot be written, such as on a full disk.
        """
        try:
            self._write(name, content)
        except Exception as error:  # every driver has errors of its own
            raise OutputError(f"{self.locate(name)}: cannot be written: {describe_error(error)}") from error

    def _write(self, name: str, content: bytes) -> None:
        if self._local is not None:
            (self._local / name).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._local / name, content)
            return
        system, path = open_url(self.locate(name))
        if _is_object_store(system):
            system.pipe_file(path, content)
            return
        system.makedirs(path.rpartition("/")[0], exist_ok=True)
        scratch = f"{path}.{uuid.uuid4().hex}{SCRATCH}"
        try:
            system.pipe_file(scratch, content)
            system.mv(scratch, path)
        finally:
            if system.exists(scratch):
                system.rm_file(scratch)

    def delete(self, name: str) -> None:
        """Delete a file if it exists."""
        if self._local is not None:
            (self._local / name).unlink(missing_ok=True)
            return
        system, path = open_url(self.locate(name))
        if system.exists(path):
            system.rm_file(path)

    def size(self, name: str) -> int | None:
        """Return the size of a file [bytes]; None if there is none."""
        try:
            if self._local is not None:
                return (self._local / name).stat().st_size
            system, path = open_url(self.locate(name))
            return int(system.info(path)["size"])
        except (FileNotFoundError, NotADirectoryError):
            return None

    def names(self, folder: str) -> list[str]:
        """Return the names of all files in a folder, sorted, without temporary files."""
        if self._local is not None:
            found = [path for path in (self._local / folder).glob("*") if path.is_file()]
            return sorted(f"{folder}/{path.name}" for path in found if not path.name.startswith("."))
        system, path = open_url(self.locate(folder))
        system.invalidate_cache()
        if not system.exists(path):
            return []
        names = [one.rpartition("/")[2] for one in system.find(path, maxdepth=1)]
        return sorted(f"{folder}/{one}" for one in names if one[0] != "." and not one.endswith(SCRATCH))

    def delete_abandoned(self, folder: str) -> None:
        """Delete temporary files that killed processes left in a folder of this machine."""
        if self._local is not None:
            for path in abandoned_files(self._local / folder, "*.*"):
                if path.exists() and time.time() - path.stat().st_mtime > ABANDONED_AFTER:
                    path.unlink(missing_ok=True)

    def check_writable(self) -> None:
        """Raise InputError if nothing can be written here, before long work starts."""
        name = f".occupair-{uuid.uuid4().hex}"
        if self._local is None:
            open_url(self.url)  # names the URL as given if its driver is missing
        try:
            self._write(name, b"")
            self.delete(name)
        except Exception as error:  # noqa: BLE001  # every driver has errors of its own
            raise InputError(f"{self}: cannot be written to: {describe_error(error)}") from None


def check_outside(out: str, data: str) -> None:
    """Raise InputError if an output folder is that of the readings or in it: the next run would read it.

    Examples
    --------
    >>> check_outside("readings/models", "readings")
    Traceback (most recent call last):
    occupair.errors.InputError: readings/models: is in the folder of the readings, readings: choose another
    """
    inner, outer = local_path(out), local_path(data)
    if inner is not None and outer is not None:
        is_inside = inner.resolve().is_relative_to(outer.resolve())
    else:
        is_inside = f"{out.rstrip('/')}/".startswith(f"{data.rstrip('/')}/")
    if is_inside:
        raise InputError(f"{out}: is in the folder of the readings, {data}: choose another")


def local_path(url: str) -> Path | None:
    """Return the path of a folder or file of this machine; None for any other URL.

    Examples
    --------
    >>> local_path("data/rooms"), local_path("s3://bucket/rooms")
    (PosixPath('data/rooms'), None)
    """
    protocol, mark, rest = url.partition("://")
    if not mark:
        return Path(url)
    return Path(rest) if protocol in ("file", "local") else None


def open_url(url: str) -> tuple[Any, str]:
    """Return the fsspec file system of a URL, and the path in it.

    Raises
    ------
    InputError
        If its driver is not installed, or the protocol is unknown.
    """
    try:
        import fsspec
    except ImportError:
        raise InputError(
            f"{url}: needs packages that are not installed: pip install 'occupair[fleet]'"
        ) from None
    try:
        system, path = fsspec.core.url_to_fs(url)
    except ImportError as error:  # the message of fsspec names the package
        raise InputError(f"{url}: its driver is not installed: {error}") from None
    except ValueError as error:
        raise InputError(f"{url}: {error}") from None
    return system, str(path)


def describe_error(error: Exception) -> str:
    """Return the message of an error in one line, with its type if it says little."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return one_line(str(error)) or type(error).__name__


def one_line(text: str) -> str:
    r"""Return a reason in one line of limited length: that of a file with 1,000 columns would name them all.

    Examples
    --------
    >>> one_line("first\n  second"), len(one_line("word " * 1000))
    ('first second', 500)
    """
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 3]}..."


def printable(text: str) -> str:
    r"""Return a name with what is not text escaped, such as a file name of an old Windows system on Linux.

    Examples
    --------
    >>> printable("caf\udce9.csv")
    'caf\\udce9.csv'
    """
    return text.encode("utf-8", "backslashreplace").decode()


def file_name(room: str) -> str:
    """Return a file name for a room, unique unless the file system ignores case.

    Examples
    --------
    >>> file_name("Lab 7"), file_name("north/2.04"), file_name("..")
    ('Lab 7', 'north%2F2.04', '%2E.')
    """
    name = quote(room, safe=" ()+,;=@") or "%"
    name = f"%2E{name[1:]}" if name.startswith(".") else name
    if len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.blake2b(room.encode(), digest_size=8).hexdigest()
    return f"{name[: LONGEST_NAME - 17].rstrip('%')}-{digest}"


def _is_object_store(system: Any) -> bool:
    protocol = system.protocol if isinstance(system.protocol, str) else system.protocol[0]
    return protocol in OBJECT_STORES
