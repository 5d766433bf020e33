"""Slow test files run first."""

from pathlib import Path
from types import SimpleNamespace

from slow_files import SLOW_FILES, pytest_collection_modifyitems

TESTS = Path(__file__).parent


def test_every_slow_file_exists():
    assert [name for name in SLOW_FILES if not (TESTS / name).is_file()] == []


def test_slow_files_come_first_and_other_tests_keep_their_order():
    names = ["web/test_b.py", SLOW_FILES[1], "cli/test_a.py", SLOW_FILES[0], SLOW_FILES[1]]
    items = [SimpleNamespace(path=TESTS / name, number=number) for number, name in enumerate(names)]
    pytest_collection_modifyitems(items)
    assert [item.number for item in items] == [3, 1, 4, 0, 2]
