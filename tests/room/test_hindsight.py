"""Estimates in hindsight: what they depend on, how they are trained, and models without them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.model_file import dump_model, parse_model
from occupair.room import training as room_training
from occupair.room.day_smoothing import DaySmoother
from occupair.room.hindsight import NOBODY, Hindsight, WeightedSmoother
from occupair.room.hindsight_json import hindsight_from_json, hindsight_to_json
from occupair.room.hindsight_training import MAX_SMOOTHERS, fit_hindsight
from occupair.room.inputs import Clock
from occupair.room.model_json import room_to_json
from occupair.room.open_hours import OpenHours
from occupair.room.prediction_intervals import PredictionIntervals
from occupair.room.training_days import LabelledEpisode, prepare_training_days

EARLIER = Path(__file__).parents[1] / "compatibility" / "2026-11-18"
ALWAYS_OPEN = OpenHours(np.ones((2, 1440), dtype=bool))
MEDIAN = (WeightedSmoother(DaySmoother(median=15.0), 1.0),)


def small(**changes):
    return oc.OccupancyEstimator(**({"n_hidden": 10, "random_state": 0} | changes))


def with_room(model, **changes):
    """The model with parts of its room replaced."""
    found = parse_model(dump_model(model))
    found.room_ = replace(model.room_, **changes)
    return found


def in_hindsight(model, readings):
    return model.estimate(readings, mode="hindsight", interval=0.9)


@pytest.fixture(scope="module")
def steady(trained_room):
    """The small room without a baseline: no day depends on another one."""
    return with_room(trained_room, baseline=None)


@pytest.fixture(scope="module")
def two_days(slow_office):
    return slow_office.iloc[2 * 288 :].drop(columns="occupancy")


def test_live_and_refined_estimates_are_those_without_hindsight(trained_room, two_days):
    without = with_room(trained_room, hindsight=None)
    for lag in (0, 10, 20):
        pd.testing.assert_frame_equal(
            trained_room.estimate(two_days, lag=lag, interval=0.9),
            without.estimate(two_days, lag=lag, interval=0.9),
            check_exact=True,
        )


def test_training_of_other_parts_is_the_same(slow_office, monkeypatch):
    days = slow_office.iloc[: 2 * 288]
    trained = room_to_json(small().fit(days).room_)
    monkeypatch.setattr(room_training, "fit_hindsight", lambda *arguments: (None, None))
    without = room_to_json(small().fit(days).room_)
    assert trained.pop("hindsight")
    assert trained == without


def test_estimates_depend_on_their_own_day_only(steady, two_days):
    before = in_hindsight(steady, two_days)
    louder = two_days.assign(co2=two_days["co2"].where(np.arange(576) < 288 + 150, two_days["co2"] + 300))
    after = in_hindsight(steady, louder)
    pd.testing.assert_frame_equal(after.iloc[:288], before.iloc[:288], check_exact=True)
    assert (after["people"] != before["people"]).iloc[288:438].any()  # earlier on the same day
    for day in (slice(288), slice(288, None)):
        alone = in_hindsight(steady, two_days.iloc[day])
        pd.testing.assert_frame_equal(alone, before.iloc[day], check_exact=True, check_freq=False)


def test_parts_of_a_day_with_a_gap_are_separate(steady, two_days):
    first, second = two_days.iloc[:130], two_days.iloc[150:288]
    together = in_hindsight(steady, pd.concat([first, second]))
    for part in (first, second):
        pd.testing.assert_frame_equal(
            in_hindsight(steady, part), together.loc[part.index], check_exact=True, check_freq=False
        )


def test_refined_estimates_are_smoothed_except_in_closed_hours_and_at_the_end(steady, two_days):
    day = two_days.iloc[:288]
    is_open = np.zeros((2, 1440), dtype=bool)
    is_open[:, 9 * 60 : 17 * 60] = True
    model = with_room(
        steady,
        hours=OpenHours(is_open),
        hindsight=Hindsight(MEDIAN, steady.room_.hindsight.intervals),
    )
    refined = model.estimate(day, lag=20)
    expected = refined.rolling(7, center=True).median().where(lambda people: people >= NOBODY, 0.0)
    in_hours = (day.index.hour >= 9) & (day.index.hour < 17)
    found = model.estimate(day, mode="hindsight")
    np.testing.assert_allclose(found[in_hours], expected[in_hours], atol=1e-12)
    np.testing.assert_array_equal(found[~in_hours], refined[~in_hours])
    short = day.iloc[: 12 * 12]  # ends at noon: its last 20 minutes are not smoothed
    np.testing.assert_array_equal(
        in_hindsight(model, short).iloc[-4:], model.estimate(short, lag=20, interval=0.9).iloc[-4:]
    )
    tiny = day.iloc[:3]
    pd.testing.assert_frame_equal(in_hindsight(model, tiny), model.estimate(tiny, lag=20, interval=0.9))


def training_of(people, refined, *, interval=1.0):
    """Training days with given head counts and held-out estimates; the first 20 min of a day are repeated."""
    minute = np.arange(people.shape[1]) * interval
    clock = Clock(minute, np.zeros(minute.size))
    co2 = np.full(minute.size, 500.0)
    dates = [[LabelledEpisode(co2, np.zeros(minute.size), clock, day)] for day in people]
    training = prepare_training_days(dates, interval=interval, smoothing=10.0)
    lag, every = round(20 / interval), max(round(3 / interval), 1)
    place = np.maximum(np.arange(0, minute.size, every) - lag, 0)
    return dates, training, np.concatenate([day[place] for day in refined])


def rmse(estimated, training):
    return np.sqrt(np.mean((estimated - training.target(training.lags_in_readings[-1])) ** 2))


@pytest.fixture(scope="module")
def meetings():
    """Eight days in which the count jumps every hour."""
    counts = np.random.default_rng(1).integers(0, 10, size=(8, 24)).astype(float)
    return np.repeat(counts, 60, axis=1)


def test_training_reduces_the_error_of_noisy_estimates(meetings):
    noise = np.random.default_rng(2).normal(0, 1, meetings.shape)
    dates, training, refined = training_of(meetings, np.maximum(meetings + noise, 0))
    hindsight, estimated = fit_hindsight(dates, training, refined, [ALWAYS_OPEN] * 8)
    assert rmse(estimated, training) < 0.6 * rmse(refined, training)
    assert sum(one.weight for one in hindsight.smoothers) == pytest.approx(1.0)
    assert len(hindsight.smoothers) <= MAX_SMOOTHERS
    quadratic = sum(one.weight for one in hindsight.smoothers if one.smoother.quadratic > 20)
    assert quadratic < 0.01  # it would blur the jumps


def test_exact_estimates_are_not_smoothed(meetings):
    dates, training, refined = training_of(meetings, meetings)
    _, estimated = fit_hindsight(dates, training, refined, [ALWAYS_OPEN] * 8)
    np.testing.assert_allclose(estimated, refined, atol=1e-6)


def test_late_estimates_are_recognised(meetings):
    late = np.concatenate([meetings[:, :1].repeat(5, axis=1), meetings[:, :-5]], axis=1)
    dates, training, refined = training_of(meetings, late)
    hindsight, estimated = fit_hindsight(dates, training, refined, [ALWAYS_OPEN] * 8)
    assert sum(one.weight for one in hindsight.smoothers if one.smoother.late == 5.0) > 0.99
    assert rmse(estimated, training) < 0.7 * rmse(refined, training)


def test_estimates_in_closed_hours_do_not_count(meetings):
    dates, training, refined = training_of(meetings, meetings + 1.0)
    never = OpenHours(np.zeros((2, 1440), dtype=bool))
    _, estimated = fit_hindsight(dates, training, refined, [never] * 8)
    np.testing.assert_array_equal(estimated, refined)


def test_few_people_are_nobody():
    hindsight = Hindsight(
        (WeightedSmoother(DaySmoother(quadratic=50.0), 1.0),), PredictionIntervals.unknown(9)
    )
    people = np.repeat([0.0, 9.0, 0.0], 200)
    found = hindsight.people(people, 1.0)
    assert (found[(found > 0)] >= NOBODY).all()
    assert (found[:150] == 0).all()
    np.testing.assert_array_equal(hindsight.people(np.zeros(5), 1.0), np.zeros(5))


@pytest.mark.parametrize(
    "change",
    [
        lambda readings: readings.iloc[::3],
        lambda readings: readings.drop(columns="ventilation"),
        lambda readings: readings.assign(occupancy=readings["occupancy"].where(readings.index.minute == 0)),
    ],
    ids=["every 15 min", "no ventilation", "sparse head counts"],
)
def test_intervals_contain_the_estimates_of_any_room(slow_office, change):
    readings = change(slow_office)
    model = small().fit(readings)
    table = in_hindsight(model, readings)
    assert model.lag_used(mode="hindsight") is None
    assert ((table["low"] >= 0) & (table["low"] <= table["people"])).all()
    assert (table["people"] <= table["high"]).all()
    assert table["people"].max() > 1


def test_room_without_head_counts_has_wider_intervals(slow_office):
    model = oc.OccupancyEstimator.physics(volume=502, capacity=35, n_hidden=10).fit(
        slow_office.drop(columns="occupancy")
    )
    wider = model.room_.with_wider_intervals(0.5, 0.0, 60.0)
    at = np.array([10.0])
    ends = [room.hindsight.intervals.around(at, 0.9) for room in (model.room_, wider)]
    assert ends[1][0] < ends[0][0] < at < ends[0][1] < ends[1][1]


def test_single_day_returns_the_longest_lag(slow_office, last_day):
    model = small().fit(slow_office.iloc[:288])
    assert (model.room_.hindsight, model.lag_used(mode="hindsight")) == (None, 20)
    pd.testing.assert_frame_equal(
        in_hindsight(model, last_day), model.estimate(last_day, lag=20, interval=0.9)
    )


def test_model_of_an_earlier_version_returns_the_longest_lag():
    model = oc.OccupancyEstimator.load(EARLIER / "room.occupair")
    day = oc.read_readings(EARLIER / "day.csv", timezone="Europe/Copenhagen")
    assert model.lag_used(mode="hindsight") == 20
    pd.testing.assert_frame_equal(in_hindsight(model, day), model.estimate(day, lag=20, interval=0.9))


def test_saved_model_has_the_same_hindsight(trained_room, last_day):
    loaded = parse_model(dump_model(trained_room))
    pd.testing.assert_frame_equal(
        in_hindsight(loaded, last_day), in_hindsight(trained_room, last_day), check_exact=True
    )


@pytest.mark.parametrize(
    ("smoothers", "message"),
    [
        ([], "there must be 1 to 100 smoothers, got 0"),
        ([[0, 0, 0, 0, 0.01]] * 101, "there must be 1 to 100 smoothers, got 101"),
        ([[0, 0, 0, 0, 0.5]], "weights of the smoothers must sum to 1"),
        ([[1e9, 0, 0, 0, 1]], "number out of range: 1000000000.0"),
        ([[0, -5, 0, 0, 1]], "number out of range: -5"),
        ([[0, 0, 0, 1000, 1]], "number out of range: 1000"),
    ],
)
def test_invalid_smoothers_are_rejected(trained_room, smoothers, message):
    values = json.loads(json.dumps(hindsight_to_json(trained_room.room_.hindsight)))
    with pytest.raises(ValueError, match=message):
        hindsight_from_json(values | {"smoothers": smoothers})
