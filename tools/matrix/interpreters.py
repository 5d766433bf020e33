"""Python interpreters on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SUPPORTED = ("3.11", "3.12", "3.13", "3.14")


def find_interpreters() -> dict[str, Path]:
    """Return a working interpreter for each supported version that is found."""
    found = {}
    for version in SUPPORTED:
        works = (path for path in candidates(version) if version_of(path) == version)
        if (path := next(works, None)) is not None:
            found[version] = path
    return found


def candidates(version: str) -> Iterator[Path]:
    """Yield places where a version may be: this process, the search path, pyenv and uv."""
    base = Path(getattr(sys, "_base_executable", sys.executable))
    yield base
    if on_path := shutil.which(f"python{version}"):
        yield Path(on_path)
    folders = [Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"]
    for entry in map(Path, os.environ.get("PATH", "").split(os.pathsep)):
        if entry.name == "shims":  # of pyenv; a shim works only for a version that is switched on
            folders.append(entry.parent / "versions")
    folders.append(Path.home() / ".local/share/uv/python")
    for folder in folders:
        yield from sorted(folder.glob(f"*{version}.*/bin/python{version}"), reverse=True)


def version_of(path: Path) -> str | None:
    """Return the version of an interpreter, such as ``"3.12"``; None if it does not run."""
    code = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([path, "-c", code], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
