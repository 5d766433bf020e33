"""Build the sdist and the wheel of the last commit in dist/, twice, and check them.

Usage: python -m tools.release.distributions

Both builds start from an export of the commit in a new folder, with other file times and permissions, and
must have the same bytes. SOURCE_DATE_EPOCH is the time of the commit unless it is given.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tools.release.contents import (
    SDIST_LIMIT,
    WHEEL_LIMIT,
    package_files,
    sdist_problems,
    wheel_metadata,
    wheel_problems,
)
from tools.release.description import description_problems, metadata_of

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"


def main() -> None:
    tracked = git("ls-tree", "-r", "--name-only", "-z", "HEAD").split("\0")[:-1]
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct").strip()
    if git("status", "--porcelain"):
        print("dist: uncommitted changes are not part of the build")
    with tempfile.TemporaryDirectory(prefix="occupair-dist-") as scratch:
        first, second = (
            build(Path(scratch) / name, epoch, mode)
            for name, mode in (("a", 0o077), ("another/and/deeper", 0o022))
        )
        compare(first, second)
        sdist, wheel = sorted(first, key=lambda path: path.suffix)
        source = Path(scratch) / "a/source/src"
        problems = wheel_problems(wheel, package_files(source)) + sdist_problems(sdist, tracked)
        problems += description_problems(wheel) + description_problems(sdist)
        if problems:
            raise SystemExit("\n".join(["dist: wrong contents", *problems]))
        run("twine", "check", "--strict", str(sdist), str(wheel))
        shutil.rmtree(DIST, ignore_errors=True)
        DIST.mkdir()
        for path in (sdist, wheel):
            shutil.copy(path, DIST)
        print_summary(sdist, wheel, epoch)


def build(folder: Path, epoch: str, umask: int) -> list[Path]:
    """Export the last commit to a folder, and build it there."""
    source, out = folder / "source", folder / "dist"
    source.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(source, filter="data")
    for path in source.rglob("*"):  # times and permissions of a checkout depend on the machine
        os.utime(path, (int(epoch) + umask, int(epoch) + umask))
        path.chmod(path.stat().st_mode & ~umask)
    command = ["build", "--no-isolation", "--outdir", str(out), str(source)]
    run(*command, SOURCE_DATE_EPOCH=epoch, quiet=True)
    return sorted(out.iterdir())


def compare(first: list[Path], second: list[Path]) -> None:
    if [path.name for path in first] != [path.name for path in second] or len(first) != 2:
        raise SystemExit(f"dist: expected an sdist and a wheel, got {[path.name for path in first + second]}")
    for one, other in zip(first, second, strict=True):
        if one.read_bytes() != other.read_bytes():
            raise SystemExit(f"dist: {one.name} is not reproducible: {digest(one)} and {digest(other)}")


def print_summary(sdist: Path, wheel: Path, epoch: str) -> None:
    metadata = wheel_metadata(wheel)
    print(", ".join(f"{key} {value}" for key, value in metadata.items()))
    if "Project-URL" not in metadata_of(wheel):
        print("the description has no links and figures: [project.urls] in pyproject.toml has no Source")
    for path, limit in ((sdist, SDIST_LIMIT), (wheel, WHEEL_LIMIT)):
        size = path.stat().st_size
        print(f"dist/{path.name}: {size:,} bytes (limit {limit:,}), sha256 {digest(path)}")
    print(f"two builds in different folders have the same bytes (SOURCE_DATE_EPOCH={epoch})")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"dist: requires a git checkout with a commit: {done.stderr.strip()}")
    return done.stdout


def run(module: str, *arguments: str, quiet: bool = False, **variables: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=os.environ | variables,
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.STDOUT if quiet else None,
        text=True,
    )
    if done.returncode != 0:
        raise SystemExit(f"dist: {module} failed\n{done.stdout or ''}")


if __name__ == "__main__":
    main()
