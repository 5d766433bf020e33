"""The wheel in a clean virtual environment, installed by uv."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tools.matrix.suites import Suite

ROOT = Path(__file__).parents[2]
PIP_INDEX = re.compile(r"^[\w:.]+\.(index-url|extra-index-url|find-links)='(.*)'$", re.MULTILINE)
Versions = Literal["newest", "lowest"]


class InstallError(RuntimeError):
    """The wheel or its dependencies cannot be installed; the message is the output of the installer."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment with the wheel."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin/python"

    def variables(self) -> dict[str, str]:
        """Return the environment variables of commands in it."""
        kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "CI")}
        path = f"{self.folder / 'bin'}{os.pathsep}{kept.get('PATH', os.defpath)}"
        return kept | {"VIRTUAL_ENV": str(self.folder), "PATH": path, "OPENBLAS_NUM_THREADS": "1"}


def build_wheel(folder: Path) -> Path:
    """Build the wheel of the checkout."""
    _run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT])
    (wheel,) = folder.glob("occupair-*.whl")
    return wheel


def install(wheel: Path, interpreter: Path, versions: Versions, suite: Suite, folder: Path) -> Environment:
    """Install the wheel with the extras and tools of a suite, and check that it is what is imported."""
    environment = Environment(folder)
    _run(_uv("venv", "--quiet", "--no-project", "--python", interpreter, folder))
    wanted = [f"occupair[{','.join(suite.extras)}] @ {wheel.as_uri()}", *suite.tools]
    options: list[str | Path] = []
    if versions == "lowest":
        options = ["--constraint", lowest_versions(environment, suite, folder / "lowest.txt")]
    _with_pip_indexes("pip", "install", "--quiet", "--python", environment.python, *options, *wanted)
    code = "import occupair; print(occupair.__file__)"
    place = _run([environment.python, "-c", code], env=environment.variables()).strip()
    if not Path(place).is_relative_to(folder):
        raise InstallError(f"tests would run on {place}, which is not in {folder}")
    return environment


def lowest_versions(environment: Environment, suite: Suite, path: Path) -> Path:
    """Write the lowest versions that pyproject.toml permits and that have wheels for the interpreter.

    The tools of the suite are also at their lowest versions, so that they raise few others.
    """
    tools = path.with_suffix(".in")
    tools.write_text("\n".join(suite.tools) + "\n")
    extras = [word for extra in suite.extras for word in ("--extra", extra)]
    _with_pip_indexes(
        "pip", "compile", "--quiet", "--python", environment.python, "--resolution", "lowest-direct",
        "--only-binary", ":all:", "--no-annotate", "--no-header", *extras,
        ROOT / "pyproject.toml", tools, "--output-file", path,
    )  # fmt: skip
    return path


def _with_pip_indexes(*arguments: str | Path) -> None:
    """Run uv; if it fails, run it again with the package indexes that pip is configured with."""
    try:
        _run(_uv(*arguments))
    except InstallError:
        if not (indexes := pip_indexes(_run([sys.executable, "-m", "pip", "config", "list"]))):
            raise
        _run(_uv(*arguments, *indexes, "--index-strategy", "unsafe-best-match"))


def pip_indexes(configuration: str) -> list[str]:
    """Return options of uv for the indexes in the output of ``pip config list``."""
    options: list[str] = []
    for key, value in PIP_INDEX.findall(configuration):
        for address in shlex.split(value):
            if (f"--{key}", address) not in zip(options[::2], options[1::2], strict=True):
                options += [f"--{key}", address]
    return options


def _uv(*arguments: str | Path) -> list[str | Path]:
    return [sys.executable, "-m", "uv", *arguments]


def _run(command: list[str | Path], env: dict[str, str] | None = None) -> str:
    """Run a command with the certificates of the system and return its standard output."""
    settings = {"UV_NATIVE_TLS": "true", "UV_SYSTEM_CERTS": "true", "UV_HTTP_TIMEOUT": "180"}
    settings |= {"UV_LINK_MODE": "copy", "UV_PYTHON_DOWNLOADS": "never"}
    done = subprocess.run(
        command, env=settings | dict(env or os.environ), cwd=ROOT, text=True,
        stdin=subprocess.DEVNULL, capture_output=True,
    )  # fmt: skip
    if done.returncode:
        words = " ".join(map(str, command))
        raise InstallError(f"{words}\n{done.stdout}{done.stderr}".rstrip())
    return done.stdout
