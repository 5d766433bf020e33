"""Scores of clock offsets and corrected passages, in cases worked by hand and against scipy's Poisson."""

import numpy as np
import pandas as pd
import pytest
from groundtruth.written_passages import written, written_grid
from scipy.stats import poisson

from occupair.groundtruth.ledger import clock_offsets
from occupair.groundtruth.ledger.clock_offsets import (
    ClockCorrection,
    _co2_fit,
    _group_likelihood,
    _imbalance,
    _shifted,
    correct_clocks,
    find_clock_corrections,
)

OFFSETS = range(-90, 91)


def described(*lines):
    return [
        (one.door, one.minutes, one.low, one.high) for one in find_clock_corrections(written_grid(*lines))
    ]


def log_odds(people, offset):
    """Four nat for every person fewer to correct, and a prior of 0.3 that falls with the offset."""
    harmonic = sum(1 / (1 + abs(other)) for other in OFFSETS if other)
    return 4 * people + np.log(0.3 / (1 + abs(offset)) / harmonic) - np.log(0.7)


def test_exit_before_the_entry_shows_the_offset():
    # one person is missing and one remains, unless b is at least 4 min later: the smallest is the most likely
    lines = ["08 10:00 a +1 -0", "08 09:56 b +0 -1", "08 12:00 a +1 -1"]
    [found] = find_clock_corrections(written_grid(*lines))
    assert (found.door, found.minutes) == ("b", 4)  # the door with less traffic
    assert found.log_odds == pytest.approx(log_odds(2, 4))
    assert (found.low, found.high) == (4, 35)  # 5 / 36 is above exp(-2), 5 / 37 is below
    assert str(found) == (
        "b: shift by +4 min: its clock is about 4 min (4 to 35) behind a, judging by groups that pass at the "
        "same time and by negative occupancy; or a is as much ahead."
    )


def test_clock_that_is_ahead():
    lines = ["08 10:00 a +0 -1", "08 10:07 b +1 -0", "08 12:00 a +1 -1"]
    [found] = find_clock_corrections(written_grid(*lines))
    assert (found.door, found.minutes, found.low, found.high) == ("b", -7, -58, -7)
    assert str(found).startswith("b: shift by -7 min: its clock is about 7 min (7 to 58) ahead of a, judging")
    assert str(found).endswith("; or a is as much behind.")


def test_last_of_two_doors_with_equal_traffic_is_corrected():
    assert described("08 10:00 a +0 -1", "08 10:07 b +1 -0") == [("b", -7, -58, -7)]
    assert described("08 10:00 a +1 -0", "08 09:53 b +0 -1") == [("b", 7, 7, 58)]


def test_door_with_less_traffic_is_corrected():
    assert described("08 10:00 b +1 -0", "08 09:56 a +0 -1", "08 12:00 b +1 -1") == [("a", 4, 4, 35)]
    assert described("08 10:00 a +1 -0", "08 09:56 b +0 -1", "08 12:00 a +1 -1") == [("b", 4, 4, 35)]


def test_one_clock_of_two_is_corrected():
    """On the second day, 40 min more would be needed."""
    lines = ["08 10:00 a +1 -0", "08 08:40 b +0 -1", "09 12:00 a +1 -0", "09 10:00 b +0 -1"]
    assert described(*lines) == [("b", 80, 80, 90)]


def test_largest_offset_is_ninety_minutes():
    lines = ["08 10:30 a +1 -1", "08 10:30 a +1 -0", "08 09:00 b +0 -1"]
    assert described(*lines) == [("b", 90, 90, 90)]
    [found] = find_clock_corrections(written_grid(*lines))
    assert found.reason.startswith("its clock is about 90 min behind a, judging by groups")
    assert described("08 10:31 a +1 -1", "08 10:31 a +1 -0", "08 09:00 b +0 -1") == []


def test_two_wrong_clocks_of_four():
    """Door d, with its people in both directions, shows that the clock of a is right."""
    lines = ["08 10:00 a +1 -0", "08 09:56 b +0 -1", "09 14:00 a +1 -0", "09 13:50 c +0 -1"]
    lines += ["10 17:00 a +1 -0", "10 17:00 d +0 -1", "11 18:00 d +1 -0", "11 18:00 a +0 -1"]
    found = find_clock_corrections(written_grid(*lines))
    assert [(one.door, one.minutes) for one in found] == [("b", 4), ("c", 10)]
    assert [one.log_odds for one in found] == pytest.approx([log_odds(2, 4), log_odds(2, 10)])
    assert "min (4 to 35) behind a and c and d, judging" in found[0].reason
    assert found[0].reason.endswith("by negative occupancy.")


def test_agreeing_clocks_have_no_correction():
    assert described("08 10:00 a +1 -0", "08 10:05 b +0 -1") == []
    assert described("08 10:00 a +1 -0", "08 10:05 a +0 -1") == []


@pytest.mark.parametrize("better", [True, False])
@pytest.mark.parametrize(("time", "offset"), [("09:40", 20), ("09:41", 19)])
def test_co2_is_asked_from_twenty_minutes_on(monkeypatch, better, time, offset):
    grid = written_grid("08 10:00 a +1 -0", f"08 {time} b +0 -1", "08 12:00 a +1 -1")
    readings = pd.DataFrame({"co2": [500.0]}, index=pd.to_datetime(["2024-01-08"]))
    asked = []

    def fit(given, door, minutes, air):
        assert given is grid
        assert air is readings
        asked.append((door, minutes))
        return 0.8 if door == "a" and better else 0.5

    monkeypatch.setattr(clock_offsets, "_co2_fit", fit)
    [found] = find_clock_corrections(grid, readings)
    assert sorted(asked) == ([("a", -20), ("b", 20)] if offset == 20 else [])
    [alone] = find_clock_corrections(grid)
    assert (alone.door, alone.minutes, alone.low) == ("b", offset, offset)
    if better and offset == 20:
        assert (found.door, found.minutes, found.low, found.high) == ("a", -20, -alone.high, -20)
        assert found.reason.startswith("its clock is about 20 min (20 to 90) ahead of b,")
    else:
        assert found == alone


def test_co2_is_not_asked_with_three_doors(monkeypatch):
    monkeypatch.setattr(clock_offsets, "_co2_fit", None)
    readings = pd.DataFrame({"co2": [500.0]}, index=pd.to_datetime(["2024-01-08"]))
    grid = written_grid("08 10:00 a +1 -0", "08 09:30 b +0 -1", "08 12:00 a +1 -1", "08 13:00 c +1 -1")
    [found] = find_clock_corrections(grid, readings)
    assert (found.door, found.minutes) == ("b", 30)


def minute_air(lines, *, zone=None):
    """CO2 in proportion to the occupancy, every minute."""
    grid = written_grid(*lines, zone=zone)
    return pd.DataFrame({"co2": 400 + 50.0 * grid.occupancy()}, index=grid.times + pd.Timedelta(seconds=30))


@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
def test_co2_fits_the_corrected_clock(zone):
    true = ["08 10:00 a +1 -0", "08 12:00 b +3 -0", "08 15:00 b +0 -3", "08 17:00 a +0 -1"]
    late = written_grid(
        *(line.replace("12:00", "13:00").replace("15:00", "16:00") for line in true), zone=zone
    )
    air = minute_air(true, zone=zone)
    assert _co2_fit(late, "b", -60, air) == pytest.approx(1, abs=0.01)
    assert _co2_fit(late, "b", 0, air) < 0.8
    assert _co2_fit(late, "a", 60, air) < 0.9
    twice = pd.concat([air, air.assign(co2=5000.0)]).sort_index(kind="stable")  # the first of a time is used
    broken = pd.concat([twice, air.iloc[:5].set_axis(air.index[:5] + pd.Timedelta(days=9))])
    broken.iloc[::7, 0] = np.nan
    assert _co2_fit(late, "b", -60, broken) == pytest.approx(1, abs=0.01)


def test_co2_of_a_short_visit_is_a_fit():
    visit = ["08 10:00 a +1 -0", "08 10:05 a +0 -1"]  # one of 288 values is 1: a sum of squares below 1
    grid = written_grid(*visit)
    assert _co2_fit(grid, "a", 0, minute_air(visit)) == pytest.approx(1, abs=0.01)
    assert _co2_fit(grid, "a", 0, minute_air(visit).iloc[:1]) == 0.0
    assert _co2_fit(grid, "a", 0, minute_air(visit).iloc[:2]) == 0.0


def test_shifted_counts_stay_in_the_table():
    values = np.array([1, 2, 3, 4, 5])
    assert _shifted(values, 0).tolist() == [1, 2, 3, 4, 5]
    assert _shifted(values, 1).tolist() == [0, 1, 2, 3, 4 + 5]
    assert _shifted(values, 3).tolist() == [0, 0, 0, 1, 2 + 3 + 4 + 5]
    assert _shifted(values, -1).tolist() == [1 + 2, 3, 4, 5, 0]
    assert _shifted(values, -3).tolist() == [1 + 2 + 3 + 4, 5, 0, 0, 0]


def test_people_to_correct_at_every_offset():
    # two enter by a at 10:00, one leaves by b at 10:02 and one at 10:05; one by c at 11:00
    lines = ["08 10:00 a +2 -0", "08 10:02 b +0 -1", "08 10:05 b +0 -1", "08 11:00 c +1 -1"]
    expected = [4 if offset < -5 else 2 if offset < -2 else 0 for offset in OFFSETS]
    found = _imbalance(written_grid(*lines), 1)
    assert found.tolist() == expected
    assert found.dtype == float
    later = [4 if offset > 5 else 2 if offset > 2 else 0 for offset in OFFSETS]
    assert _imbalance(written_grid(*lines), 0).tolist() == later


def reference_follow(leading, following, offset, follow):
    """Poisson log likelihood ratio with the followers of groups of others, spread over three minutes."""
    usual = np.convolve(following, np.full(31, 1 / 31), mode="same") + 0.003
    beyond = np.pad(np.maximum(leading - 1, 0) ** 1.5, 1)
    size = 0.6 * beyond[1:-1] + 0.2 * (beyond[:-2] + beyond[2:])
    total = 0.0
    for minute in np.flatnonzero(size):
        at = minute + offset
        if 0 <= at < following.size:
            expected = [usual[at] + follow * size[minute], usual[at]]
            with_group, without = poisson.logpmf(following[at], expected)
            total += with_group - without
    return total


def reference_groups(grid, door, offset):
    ratios = []
    for follow in (0.05, 0.1, 0.2, 0.4, 0.8):
        both = 0.0
        for passed in (grid.entered, grid.left):
            own, others = passed[door], np.delete(passed, door, axis=0).sum(axis=0)
            both += reference_follow(own, others, offset, follow) / 2
            both += reference_follow(others, own, -offset, follow) / 2
        ratios.append(both)
    return max(ratios)


@pytest.mark.parametrize("door", [0, 1])
def test_group_likelihood_equals_that_of_poisson_counts(door):
    lines = [
        "08 00:00 a +3 -0",
        "08 00:01 b +2 -0",
        "08 12:00 a +0 -4",
        "08 12:06 b +0 -2",
        "08 12:20 c +0 -1",
        "08 12:40 b +2 -1",
        "08 23:59 b +0 -3",
        "08 23:58 a +1 -2",
    ]
    grid = written_grid(*lines)
    found = _group_likelihood(grid, door)
    assert found.shape == (181,)
    for offset in (-90, -41, -7, -6, -5, -1, 0, 1, 2, 6, 20, 90):
        assert found[offset + 90] == pytest.approx(reference_groups(grid, door, offset), abs=1e-9)


def test_one_of_ten_follows_a_group():
    grid = written_grid("08 12:00 a +6 -0", "08 12:00 b +1 -0")
    assert _group_likelihood(grid, 0)[90] == pytest.approx(reference_groups(grid, 0, 0))


def test_single_people_are_no_groups():
    assert (_group_likelihood(written_grid("08 10:00 a +1 -0", "08 10:00 b +0 -1"), 0) == 0).all()


def shift(door, minutes):
    return ClockCorrection(door, minutes, minutes, minutes, 9.0, "planted")


def uncounted(door, day, first, minutes):
    times = pd.date_range(f"2024-01-{day} {first}", periods=minutes, freq="min")
    return [f"{time:%d %H:%M} {door} +0 -0 0" for time in times]


def test_corrected_clock_that_was_behind():
    passages = written(
        "08 09:00 a +1 -0",
        "08 00:00 b +1 -0",
        "08 08:00 b +0 -0 0.5",
        "08 23:56 b +0 -0 0.5",
        "08 23:58 b +0 -1",
        "08 23:59 b +0 -0 0.25",
    )
    expected = written(
        "08 09:00 a +1 -0",
        *uncounted("b", "08", "00:00", 3),
        "08 00:03 b +1 -0",
        "08 08:03 b +0 -0 0.5",
        "08 23:59 b +0 -1 0.5",  # would be at 00:01; rows without people that leave the day are dropped
    )
    pd.testing.assert_frame_equal(correct_clocks(passages, [shift("b", 3)]), expected)
    one = correct_clocks(written("08 09:00 a +1 -0", "08 10:00 b +0 -1"), [shift("b", 1)])
    pd.testing.assert_frame_equal(one, written("08 09:00 a +1 -0", "08 00:00 b +0 -0 0", "08 10:01 b +0 -1"))
    assert correct_clocks(passages, []) is passages


def test_corrected_clocks_that_were_ahead():
    passages = written(
        "08 00:01 a +0 -1",
        "08 09:00 b +1 -0",
        "08 12:00 c +1 -1",
        "10 00:00 a +1 -0",
        "10 00:03 a +0 -0 0.5",
        "10 23:59 b +0 -1",
    )
    expected = written(
        "08 00:00 a +0 -1",
        *uncounted("a", "08", "23:57", 3),
        "08 08:55 b +1 -0",
        *uncounted("b", "08", "23:55", 5),
        "08 12:00 c +1 -1",
        "10 00:00 a +1 -0 0.5",
        "10 23:54 b +0 -1",
        *uncounted("a", "10", "23:57", 3),
        *uncounted("b", "10", "23:55", 5),
    )
    found = correct_clocks(passages, [shift("a", -3), shift("b", -5)])
    pd.testing.assert_frame_equal(found, expected)


def test_days_that_only_a_wrong_clock_logged_are_not_counted():
    """Corrected by 2 min, the exits after the reset at 03:00 belong to the days before."""
    passages = written(
        "08 09:00 a +1 -0", "09 03:01 b +0 -1", "10 12:00 a +0 -0 0", "11 03:01 b +0 -1", "12 02:00 a +0 -0 0"
    )
    expected = written(
        "08 09:00 a +1 -0",
        "09 02:59 b +0 -1",
        *(line for door in "ab" for line in uncounted(door, "09", "03:00", 1440)),
        "10 12:00 a +0 -0 0",
        "11 02:59 b +0 -1",
        *(line for door in "ab" for line in uncounted(door, "11", "03:00", 1440)),
    )
    found = correct_clocks(passages, [shift("b", -2)], reset="03:00")
    pd.testing.assert_frame_equal(found, expected)


def test_day_with_data_in_its_first_minute_only_stays_counted():
    found = correct_clocks(written("08 09:00 a +1 -1", "09 00:05 b +1 -1"), [shift("b", -5)])
    counted = found[found["weight"] > 0]
    assert [f"{time:%d %H:%M}" for time in counted.index] == ["08 09:00", "09 00:00"]
    assert [f"{time:%d %H:%M}" for time in found.index[found["weight"] == 0]] == [
        f"09 23:{minute}" for minute in range(55, 60)
    ]
