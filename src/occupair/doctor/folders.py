"""Folders that occupair keeps files in, and their sizes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from occupair.user_folders import benchmark_folder, data_folders


@dataclass(frozen=True)
class Folder:
    """A folder of cached or downloaded files.

    Attributes
    ----------
    content : str
        What is in it.
    path : Path
    size : int or None
        Size of its files [byte]; None if the folder does not exist.
    setting : str
        Environment variable that moves it.
    """

    content: str
    path: Path
    size: int | None
    setting: str


def find_folders(compiled: str | None) -> list[Folder]:
    """Return the folders, with that of compiled code if there is one."""
    *given, cached = data_folders()
    found = [("public data sets", path, "OCCUPAIR_DATA") for path in given]
    found.append(("public data sets", cached, "OCCUPAIR_CACHE"))
    found.append(("benchmark runs", benchmark_folder(), "OCCUPAIR_CACHE"))
    folders = [Folder(content, path, folder_size(path), setting) for content, path, setting in found]
    if compiled is not None:
        path = Path(compiled)
        folders.append(Folder("compiled code (numba)", path, _compiled_size(path), "NUMBA_CACHE_DIR"))
    return folders


def folder_size(folder: Path) -> int | None:
    """Return the size of all files below a folder [byte], None if it does not exist.

    Files that cannot be read, or vanish meanwhile, count as empty.
    """
    if not folder.is_dir():
        return None
    return sum(_file_size(Path(parent) / name) for parent, _, names in os.walk(folder) for name in names)


def _compiled_size(folder: Path) -> int:
    """Return the size of numba's files [byte]; its folder may be one that Python caches modules in."""
    return sum(_file_size(path) for pattern in ("*.nbi", "*.nbc") for path in folder.glob(pattern))


def _file_size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
