"""Training and estimation of one method on one fold."""

import numpy as np
import pytest

import occupair as oc
from occupair.baselines import MeanBaseline, ProfileBaseline
from occupair.benchmark.fold_run import run_fold
from occupair.benchmark.methods import Method
from occupair.folds import split_days


class UsesHeadCounts(MeanBaseline):
    def estimate(self, readings):
        return readings["occupancy"]


class WithMissingEstimate(MeanBaseline):
    def estimate(self, readings):
        return super().estimate(readings).where(readings.index != readings.index[3])


class TooShort(MeanBaseline):
    def estimate(self, readings):
        return super().estimate(readings).iloc[1:]


def test_run_has_the_estimates_of_the_model(slow_office):
    train, test = slow_office.iloc[: 2 * 288], slow_office.iloc[2 * 288 :]
    runs = run_fold(Method(ProfileBaseline), train, test, [0, 10])
    expected = ProfileBaseline().fit(train).estimate(test)
    assert list(runs) == [0, 10]
    np.testing.assert_array_equal(runs[10].people, expected)
    assert runs[0].fit_seconds > 0
    assert runs[0].estimate_seconds > 0


@pytest.mark.parametrize(("one_fit", "times"), [(True, 1), (False, 3)])
def test_one_fit_trains_once_for_all_lags(slow_office, counting, one_fit, times):
    method = Method(counting.make, one_fit=one_fit)
    run_fold(method, slow_office.iloc[:576], slow_office.iloc[576:], [0, 5, 10])
    assert counting.make.trained == times


def test_head_counts_of_held_out_days_are_not_passed(slow_office):
    with pytest.raises(KeyError, match="occupancy"):
        run_fold(Method(UsesHeadCounts), slow_office.iloc[:576], slow_office.iloc[576:], [0])


def test_missing_estimates_are_refused(slow_office):
    train, test = slow_office.iloc[:576], slow_office.iloc[576:]
    with pytest.raises(oc.InputError, match="must return finite estimates, got nan at 2015-08-05 00:15:00"):
        run_fold(Method(WithMissingEstimate), train, test, [0])
    with pytest.raises(oc.InputError, match="must return a Series with one estimate per reading"):
        run_fold(Method(TooShort), train, test, [0])


@pytest.mark.parametrize("name", ["mean", "profile", "ours"])
def test_held_out_readings_and_counts_do_not_change_other_estimates(slow_office, cheap, changed, name):
    day = slice(288, 2 * 288)
    other = changed(slow_office, day)
    other.iloc[day, other.columns.get_loc("occupancy")] = 40
    pairs = list(zip(split_days(slow_office, 2), split_days(other, 2), strict=True))
    (train, test), (other_train, other_test) = pairs[1]  # the fold that holds out days 1 and 3
    before = run_fold(cheap[name], train, test, [0])[0].people
    after = run_fold(cheap[name], other_train, other_test, [0])[0].people
    np.testing.assert_array_equal(before[288:], after[288:])
