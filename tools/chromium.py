"""Chromium as the system has it, for pictures, checks and measurements of pages."""

from __future__ import annotations

import shutil
from typing import Any

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def launch(playwright: Any) -> Any:
    """Start a browser with the Chromium on the search path."""
    return playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
