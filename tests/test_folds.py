"""Every day is held out once, and never trained on at the same time."""

import pandas as pd
import pytest

import occupair as oc
from occupair.folds import day_folds, split_days


def days_of(readings):
    return set(readings.index.normalize())


def test_day_i_is_held_out_in_fold_i_modulo_n():
    times = pd.date_range("2024-01-08", periods=7 * 4, freq="6h")
    readings = pd.DataFrame({"co2": 400.0}, index=times)
    tested = [sorted({time.day - 8 for time in test.index}) for _, test in split_days(readings)]
    assert tested == [[0, 3, 6], [1, 4], [2, 5]]


@pytest.mark.parametrize("n_folds", [2, 3, 4, 9])
def test_every_day_is_held_out_once_and_never_in_both_sets(slow_office, n_folds):
    folds = split_days(slow_office, n_folds)
    for train, test in folds:
        assert not days_of(train) & days_of(test)
        assert days_of(train) | days_of(test) == days_of(slow_office)
    joined = pd.concat([test for _, test in folds]).sort_index()
    pd.testing.assert_frame_equal(joined, slow_office, check_freq=False)


def test_two_days_and_two_folds_are_required(slow_office):
    with pytest.raises(oc.InputError, match="readings must cover at least two days, one to hold out, got 1"):
        split_days(slow_office.iloc[:288])
    with pytest.raises(oc.InputError, match="n_folds must be 2 or more, got 1"):
        split_days(slow_office, 1)


@pytest.mark.parametrize("n_days", [2, 3, 7])
def test_day_numbers_are_held_out_once_and_trained_on_otherwise(n_days):
    folds = day_folds(n_days)
    assert sorted(i for fold in folds for i in fold.held_out) == list(range(n_days))
    for fold in folds:
        assert sorted(fold.train + fold.held_out) == list(range(n_days))
