import dataclasses

import numpy as np
import pytest
from savings.short_study import SEED, SHORT

import occupair.simulation.closed_loop as simulated
from occupair.control import interval_confidence
from occupair.errors import InputError
from occupair.savings.building import OfficeVentilation, is_operating
from occupair.savings.closed_loop import LoopRun, Period, run_closed_loop
from occupair.savings.commissioning import ReadingsRecorder
from occupair.savings.energy import EnergyModel
from occupair.savings.outcome import total_up
from occupair.savings.policies import CountedFlow, FixedFlow

OFFICE = OfficeVentilation("ASHRAE 62.1")
INTERVAL = SHORT.interval


def counted(estimator, count="estimate", confidence=0.95):
    return LoopRun(SEED, CountedFlow(OFFICE.control, count), estimator, confidence)


@pytest.fixture(scope="module")
def loop(prepared):
    """Two weekdays in the loop: runs, days and recorder."""
    known = prepared[SEED].estimators
    runs = [
        counted(known["default-stepped"]),
        counted(known["default-stepped"], "upper", 0.9),
        counted(known["default-fixed"], "upper"),
        counted(known["physics-stepped"], "upper"),
        counted(known["paper-stepped"]),
        LoopRun(SEED, FixedFlow(OFFICE.design_flow)),
    ]
    recorder, days = ReadingsRecorder(INTERVAL), []
    for day in run_closed_loop(runs, OFFICE, SHORT.evaluated):
        recorder.add(day)
        days.append(day)
    return runs, days, recorder


@pytest.mark.parametrize("number", range(5))
def test_estimates_in_the_loop_equal_those_of_the_recorded_readings(loop, number):
    runs, days, recorder = loop
    readings = recorder.readings(number)
    readings = readings[readings.index.hour < 22]  # the estimators stop with the ventilation
    used = np.concatenate([day.estimates[:, number] for day in days])[: 2 * 1440 // INTERVAL]
    estimator, known = runs[number].estimator, np.isfinite(used[:, 0])
    minutes = np.arange(len(used)) * INTERVAL
    np.testing.assert_array_equal(known, [is_operating(0, minute % 1440) for minute in minutes])
    replayed = estimator.estimate(readings)
    operating = np.asarray([is_operating(0, 60 * time.hour + time.minute) for time in readings.index])
    np.testing.assert_allclose(used[known, 0], replayed[operating], rtol=0, atol=1e-9)
    if hasattr(estimator, "room_"):
        table = estimator.estimate(readings, interval=interval_confidence(runs[number].confidence))
        np.testing.assert_allclose(used[known, 1], table["high"][operating], rtol=0, atol=1e-9)


def test_loop_is_closed(loop):
    """A run with less outdoor air has more CO2, which its own estimator reads."""
    _, days, recorder = loop
    followed, fixed = recorder.readings(0), recorder.readings(5)
    assert followed["ventilation"].max() <= 1
    assert followed["ventilation"].sum() < fixed["ventilation"].sum()
    assert (
        followed["co2"].between_time("10:00", "18:00").mean()
        > fixed["co2"].between_time("10:00", "18:00").mean()
    )
    np.testing.assert_array_equal(days[0].people[:, 0], days[0].people[:, 5])


def test_outdoor_air_is_off_outside_of_operating_hours(loop):
    _, days, _ = loop
    minutes = [minute for minute in range(1440) if not is_operating(0, minute)]
    assert all((day.damper[minutes] == 0).all() for day in days)


def test_true_count_every_minute_is_never_below_the_flow():
    run = LoopRun(SEED, CountedFlow(OFFICE.control, "true"), every_minute=True)
    slow = LoopRun(SEED, CountedFlow(OFFICE.control, "true"))
    fast, at_readings = total_up([run, slow], OFFICE, EnergyModel(), Period(0, 1, INTERVAL))
    assert fast.below_flow == fast.missing_air == 0
    assert 0 < at_readings.below_flow < at_readings.person_hours
    assert at_readings.well_below_flow < 0.01 * at_readings.person_hours


def test_future_people_do_not_change_the_past(prepared, monkeypatch):
    """If everybody stays away from the second day on, the first day is the same to the last bit."""
    known, first = prepared[SEED].estimators, SHORT.evaluated.first_day

    def run_days():
        runs = [counted(known["default-stepped"], "upper"), counted(known["paper-stepped"])]
        return list(run_closed_loop(runs, OFFICE, SHORT.evaluated))

    before, usual = run_days(), simulated.office_day

    def nobody_later(people, meetings, day, *, seed, absent=None):
        everybody = np.full(len(people), day > first)
        return usual(people, meetings, day, seed=seed, absent=everybody)

    monkeypatch.setattr(simulated, "office_day", nobody_later)
    after = run_days()
    for name in ("readings", "flows", "co2"):
        np.testing.assert_array_equal(getattr(before[0].record, name), getattr(after[0].record, name))
    np.testing.assert_array_equal(before[0].estimates, after[0].estimates)
    assert after[1].people.sum() == 0 < before[1].people.sum()


@pytest.mark.parametrize("interval", [0, 7, 45])
def test_interval_must_divide_half_an_hour(interval):
    rule = f"^interval must divide 30 min into equal parts, got {interval} min$"
    with pytest.raises(InputError, match=rule):
        dataclasses.replace(SHORT, interval=interval)
