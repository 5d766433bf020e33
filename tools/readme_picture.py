"""Take the README's picture: the test days of a report, as a PNG.

Usage: readme_picture.py REPORT.html OUT.png   (needs Debian's chromium)
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTH, SCALE = 1000, 2  # [px], and dots per px for sharp screens
ONLY_THE_DAYS = """<style>
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
    """Take the picture; return what went wrong, if anything."""
    if len(arguments) != 2:
        return "usage: readme_picture.py REPORT.html OUT.png"
    report, picture = (Path(argument).resolve() for argument in arguments)
    chromium = shutil.which("chromium")
    if chromium is None:
        return "readme_picture: no chromium found; on Debian: apt-get install chromium"
    if not report.is_file():
        return f"readme_picture: there is no report {report}; make one with: occupair reproduce"
    picture.parent.mkdir(parents=True, exist_ok=True)
    wrong = take_picture(chromium, report, picture)
    return f"readme_picture: {wrong}" if wrong else None


def take_picture(chromium: str, report: Path, picture: Path) -> str | None:
    """Photograph a copy of the report that shows nothing but the test days."""
    page = report.read_text(encoding="utf-8").replace("</head>", ONLY_THE_DAYS, 1)
    return photograph(chromium, page, picture, height=HEIGHT)


def photograph(chromium: str, page: str, picture: Path, *, height: int) -> str | None:
    """Open a page of HTML, ``height`` [px] tall, and write what it looks like as a PNG."""
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
            return "chromium did not finish within two minutes"
        if not shot.is_file():
            return f"chromium made no picture (exit {ended.returncode})"
        shutil.copyfile(shot, picture)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
