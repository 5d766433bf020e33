"""Clocks moved by hand in a clean office are found again, and clocks that agree are left alone."""

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.checks import find_faults
from occupair.checks.clock_scores import _mass_balance_fits, clock_scores

DAY = pd.Timedelta(days=1)


def stamped_late(readings, minutes, days):
    """CO2 of some days stamped so many minutes late; what is not known is empty."""
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
def test_a_clean_office_has_nothing_wrong_and_little_doubtful(seed):
    faults = find_faults(oc.simulate_office(days=15, seed=seed))
    assert [fault.kind for fault in faults if fault.severity == "wrong"] == []
    assert [fault.kind for fault in faults if fault.severity == "doubtful"] == []


@pytest.mark.parametrize("interval", [1, 5, 10])
def test_clocks_that_agree_are_left_alone_at_any_interval(clean, interval):
    assert clocks(clean.iloc[::interval]) == []


def test_clocks_that_agree_are_left_alone_every_half_minute(clean):
    assert clocks(clean.iloc[: 8 * 1440].resample("30s").ffill().dropna()) == []


@pytest.mark.parametrize("interval", [1, 5])
@pytest.mark.parametrize("minutes", [-480, 480, 300])
def test_all_days_hours_off(clean, the_fault, minutes, interval):
    fault = the_fault(stamped_late(clean, minutes, days_of(clean)).iloc[::interval], "clock")
    assert fault.severity == "wrong"
    assert fault.details["offset"] == pytest.approx(minutes, abs=15)
    assert fault.details["confidence"] > 0.9
    assert (fault.start, fault.end) == (days_of(clean)[0], days_of(clean)[-1] + DAY)
    assert fault.words.startswith("On all 15 days CO2 is stamped about")
    assert ("late" if minutes > 0 else "early") in fault.words


def test_a_stretch_of_days_an_hour_late(clean, the_fault):
    late = days_of(clean)[5:]
    fault = the_fault(stamped_late(clean, 60, late), "clock")
    assert fault.details["offset"] == 60
    assert (fault.start, fault.end) == (late[0], late[-1] + DAY)
    assert "summer time" in fault.words


def test_every_other_day_an_hour_late_is_told_as_a_set(clean, the_fault):
    late = days_of(clean)[::2]
    fault = the_fault(stamped_late(clean, 60, late), "clock")
    assert fault.details["days"] == [f"{day:%Y-%m-%d}" for day in late]
    assert fault.words.startswith("On about 8 of 15 days")
    assert len(fault.spans) == 8


def test_days_that_stand_alone_need_no_neighbours(clean):
    apart = pd.concat(
        [clean.loc[str(day.date())].shift(freq=2 * k * DAY) for k, day in enumerate(days_of(clean))]
    )
    assert clocks(apart) == []
    late = days_of(apart)[7:]
    found = clocks(stamped_late(apart, 60, late))
    assert [fault.details["offset"] for fault in found] == [60]
    assert found[0].details["days"] == [f"{day:%Y-%m-%d}" for day in late]


def test_one_odd_day_is_no_clock_fault(clean):
    assert clocks(stamped_late(clean, 120, days_of(clean)[6:7])) == []


def test_a_time_zone_makes_no_difference(clean):
    moved = stamped_late(clean, 480, days_of(clean))
    there = clocks(moved.tz_localize("Asia/Singapore"))[0]
    assert there.details["offset"] == clocks(moved)[0].details["offset"]


def test_counts_of_another_room_are_unrelated(clean, the_fault):
    other = clean.astype(float)
    other["occupancy"] = np.random.default_rng(0).integers(0, 20, len(clean))
    fault = the_fault(other, "unrelated")
    assert "are both from the same room" in fault.words


def test_readings_once_an_hour_are_too_coarse(clean):
    assert clock_scores(clean.iloc[::60]) == []
    assert clocks(stamped_late(clean, 480, days_of(clean)).iloc[::60]) == []


def test_the_fit_is_least_squares_written_out():
    rng = np.random.default_rng(1)
    co2, slope, counts = rng.normal(size=(3, 1, 40))
    counts = counts + co2 + 20 * slope
    fits = _mass_balance_fits(co2, slope, counts)[:, 0]
    for time_constant, explained in zip((0.0, 10.0, 20.0), fits, strict=False):
        x = np.column_stack([np.ones(40), co2[0] + time_constant * slope[0]])
        left = counts[0] - x @ np.linalg.lstsq(x, counts[0], rcond=None)[0]
        assert explained == pytest.approx(np.var(counts[0]) * 40 - left @ left)


def test_co2_that_falls_with_people_explains_nothing():
    ramp = np.arange(40.0)[None]
    assert _mass_balance_fits(-ramp, 0 * ramp, ramp).max() == 0
