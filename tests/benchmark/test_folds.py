"""Every day is tested once, and nothing of it reaches training."""

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.benchmark.fold_run import run_fold
from occupair.benchmark.folds import day_folds


def days_of(readings):
    return set(readings.index.normalize())


def test_day_number_modulo_three():
    times = pd.date_range("2024-01-08", periods=7 * 4, freq="6h")
    readings = pd.DataFrame({"co2": 400.0}, index=times)
    tested = [sorted({time.day - 8 for time in test.index}) for _, test in day_folds(readings)]
    assert tested == [[0, 3, 6], [1, 4], [2, 5]]


@pytest.mark.parametrize("n_folds", [2, 3, 4, 9])
def test_all_days_once_and_no_day_in_both(slow_office, n_folds):
    folds = day_folds(slow_office, n_folds)
    for train, test in folds:
        assert not days_of(train) & days_of(test)
        assert days_of(train) | days_of(test) == days_of(slow_office)
    joined = pd.concat([test for _, test in folds]).sort_index()
    pd.testing.assert_frame_equal(joined, slow_office, check_freq=False)


@pytest.mark.parametrize("name", ["mean", "profile", "ours"])
def test_readings_and_counts_of_test_days_do_not_reach_the_others(slow_office, cheap, changed, name):
    day = slice(288, 2 * 288)
    other = changed(slow_office, day)
    other.iloc[day, other.columns.get_loc("occupancy")] = 40
    pairs = list(zip(day_folds(slow_office, 2), day_folds(other, 2), strict=True))
    (train, test), (other_train, other_test) = pairs[1]  # the fold that tests days 1 and 3
    before = run_fold(cheap[name], train, test, [0])[0].people
    after = run_fold(cheap[name], other_train, other_test, [0])[0].people
    np.testing.assert_array_equal(before[288:], after[288:])


def test_needs_two_days_and_two_folds(slow_office):
    with pytest.raises(oc.InputError, match=r"must hold at least two days to train on one and .*, got 1"):
        day_folds(slow_office.iloc[:288])
    with pytest.raises(oc.InputError, match="n_folds must be 2 or more, got 1"):
        day_folds(slow_office, 1)
