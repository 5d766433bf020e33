"""The threat model names tests that are there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/security.md").read_text()
ROWS = [line.strip("|").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")][2:]
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))


def test_every_threat_has_a_measure_and_a_test():
    assert len(ROWS) > 15
    for threat, answer, tests in ROWS:
        assert threat.strip()
        assert answer.strip()
        assert re.fullmatch(r"(`tests/[\w/]+\.py::\w+`(, )?)+", tests.strip()), threat


@pytest.mark.parametrize(("file", "test"), NAMED, ids=lambda text: text)
def test_cited_test_exists(file, test):
    tree = ast.parse((ROOT / file).read_text())
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_length_of_the_security_page():
    assert len(PAGE.splitlines()) < 60
