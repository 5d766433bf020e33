"""The rules for the contents of sdist and wheel, on the wheel of this checkout and on wrong ones."""

import io
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from occupair import __version__
from tools.release.contents import (
    FILE_LIMIT,
    SDIST_REQUIRED,
    package_files,
    sdist_problems,
    wheel_metadata,
    wheel_problems,
)
from tools.release.description import description_problems

ROOT = Path(__file__).parents[3]
FILES = package_files(ROOT / "src")
BUILD = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel as `pip install .` builds it."""
    folder = tmp_path_factory.mktemp("wheel")
    environ = os.environ | {"SOURCE_DATE_EPOCH": "1767225600"}
    subprocess.run([sys.executable, "-c", BUILD, str(folder)], cwd=ROOT, env=environ, check=True)
    (path,) = folder.iterdir()
    return path


def test_wheel_is_complete(wheel):
    assert wheel.name == f"occupair-{__version__}-py3-none-any.whl"
    assert wheel_problems(wheel, FILES) == []


def test_wheel_metadata(wheel):
    assert wheel_metadata(wheel) == {
        "Name": "occupair",
        "Version": __version__,
        "License-Expression": "MIT",
        "Requires-Python": ">=3.11",
    }


def test_wheel_description_has_no_relative_link(wheel):
    assert description_problems(wheel) == []


def rewritten(wheel, folder, *, without=(), extra=()):
    """A copy of the wheel that lacks files or has more."""
    path = folder / wheel.name
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            if not any(name.endswith(suffix) for suffix in without):
                target.writestr(name, source.read(name))
        for name, content in extra:
            target.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("missing", "problem"),
    [
        ("py.typed", "type information: no file occupair/py.typed"),
        ("live/page/static/index.html", "pages: no file occupair/live/page/static/index.html"),
        ("languages/de.json", "translations: no file occupair/live/page/static/languages/de.json"),
        ("pooled.json", "start of new rooms: no file occupair/room/pooled.json"),
        ("licenses/LICENSE", f"occupair-{__version__}.dist-info/licenses/LICENSE: missing"),
        ("entry_points.txt", "entry_points.txt: no command occupair"),
        ("cli/tune.py", "occupair/cli/tune.py: missing"),
    ],
)
def test_missing_file_is_reported(wheel, tmp_path, missing, problem):
    assert problem in wheel_problems(rewritten(wheel, tmp_path, without=[missing]), FILES)


@pytest.mark.parametrize(
    ("name", "size", "problem"),
    [
        ("tests/conftest.py", 0, "tests/conftest.py: must not be included"),
        ("occupair/rooms.csv", 0, "occupair/rooms.csv: not a kind of file of the package"),
        (
            "occupair/data.json",
            FILE_LIMIT + 1,
            f"occupair/data.json: {FILE_LIMIT + 1:,} bytes, more than {FILE_LIMIT:,}",
        ),
    ],
)
def test_unexpected_file_is_reported(wheel, tmp_path, name, size, problem):
    assert problem in wheel_problems(rewritten(wheel, tmp_path, extra=[(name, bytes(size))]), FILES)


def sdist(folder, names):
    path = folder / "occupair-1.0.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(f"occupair-1.0.0/{name}"), io.BytesIO())
    return path


def test_sdist_has_every_file_under_version_control_and_no_other(tmp_path):
    tracked = [*SDIST_REQUIRED, "src/occupair/__init__.py"]
    assert sdist_problems(sdist(tmp_path, [*tracked, "PKG-INFO"]), tracked) == []
    found = sdist_problems(sdist(tmp_path, [*tracked[1:], "PKG-INFO", "room.csv"]), tracked)
    assert found == [f"{tracked[0]}: missing", "room.csv: must not be included"]


def test_link_in_sdist_is_reported(tmp_path):
    path = sdist(tmp_path, [])
    with tarfile.open(path, "w:gz") as archive:
        link = tarfile.TarInfo("occupair-1.0.0/LICENSE")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    assert "occupair-1.0.0/LICENSE: is a link" in sdist_problems(path, [])
