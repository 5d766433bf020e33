"""Days to train on when a record is longer than needed."""

import numpy as np
import pandas as pd
import pytest

from occupair.readings import thinning
from occupair.readings.head_counts import check_labelled
from occupair.readings.thinning import choose_days, thin_days


def dates(start, stop):
    return np.arange(start, stop, dtype="datetime64[D]")


def record(days, *, interval=60, start="2019-01-07", people=1.0):
    """Readings of some days with a head count each; 2019-01-07 is a Monday."""
    times = pd.date_range(start, periods=days * 1440 // interval, freq=f"{interval}min", name="time")
    return check_labelled(pd.DataFrame({"co2": 500.0, "occupancy": people}, index=times))


def days_of(readings):
    return readings.index.normalize().unique()


def test_record_up_to_the_limit_is_returned_unchanged():
    readings = record(thinning.MAX_DAYS)
    assert thin_days(readings) is readings


def test_longer_record_keeps_whole_days_up_to_the_limit():
    readings = record(thinning.MAX_DAYS + 1)
    thinned = thin_days(readings)
    assert len(days_of(thinned)) == thinning.MAX_DAYS
    assert (thinned.groupby(thinned.index.normalize()).size() == 24).all()
    pd.testing.assert_frame_equal(thinned, readings.loc[thinned.index])


def test_days_chosen_by_hand():
    # Four weeks of one count a day, 14 are enough: every second one of Mon, Mon, Mon, Mon, Tue, ...
    # That is the second and fourth Monday, Tuesday, ..., Sunday.
    chosen = choose_days(dates("2024-01-01", "2024-01-29"), np.ones(28, int), 14.0, keep=7)
    assert chosen.tolist() == [*range(7, 14), *range(21, 28)]


def test_step_of_a_week_does_not_pick_one_weekday_only():
    days = dates("2023-01-02", "2024-01-01")  # 364 days, of which 52 are enough: a step of 7
    chosen = days[choose_days(days, np.ones(364, int), 52.0, keep=0)]
    weekday = (chosen - np.datetime64("2023-01-02")).astype(int) % 7
    assert set(np.bincount(weekday, minlength=7)) <= {7, 8}


def test_half_of_the_days_are_from_the_last_year():
    days = dates("2019-01-01", "2024-01-01")
    chosen = days[choose_days(days, np.full(days.size, 1440), 180 * 1440.0, keep=0)]
    recent = chosen >= np.datetime64("2023-01-01")
    assert (recent.sum(), (~recent).sum()) == (90, 90)
    older_years = (chosen[~recent].astype("datetime64[Y]").astype(int) + 1970).tolist()
    assert [older_years.count(year) for year in range(2019, 2023)] == pytest.approx([22.5] * 4, abs=3)
    months = chosen.astype("datetime64[M]").astype(int) % 12
    assert np.bincount(months) == pytest.approx(np.full(12, 15), abs=4)


def test_part_with_few_days_is_used_completely():
    days = np.concatenate([dates("2019-01-01", "2022-01-01"), dates("2023-12-01", "2023-12-11")])
    chosen = choose_days(days, np.ones(days.size, int), 100.0, keep=0)
    assert (days[chosen] >= np.datetime64("2023-12-01")).sum() == 10
    assert chosen.size == 100


def test_share_of_the_last_year_counts_labels_not_days():
    days = dates("2019-01-01", "2024-01-01")
    recent = days >= np.datetime64("2023-01-01")
    counts = np.where(recent, 1440, 1)  # a single count a day until the last year
    chosen = choose_days(days, counts, 180 * 1440.0, keep=0)
    assert set(np.flatnonzero(~recent)) <= set(chosen)
    assert counts[chosen].sum() == pytest.approx(180 * 1440, abs=1440)


def test_choice_is_deterministic_and_in_order_of_time():
    days = dates("2019-01-01", "2024-01-01")
    first, second = (choose_days(days, np.ones(days.size, int), 100.0, keep=3) for _ in range(2))
    assert (first == second).all()
    assert (np.diff(first) > 0).all()


@pytest.mark.parametrize("day", [0, 100, 250, 399])
def test_day_with_the_highest_count_is_kept(day):
    readings = record(400)
    readings.iloc[day * 24 + 10, readings.columns.get_loc("occupancy")] = 9.0
    thinned = thin_days(readings)
    assert thinned["occupancy"].max() == 9
    assert len(days_of(thinned)) == thinning.MAX_DAYS


def test_sparse_labels_are_all_used():
    readings = record(1000, interval=15)
    noon = (readings.index.hour == 12) & (readings.index.minute == 0)
    readings = check_labelled(readings.assign(occupancy=np.where(noon, 2.0, np.nan)))
    assert thin_days(readings) is readings


def test_unlabelled_days_of_a_long_record_are_dropped():
    readings = record(400)
    first_year = readings.index.year == 2019
    readings = check_labelled(readings.assign(occupancy=np.where(first_year, 2.0, np.nan)))
    thinned = thin_days(readings)
    assert (thinned.index.year == 2019).all()
    assert len(days_of(thinned)) == thinning.MAX_DAYS


def test_frequent_readings_are_limited_by_their_number(monkeypatch):
    monkeypatch.setattr(thinning, "MAX_LABELS", 24 * 10)
    assert len(thin_days(record(50))) == 24 * 10


def test_days_are_local(monkeypatch):
    monkeypatch.setattr(thinning, "MAX_DAYS", 3)
    readings = record(9, start="2024-03-28").tz_localize(
        "Europe/Copenhagen", ambiguous="NaT", nonexistent="NaT"
    )
    readings = readings[readings.index.notna()]  # 23 hours on 31 March
    thinned = thin_days(readings)
    assert set(thinned.groupby(thinned.index.date).size()) <= {23, 24}
    assert len(set(thinned.index.date)) == 3
