"""Where numba cannot be imported, one plain line says so."""

import subprocess
import sys
from pathlib import Path

import pytest

import occupair as oc

EARLIER = Path(__file__).parent / "compatibility/2026-11"
WITHOUT_NUMBA = "import sys; sys.modules['numba'] = None; "
ONE_LINE = (
    "numba cannot be imported (import of numba halted; None in sys.modules): live estimates of the paper's"
    " estimator take about ten times as long; install it with 'pip install numba', or see 'occupair doctor'"
)


def run(code, *arguments):
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def readings(tmp_path_factory):
    """Two hours of readings."""
    path = tmp_path_factory.mktemp("readings") / "day.csv"
    oc.write_readings(oc.read_readings(EARLIER / "day.csv", timezone="Europe/Copenhagen").iloc[:120], path)
    return path


def test_command_warns_once_in_one_plain_line(readings):
    command = WITHOUT_NUMBA + "from occupair.__main__ import main; main()"
    done = run(command, "estimate", EARLIER / "paper.occupair", readings)
    lines = list(
        filter(None, done.stderr.splitlines())
    )  # old versions of rich end a hidden bar with a newline
    assert lines == [f"occupair: {ONE_LINE}"]


def test_library_warns_once_per_process(readings):
    code = WITHOUT_NUMBA + (
        "import occupair as oc\n"
        "model, day = oc.OccupancyEstimator.load(sys.argv[1]), oc.read_readings(sys.argv[2])\n"
        "assert model.estimate(day).equals(model.estimate(day))\n"
        "oc.OccupancyEstimator.load(sys.argv[1]).live()\n"
    )
    done = run(code, EARLIER / "paper.occupair", readings)
    assert done.stderr.count("SlowFallbackWarning") == 1
    assert ONE_LINE in done.stderr


def test_estimators_that_need_no_numba_do_not_warn(readings):
    code = WITHOUT_NUMBA + (
        "import occupair as oc\n"
        "oc.OccupancyEstimator.load(sys.argv[1]).estimate(oc.read_readings(sys.argv[2]))\n"
    )
    assert run(code, EARLIER / "room.occupair", readings).stderr == ""
