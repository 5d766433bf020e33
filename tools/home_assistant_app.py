"""Assemble the app of Home Assistant: deploy/home-assistant-app, the Dockerfile and the source code.

Usage: home_assistant_app.py [FOLDER]

The Supervisor builds an app from its own folder only. The Dockerfile is that of all containers, with other
defaults of its build arguments, since the Supervisor sets none.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
APP = ROOT / "deploy/home-assistant-app"
DEFAULTS = {"VARIANT": "home-assistant", "EXTRAS": "live"}
NOT_COPIED = shutil.ignore_patterns("__pycache__")


def assemble(folder: Path) -> Path:
    """Write the app's repository to a folder, which is replaced, and return the folder of the app."""
    if folder.exists() and not (folder / "repository.yaml").exists():
        raise SystemExit(f"{folder}: is another folder, choose one that does not exist")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(APP, folder, ignore=shutil.ignore_patterns("README.md"))
    app = folder / "occupair"
    shutil.copy(APP / "occupair/README.md", app)
    shutil.copytree(ROOT / "src", app / "src", ignore=NOT_COPIED)
    for name in ("pyproject.toml", "hatch_build.py", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, app)
    lines = (ROOT / "deploy/Dockerfile").read_text().splitlines()
    (app / "Dockerfile").write_text("\n".join(map(with_default, lines)) + "\n")
    return app


def with_default(line: str) -> str:
    """Return a line of the Dockerfile with the app's default of a build argument."""
    for name, value in DEFAULTS.items():
        if line.startswith(f"ARG {name}="):
            return f"ARG {name}={value}"
    return line


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/home-assistant-app"
    print(f"{assemble(place)}: copy it to the folder addons of Home Assistant")
