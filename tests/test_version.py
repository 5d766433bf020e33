"""The version is defined in _version.py, and nothing disagrees with it."""

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from command import occupair

import occupair as oc
from occupair.model_file import dump_model

ROOT = Path(__file__).parents[1]


def test_package_metadata_has_the_version():
    assert version("occupair") == oc.__version__


def test_command_prints_the_version():
    assert occupair("--version").stdout == f"occupair {oc.__version__}\n"


def test_reading_the_version_imports_nothing_else():
    code = "import sys; before = set(sys.modules); import occupair; occupair.__version__; "
    code += "print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["occupair", "occupair._version"]


def test_model_file_has_the_version(estimator):
    assert json.loads(dump_model(estimator))["occupair"] == oc.__version__


def test_version_is_written_in_one_place_of_the_source():
    pattern = re.compile(rf"(?<![\d.]){re.escape(oc.__version__)}(?![\d.])")
    paths = {path for path in (ROOT / "src").rglob("*.py") if path.name != "deprecations.py"}  # has others
    assert [path.name for path in paths if pattern.search(path.read_text())] == ["_version.py"]


def test_citation_has_the_version():
    assert f"\nversion: {oc.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_documents_name_the_wheel_of_this_version():
    texts = [(ROOT / "README.md").read_text(), *(path.read_text() for path in (ROOT / "docs").rglob("*.md"))]
    assert set(re.findall(r"occupair-(\d[\w.]*)-py3", "\n".join(texts))) <= {oc.__version__}
