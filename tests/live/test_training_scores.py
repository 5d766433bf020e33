"""Scores of a new model and of the model in use: cross-validation over days, and the evidence behind it."""

import datetime as dt
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.live.training_process import train
from occupair.live.training_scores import LabelledRoom, ModelInUse, score_models

LONG_AGO = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
MONDAY = pd.Timestamp("2024-01-08", tz="Europe/Copenhagen")
COUNTED = (9, 12, 15)  # hours of the head counts


def room_with(*people_by_day):
    """Return a room with hourly readings and the same head count three times a day, entered at once."""
    times = pd.date_range(MONDAY, periods=24 * len(people_by_day), freq="h")
    labels = pd.Series(np.repeat(np.array(people_by_day, dtype=float), 24), times)
    labels = labels[np.isin(times.hour, COUNTED)]
    readings = pd.DataFrame({"co2": 400.0}, times).assign(occupancy=labels.reindex(times))
    return LabelledRoom(readings, labels, pd.Series(labels.index.tz_convert("UTC"), labels.index))


class MeanModel:
    """A model that estimates the mean of its training labels, and records the days it has seen."""

    def __init__(self, log):
        self.log = log

    def fit(self, readings):
        known = readings["occupancy"].dropna()
        self.mean = known.mean()
        self.trained = set(known.index.date)
        return self

    def estimate(self, readings):
        assert "occupancy" not in readings
        self.log.append((self.trained, set(readings.index.date)))
        return pd.Series(self.mean, readings.index)


def constant(people):
    return SimpleNamespace(estimate=lambda readings: pd.Series(float(people), readings.index))


def score(room, in_use=None, log=None):
    log = [] if log is None else log
    return score_models(room, lambda: MeanModel(log), in_use)


def test_every_labelled_day_is_held_out_once():
    log = []
    room = room_with(*range(1, 13))
    scores = score(room, log=log)
    held_out = [day for _, days in log for day in days]
    assert sorted(held_out) == sorted(set(room.labels.index.date))
    assert all(not trained & days and len(trained | days) == 12 for trained, days in log)
    assert len(log) == 5
    # Day k is held out in fold k modulo 5 and estimated by the mean of the days of the other folds.
    people = np.arange(1.0, 13.0)
    fold = np.arange(12) % 5
    errors = [people[k] - people[fold != fold[k]].mean() for k in range(12)]
    assert scores.new.rmse == pytest.approx(np.sqrt(np.mean(np.square(errors))))
    assert scores.new[1:] == (36, 12, 12, True, scores.new.rmse)
    assert str(scores) == f"RMSE {scores.new.rmse:.2f} people, cross-validated on 12 days with 36 head counts"


def test_every_training_has_days_with_people():
    """People on every fifth day, as if on Mondays only: those days must not share a fold."""
    log = []
    days = [4 if k % 5 == 0 else 0 for k in range(15)]
    score(room_with(*days), log=log)
    occupied = {(MONDAY + pd.Timedelta(days=k)).date() for k in (0, 5, 10)}
    assert all(trained & occupied for trained, _ in log)
    assert sorted(len(days & occupied) for _, days in log) == [0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("days", "counted"), [((0,) * 6, "0 days"), ((0, 0, 7, 0, 0), "1 day"), ((5, 5, 0, 0), "2 days")]
)
def test_no_score_without_days_with_people(days, counted):
    log = []
    scores = score(room_with(*days), ModelInUse(constant(3), LONG_AGO, True), log)
    assert scores.new.rmse is scores.old.rmse is scores.new_on_same_days.rmse is scores.better is None
    assert (scores.new.labels, scores.new.days) == (3 * len(days), len(days))
    assert str(scores) == f"no score: people were counted on {counted}, a score needs 3"
    assert [days for trained, days in log if trained] == []  # nothing was cross-validated


def test_empty_days_do_not_hide_the_error_with_people():
    scores = score(room_with(0, 2, 0, 4, 0, 6, 0, 0))
    days = np.array([2.0, 4.0, 6.0, 0, 0, 0, 0, 0])  # those with people first, each in a fold of its own
    fold = np.arange(8) % 5
    errors = np.array([days[k] - days[fold != fold[k]].mean() for k in range(8)])
    assert scores.new.rmse == pytest.approx(np.sqrt(np.mean(errors**2)))
    assert scores.new.occupied_rmse == pytest.approx(np.sqrt(np.mean(errors[:3] ** 2)))
    assert str(scores).endswith(f" 24 head counts, {scores.new.occupied_rmse:.2f} on the 3 days with people")


def test_better_model_is_named():
    room = room_with(4, 4, 4, 4, 0, 0)  # the mean model is off by 4 on the empty days, by 1 or less on others
    worse = score(room, ModelInUse(constant(9), LONG_AGO, True))
    assert worse.better == "new"
    assert worse.old.rmse == pytest.approx(np.sqrt((4 * 25 + 2 * 81) / 6))
    assert worse.new_on_same_days == worse.new
    assert "; the current model has 6.61 on these days, the new one " in str(worse)
    assert score(room_with(4, 5, 4, 5, 4, 5), ModelInUse(constant(4.5), LONG_AGO, True)).better == "old"


def test_model_is_not_better_for_empty_days_alone():
    """The model in use is right with people and off by 1 in the empty room; the other is the reverse."""
    days = [4, 0, 0] * 4
    room = room_with(*days)
    truth = {(MONDAY + pd.Timedelta(days=k)).date(): people for k, people in enumerate(days)}

    def by_day(with_people, empty):
        def estimate(readings):
            people = [with_people if truth[day] else empty for day in readings.index.date]
            return pd.Series(np.array(people, dtype=float), readings.index)

        return SimpleNamespace(fit=lambda readings: by_day(with_people, empty), estimate=estimate)

    for new, old in (((3.5, 0), (4, 1)), ((4, 1), (3.5, 0))):
        scores = score_models(room, lambda new=new: by_day(*new), ModelInUse(by_day(*old), LONG_AGO, True))
        assert scores.better is None
    assert min(scores.new.rmse, scores.old.rmse) < 0.5 < max(scores.new.rmse, scores.old.rmse)


def test_difference_within_chance_names_no_better_model():
    room = room_with(4, 6, 4, 6, 4, 6)
    scores = score(room, ModelInUse(constant(4.3), LONG_AGO, True))  # better on three days, worse on three
    assert 0 < scores.old.rmse - scores.new.rmse < 0.3
    assert scores.better is None


def test_model_in_use_is_scored_on_days_entered_after_it():
    room = room_with(*range(1, 9))
    created = (MONDAY + pd.Timedelta(days=4)).to_pydatetime()
    scores = score(room, ModelInUse(constant(20), created, trained_here=True))
    assert (scores.old.days, scores.old.labels, scores.new.days) == (4, 12, 8)
    assert scores.old.rmse == pytest.approx(np.sqrt(np.mean((20 - np.arange(5.0, 9.0)) ** 2)))
    assert scores.new_on_same_days.days == 4
    assert scores.better == "new"
    assert "the current model has 13.55 on 4 of these days, the new one" in str(scores)
    late = dt.datetime(2024, 2, 1, tzinfo=dt.UTC)
    seen = score(room, ModelInUse(constant(20), late, trained_here=True))
    assert seen.old is seen.new_on_same_days is seen.better is None


def test_day_with_a_label_entered_before_the_model_counts_as_seen():
    room = room_with(*range(1, 9))
    created = (MONDAY + pd.Timedelta(days=3, hours=10)).to_pydatetime()  # after the first head count of a day
    assert score(room, ModelInUse(constant(2), created, True)).old.days == 4


@pytest.mark.parametrize(("trained_here", "better"), [(True, "old"), (False, None)])
def test_model_from_a_file_may_know_days_before_it(trained_here, better):
    """Labels of recorded days, entered after the file was added, which may be trained on the same days."""
    room = room_with(4, 5, 4, 5, 4, 5)
    created = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
    later = room._replace(entered=room.entered + pd.Timedelta(days=1000))
    scores = score(later, ModelInUse(constant(4.5), created, trained_here))
    assert (scores.old.independent, scores.better) == (trained_here, better)


def test_label_after_midnight_belongs_to_the_day_of_its_reading():
    room = room_with(*range(1, 9))
    at = MONDAY + pd.Timedelta(days=4)
    readings = room.readings.drop(index=at)  # the last one before is at 23:00
    labels = pd.concat([room.labels, pd.Series({at: 4.0})]).sort_index()
    scores = score(LabelledRoom(readings, labels, pd.Series(labels.index, labels.index)))
    assert (scores.new.labels, scores.new.days) == (25, 8)
    assert np.isfinite(scores.new.rmse)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [5, 21])
def test_score_predicts_the_error_on_new_days(seed):
    """Eight working days and an empty Saturday: the score must not rest on the Saturday."""
    per_day = 96
    office = oc.simulate_office(days=14, seed=seed).iloc[::15].tz_localize("UTC")
    empty = office["co2"].iloc[:per_day].min() + np.random.default_rng(0).normal(0, 3, per_day)
    saturday = slice(8 * per_day, 9 * per_day)
    office.iloc[saturday, office.columns.get_loc("co2")] = empty
    office.iloc[saturday, office.columns.get_loc("occupancy")] = 0
    rng = np.random.default_rng(seed)
    places = [day * per_day + rng.choice(np.arange(32, 80), 12, replace=False) for day in range(9)]
    labels = office["occupancy"].iloc[np.sort(np.concatenate(places))].astype(float)
    known = office.iloc[: 9 * per_day].assign(occupancy=labels.reindex(office.index[: 9 * per_day]))
    trained = train(LabelledRoom(known, labels, pd.Series(labels.index, labels.index)))
    new_days = office.iloc[9 * per_day :]
    model = oc.model_file.parse_model(trained.model)
    in_hours = new_days.between_time("08:00", "20:00").index
    errors = (model.estimate(new_days.drop(columns="occupancy")) - new_days["occupancy"])[in_hours]
    assert trained.scores.new.days == 9
    assert 0.6 < trained.scores.new.rmse / np.sqrt(np.mean(errors**2)) < 1.7
