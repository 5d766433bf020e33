"""Trained default estimator against its reference implementation, and unusual rooms."""

import sys
from copy import copy, deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import occupair as oc
from dense import RoomReference
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
from occupair.room.time_profile import TimeProfile
from occupair.room.training import fit_room
from occupair.room.training_days import LabelledEpisode
from occupair.room.training_days import prepare_training_days as prepared

EARLIER = Path(__file__).parents[1] / "compatibility"

FULL_WEIGHT_DAYS = 6  # from which on all members have their prior weight


def small(**changes):
    return oc.OccupancyEstimator(**({"n_hidden": 10, "random_state": 0} | changes))


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


def with_refinements(model, **changes):
    """Return a trained model with changed refinements; ``weights`` are those of the members."""
    changed = copy(model)
    refinements = tuple(replace(one, **changes) for one in model.room_.refinements)
    changed.room_ = replace(model.room_, refinements=refinements)
    return changed


def only(model, member):
    """Return a trained model that uses a single member."""
    return with_refinements(model, weights=tuple(float(name == member) for name in MEMBERS))


def prepare_training_days(dates, settings):
    return prepared(dates, interval=settings.interval, smoothing=settings.smoothing)


def expected_at(model, readings, k, wait):
    """The reference implementation's estimate of reading k with ``wait`` later readings at most."""
    last = max(one for one in (0, 2, 4) if one <= wait and k + one < len(readings))
    refinement = next(one for one in model.room_.refinements if one.lag == last)
    known = readings.iloc[: k + last + 1]
    columns = (known[name].to_numpy() for name in ("co2", "ventilation"))
    return RoomReference(model, *columns, known.index).people(refinement)


@pytest.mark.parametrize("lag", [0, 10, 15, 20])
def test_estimates_match_reference_implementation(trained_room, last_day, lag):
    people = trained_room.estimate(last_day, lag=lag)
    wait = {0: 0, 10: 2, 15: 2, 20: 4}[lag]  # readings
    for k in [0, 1, 3, *range(85, 270, 12), 283, 284, 285, 286, 287]:
        assert people.iloc[k] == pytest.approx(expected_at(trained_room, last_day, k, wait), abs=1e-9), k
    assert people.max() > 5


@pytest.mark.parametrize("member", MEMBERS)
def test_estimates_of_each_member_match_reference_implementation(trained_room, last_day, member):
    model = only(trained_room, member)
    people = model.estimate(last_day, lag=20)
    for k in range(85, 270, 12):
        assert people.iloc[k] == pytest.approx(expected_at(model, last_day, k, 4), abs=1e-9), k
    assert people.max() > 5


@pytest.mark.parametrize(
    ("version", "column_set", "used"),
    [("2026-11", 1, ["network", "balance"]), ("2026-11-17", 2, ["network", "balance", "trees"])],
)
def test_estimates_of_earlier_models_match_reference_implementation(version, column_set, used):
    """Models with the first column set and without trees, and models without kernel and profile."""
    day = oc.read_readings(EARLIER / version / "day.csv", timezone="Europe/Copenhagen")
    model = oc.OccupancyEstimator.load(EARLIER / version / "room.occupair")
    assert model.room_.column_set == column_set
    weights = model.room_.refinements[0].weights
    assert [name for name, weight in zip(MEMBERS, weights, strict=True) if weight] == used
    people = model.estimate(day, lag=20)
    for k in range(85, 270, 12):
        assert people.iloc[k] == pytest.approx(expected_at(model, day, k, 4), abs=1e-9), k


def test_estimates_at_one_minute_match_reference_implementation(office):
    model = small().fit(office.iloc[: 2 * 1440])
    part = office.iloc[3 * 1440 + 480 : 3 * 1440 + 600]  # 8:00 to 10:00
    people = model.estimate(part)
    for k in (0, 5, 30, 119):
        columns = (part[name].to_numpy()[: k + 1] for name in ("co2", "ventilation"))
        reference = RoomReference(model, *columns, part.index[: k + 1])
        assert people.iloc[k] == pytest.approx(reference.people(model.room_.refinements[0]), abs=1e-9)


@pytest.mark.parametrize("member", [None, *MEMBERS])
@pytest.mark.parametrize("lag", [0, 10, 20])
def test_estimates_do_not_depend_on_later_readings(trained_room, last_day, lag, member):
    model = trained_room if member is None else only(trained_room, member)
    changed = last_day.copy()
    first = 150
    changed.iloc[first:, changed.columns.get_loc("co2")] += 500.0
    changed.iloc[first:, changed.columns.get_loc("ventilation")] = 0.5
    before, after = (model.estimate(readings, lag=lag, interval=0.9) for readings in (last_day, changed))
    untouched = first - lag // 5
    pd.testing.assert_frame_equal(after.iloc[:untouched], before.iloc[:untouched], check_exact=True)
    if member == "profile":  # it uses no reading at all; presence does
        assert after["people"].iloc[untouched] == before["people"].iloc[untouched]
    else:
        assert after["people"].iloc[untouched] != before["people"].iloc[untouched]


def test_refinement_reduces_error_and_beats_profile():
    readings = oc.simulate_office(days=9, seed=3).iloc[::5]
    model = small(n_hidden=30).fit(readings.iloc[: 6 * 288])
    test = readings.iloc[6 * 288 :]
    now, later = (rmse(test["occupancy"], model.estimate(test, lag=lag)) for lag in (0, 20))
    assert later < now < model.comparison_.profile_error


def test_coverage_on_unseen_days():
    """Intervals of a few days are rather too wide, because other days may have errors that these have not."""
    readings = oc.simulate_office(days=16, seed=4).iloc[::5]
    model = small().fit(readings.iloc[: 8 * 288])
    test = readings.iloc[8 * 288 :]
    for when in ({"lag": 0}, {"lag": 20}, {"mode": "hindsight"}):
        table = model.estimate(test, **when, interval=0.9)
        covered = test["occupancy"].between(table["low"], table["high"])
        assert 0.88 < covered.mean() < 0.98
        assert 0.85 < covered[test["occupancy"] > 0].mean() < 0.98


def test_no_lag_is_longer_than_the_longest_and_drifting_equals_live(trained_room, last_day):
    waited = trained_room.estimate(last_day, lag=20)
    pd.testing.assert_series_equal(
        trained_room.estimate(last_day, mode="drifting"), trained_room.estimate(last_day)
    )
    for lag in (25, 3000, 1e308):  # no longer wait gains anything
        pd.testing.assert_series_equal(trained_room.estimate(last_day, lag=lag), waited)


def test_estimates_restart_each_day_and_after_gaps(trained_room, slow_office):
    with_gaps = slow_office.iloc[2 * 288 :].drop(slow_office.index[3 * 288 + 150 : 3 * 288 + 156])
    parts = [with_gaps.iloc[:288], with_gaps.iloc[288 : 288 + 150], with_gaps.iloc[288 + 150 :]]
    for lag in (0, 20):
        combined = trained_room.estimate(with_gaps, lag=lag, interval=0.5)
        alone = [trained_room.estimate(part, lag=lag, interval=0.5) for part in parts]
        pd.testing.assert_frame_equal(combined, pd.concat(alone))


def test_estimates_are_clamped_to_limit(trained_room, last_day):
    rng, limit = np.random.default_rng(0), trained_room.room_.people_limit
    for most in (9000, 1e6):
        wild = last_day.assign(co2=rng.uniform(0, most, 288), ventilation=rng.uniform(0, 1, 288))
        for lag in (0, 10, 20):
            table = trained_room.estimate(wild, lag=lag, interval=0.9)
            assert table["people"].between(0, limit).all()
            assert (table["low"] >= 0).all()
            assert table["people"].between(table["low"], table["high"]).all()


@pytest.mark.parametrize("lag", [0, 10, 20])
def test_closed_hours_decide_whatever_the_members_estimate(trained_room, last_day, lag):
    """Five people by the profile at any time, and always present: nobody in closed hours."""
    model = with_refinements(only(trained_room, "profile"), threshold=-1e9)
    model.room_ = replace(model.room_, profile=TimeProfile(np.full((2, 96), 5.0)), evidence_thresholds=None)
    people = model.estimate(last_day, lag=lag)
    minute = last_day.index.hour * 60 + last_day.index.minute
    is_open = model.room_.hours.is_open[0, minute]
    assert 50 < is_open.sum() < 250
    np.testing.assert_array_equal(people, np.where(is_open, 5.0, 0.0))


@pytest.mark.parametrize("member", MEMBERS)
def test_every_member_is_clamped_to_limit(trained_room, last_day, member):
    rng, limit = np.random.default_rng(0), trained_room.room_.people_limit
    wild = last_day.assign(co2=rng.uniform(0, 9000, 288), ventilation=rng.uniform(0, 1, 288))
    model = only(trained_room, member)
    one = trained_room.room_.refinements[0]
    if member == "trees":  # their values are averages of head counts, which never exceed the maximum
        model = with_refinements(model, trees=replace(one.trees, value=100 * one.trees.value))
    if member == "kernel":  # bounded as well
        model = with_refinements(model, kernel=replace(one.kernel, coef=100 * one.kernel.coef))
    if member == "profile":
        profile = TimeProfile(100 * trained_room.room_.profile.people)
        model.room_ = replace(model.room_, profile=profile)
    for lag in (0, 10, 20):
        people = model.estimate(wild, lag=lag)
        assert people.between(0, limit).all()
        assert people.max() == pytest.approx(limit)


def test_episodes_of_one_and_two_readings(trained_room, slow_office, last_day):
    for n in (2, 3):
        assert trained_room.estimate(last_day.iloc[120 : 120 + n], lag=20).size == n
    short = pd.concat([slow_office.iloc[: 2 * 288], slow_office.iloc[2 * 288 + 120 : 2 * 288 + 121]])
    shorter = pd.concat([short, slow_office.iloc[3 * 288 + 120 : 3 * 288 + 122]])
    model = small().fit(shorter)
    assert model.estimate(shorter, lag=20, interval=0.9).notna().all(axis=None)


def test_single_training_day(slow_office, last_day):
    model = small().fit(slow_office.iloc[:288])
    share = 1 / len(MEMBERS) / FULL_WEIGHT_DAYS
    for one in model.room_.refinements:
        assert one.weights == pytest.approx((share, 1 - 4 * share, share, share, share))
    assert rmse(last_day["occupancy"], model.estimate(last_day)) < 0.5 * last_day["occupancy"].std()


def training_of(days):
    return prepare_training_days([[episode([k, k])] for k in range(days)], settings_at(1.0))


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


def test_set_params_does_not_change_trained_model(trained_room, last_day):
    model = deepcopy(trained_room)
    before = model.estimate(last_day, lag=20, interval=0.8)
    room = model.live()
    model.set_params(smoothing=0, z_max=0.0, n_hidden=3, ridge=1e3, layer="elm", random_state=5)
    pd.testing.assert_frame_equal(model.estimate(last_day, lag=20, interval=0.8), before)
    assert room.update(last_day.index[0], 500.0, 0.0) == model.live().update(last_day.index[0], 500.0, 0.0)


def test_refit_with_another_layer_and_back(slow_office, last_day):
    train = slow_office.iloc[: 2 * 288]
    model = small(n_draws=2).fit(train)
    ours = model.estimate(last_day)
    model.set_params(layer="fs-elm").fit(train)
    paper = small(layer="fs-elm", n_draws=2).fit(train)
    pd.testing.assert_series_equal(model.estimate(last_day), paper.estimate(last_day))
    assert not hasattr(model, "room_")
    assert not hasattr(model, "comparison_")
    model.set_params(layer="room").fit(train)
    pd.testing.assert_series_equal(model.estimate(last_day), ours)
    assert not {"regressor_", "layer_", "smoothing_"} & set(vars(model))


def test_failed_fit_keeps_trained_model(trained_room, slow_office, last_day):
    model = deepcopy(trained_room)
    before = model.estimate(last_day)
    for bad in ({"ridge": -1}, {"layer": "elm", "horizon": 7}, {"n_hidden": 0}):
        with pytest.raises(oc.InputError):
            model.set_params(**bad).fit(slow_office)
        pd.testing.assert_series_equal(model.estimate(last_day), before)


def test_random_state_is_reproducible(slow_office, last_day):
    train, last_day = slow_office.iloc[: 2 * 288 : 2], last_day.iloc[::2]
    one, same, other = (small(random_state=seed).fit(train).estimate(last_day) for seed in (3, 3, 4))
    pd.testing.assert_series_equal(one, same, check_exact=True)
    assert (one != other).any()
    generator = np.random.RandomState(3)
    pd.testing.assert_series_equal(
        small(random_state=generator).fit(train).estimate(last_day), one, check_exact=True
    )


def test_scikit_learn_interface(slow_office):
    model = oc.OccupancyEstimator(n_hidden=7, z_max=(1, 1, 1, 1, 1), ridge=0.5)
    assert clone(model).get_params() == model.get_params()
    assert model.get_params()["start"] == "pooled"
    assert model.get_params()["layer"] == "room"
    for ask in (model.estimate, lambda _: model.live()):
        with pytest.raises(NotFittedError):
            ask(slow_office)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layer": "cnn"}, "layer must be one of room, fs-elm, elm, got 'cnn'"),
        ({"smoothing": -1}, "smoothing must be a finite number, 0 or more, got -1"),
        ({"smoothing": np.nan}, "smoothing must be a finite number, 0 or more, got nan"),
        (
            {"z_max": (1, 1)},
            r"z_max must be one number, or one for each of M, P, V, T, S, 0 or more, got \(1",
        ),
        (
            {"z_max": (1, 1, 1, 1, -1)},
            "z_max must be one number, or one for each of M, P, V, T, S, 0 or more",
        ),
        ({"z_max": np.nan}, "z_max must be one number, or one for each of M, P, V, T, S, 0 or more, got nan"),
        ({"z_max": "wide"}, "z_max must be one number, or .*, got 'wide'"),
        ({"z_max": [[1], [1, 2]]}, "z_max must be one number, or"),
        ({"ridge": 0}, "ridge must be a finite number above 0, or None, got 0"),
        ({"ridge": np.nan}, "ridge must be a finite number above 0, or None, got nan"),
        ({"ridge": np.inf}, "ridge must be a finite number above 0, or None, got inf"),
        ({"ridge": "big"}, "ridge must be a finite number above 0, or None, got 'big'"),
        (
            {"ridge": 1e-300, "n_hidden": 60, "z_max": 1e-9},
            "ridge=1e-300 is too small: the training data are singular; increase it",
        ),
        ({"n_hidden": 0}, "n_hidden must be an integer, 1 or more, got 0"),
        ({"n_hidden": 2.5}, r"n_hidden must be an integer, 1 or more, got 2\.5"),
        ({"n_draws": 0}, "n_draws must be an integer, 1 or more, got 0"),
        ({"n_draws": None}, "n_draws must be an integer, 1 or more, got None"),
    ],
)
def test_invalid_settings_raise(slow_office, settings, message):
    with pytest.raises(oc.InputError, match=f"^{message}") as error:
        small(**settings).fit(slow_office)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("lag", [np.nan, -5, np.inf, "20", None])
def test_invalid_lag_raises(trained_room, last_day, lag):
    with pytest.raises(oc.InputError, match=r"^lag must be a number of minutes, 0 or more, got"):
        trained_room.estimate(last_day, lag=lag)


@pytest.mark.parametrize("interval", [0, 1, 1.5, -0.1, 90, np.nan, "0.9"])
def test_invalid_confidence_raises(trained_room, last_day, interval):
    with pytest.raises(oc.InputError, match=r"^interval must be above 0 and below 1 \(90 % is 0\.9\), got"):
        trained_room.estimate(last_day, interval=interval)
    with pytest.raises(oc.InputError, match=r"^interval must be above 0 and below 1 \(90 % is 0\.9\), got"):
        trained_room.live(interval=interval)


def test_paper_has_no_prediction_interval(estimator, last_day):
    with pytest.raises(oc.InputError, match=r"^interval must be omitted: the paper's estimators have no"):
        estimator.estimate(last_day, interval=0.9)


def test_lag_requires_live_mode(trained_room, last_day):
    with pytest.raises(oc.InputError, match=r"^lag must be 0 with mode 'hindsight', got 20"):
        trained_room.estimate(last_day, mode="hindsight", lag=20)


def episode(people, minute=0.0, co2=500.0):
    n = len(people)
    clock = Clock(minute + np.arange(n, dtype=float), np.zeros(n))
    return LabelledEpisode(np.full(n, co2) + np.arange(n), np.zeros(n), clock, np.array(people, dtype=float))


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
