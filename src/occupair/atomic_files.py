"""Files that are either whole or not there."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """Give a scratch path that takes the place of ``path`` on success and vanishes on failure.

    The scratch file keeps the suffix of ``path``, for writers that look at it. A link stays a link, and
    what is not a file (a pipe, ``/dev/stdout``) is written to, not replaced.
    """
    target = Path(path).resolve()
    scratch = _scratch_beside(target, Path(path))
    try:
        yield scratch
        if target.exists() and not target.is_file():
            with scratch.open("rb") as written, target.open("wb") as device:
                shutil.copyfileobj(written, device)
            return
        scratch.chmod(_mode_of(target))
        with scratch.open("rb") as written:
            os.fsync(written.fileno())
        scratch.replace(target)
    finally:
        scratch.unlink(missing_ok=True)


def check_writable(path: Path | str) -> None:
    """Find out before long work whether its result can be written, and leave no trace of the question."""
    _scratch_beside(Path(path).resolve(), Path(path)).unlink()


def _scratch_beside(target: Path, name: Path) -> Path:
    if target.is_dir():
        raise IsADirectoryError(f"{name} is a folder, give the name of a file in it")
    is_device = target.exists() and not target.is_file()
    folder = Path(tempfile.gettempdir()) if is_device else target.parent
    try:
        handle, scratch = tempfile.mkstemp(dir=folder, prefix=f".{target.stem}-", suffix=target.suffix)
    except OSError as error:
        raise type(error)(
            error.errno, error.strerror, str(name)
        ) from None  # its name, not the scratch file's
    os.close(handle)
    return Path(scratch)


def _mode_of(path: Path) -> int:
    """Permissions that ``path`` has, or that a newly opened file would get."""
    if path.exists():
        return path.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def write_atomically(path: Path | str, content: str | bytes) -> None:
    """Write ``content`` to ``path`` so that no reader ever sees half of it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "note.txt"
    >>> write_atomically(path, "whole")
    >>> path.read_text()
    'whole'
    """
    with replacing(path) as scratch:
        scratch.write_bytes(content if isinstance(content, bytes) else content.encode())
