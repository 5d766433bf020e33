"""Interpreters, package indexes and results of the tests on the wheel."""

import sys
import tomllib
from pathlib import Path

import pytest

from tools.matrix.__main__ import Result, combinations, failures, main, read_report, table
from tools.matrix.environments import pip_indexes
from tools.matrix.interpreters import find_interpreters, version_of
from tools.matrix.suites import CORE, WHOLE

ROOT = Path(__file__).parents[2]
REPORT = """<?xml version="1.0"?><testsuites>
<testsuite name="pytest" errors="2" failures="2" skipped="3" tests="11">
<testcase classname="" name="tests.test_folds"><error message="collection failure">...</error></testcase>
<testcase classname="tests.test_metrics" name="test_passes"/>
<testcase classname="tests.live.test_room" name="test_skipped"><skipped message="no broker"/></testcase>
<testcase classname="tests.live.test_room" name="test_time[a/b]"><failure message="a">...</failure></testcase>
<testcase classname="tests.live.test_room" name="test_stop"><failure message="b">...</failure></testcase>
<testcase classname="tests.live.test_room" name="test_stop"><error message="teardown">...</error></testcase>
</testsuite></testsuites>"""


def test_interpreter_of_this_process_is_found():
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert version_of(find_interpreters()[version]) == version


def test_broken_interpreter_is_not_used(tmp_path):
    shim = tmp_path / "python3.12"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    assert version_of(shim) is None
    assert version_of(tmp_path / "missing") is None


def test_indexes_of_pip_become_options_of_uv():
    configuration = (
        ":env:.find-links='/wheels'\n"
        "global.cert='/certificates.pem'\n"
        "global.extra-index-url='https://one.example/simple https://two.example/simple'\n"
        "global.find-links='/wheels'\n"
    )
    assert pip_indexes(configuration) == [
        "--find-links", "/wheels",
        "--extra-index-url", "https://one.example/simple",
        "--extra-index-url", "https://two.example/simple",
    ]  # fmt: skip
    assert pip_indexes("") == []


def test_every_interpreter_has_newest_and_lowest_versions():
    assert combinations(["3.11", "3.13"], quick=False) == [
        ("3.11", "newest"),
        ("3.11", "lowest"),
        ("3.13", "newest"),
        ("3.13", "lowest"),
    ]
    assert combinations(["3.11", "3.12", "3.13"], quick=True) == [("3.13", "newest"), ("3.11", "lowest")]


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (["3.11", "3.12"], "nothing to test, interpreters found: 3.11, 3.12\n"),
        ([], "nothing to test, interpreters found: none\n"),
    ],
)
def test_missing_interpreter_fails(found, message, monkeypatch, capsys):
    monkeypatch.setattr(
        "tools.matrix.__main__.find_interpreters", lambda: dict.fromkeys(found, Path("python"))
    )
    monkeypatch.setattr(sys, "argv", ["matrix", "--python", "3.13"])
    assert main() == 1
    assert capsys.readouterr().out == message


def test_counts_and_failed_tests_are_read_from_the_report(tmp_path):
    (tmp_path / "result.xml").write_text(REPORT)
    found = read_report(tmp_path / "result.xml")
    assert (found["passed"], found["failed"], found["skipped"]) == (4, 4, 3)
    assert found["failures"] == (
        "tests.test_folds",
        "tests/live/test_room.py::test_time[a/b]",
        "tests/live/test_room.py::test_stop",
    )


def test_failed_tests_are_listed_by_combination():
    good = Result("3.11", "newest", passed=9)
    bad = Result("3.13", "lowest", passed=9, failed=1, failures=("tests/test_a.py::test_b",))
    assert failures([good]) == []
    assert failures([good, bad]) == [
        "",
        "Failed with Python 3.13, lowest versions:",
        "  tests/test_a.py::test_b",
    ]


@pytest.mark.parametrize(
    ("result", "good", "verdict"),
    [
        (Result("3.11", "lowest", passed=1200, skipped=2, seconds=61.2), True, "passed"),
        (Result("3.11", "lowest", passed=9, failed=1), False, "failed"),
        (Result("3.11", "lowest"), False, "failed"),
        (Result("3.11", "lowest", error="not installed"), False, "not installed"),
    ],
)
def test_result_is_good_only_if_tests_ran_and_none_failed(result, good, verdict):
    assert result.good is good
    assert table([result]).splitlines()[-1].endswith(f" {verdict} |")


def test_table_has_one_row_per_combination():
    rows = table([Result("3.13", "newest", 1200, 0, 2, 61.2)]).splitlines()
    assert rows[-1] == "| 3.13 | newest | 1,200 | 0 | 2 | 61 s | passed |"


def test_paths_of_the_suites_exist():
    for path in (*CORE.paths, *WHOLE.paths, *WHOLE.deselected):
        assert (ROOT / path).exists(), path


def test_whole_suite_has_all_packages_of_contributors_but_linters_and_installers():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [one for one in project["optional-dependencies"]["dev"] if not one.startswith("occupair[")]
    others = ("import-linter", "ruff", "mypy", "pandas-stubs", "scipy-stubs", "uv")
    assert set(WHOLE.tools) == {one for one in needed if not one.startswith(others)}
    assert set(CORE.tools) <= set(needed)


def test_whole_suite_has_all_extras_of_users_but_energyplus():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {*WHOLE.extras, "energyplus"} == project["optional-dependencies"].keys() - {"docs", "dev"}
