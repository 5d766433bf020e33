"""Training of the default estimator: weights of members, unusual rooms, folds and held-out estimates."""

import sys

import numpy as np
import pandas as pd
import pytest
from room.small_estimator import small

import occupair as oc
from occupair.metrics import rmse
from occupair.readings.head_counts import check_labelled
from occupair.room import members
from occupair.room import training as room_training
from occupair.room.balance_shapes import BalanceShapes, Shape
from occupair.room.fit_and_estimate import episodes_by_date
from occupair.room.fitted_balances import fold_balances
from occupair.room.inputs import Clock
from occupair.room.lags import LAGS
from occupair.room.members import TrainingSettings
from occupair.room.stack import MEMBERS, StackPrior
from occupair.room.training import fit_room
from occupair.room.training_days import LabelledEpisode
from occupair.room.training_days import prepare_training_days as prepared

FULL_WEIGHT_DAYS = 6  # from which on all members have their prior weight


def settings_at(interval, **changes):
    settings = {
        "interval": interval,
        "smoothing": 0.0,
        "z_max": (1.0,) * 5,
        "n_hidden": 5,
        "ridges": (1.0,),
        "seeds": (1,),
        "verbose": False,
    }
    return TrainingSettings(**(settings | changes))


def prepare_training_days(dates, settings):
    return prepared(dates, interval=settings.interval, smoothing=settings.smoothing)


def episode(people, minute=0.0, co2=500.0):
    n = len(people)
    clock = Clock(minute + np.arange(n, dtype=float), np.zeros(n))
    return LabelledEpisode(np.full(n, co2) + np.arange(n), np.zeros(n), clock, np.array(people, dtype=float))


def training_of(days):
    return prepare_training_days([[episode([k, k])] for k in range(days)], settings_at(1.0))


def test_single_training_day(slow_office, last_day):
    model = small().fit(slow_office.iloc[:288])
    share = 1 / len(MEMBERS) / FULL_WEIGHT_DAYS
    for one in model.room_.refinements:
        assert one.weights == pytest.approx((share, 1 - 4 * share, share, share, share))
    assert rmse(last_day["occupancy"], model.estimate(last_day)) < 0.5 * last_day["occupancy"].std()


@pytest.mark.parametrize("days", [1, 2, 3, FULL_WEIGHT_DAYS, FULL_WEIGHT_DAYS + 1])
def test_prior_weights_of_all_but_the_balance_grow_over_days(days):
    same = np.ones((5, days))  # members with equal errors keep their prior weights
    share = min(days / FULL_WEIGHT_DAYS, 1) / 5
    weights = members.stack_weights(training_of(days), same, None)
    np.testing.assert_allclose(weights, [share, 1 - 4 * share, share, share, share])
    # Prior weights 1, 1, 0, 2 and 0: a quarter, a quarter and a half.
    prior, part = StackPrior((1.0, 1.0, 0.0, 2.0, 0.0)), min(days / FULL_WEIGHT_DAYS, 1)
    weights = members.stack_weights(training_of(days), same, None, prior)
    np.testing.assert_allclose(weights, [part / 4, 1 - 3 * part / 4, 0, part / 2, 0], atol=1e-12)


def test_balance_without_prior_weight_is_not_used_with_few_days():
    prior = StackPrior((1.0, 0.0, 3.0, 0.0, 0.0))
    for days in (1, 2, 8):
        weights = members.stack_weights(training_of(days), np.ones((5, days)), None, prior)
        np.testing.assert_allclose(weights, [0.25, 0, 0.75, 0, 0])


def test_weights_follow_held_out_errors_of_a_room(slow_office):
    """CO2 without any information leaves the weight to the profile."""
    noise = slow_office.assign(co2=np.random.default_rng(0).uniform(400, 900, len(slow_office)))
    dates = [episodes_by_date(one.iloc[::2]) for one in (slow_office, noise)]
    with_co2, without = (fit_room(one, settings_at(10.0))[0].refinements[0].weights for one in dates)
    profile, balance = MEMBERS.index("profile"), MEMBERS.index("balance")
    assert without[profile] == max(without) > 2 * with_co2[profile]
    assert without[balance] < 0.3 < with_co2[balance]


@pytest.mark.filterwarnings("ignore:the room is empty at every head count")
def test_room_without_people(slow_office, last_day):
    model = small().fit(slow_office.assign(occupancy=0))
    for lag in (0, 10, 20):
        assert (model.estimate(last_day, lag=lag, interval=0.9) == 0).all(axis=None)
    assert model.live().update(last_day.index[0], 800.0, 0.5).people == 0
    one_day = small().fit(slow_office.iloc[:288].assign(occupancy=0))
    assert (one_day.estimate(last_day) == 0).all()


@pytest.mark.filterwarnings("ignore:CO2 adds almost nothing")
@pytest.mark.parametrize("smoothing", [0, 10, 50])
def test_constant_co2_falls_back_on_time_of_day(slow_office, smoothing):
    stuck = slow_office.assign(co2=412.3)
    model = small(smoothing=smoothing).fit(stuck)
    assert not model.comparison_.co2_helps
    for one in model.room_.refinements:
        assert np.abs(one.balance.best.coef).max() < 100
        assert (one.layer.alphas < 10).all()
    nudged = stuck.assign(co2=412.3 + np.random.default_rng(0).normal(0, 1e-9, len(stuck)))
    np.testing.assert_allclose(model.estimate(nudged), model.estimate(stuck), atol=1e-6)


@pytest.mark.filterwarnings("ignore:CO2 adds almost nothing")
def test_missing_ventilation_equals_constant_zero(slow_office, last_day):
    train, last_day = slow_office.iloc[: 3 * 288 : 2], last_day.iloc[::2]
    without = small().fit(train.drop(columns="ventilation"))
    zero = small().fit(train.assign(ventilation=0.0))
    pd.testing.assert_series_equal(
        without.estimate(last_day), zero.estimate(last_day.assign(ventilation=0.0)), check_exact=True
    )


def test_co2_that_follows_the_clock_gives_warning():
    office = oc.simulate_office(days=8, seed=3).iloc[::15]
    clock = office.groupby(office.index.time)["co2"].transform("mean")
    with pytest.warns(UserWarning, match="CO2 adds almost nothing to the time-of-day profile"):
        oc.OccupancyEstimator(random_state=0).fit(office.assign(co2=clock))


def test_day_full_of_gaps_is_split_into_episodes(slow_office):
    """One reading every ten minutes in a room with a five-minute interval: each is an episode."""
    gaps = pd.concat([slow_office.iloc[: 2 * 288], slow_office.iloc[2 * 288 : 3 * 288 : 2]])
    days = episodes_by_date(gaps)
    assert [len(day) for day in days] == [1, 1, 144]
    assert all(one.people.size == 1 for one in days[2])


def test_training_samples_every_third_minute():
    morning, evening = episode(range(7)), episode([20, 21, 22, 23], minute=1000.0, co2=450.0)
    training = prepare_training_days([[morning, evening], [episode([3, 4])]], settings_at(1.0))
    assert training.days[0].clock.minute.tolist() == [0, 3, 6, 1000, 1003]
    assert training.people[0][0].tolist() == [0, 3, 6, 20, 23]
    assert training.people[10][0].tolist() == [0, 0, 0, 20, 20]  # before the first as many as then
    assert training.people[20][1].tolist() == [3]
    assert training.max_people == 23
    assert training.lows == [450, 500]
    np.testing.assert_array_equal(training.days[0].lowest_co2, [500, 500, 500, 450, 450])
    assert training.target(0).tolist() == [0, 3, 6, 20, 23, 3]
    assert training.subset([1]).target(0).tolist() == [3]
    assert training.subset([1]).lows == [500]
    assert [day.tolist() for day in training.split(np.arange(6))] == [[0, 1, 2, 3, 4], [5]]


def test_cross_validation_has_at_most_five_folds():
    training = prepare_training_days([[episode([k, k])] for k in range(12)], settings_at(1.0))
    folds = fold_balances(training, None)
    assert [fold.place.tolist() for fold in folds] == [[0, 5, 10], [1, 6, 11], [2, 7], [3, 8], [4, 9]]
    assert folds[1].fitted.training.target(0).tolist() == [0, 2, 3, 4, 5, 7, 8, 9, 10]
    assert len(fold_balances(training.subset([0, 1, 2]), None)) == 3
    assert fold_balances(training.subset([0]), None) == []


@pytest.fixture
def held_out(monkeypatch):
    """Train a room with one candidate of everything that is chosen with the held-out labels of all days.

    Returns the held-out estimates by member and lag [readings], and those of the room as "estimate", by day.
    """
    monkeypatch.setattr(room_training, "THRESHOLDS", (0.0,))
    monkeypatch.setattr("occupair.room.linked_elm.LINK_RIDGES", (1.0,))
    monkeypatch.setattr("occupair.room.open_hours.MAX_OUTSIDE_SHARE", -1.0)
    monkeypatch.setattr("occupair.room.stack.EXPONENT", 0.0)  # prior weights, whatever the errors
    best_validation, validations = room_training.best_validation, {}

    def spy(folds, training, lag, settings):
        validations[lag] = best_validation(folds, training, lag, settings)
        return validations[lag]

    monkeypatch.setattr(room_training, "best_validation", spy)

    def train(readings, prior=None):
        _, estimates = fit_room(episodes_by_date(readings), settings_at(10.0), prior)
        split = estimates.training.split
        found = {("estimate", lag): split(people) for lag, people in estimates.by_lag.items()}
        for lag, validation in validations.items():
            found |= {
                (name, lag): split(people) for name, people in zip(MEMBERS, validation.people, strict=True)
            }
            found["presence", lag] = split(validation.presence)
        return found

    return train


def check_held_out(before, after, *, same, moved):
    """Compare held-out estimates of every member at every lag: one day is the same, another is not."""
    assert {name for name, _ in before} == {"estimate", "presence", *MEMBERS}
    assert {lag for _, lag in before} == {0, 1, 2}
    for key, days in before.items():
        np.testing.assert_allclose(after[key][same], days[same], rtol=0, atol=1e-9, err_msg=str(key))
        least = 0.01 if key[0] == "presence" else 0.1
        assert np.abs(after[key][moved] - days[moved]).max() > least, key


@pytest.mark.parametrize("labels", ["complete", "sparse", "shapes"])
def test_held_out_estimates_do_not_depend_on_their_labels(slow_office, held_out, labels):
    """With nothing left to choose, changed head counts of a day do not change its held-out estimates."""
    readings, prior = slow_office.iloc[::2], None  # every ten minutes
    if labels == "sparse":
        known = np.random.default_rng(0).random(len(readings)) < 0.4
        readings = check_labelled(readings.assign(occupancy=readings["occupancy"].where(known)))
    if labels == "shapes":
        shape = Shape(0.5, 0.0, np.array([0.2, 0.3, 0.7, 0.1, 0.0, 0.0]), 0.2 * np.eye(6))
        prior = BalanceShapes(dict.fromkeys(LAGS, (shape,)))
    before = held_out(readings, prior)
    for day in (0, 2):
        changed, rows = readings.copy(), slice(day * 144, (day + 1) * 144)
        counts = changed["occupancy"].iloc[rows]
        changed.iloc[rows, changed.columns.get_loc("occupancy")] = 23 - counts.clip(0, 23)
        check_held_out(before, held_out(changed, prior), same=day, moved=1)


def test_held_out_estimates_do_not_depend_on_other_days_of_their_fold(held_out):
    """The CO2 and labels of a held-out day do not change the estimates of other days in its fold."""
    readings = oc.simulate_office(days=6, seed=7).iloc[::10]  # days 0 and 5 are held out together
    changed, rows = readings.copy(), slice(5 * 144, 6 * 144)
    changed.iloc[rows, changed.columns.get_loc("co2")] += 300.0
    changed.iloc[rows, changed.columns.get_loc("occupancy")] = 7
    check_held_out(held_out(readings), held_out(changed), same=0, moved=1)


def test_best_of_several_random_layers_is_used(slow_office):
    dates = episodes_by_date(slow_office.iloc[: 2 * 288 : 2])
    training = prepare_training_days(dates, settings_at(10.0))
    folds = fold_balances(training, None)
    errors = {
        seed: members.cross_validate(folds, training, 0, seed, settings_at(10.0)).error for seed in range(4)
    }
    several, _ = fit_room(dates, settings_at(10.0, seeds=tuple(errors)))
    assert several.refinements[0].layer.seed == min(errors, key=errors.get)
    assert {one.layer.seed for one in several.refinements} <= set(errors)


def test_threshold_has_smallest_error_and_ties_take_highest():
    estimated, presence = np.array([1.0, 1.0, 1.0, 8.0]), np.array([0.05, 0.25, 0.45, 0.0])
    people = np.array([0.0, 0.0, 1.0, 8.0])
    # Above 0.25 and up to 0.45 all is right; 8 of 20 is not few, whatever presence says.
    assert room_training._best_threshold(estimated, presence, people, 20.0) == 0.4
    assert room_training._best_threshold(estimated, presence, estimated, 20.0) == 0.0
    # 1 of 10 is few no more: every threshold gives the same.
    assert room_training._best_threshold(estimated, presence, people, 10.0) == 0.5


def test_training_error_is_held_out_error(slow_office):
    model, held_out = fit_room(episodes_by_date(slow_office), settings_at(5.0))
    off = np.concatenate(held_out.people) - np.concatenate(held_out.estimated)
    assert held_out.error == pytest.approx(np.sqrt(np.mean(off**2)))
    assert [people.size for people in held_out.people] == [288] * 4
    np.testing.assert_array_equal(np.concatenate(held_out.people), slow_office["occupancy"])
    assert model.max_people == slow_office["occupancy"].max()


def test_libraries_of_the_trees_are_loaded_before_threads_start(monkeypatch):
    """Two threads would wait for each other if one loaded them while another set its limits."""

    def stop(*args, **settings):
        raise InterruptedError

    monkeypatch.delitem(sys.modules, "sklearn.ensemble", raising=False)
    monkeypatch.setattr(room_training, "prepare_training_days", stop)
    with pytest.raises(InterruptedError):
        fit_room([], TrainingSettings(1.0, 1.0, (), 1, (), ()))
    assert "sklearn.ensemble" in sys.modules
