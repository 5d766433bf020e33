"""Methods that use future readings are detected; causal methods pass."""

import pytest

import occupair as oc
from occupair.benchmark.lookahead import check_look_ahead, find_look_ahead, office_for
from occupair.benchmark.methods import METHODS
from occupair.benchmark.run_benchmark import run_benchmark


@pytest.mark.parametrize("lag", [0, 20])
def test_use_of_the_next_reading_is_detected(peeking, lag):
    assert find_look_ahead(peeking, office_for(lag), lag)


def test_lag_beyond_the_declared_one_is_detected(cheap):
    method = cheap["ours"]
    office = office_for(0)
    assert not find_look_ahead(method, office, 20)
    late = type(method)(lambda lag: method.make(lag=20))
    assert find_look_ahead(late, office, 0)


def test_use_of_the_daily_maximum_is_detected(normalising):
    moved = find_look_ahead(normalising, office_for(0), 0)
    assert moved == sorted(moved)
    assert moved[0].hour == 0


@pytest.mark.parametrize("name", METHODS)
def test_shipped_methods_do_not_look_ahead(name):
    lag = 10
    assert find_look_ahead(METHODS[name], office_for(lag), lag) == []


def test_benchmark_refuses_a_method_that_looks_ahead(slow_office, cheap, peeking):
    rule = r"method 'planted' looks ahead: its estimate for \d\d:\d\d depends on readings more than 10 min"
    with pytest.raises(oc.InputError, match=rule):
        check_look_ahead({**cheap, "planted": peeking}, [10])
    with pytest.raises(oc.InputError, match="method 'planted' looks ahead"):
        run_benchmark({"office": slow_office}, {**cheap, "planted": peeking}, [0])


def test_lag_not_divisible_by_five_is_checked_every_minute():
    assert [len(office_for(lag)) for lag in (0, 20, 7)] == [4 * 288, 4 * 288, 4 * 1440]


def test_fewer_than_three_days_are_refused(cheap, slow_office):
    with pytest.raises(oc.InputError, match="must cover at least three days to check for look-ahead, got 2"):
        find_look_ahead(cheap["mean"], slow_office.iloc[:576], 0)
