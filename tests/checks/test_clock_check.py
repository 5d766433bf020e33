"""Clock offsets planted in a simulated office are found, and agreeing clocks are not reported."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.checks import find_faults
from occupair.checks.clock_check import _separate_runs, check_clocks
from occupair.checks.clock_offset_groups import _candidates, clock_groups
from occupair.checks.clock_offset_range import MAX_OFFSET_ERROR
from occupair.checks.clock_offset_scores import ClockScores, _mass_balance_fits, clock_scores
from occupair.checks.prepared_readings import prepare_readings

DAY = pd.Timedelta(days=1)


def stamped_late(readings, minutes, days):
    """Timestamp CO2 of some days ``minutes`` late; unknown values are empty."""
    late = readings["co2"].set_axis(readings.index + pd.Timedelta(minutes=minutes)).reindex(readings.index)
    moved = readings.astype(float)
    chosen = readings.index.normalize().isin(days)
    moved.loc[chosen, "co2"] = late[chosen]
    return moved


def days_of(readings):
    return readings.index.normalize().unique()


def clocks(readings):
    return [fault for fault in find_faults(readings) if fault.kind == "clock"]


@pytest.mark.parametrize("seed", range(5))
def test_clean_office_has_few_findings(seed):
    faults = find_faults(oc.simulate_office(days=15, seed=seed))
    assert [fault.kind for fault in faults if fault.severity == "wrong"] == []
    assert [fault.kind for fault in faults if fault.severity == "doubtful"] == []


@pytest.mark.parametrize("interval", [1, 5, 10])
def test_agreeing_clocks_are_not_reported(clean, interval):
    assert clocks(clean.iloc[::interval]) == []


def test_agreeing_clocks_at_30_s_are_not_reported(clean):
    assert clocks(clean.iloc[: 8 * 1440].resample("30s").ffill().dropna()) == []


@pytest.mark.parametrize("interval", [1, 5])
@pytest.mark.parametrize("minutes", [-480, 480, 300])
def test_offset_on_all_days_is_found(clean, the_fault, minutes, interval):
    fault = the_fault(stamped_late(clean, minutes, days_of(clean)).iloc[::interval], "clock")
    assert fault.severity == "wrong"
    assert fault.details["offset"] == pytest.approx(minutes, abs=15)
    low, high = fault.details["range"]
    assert low <= minutes <= high
    assert f"between {min(abs(low), abs(high)):.0f} and {max(abs(low), abs(high)):.0f} min" in fault.message
    assert (fault.start, fault.end) == (days_of(clean)[0], days_of(clean)[-1] + DAY)
    assert fault.message.startswith("On all 15 days CO2 is timestamped about")
    assert ("late" if minutes > 0 else "early") in fault.message


def test_consecutive_days_an_hour_late_are_found(clean, the_fault):
    late = days_of(clean)[5:]
    fault = the_fault(stamped_late(clean, 60, late), "clock")
    assert fault.details["offset"] == 60
    assert (fault.start, fault.end) == (late[0], late[-1] + DAY)
    assert "daylight saving time" in fault.message


def test_alternate_days_an_hour_late_are_one_fault(clean, the_fault):
    late = days_of(clean)[::2]
    fault = the_fault(stamped_late(clean, 60, late), "clock")
    assert fault.days == list(late)
    assert fault.message.startswith("On about 8 of 15 days")
    assert all(f"{day:%Y-%m-%d}" in fault.message for day in late)
    assert "more" not in fault.message.split(";")[1]
    assert len(fault.spans) == 8


def test_isolated_days_are_scored(clean):
    apart = pd.concat(
        [clean.loc[str(day.date())].shift(freq=2 * k * DAY) for k, day in enumerate(days_of(clean))]
    )
    assert clocks(apart) == []
    late = days_of(apart)[7:]
    found = clocks(stamped_late(apart, 60, late))
    assert [fault.details["offset"] for fault in found] == [60]
    assert found[0].days == list(late)


@pytest.mark.parametrize("interval", [1, 5, 15])
def test_offset_of_12_hours_is_one_fault(clean, the_fault, interval):
    fault = the_fault(stamped_late(clean, 720, days_of(clean)).iloc[::interval], "clock")
    assert (fault.severity, abs(fault.details["offset"])) == ("wrong", 720)
    assert len(fault.days) == 15
    assert "confuses am and pm" in fault.message


def test_weak_run_of_days_is_not_reported(clean):
    scores = clock_scores(stamped_late(clean, 480, days_of(clean)[8:]))
    best, (group,) = clock_groups(scores)
    days = group.days.copy()
    days[2] = True  # a day with a correct clock
    stretches = _separate_runs(best, replace(group, days=days))
    assert [np.flatnonzero(days).tolist() for days in stretches] == [list(range(8, 15))]


@pytest.fixture(scope="module")
def moved():
    """Planted clock offsets in several offices, and the faults found."""
    found = []
    for seed, days in itertools.product(range(4), ("all", "half", "other")):
        readings = oc.simulate_office(days=10, seed=20 + seed).iloc[::5]
        chosen = {"all": slice(None), "half": slice(5, None), "other": slice(None, None, 2)}[days]
        for minutes in (40, 60, -120, 480):
            spoiled = prepare_readings(stamped_late(readings, minutes, days_of(readings)[chosen]))
            found += [(minutes, fault.details) for fault in check_clocks(spoiled) if fault.kind == "clock"]
    return found


def test_offset_interval_has_90_percent_coverage(moved):
    held = [told["range"][0] <= minutes <= told["range"][1] for minutes, told in moved]
    assert len(held) >= 36
    assert np.mean(held) >= 0.9


def test_confidence_is_calibrated(moved):
    right = np.array([abs(told["offset"] - minutes) <= MAX_OFFSET_ERROR for minutes, told in moved])
    confidence = np.array([told["confidence"] for _, told in moved])
    assert confidence.mean() <= right.mean() + 0.05
    assert right[confidence >= 0.9].mean() >= 0.9
    assert confidence.min() < 0.8  # and it varies


def test_reference_days_narrow_the_interval(clean):
    every, some = (clocks(stamped_late(clean, 60, days))[0] for days in (days_of(clean), days_of(clean)[7:]))
    width = [fault.details["range"][1] - fault.details["range"][0] for fault in (every, some)]
    assert width[1] < width[0]


def test_offset_within_room_response_is_doubtful():
    found = []
    for seed in range(4):
        office = oc.simulate_office(days=10, seed=seed)
        found += clocks(stamped_late(office, 25, days_of(office)))
    assert {fault.severity for fault in found} == {"doubtful"}


def test_single_odd_day_is_not_a_clock_fault(clean):
    assert clocks(stamped_late(clean, 120, days_of(clean)[6:7])) == []


def test_time_zone_makes_no_difference(clean):
    moved = stamped_late(clean, 480, days_of(clean))
    there = clocks(moved.tz_localize("Asia/Singapore"))[0]
    assert there.details["offset"] == clocks(moved)[0].details["offset"]


def test_head_counts_of_another_room_are_unrelated(clean, the_fault):
    other = clean.astype(float)
    other["occupancy"] = np.random.default_rng(0).integers(0, 20, len(clean))
    fault = the_fault(other, "unrelated")
    assert "are both from the same room" in fault.message


def test_hourly_readings_are_not_scored(clean):
    assert clock_scores(clean.iloc[::60]) == []
    assert clocks(stamped_late(clean, 480, days_of(clean)).iloc[::60]) == []


def test_fit_matches_reference_least_squares():
    rng = np.random.default_rng(1)
    co2, slope, counts = rng.normal(size=(3, 1, 40))
    counts = counts + co2 + 20 * slope
    fits = _mass_balance_fits(co2, slope, counts)[:, 0]
    for time_constant, explained in zip((0.0, 10.0, 20.0), fits, strict=False):
        x = np.column_stack([np.ones(40), co2[0] + time_constant * slope[0]])
        left = counts[0] - x @ np.linalg.lstsq(x, counts[0], rcond=None)[0]
        assert explained == pytest.approx(np.var(counts[0]) * 40 - left @ left)


def test_inverse_relation_explains_nothing():
    ramp = np.arange(40.0)[None]
    assert _mass_balance_fits(-ramp, 0 * ramp, ramp).max() == 0


def test_at_most_three_clock_offsets_besides_zero():
    """Four offsets explain five days each, by 50, 40, 30 and 20 nat a day; the weakest is left out."""
    offsets = np.arange(-720.0, 721.0, 60.0)
    evidence = np.zeros((20, offsets.size))
    for k, minutes in enumerate((120, 240, -180, 480)):
        evidence[5 * k : 5 * k + 5, offsets == minutes] = 50 - 10 * k
    days = pd.date_range("2024-01-08", periods=20)
    scores = ClockScores(60.0, days, offsets, np.zeros_like(evidence), np.zeros(20), evidence)
    assert [offsets[state] for state in _candidates(scores)] == [0, 120, 240, -180]
