"""The speed benchmark prints every section and writes its page and figure; the times are not tested."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.chromium import find_chromium
from tools.speed import formatting, many_default_rooms

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
HEADINGS = [
    "Training: one random layer",
    "Training: best of many random layers",
    "Eq. (26) live",
    "Default estimator",
    "Long records",
    "Many rooms",
    "Scaling",
    "Start-up",
    "System",
]


def test_quick_run_prints_all_sections_and_writes_page_and_figure(tmp_path):
    page = tmp_path / "speed.md"
    command = [sys.executable, "-m", "tools.speed", "--quick", "--out", str(page)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for text in (done.stdout, page.read_text()):
        assert re.findall("^## (.*)$", text, re.MULTILINE) == HEADINGS
        assert "nan" not in text
        assert str(ROOT) not in text
    if find_chromium():
        assert (tmp_path / "speed.png").read_bytes().startswith(b"\x89PNG")


def test_published_page_has_the_sections_of_the_tool():
    page = (ROOT / "docs/speed.md").read_text(encoding="utf-8")
    assert re.findall("^## (.*)$", page, re.MULTILINE) == HEADINGS


@pytest.mark.parametrize("module", [formatting, many_default_rooms])
def test_docstring_examples(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
