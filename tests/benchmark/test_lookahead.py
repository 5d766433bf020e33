"""Methods that peek are caught, honest ones are not."""

import pytest

import occupair as oc
from occupair.benchmark.lookahead import check_look_ahead, find_look_ahead, office_for
from occupair.benchmark.methods import METHODS
from occupair.benchmark.run_benchmark import run_benchmark


@pytest.mark.parametrize("lag", [0, 20])
def test_a_baseline_given_the_next_reading_is_caught(peeking, lag):
    assert find_look_ahead(peeking, office_for(lag), lag)


def test_a_model_that_waits_is_caught_where_it_says_it_does_not(cheap):
    method = cheap["ours"]
    office = office_for(0)
    assert not find_look_ahead(method, office, 20)
    late = type(method)(lambda lag: method.make(lag=20))
    assert find_look_ahead(late, office, 0)


def test_the_highest_of_the_day_is_caught(normalising):
    moved = find_look_ahead(normalising, office_for(0), 0)
    assert moved == sorted(moved)
    assert moved[0].hour == 0


@pytest.mark.parametrize("name", METHODS)
def test_what_we_ship_does_not_peek(name):
    lag = 10
    assert find_look_ahead(METHODS[name], office_for(lag), lag) == []


def test_the_benchmark_refuses_a_method_that_peeks(slow_office, cheap, peeking):
    rule = r"method 'planted' looks ahead: its estimate of \d\d:\d\d changes with readings more than 10 min l"
    with pytest.raises(oc.InputError, match=rule):
        check_look_ahead({**cheap, "planted": peeking}, [10])
    with pytest.raises(oc.InputError, match="method 'planted' looks ahead"):
        run_benchmark({"office": slow_office}, {**cheap, "planted": peeking}, [0])


def test_an_odd_lag_is_examined_every_minute():
    assert [len(office_for(lag)) for lag in (0, 20, 7)] == [4 * 288, 4 * 288, 4 * 1440]


def test_needs_three_days(cheap, slow_office):
    with pytest.raises(oc.InputError, match="must hold at least three days to look for look-ahead, got 2"):
        find_look_ahead(cheap["mean"], slow_office.iloc[:576], 0)
