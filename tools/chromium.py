"""Chromium as the system has it, for pictures, checks and measurements of pages."""

from __future__ import annotations

import shutil
from typing import Any

MISSING = "Chromium not found; on Debian: apt-get install chromium-headless-shell"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def find_chromium() -> str | None:
    """Return the path of Chromium; its shell without windows is preferred, since it needs less CPU time."""
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")


def launch(playwright: Any) -> Any:
    """Start a browser."""
    return playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
