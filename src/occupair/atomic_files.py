"""Atomic writes: a file is replaced completely or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_RANDOM = "?" * 8  # the random part of the names of `tempfile.mkstemp`


@contextmanager
def replacing(path: Path | str, *, private: bool = False) -> Iterator[Path]:
    """Yield a temporary path that replaces ``path`` on success and is deleted on failure.

    The temporary file has the suffix of ``path``, which some writers need. Symbolic links are preserved,
    and pipes and devices such as ``/dev/stdout`` are written to, not replaced. A ``private`` file can only be
    read and written by its owner.
    """
    target = Path(path).resolve()
    scratch = _scratch_beside(target, Path(path))
    try:
        yield scratch
        if target.exists() and not target.is_file():
            with scratch.open("rb") as written, target.open("wb") as device:
                shutil.copyfileobj(written, device)
            return
        scratch.chmod(0o600 if private else _mode_of(target))
        with scratch.open("rb") as written:
            os.fsync(written.fileno())
        scratch.replace(target)
    finally:
        scratch.unlink(missing_ok=True)


def check_writable(path: Path | str) -> None:
    """Raise OSError if ``path`` cannot be written, before long work starts; no file is left behind."""
    _scratch_beside(Path(path).resolve(), Path(path)).unlink()


def _scratch_beside(target: Path, name: Path) -> Path:
    if target.is_dir():
        raise IsADirectoryError(f"{name} is a folder: give a file name")
    is_device = target.exists() and not target.is_file()
    folder = Path(tempfile.gettempdir()) if is_device else target.parent
    try:
        handle, scratch = tempfile.mkstemp(dir=folder, prefix=f".{target.stem}-", suffix=target.suffix)
    except OSError as error:
        raise type(error)(
            error.errno, error.strerror, str(name)
        ) from None  # with the name of the target, not of the temporary file
    os.close(handle)
    return Path(scratch)


def _mode_of(path: Path) -> int:
    """Permissions of ``path``, or the default permissions of a new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def abandoned_files(folder: Path, name: str) -> list[Path]:
    """Return the temporary files of ``name``, such as ``index.json`` or ``*.jpg``, that killed programs left.

    Files that a running program is writing are included: the caller must know that there is none.
    """
    return sorted(folder.glob(f".{Path(name).stem}-{_RANDOM}{Path(name).suffix}"))


def write_atomically(path: Path | str, content: str | bytes, *, private: bool = False) -> None:
    """Write ``content`` to ``path`` atomically: readers never see an incomplete file.

    A ``private`` file can only be read and written by its owner.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "note.txt"
    >>> write_atomically(path, "complete")
    >>> path.read_text()
    'complete'
    """
    with replacing(path, private=private) as scratch:
        scratch.write_bytes(content if isinstance(content, bytes) else content.encode())
