"""Training on few labelled days, with models that record their training data."""

import math

import numpy as np
import pandas as pd
import pytest

from occupair.baselines import MeanBaseline
from occupair.benchmark.few_labelled_days import average_nrmse, day_blocks, few_days, make_ours, tasks_of
from occupair.benchmark.methods import Method
from occupair.estimator import OccupancyEstimator
from occupair.folds import split_days


class Recording:
    """Estimates the mean head count of its training days and records its training and test days."""

    made: list["Recording"]

    def __init__(self, room, others):
        self.others = list(others)
        type(self).made.append(self)

    def fit(self, readings):
        self.room, self.days = readings["co2"].iloc[0], days_of(readings)
        self.people = readings["occupancy"].mean()
        return self

    def estimate(self, readings, *, lag):
        assert "occupancy" not in readings
        self.tested = days_of(readings)
        return pd.Series(self.people, index=readings.index)


@pytest.fixture
def recording():
    Recording.made = []
    return Recording


def days_of(readings):
    return set(readings.index.normalize())


def a_room(number, n_days=18, **columns):
    """A room identified by its CO2: two readings a day, i people on day i."""
    times = pd.date_range("2024-01-08", periods=2 * n_days, freq="12h")
    people = np.repeat(np.arange(n_days, dtype=float), 2)
    return pd.DataFrame({"co2": float(number), **columns, "occupancy": people}, index=times)


BASELINE = Method(MeanBaseline, is_baseline=True)
LAGS = (0, 720)  # [min], the time between these readings


def test_blocks_have_evenly_spaced_starts():
    train = a_room(400, 12)
    first = [sorted(days_of(block))[0].day - 8 for block in day_blocks(train, 3)]
    assert first == [0, 3, 6, 9]
    assert all(len(days_of(block)) == 3 for block in day_blocks(train, 3))
    assert [sorted(set(block["occupancy"])) for block in day_blocks(train, 11)] == [
        list(range(11)),
        list(range(1, 12)),
    ]
    assert len(day_blocks(train, 12)) == 1
    assert day_blocks(train, 13) == []


def test_held_out_days_are_not_trained_on(recording):
    rooms = {"one": a_room(401, 18), "two": a_room(402, 9)}
    few_days(rooms, make=recording, baseline=BASELINE, lags=LAGS)
    tested = [model for model in recording.made if hasattr(model, "tested")]
    # one: 12 training days in each fold, so 4 + 4 + 3 blocks and all; two: 6, so 4 + 2 and all; each twice
    assert len(tested) == 2 * 3 * (4 + 4 + 3 + 1) + 2 * 3 * (4 + 2 + 1)
    for model in tested:
        assert not model.days & model.tested
    for task in tasks_of("one", rooms["one"]):
        assert len(days_of(task.train)) == (12 if task.days == "all" else int(task.days))


def test_transfer_excludes_the_room_itself(recording):
    rooms = {name: a_room(number, 6) for name, number in (("one", 401), ("two", 402), ("three", 403))}
    result = few_days(rooms, make=recording, baseline=BASELINE, lags=LAGS)
    assert result.sources == {"one": ["two", "three"], "two": ["one", "three"], "three": ["one", "two"]}
    started = [model for model in recording.made if model.others]
    assert len(started) == 3 * 3 * (2 + 1)  # rooms, folds, blocks of 3 of 4 days and all
    for model in started:
        assert {other.room for other in model.others} == {401, 402, 403} - {model.room}
        assert all(len(other.days) == 6 and not other.others for other in model.others)


def test_transfer_excludes_rooms_with_other_columns(recording):
    rooms = {"one": a_room(401, 6, ventilation=1.0), "two": a_room(402, 6), "three": a_room(403, 6)}
    result = few_days(rooms, make=recording, baseline=BASELINE, lags=LAGS)
    assert result.sources == {"one": [], "two": ["three"], "three": ["two"]}
    assert result.not_mixed == {"one": ["two", "three"], "two": ["one"], "three": ["one"]}
    assert result.nrmse["with other rooms"].xs("one").isna().all()
    assert result.nrmse.xs("two").notna().all(axis=None)
    assert average_nrmse(result.nrmse)["rooms"].tolist() == [2, 2, 2, 2]


def test_nrmse_is_relative_to_the_mean_of_all_training_days(recording):
    """Calculated by hand for a room with people on the training days of two of three folds.

    Days 0 to 2 with 0, 0 and 4 people; blocks of one day. Fold 0 tests day 0 (empty), trained on day 2
    only: error 4, reference error 2; day 1 is skipped. Fold 1 is the same. Fold 2 tests day 2 (4 people);
    both of its blocks are skipped, as is training on all days.
    """
    people = np.repeat([0.0, 0, 4], 2)
    room = a_room(401, 3).assign(occupancy=people)
    result = few_days({"one": room}, make=recording, baseline=BASELINE, days=[1], lags=[0])
    assert result.runs.to_dict("index") == {
        ("one", "1"): {"run": 2, "skipped": 4},
        ("one", "all"): {"run": 2, "skipped": 1},
    }
    assert result.nrmse["alone"].to_dict() == {("one", "1", 0.0): 2.0, ("one", "all", 0.0): 1.0}
    assert result.nrmse["mass-balance"].tolist() == result.nrmse["alone"].tolist()


def test_squared_errors_of_blocks_are_pooled(recording):
    """Calculated by hand for days with 0, 1 and 3 people and blocks of one day.

    Fold 0 tests 0, trained on 1 and on 3, mean 2. Fold 1 tests 1, trained on 3, mean 1.5. Fold 2 tests 3,
    trained on 1, mean 0.5. Training on the empty day is skipped.
    """
    room = a_room(401, 3).assign(occupancy=np.repeat([0.0, 1, 3], 2))
    result = few_days({"one": room}, make=recording, baseline=BASELINE, days=[1], lags=[0])
    squares, reference = 1 + 9 + 4 + 4, 4 + 4 + 0.25 + 6.25
    assert result.nrmse["alone"].iloc[0] == pytest.approx(math.sqrt(squares / reference))


def test_empty_room_has_no_nrmse(recording):
    room = a_room(401, 6).assign(occupancy=0.0)
    result = few_days({"one": room}, make=recording, baseline=BASELINE)
    assert result.runs["run"].sum() == 0
    assert result.nrmse.isna().all(axis=None)


def test_mean_is_over_rooms_with_all_three_values():
    index = pd.MultiIndex.from_product([["a", "b"], ["3"], [0.0]], names=["room", "days", "lag"])
    table = pd.DataFrame({"mass-balance": [0.5, 0.7], "alone": [0.4, 0.6], "x": [0.3, math.nan]}, index=index)
    assert average_nrmse(table).to_dict("records") == [
        {"mass-balance": 0.5, "alone": 0.4, "x": 0.3, "rooms": 1}
    ]


def test_default_model_starts_from_the_other_rooms(slow_office):
    alone = make_ours("office", [])
    assert alone.start == "pooled"
    other = alone.fit(slow_office)
    started = make_ours("office", [other])
    assert isinstance(started, OccupancyEstimator)
    assert started.start.n_rooms == 1
    assert started.random_state == alone.random_state == 0


def test_training_on_all_days_agrees_with_the_benchmark(rooms, cheap):
    """Training on all days of the folds gives the baseline's score in the benchmark."""
    from occupair.benchmark.run_benchmark import run_benchmark

    room = {"one": rooms["one"]}
    few = few_days(
        room,
        make=lambda room, others: Fixed(),
        baseline=cheap["ours"],
        days=[len(split_days(rooms["one"]))],
        lags=[20],
    )
    scores = run_benchmark(room, {"ours": cheap["ours"]}, [20]).scores["nrmse"]
    assert few.nrmse["mass-balance"].loc[("one", "all", 20.0)] == pytest.approx(scores.iloc[0], rel=1e-12)


class Fixed:
    def fit(self, readings):
        return self

    def estimate(self, readings, *, lag):
        return pd.Series(0.0, index=readings.index)
