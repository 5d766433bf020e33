"""Slow tests run first, and CI runs them."""

from pathlib import Path
from types import SimpleNamespace

from slow_first import pytest_collection_modifyitems

ROOT = Path(__file__).parents[1]


def item(number, *marks):
    return SimpleNamespace(number=number, get_closest_marker={name: name for name in marks}.get)


def test_slow_tests_come_first_and_other_tests_keep_their_order():
    items = [item(0), item(1, "slow"), item(2, "filterwarnings"), item(3, "slow")]
    pytest_collection_modifyitems(items)
    assert [one.number for one in items] == [1, 3, 0, 2]


def test_ci_runs_the_tests_that_make_test_leaves_out():
    makefile = (ROOT / "Makefile").read_text()
    assert '-m "not slow"' in makefile
    assert "-m slow" in makefile
    assert "make test slow-test" in (ROOT / ".ci/run").read_text()
