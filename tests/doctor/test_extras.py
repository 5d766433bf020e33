"""The extras have one description, in the program, the README and the documentation."""

import re
import tomllib
from pathlib import Path

import pytest

from occupair.doctor.extras import EXTRAS

ROOT = Path(__file__).parents[2]
OF_CONTRIBUTORS = {"dev", "docs"}


def test_every_extra_of_users_is_described():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(EXTRAS) == set(project["optional-dependencies"]) - OF_CONTRIBUTORS


@pytest.mark.parametrize("document", ["README.md", "docs/installation.md"])
def test_documents_describe_the_same_extras(document):
    text = (ROOT / document).read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", text, re.MULTILINE)
    assert {name: adds.strip() for name, adds in rows if name in EXTRAS} == EXTRAS
