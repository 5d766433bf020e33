from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import pytest

from occupair.report.paper_report import write_report
from tools.chromium import MISSING

ROOT = Path(__file__).parents[2]


def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.readme_picture", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment or None, cwd=ROOT
    )


def test_missing_chromium_is_reported(tmp_path):
    (tmp_path / "report.html").write_text("<head></head>")
    ended = run(tmp_path / "report.html", tmp_path / "out.png", PATH=str(tmp_path))
    assert ended.returncode == 1
    assert ended.stderr == f"readme_picture: {MISSING}\n"


def test_usage():
    assert run().stderr == "usage: python -m tools.readme_picture REPORT.html OUT.png [SECTION HEIGHT]\n"


def test_missing_report_is_reported(tmp_path):
    assert (
        f"report {tmp_path / 'none.html'} not found"
        in run(tmp_path / "none.html", tmp_path / "out.png").stderr
    )


@pytest.mark.usefixtures("chromium")
def test_picture_has_double_resolution(reproduction, tmp_path):
    write_report(reproduction, tmp_path / "report.html")
    ended = run(tmp_path / "report.html", tmp_path / "docs" / "out.png")
    assert ended.returncode == 0, ended.stderr
    header = (tmp_path / "docs" / "out.png").read_bytes()[:24]
    assert header[1:4] == b"PNG"
    assert struct.unpack(">II", header[16:24]) == (2000, 2100)
