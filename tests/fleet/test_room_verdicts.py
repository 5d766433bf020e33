"""Trust in estimates and state of the CO2 sensor."""

import math
from pathlib import Path

import pytest

from occupair import checks
from occupair.checks import Fault
from occupair.fleet.room_verdicts import (
    COUNT_FAULTS,
    GOOD_NRMSE,
    LEAST_COVERAGE,
    MOST_MISSING,
    POOR_NRMSE,
    SENSOR_FAULTS,
    sensor_quality,
    trust_in,
)
from occupair.room.profile_comparison import MAX_ERROR_RATIO

GOOD = {
    "basis": "head counts",
    "sensor": "good",
    "nrmse": 0.5,
    "coverage": 0.9,
    "co2_gain": 0.3,
    "missing": 0.0,
}


def trust(**changes):
    return trust_in(**(GOOD | changes))


@pytest.mark.parametrize(
    ("faults", "quality"),
    [
        ([], "good"),
        ([("stuck", "note")], "good"),
        ([("clock", "wrong"), ("no_counts", "wrong")], "good"),
        ([("drift", "doubtful")], "check"),
        ([("drift", "doubtful"), ("reset", "wrong"), ("coarse", "note")], "faulty"),
    ],
)
def test_sensor_quality_is_that_of_its_worst_fault(faults, quality):
    assert sensor_quality([Fault(kind, severity, "x") for kind, severity in faults]) == quality


def test_kinds_of_faults_are_those_of_the_checks():
    """A kind that is renamed in the checks must be renamed here, too."""
    source = "".join(path.read_text() for path in Path(checks.__file__).parent.glob("*.py"))
    assert [kind for kind in SENSOR_FAULTS | COUNT_FAULTS if f'"{kind}"' not in source] == []
    assert not SENSOR_FAULTS & COUNT_FAULTS


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"sensor": "faulty"}, "the CO2 sensor is faulty"),
        ({"missing": MOST_MISSING + 0.01}, "most readings are missing"),
        ({"nrmse": POOR_NRMSE + 0.01}, "the error is almost that of a constant estimate"),
        ({"co2_gain": 1 - MAX_ERROR_RATIO - 0.01}, "CO2 adds almost nothing to the time of day"),
    ],
)
def test_poor_estimates(changes, reason):
    assert trust(**changes) == ("poor", reason)
    assert trust(**changes, coverage=0.1) == ("poor", reason)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"basis": "no head counts", "nrmse": math.nan}, "there are no head counts to assess the error"),
        ({"basis": "few head counts", "nrmse": math.nan}, "too few head counts to assess the error"),
        ({"doubt": "the volume seems to be 300 m3"}, "the volume seems to be 300 m3"),
        ({"sensor": "check"}, "the CO2 sensor should be checked"),
        ({"nrmse": GOOD_NRMSE + 0.01}, "the error is large"),
        ({"coverage": LEAST_COVERAGE - 0.01}, "the prediction interval is too narrow"),
        ({"nrmse": math.nan, "coverage": math.nan, "co2_gain": math.nan}, "the error is unknown"),
    ],
)
def test_limited_estimates(changes, reason):
    assert trust(**changes) == ("limited", reason)


def test_limits_themselves_are_good():
    limits = {"nrmse": GOOD_NRMSE, "coverage": LEAST_COVERAGE, "missing": MOST_MISSING}
    assert trust(**limits) == ("good", "")
    assert trust(missing=math.nan, co2_gain=math.nan) == ("good", "")


def test_all_reasons_of_the_same_trust_are_named():
    found = trust(sensor="faulty", missing=0.9, coverage=0.1)
    assert found == ("poor", "the CO2 sensor is faulty; most readings are missing")
