"""What the sdist and the wheel must contain and must not.

The wheel has every file of the package, with its license, and nothing else. The sdist has every file under
version control: enough to build, test and document occupair.
"""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

from tools.release.description import metadata_of

WHEEL_LIMIT, SDIST_LIMIT = 2_000_000, 16_000_000  # [bytes]
FILE_LIMIT = 1_000_000  # [bytes]; a larger file is likely a data set
SUFFIXES = {".py", ".pyi", ".typed", ".html", ".css", ".js", ".json", ".svg", ".mplstyle"}
"""Kinds of files in the package."""
REQUIRED = {
    "type information": ("occupair/py.typed", "occupair/__init__.pyi"),
    "pages": ("occupair/live/page/static/index.html", "occupair/groundtruth/counting/static/index.html"),
    "shared scripts and styles": ("occupair/web/static/*.js", "occupair/web/static/*.css"),
    "translations": ("occupair/live/page/static/languages/de.json", "occupair/web/static/languages/*.json"),
    "report templates": ("occupair/report/*.html", "occupair/utilisation/page/*", "occupair/fleet/page/*"),
    "store migrations": (
        "occupair/live/store/migrations/env.py",
        "occupair/live/store/migrations/versions/*.py",
    ),
    "start of new rooms": ("occupair/room/pooled.json",),
    "style of figures": ("occupair/*.mplstyle",),
}
"""Files that a plain rule for Python modules would miss."""
METADATA = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
SDIST_REQUIRED = (
    "pyproject.toml",
    "hatch_build.py",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CITATION.cff",
    "Makefile",
    "tests/conftest.py",
)


def package_files(source: Path) -> set[str]:
    """Return the files of the package in the folder ``src``, as named in the wheel."""
    paths = (path for path in (source / "occupair").rglob("*") if path.is_file())
    return {path.relative_to(source).as_posix() for path in paths if "__pycache__" not in path.parts}


def wheel_problems(wheel: Path, expected: Iterable[str]) -> list[str]:
    """Return what is wrong with a wheel, one line each; ``expected`` are the files of the package."""
    with zipfile.ZipFile(wheel) as archive:
        sizes = {one.filename: one.file_size for one in archive.infolist() if not one.is_dir()}
        metadata = [name for name in sizes if name.split("/")[0].endswith(".dist-info")]
        problems = _entry_problems(archive, metadata)
    folder = metadata[0].split("/")[0] if metadata else ""
    problems += _differences(set(sizes), {*expected, *(f"{folder}/{name}" for name in METADATA)})
    for what, patterns in REQUIRED.items():
        for pattern in patterns:
            if not any(fnmatch(name, pattern) for name in sizes):
                problems.append(f"{what}: no file {pattern}")
    packaged = [name for name in sizes if name not in metadata]
    problems += [
        f"{name}: not a kind of file of the package" for name in packaged if Path(name).suffix not in SUFFIXES
    ]
    return problems + _size_problems(wheel, sizes, WHEEL_LIMIT)


def sdist_problems(sdist: Path, expected: Iterable[str]) -> list[str]:
    """Return what is wrong with an sdist, one line each; ``expected`` are the files under version control."""
    top = sdist.name.removesuffix(".tar.gz")
    with tarfile.open(sdist) as archive:
        sizes = {one.name.removeprefix(f"{top}/"): one.size for one in archive if not one.isdir()}
        problems = [f"{one.name}: is a link" for one in archive if one.islnk() or one.issym()]
    problems += _differences(set(sizes), {*expected, *SDIST_REQUIRED, "PKG-INFO"})
    return problems + _size_problems(sdist, sizes, SDIST_LIMIT)


def wheel_metadata(wheel: Path) -> dict[str, str]:
    """Return name, version and license of a wheel."""
    found = metadata_of(wheel)
    return {key: found[key] for key in ("Name", "Version", "License-Expression", "Requires-Python")}


def _entry_problems(archive: zipfile.ZipFile, metadata: list[str]) -> list[str]:
    texts = {name.split("/", 1)[1]: archive.read(name).decode() for name in metadata}
    problems = []
    if "occupair = occupair.__main__:main" not in texts.get("entry_points.txt", ""):
        problems.append("entry_points.txt: no command occupair")
    if "Root-Is-Purelib: true" not in texts.get("WHEEL", ""):
        problems.append("WHEEL: not a wheel for every platform")
    return problems


def _differences(found: set[str], expected: set[str]) -> list[str]:
    missing = [f"{name}: missing" for name in sorted(expected - found)]
    return missing + [f"{name}: must not be included" for name in sorted(found - expected)]


def _size_problems(path: Path, sizes: dict[str, int], limit: int) -> list[str]:
    problems = [
        f"{name}: {size:,} bytes, more than {FILE_LIMIT:,}"
        for name, size in sizes.items()
        if size > FILE_LIMIT
    ]
    if (size := path.stat().st_size) > limit:
        problems.append(f"{path.name}: {size:,} bytes, more than {limit:,}")
    return problems
