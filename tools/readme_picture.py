"""Render the figure of the test days in a report as a PNG.

Usage: readme_picture.py REPORT.html OUT.png   (requires chromium)
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTH, SCALE = 1000, 2  # [px], device pixels per px
ONLY_TEST_DAYS = """<style>
:root { color-scheme: light; }
header, footer, figcaption, .modebar-container, main > :not(#five-days) { display: none; }
main { padding: 12px 20px; } #five-days { margin: 0; }
</style></head>"""
HEIGHT = 1050  # [px]: heading, legend and five panels
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--blink-settings=preferredColorScheme=1",  # light
    "--virtual-time-budget=10000",
    f"--force-device-scale-factor={SCALE}",
]


def main(arguments: list[str]) -> str | None:
    """Render the figure; return an error message, or None."""
    if len(arguments) != 2:
        return "usage: readme_picture.py REPORT.html OUT.png"
    report, picture = (Path(argument).resolve() for argument in arguments)
    chromium = shutil.which("chromium")
    if chromium is None:
        return "readme_picture: chromium not found; on Debian: apt-get install chromium"
    if not report.is_file():
        return f"readme_picture: report {report} not found; create it with: occupair reproduce"
    picture.parent.mkdir(parents=True, exist_ok=True)
    error = render_test_days(chromium, report, picture)
    return f"readme_picture: {error}" if error else None


def render_test_days(chromium: str, report: Path, picture: Path) -> str | None:
    """Render a copy of the report that shows only the test days."""
    page = report.read_text(encoding="utf-8").replace("</head>", ONLY_TEST_DAYS, 1)
    return render_png(chromium, page, picture, height=HEIGHT)


def render_png(chromium: str, page: str, picture: Path, *, height: int) -> str | None:
    """Render an HTML page with ``height`` [px] as a PNG; return an error message, or None."""
    with tempfile.TemporaryDirectory() as folder:
        file, shot = Path(folder, "page.html"), Path(folder, "page.png")
        file.write_text(page, encoding="utf-8")
        command = [
            chromium,
            *FLAGS,
            f"--window-size={WIDTH},{height}",
            f"--user-data-dir={folder}/profile",
            f"--screenshot={shot}",
            file.as_uri(),
        ]
        try:
            ended = subprocess.run(command, capture_output=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return "chromium did not finish within 2 min"
        if not shot.is_file():
            return f"chromium wrote no file (exit {ended.returncode})"
        shutil.copyfile(shot, picture)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
