"""Control of the zones without EnergyPlus: readings, estimates and decisions step by step."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.savings.energyplus.building_occupants import BuildingOccupants, building_occupants
from occupair.savings.energyplus.zone_control import ZoneControl
from occupair.savings.policies import FixedFlow

MONDAY = dt.date(2018, 1, 1)
STEPS = 288
DESIGN = np.array([70.0, 54.0, 32.0, 54.0, 30.0])


class Recorded:
    """A policy that records what it is told."""

    def __init__(self, flow):
        self.flow, self.starts, self.situations = flow, 0, []

    def start(self):
        self.starts += 1

    def outdoor_air(self, situation):
        self.situations.append(situation)
        return self.flow


def run_loop(control, co2):
    """Run all steps with given CO2; return the outdoor air of each step."""
    flows = np.zeros_like(co2)
    for step in range(len(co2)):
        flows[step] = control(step, co2[step], flows[step - 1] if step else np.zeros(5))
    return flows


@pytest.fixture(scope="module")
def occupants():
    return building_occupants(6, seed=1)


@pytest.fixture(scope="module")
def co2(occupants):
    """CO2 of a well-mixed zone with one air change per hour [ppm], not from EnergyPlus."""
    level, levels = np.full(5, 420.0), []
    for people in occupants.people:
        levels.append(level)
        level = level + (420.0 + 90.0 * people - level) / 12
    return np.array(levels)


def test_policies_decide_in_ventilation_hours_of_weekdays(occupants, co2):
    policies = [Recorded(flow) for flow in DESIGN]
    flows = run_loop(ZoneControl(policies, occupants, first_day=MONDAY, design=DESIGN), co2)
    times = pd.date_range(MONDAY, periods=len(co2), freq="5min")
    on = (times.day_of_week < 5) & (times.hour >= 7) & (times.hour < 22)
    np.testing.assert_array_equal(flows, np.where(on[:, None], DESIGN, 0.0))
    for zone, policy in enumerate(policies):
        told = policy.situations
        assert policy.starts == 5
        assert [one.time for one in told] == list(times[on])
        assert [one.minutes for one in told[:3]] == [0.0, 5.0, 5.0]
        assert sum(one.minutes == 0 for one in told) == 5
        assert [one.true_people for one in told] == occupants.people[on, zone].tolist()
        assert {(one.people, one.high) for one in told} == {(None, None)}


def test_readings_have_the_noise_of_the_sensor(occupants):
    control = ZoneControl([FixedFlow(1.0)] * 5, occupants, first_day=MONDAY, design=DESIGN)
    run_loop(control, np.full(occupants.people.shape, 600.0))
    np.testing.assert_array_equal(control.readings, np.round(control.readings))
    assert control.readings.mean() == pytest.approx(600.0, abs=0.2)
    assert control.readings.std() == pytest.approx(np.sqrt(3.0**2 + 1 / 12), rel=0.05)  # noise and rounding
    assert abs(np.corrcoef(control.readings.T)[0, 1]) < 0.1


def test_noise_of_a_later_period_continues_that_of_an_earlier_one(occupants, co2):
    policies = [FixedFlow(1.0)] * 5
    whole = ZoneControl(policies, occupants, first_day=MONDAY, design=DESIGN)
    run_loop(whole, np.full_like(co2, 600.0))
    later = BuildingOccupants(
        occupants.people[STEPS:], occupants.generation[STEPS:], occupants.outdoor_co2[STEPS:]
    )
    tuesday = ZoneControl(policies, later, first_day=dt.date(2018, 1, 2), design=DESIGN, first_noise_day=1)
    run_loop(tuesday, np.full_like(co2[STEPS:], 600.0))
    np.testing.assert_array_equal(tuesday.readings, whole.readings[STEPS:])


def test_live_estimates_equal_those_of_the_recorded_readings(occupants, co2):
    training = ZoneControl([FixedFlow(f) for f in DESIGN], occupants, first_day=MONDAY, design=DESIGN)
    run_loop(training, co2)
    readings = training.zone_readings()
    estimators = [
        oc.OccupancyEstimator.paper(n_draws=1, n_hidden=50, random_state=0).fit(zone) for zone in readings
    ]
    policies = [Recorded(0.6 * flow) for flow in DESIGN]
    rooms = [estimator.live() for estimator in estimators]
    control = ZoneControl(policies, occupants, first_day=MONDAY, design=DESIGN, rooms=rooms)
    run_loop(control, co2)
    assert np.isfinite(control.estimates).sum() == 5 * 5 * 15 * 12
    for zone, (table, estimator) in enumerate(zip(control.zone_readings(), estimators, strict=True)):
        assert table["ventilation"].max() == pytest.approx(0.6)
        replayed = estimator.estimate(table, mode="live")
        live = pd.Series(control.estimates[:, zone], pd.date_range(MONDAY, periods=len(co2), freq="5min"))
        live = live.dropna()
        np.testing.assert_allclose(live, replayed.reindex(live.index), atol=1e-6)
        assert [one.people for one in policies[zone].situations] == live.tolist()


def test_training_readings_are_those_of_weekdays_with_true_counts(occupants, co2):
    control = ZoneControl([FixedFlow(f) for f in DESIGN], occupants, first_day=MONDAY, design=DESIGN)
    run_loop(control, co2)
    tables = control.zone_readings()
    assert [len(table) for table in tables] == [5 * STEPS] * 5
    for zone, table in enumerate(tables):
        assert table["occupancy"].tolist() == occupants.people[: 5 * STEPS, zone].tolist()
        assert set(table["ventilation"]) == {0.0, 1.0}
        # the flow of the step before: on from 7:05 to 22:00
        assert table["ventilation"].between_time("07:05", "22:00").min() == 1.0
        assert table["ventilation"].between_time("22:05", "07:00").max() == 0.0
