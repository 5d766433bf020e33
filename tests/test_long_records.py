"""Training on records of years: bounded rows and memory, and the accuracy of all days."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.model_file import dump_model
from occupair.paper import training as paper_training
from occupair.readings import thinning
from occupair.readings.schema import check_readings
from occupair.room import training_days

pytestmark = pytest.mark.slow


def long_record(days, *, interval=15):
    """Readings of some days; CO2 follows the people of office hours with a delay."""
    rng, n = np.random.default_rng(0), days * 1440 // interval
    times = pd.date_range("2019-01-07", periods=n, freq=f"{interval}min", name="time")
    people = np.where((times.hour >= 9) & (times.hour < 17), rng.integers(1, 9, days).repeat(n // days), 0)
    co2 = 420 + 60 * pd.Series(people).ewm(halflife=4).mean().to_numpy() + rng.normal(0, 3, n)
    return pd.DataFrame({"co2": co2, "ventilation": 0.5, "occupancy": people}, index=times)


def quick(**changes):
    return oc.OccupancyEstimator(n_hidden=5, ridge=1.0, random_state=0, **changes)


@pytest.mark.parametrize("make", [quick, lambda: oc.OccupancyEstimator.paper(n_hidden=5, n_draws=1)])
def test_fit_uses_the_chosen_days(make, monkeypatch):
    monkeypatch.setattr(thinning, "MAX_DAYS", 6)
    readings = long_record(27)
    whole, chosen = make().set_params(random_state=0, horizon=60, stride=15), thinning.thin_days(readings)
    assert len(chosen) == 6 * 96
    assert dump_model(whole.fit(readings)) == dump_model(make().set_params(**whole.get_params()).fit(chosen))


def test_paper_trains_on_one_row_in_n_of_frequent_readings(monkeypatch):
    readings = check_readings(long_record(3))
    layer = paper_training.layer_at("fs-elm", 60, 15, interval=15.0)  # 22 features, 92 rows a day
    rows, people = paper_training.training_features(readings, layer, 2.0)
    monkeypatch.setattr(paper_training, "MAX_VALUES", 3 * 92 * 22)
    same, _ = paper_training.training_features(readings, layer, 2.0)
    monkeypatch.setattr(paper_training, "MAX_VALUES", 3 * 92 * 22 // 4)
    some, some_people = paper_training.training_features(readings, layer, 2.0)
    assert rows.shape == (3 * 92, 22)
    assert (same == rows).all()
    assert (some == rows[::4]).all()  # 4 divides 92, so every day starts with its first row
    assert (some_people == people[::4]).all()


def test_work_does_not_grow_beyond_the_limit(monkeypatch):
    monkeypatch.setattr(thinning, "MAX_DAYS", 6)
    inputs, seen = training_days.episode_inputs, []

    def counting(co2, *arguments, **options):
        seen.append(co2.size)
        return inputs(co2, *arguments, **options)

    monkeypatch.setattr(training_days, "episode_inputs", counting)
    rows = []
    for days in (3, 6, 12, 48):
        seen.clear()
        quick().fit(long_record(days))
        rows.append(sum(seen) / 96)
    assert rows == [3, 6, 6, 6]


def test_memory_of_training_does_not_grow_beyond_the_limit(monkeypatch):
    monkeypatch.setattr(thinning, "MAX_DAYS", 6)

    def peak(days):
        readings = long_record(days)
        tracemalloc.start()
        try:
            quick().fit(readings)
            return tracemalloc.get_traced_memory()[1] / 1e6, readings.memory_usage().sum() / 1e6
        finally:
            tracemalloc.stop()

    quick().fit(long_record(2))  # what is imported and cached on first use
    (at_limit, _), (long, size) = peak(6), peak(120)
    assert long < at_limit + 4 * size  # validation copies the readings


def test_thinned_training_is_as_accurate_as_all_days(monkeypatch):
    office = oc.simulate_office(days=60, seed=4).iloc[::15]
    days = office.index.normalize()
    train, test = office[days < days.unique()[45]], office[days >= days.unique()[45]]
    estimator = oc.OccupancyEstimator(n_hidden=100, random_state=0)

    def error():
        people = estimator.fit(train).estimate(test)
        squares = ((people - test["occupancy"]) ** 2).groupby(people.index.normalize()).mean()
        return squares.to_numpy()

    whole = error()
    monkeypatch.setattr(thinning, "MAX_DAYS", 30)
    thinned = error()
    # Squared errors of the same days: the difference is within two standard errors of its mean.
    difference = thinned - whole
    assert difference.mean() < 2 * whole.std(ddof=1) / np.sqrt(whole.size)
    assert np.sqrt(thinned.mean()) < 1.05 * np.sqrt(whole.mean())


@pytest.mark.parametrize("mode", ["live", "hindsight", "drifting"])
@pytest.mark.parametrize("make", [quick, lambda: oc.OccupancyEstimator.paper(n_hidden=5, n_draws=1)])
def test_estimates_of_a_record_are_those_of_its_days(make, mode):
    readings = long_record(4).drop(long_record(4).index[150:153])  # a gap on the second day
    estimator = make().set_params(random_state=0, horizon=60, stride=15).fit(readings)
    days = [day for _, day in readings.groupby(readings.index.normalize())]
    options = [{}, {"interval": 0.9}] if make is quick else [{}]
    options += [{**one, "lag": 15} for one in options if mode == "live"]
    for chosen in options:
        by_day = pd.concat([estimator.estimate(day, mode, **chosen) for day in days])
        assert np.array_equal(estimator.estimate(readings, mode, **chosen), by_day)
