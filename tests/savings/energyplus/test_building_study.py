"""A study of two days with worker processes."""

import pytest

pytest.importorskip("pyenergyplus")

from dataclasses import replace

from occupair.errors import InputError
from occupair.progress import progress_to
from occupair.savings.energyplus.building_study import BuildingStudy, run_case, run_study
from occupair.savings.energyplus.policy_cases import CASES

NAMES = ("fixed design flow", "schedule", "true count", "estimate, paper")
STUDY = BuildingStudy(days=2, training_days=7, draws=1, seed=4)


@pytest.fixture(scope="module")
def reported():
    return []


@pytest.fixture(scope="module")
def outcomes(reported):
    cases = [case for case in CASES if case.name in NAMES]
    with progress_to(lambda what, done, total: reported.append((what, done, total))):
        return {outcome.policy: outcome for outcome in run_study(STUDY, cases=cases, jobs=2)}


def test_policies_see_the_same_people(outcomes):
    assert list(outcomes) == list(NAMES)
    assert len({outcome.person_hours for outcome in outcomes.values()}) == 1
    assert len({outcome.off_hours for outcome in outcomes.values()}) == 1


def test_true_count_supplies_enough_with_less_air_and_gas(outcomes):
    fixed, true = outcomes["fixed design flow"], outcomes["true count"]
    assert fixed.below_flow == true.below_flow == 0
    # two days of 15 h at the design flow of 35 seats and 511.16 m2
    assert fixed.outdoor_air == pytest.approx(2 * 15 * 3.6 * (35 * 2.5 + 511.16 * 0.3), rel=1e-9)
    assert 0.6 < true.outdoor_air / fixed.outdoor_air < 0.9
    assert true.heating < fixed.heating
    assert true.fans == pytest.approx(fixed.fans, rel=0.01)  # constant-volume fans


def test_estimated_counts_are_close_to_the_true_counts(outcomes):
    assert outcomes["estimate, paper"].rmse < 2
    assert outcomes["true count"].rmse is None


def test_progress_is_reported_by_day(reported, outcomes):
    days = [one for one in reported if one[0] == "simulating days"]
    assert days[0][1:] == (0, 8)
    assert days[-1][1:] == (8, 8)


def test_run_in_this_process_equals_that_of_a_worker(outcomes):
    (case,) = [case for case in CASES if case.name == "true count"]
    from occupair.savings.energyplus.zone_training import training_readings, zone_controls

    readings = training_readings(
        "fixed", zone_controls(STUDY.standard), seed=STUDY.seed, climate=STUDY.climate, days=7
    )
    assert run_case(STUDY, case, readings, []) == outcomes["true count"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"days": 366}, "days must be 365 or fewer, got 366"),
        ({"days": 0}, "days must be an integer, 1 or more, got 0"),
        ({"training_days": 29}, "training_days must be 7 to 28, got 29"),
    ],
)
def test_invalid_settings(changes, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        replace(STUDY, **changes)
