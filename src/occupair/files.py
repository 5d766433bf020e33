"""Files that are either whole or not there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """Give a scratch path beside ``path`` that takes its place on success and vanishes on failure.

    The scratch file keeps the suffix of ``path``, for writers that look at it.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, give the name of a file in it")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    os.close(handle)
    scratch = Path(name)
    try:
        yield scratch
        scratch.chmod(_mode_of(path))
        with scratch.open("rb") as written:
            os.fsync(written.fileno())
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


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
