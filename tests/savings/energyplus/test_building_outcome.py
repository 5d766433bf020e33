"""Totals of a run of a few steps, worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from occupair.savings.energyplus.building_outcome import building_outcome
from occupair.savings.energyplus.building_run import BuildingRun
from occupair.savings.energyplus.zone_training import zone_controls

CONTROLS = zone_controls("ASHRAE 62.1")
CORE = 0.3 * 149.66  # [L/s] area component of the core zone


def run_of(people, co2, outdoor_air, start="2018-01-01 09:00"):
    """Return a run in which only the core zone is in use."""
    time = pd.date_range(start, periods=len(people), freq="5min")

    def core(values):
        return np.column_stack([values, np.zeros((len(people), 4))])

    energy = {"fans": 2.0, "cooling": 1.0, "heating": 10.0, "electricity": 3.0, "gas": 10.0}
    return BuildingRun(time, core(people).astype(int), core(co2), core(outdoor_air), energy, {})


def outcome_of(run, estimates=None, upper_ends=None):
    unknown = np.full(run.people.shape, np.nan)
    return building_outcome(
        "policy",
        run,
        CONTROLS,
        estimates=unknown if estimates is None else estimates,
        upper_ends=unknown if upper_ends is None else upper_ends,
    )


def test_person_hours_and_outdoor_air():
    required = CORE + 2.5 * 4
    run = run_of([0, 4, 4, 4], [500.0] * 4, [0.0, required, 0.95 * required, 0.5 * required])
    outcome = outcome_of(run)
    assert outcome.person_hours == pytest.approx(3 * 4 / 12)
    assert outcome.below_flow == pytest.approx(2 * 4 / 12)
    assert outcome.well_below_flow == pytest.approx(4 / 12)
    assert outcome.missing_air == pytest.approx(0.55 * required * 300 / 1000)
    assert outcome.outdoor_air == pytest.approx(2.45 * required * 300 / 1000)
    assert (outcome.off_hours, outcome.above_limit) == (0, 0)
    assert (outcome.rmse, outcome.bias, outcome.coverage) == (None, None, None)


def test_co2_limit_applies_to_the_mean_of_a_step():
    # means: 925 (3 people), 1025 (2 people), 1050 (1 person, no step after it)
    run = run_of([3, 2, 1], [850.0, 1000.0, 1050.0], [100.0] * 3)
    assert outcome_of(run).above_limit == pytest.approx((2 + 1) / 12)


def test_more_people_than_seats_require_the_design_flow():
    run = run_of([12], [500.0], [CORE + 2.5 * 10])
    assert outcome_of(run).below_flow == 0


def test_people_at_night_are_not_in_ventilation_hours():
    outcome = outcome_of(run_of([2, 2], [1500.0] * 2, [0.0] * 2, start="2018-01-01 21:55"))
    assert outcome.person_hours == pytest.approx(2 / 12)
    assert outcome.off_hours == pytest.approx(2 / 12)
    assert outcome.above_limit == pytest.approx(2 / 12)


def test_energy_is_that_of_the_meters():
    outcome = outcome_of(run_of([0], [500.0], [0.0]))
    assert (outcome.fans, outcome.cooling, outcome.heating, outcome.hvac) == (2.0, 1.0, 10.0, 13.0)


def test_errors_of_estimates():
    run = run_of([2, 4], [500.0] * 2, [100.0] * 2)
    estimates, upper_ends = np.full((2, 5), np.nan), np.full((2, 5), np.nan)
    estimates[:, 0], upper_ends[:, 0] = [3.0, 1.0], [4.0, 3.5]
    outcome = outcome_of(run, estimates, upper_ends)
    assert outcome.rmse == pytest.approx(np.sqrt((1 + 9) / 2))
    assert outcome.bias == pytest.approx(-1.0)
    assert outcome.coverage == 0.5
