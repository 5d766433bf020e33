"""A clean environment with occupair and all extras for users, as it is resolved today."""

from __future__ import annotations

import platform
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build/runtime"
DEVELOPMENT = {"dev", "docs"}
"""Extras for work on occupair itself."""
NOT_ON_ARM = {"energyplus"}
"""Extras without wheels for Linux on ARM."""


def runtime_extras() -> list[str]:
    """Return the extras for users that can be installed on this machine."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    missing = NOT_ON_ARM if platform.machine() == "aarch64" else set()
    return sorted(set(project["optional-dependencies"]) - DEVELOPMENT - missing)


def create() -> Path:
    """Install occupair with all extras in a new environment, and return its interpreter."""
    python = FOLDER / "bin/python"
    run("venv", "--clear", "--without-pip", str(FOLDER))
    source = f"{ROOT}[{','.join(runtime_extras())}]"
    quiet = ("--quiet", "--disable-pip-version-check", "--no-warn-script-location")
    run("pip", "--python", str(python), "install", *quiet, source)
    return python


def run(*arguments: str) -> None:
    if subprocess.run([sys.executable, "-m", *arguments]).returncode != 0:
        raise SystemExit(f"{arguments[0]} failed")


def site_packages(python: Path) -> Path:
    """Return the folder with the packages of an environment."""
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(
        subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
    )


def packages_by_extra(folder: Path) -> dict[str, set[str]]:
    """Return the names of the packages that each extra installs; "" is a plain installation."""
    installed = {canonicalize_name(one.metadata["Name"]): one for one in distributions(path=[str(folder)])}
    return {extra: _needed(installed, "occupair", extra) for extra in ("", *runtime_extras())}


def _needed(installed: dict[str, Distribution], root: str, extra: str) -> set[str]:
    found: set[tuple[str, str]] = set()
    waiting = [(root, extra)]
    while waiting:
        name, of = waiting.pop()
        if (name, of) in found or name not in installed:
            continue
        found.add((name, of))
        for line in installed[name].requires or []:
            need = Requirement(line)
            if need.marker is None or need.marker.evaluate({"extra": of}):
                waiting += [(canonicalize_name(need.name), wanted) for wanted in ("", *need.extras)]
    return {name for name, _ in found} - {root}
