"""The speed benchmark prints every section and writes its page and picture; how fast is not tested."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADINGS = [
    "Training: one random layer",
    "Training: the best of many layers",
    "Eq. (26) live",
    "The default estimator",
    "Many rooms",
    "How the cost grows",
    "Start-up",
    "The machine",
]


def test_a_quick_run_prints_every_section_and_writes_the_page_and_its_picture(tmp_path):
    page = tmp_path / "speed.md"
    command = [sys.executable, "-m", "tools.speed", "--quick", "--out", str(page)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for text in (done.stdout, page.read_text()):
        assert re.findall("^## (.*)$", text, re.MULTILINE) == HEADINGS
        assert "nan" not in text
        assert str(ROOT) not in text
    if shutil.which("chromium"):
        assert (tmp_path / "speed.png").read_bytes().startswith(b"\x89PNG")
