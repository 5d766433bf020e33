"""Interpreters, package indexes and results of the tests on the wheel."""

import sys
import tomllib
from pathlib import Path

import pytest

from tools.matrix.__main__ import Result, read_counts, table
from tools.matrix.environments import pip_indexes
from tools.matrix.interpreters import find_interpreters, version_of
from tools.matrix.suites import CORE, WHOLE

ROOT = Path(__file__).parents[2]
REPORT = """<?xml version="1.0"?><testsuites>
<testsuite name="pytest" errors="1" failures="2" skipped="3" tests="10"></testsuite></testsuites>"""


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


def test_counts_are_read_from_the_report(tmp_path):
    (tmp_path / "result.xml").write_text(REPORT)
    assert read_counts(tmp_path / "result.xml") == {"passed": 4, "failed": 3, "skipped": 3}


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
