"""Render one section of a report as a PNG, by default the figure of the test days.

Usage: python -m tools.readme_picture REPORT.html OUT.png [SECTION HEIGHT]   (requires chromium)
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.chromium import MISSING, find_chromium

WIDTH, SCALE = 1000, 2  # [px], device pixels per px
USAGE = "usage: python -m tools.readme_picture REPORT.html OUT.png [SECTION HEIGHT]"
ONLY_SECTION = """<style>
:root {{ color-scheme: light; }}
header, footer, figcaption, .modebar-container, main > :not(#{0}) {{ display: none; }}
main {{ padding: 12px 20px; }} #{0} {{ margin: 0; }}
</style></head>"""
TEST_DAYS = ("five-days", "1050")  # section and its height [px]: heading, legend and five panels
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
    if len(arguments) not in (2, 4):
        return USAGE
    report, picture = (Path(argument).resolve() for argument in arguments[:2])
    section, height = arguments[2:] or TEST_DAYS
    if not report.is_file():
        return f"readme_picture: report {report} not found; create it with: occupair reproduce"
    picture.parent.mkdir(parents=True, exist_ok=True)
    error = render_section(report, picture, section=section, height=int(height))
    return f"readme_picture: {error}" if error else None


def render_section(report: Path, picture: Path, *, section: str, height: int) -> str | None:
    """Render a copy of the report that shows only one section."""
    page = report.read_text(encoding="utf-8").replace("</head>", ONLY_SECTION.format(section), 1)
    return render_png(page, picture, height=height)


def render_png(page: str, picture: Path, *, height: int) -> str | None:
    """Render an HTML page with ``height`` [px] as a PNG; return an error message, or None."""
    chromium = find_chromium()
    if chromium is None:
        return MISSING
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
