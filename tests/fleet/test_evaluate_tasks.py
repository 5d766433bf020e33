"""Scores of rooms on readings with head counts."""

import math

import numpy as np
import pytest
from fleet.portfolio import room_readings
from fleet.trained_rooms import model_of_room, write_model

from occupair import metrics
from occupair.fleet import evaluate_tasks
from occupair.fleet.evaluate_tasks import EvaluateSettings, evaluate_rooms
from occupair.fleet.room_options import RoomOptions
from occupair.fleet.room_sources import Part, RoomSource
from occupair.readings.files import write_readings


def evaluate(folder, readings, room="lab", lag=0.0, options=None):
    """Write the readings of a room and return its scores."""
    write_readings(readings, folder / f"{room}.parquet")
    source = RoomSource(room, (Part(str(folder / f"{room}.parquet")),), options or RoomOptions())
    report = evaluate_rooms((source,), EvaluateSettings(str(folder), lag))
    (result,) = report.results
    return result


@pytest.fixture
def estimator(tmp_path):
    return write_model(tmp_path, "lab", model_of_room(3))


@pytest.mark.parametrize("lag", [0.0, 20.0])
def test_scores_are_those_of_the_metrics(tmp_path, estimator, lag):
    readings = room_readings(4, 4)
    found = evaluate(tmp_path, readings, lag=lag)
    table = estimator.estimate(readings, lag=lag, interval=0.9)
    truth, people = readings["occupancy"].to_numpy(), table["people"].to_numpy()
    whole = np.rint(people)
    expected = {
        "rmse": metrics.rmse(truth, people),
        "nrmse": math.sqrt(np.mean((people - truth) ** 2)) / np.std(truth),
        "bias": np.mean(people - truth),
        "coverage": np.mean((table["low"] <= truth) & (truth <= table["high"])),
        "fpr": metrics.false_positive_rate(truth, whole),
        "fnr": metrics.false_negative_rate(truth, whole),
        "fdr": metrics.false_detection_rate(truth, whole),
        "within_1": np.mean(np.abs(whole - truth) <= 1),
        "within_2": np.mean(np.abs(whole - truth) <= 2),
        "within_4": np.mean(np.abs(whole - truth) <= 4),
    }
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, abs=1e-9), name
    assert (found.room, found.status, found.reason) == ("lab", "evaluated", "")
    assert (found.readings, found.days, found.days_trained_on) == (384, 4, 0)


def test_only_readings_with_a_head_count_are_scored(tmp_path, estimator):
    readings = room_readings(4, 4)
    counted = np.arange(len(readings)) % 4 == 0
    sparse = readings.assign(occupancy=readings["occupancy"].where(counted))
    found = evaluate(tmp_path, sparse)
    people = estimator.estimate(readings)[counted]
    assert found.readings == 96
    assert found.rmse == pytest.approx(metrics.rmse(readings["occupancy"][counted], people), abs=1e-9)


def test_days_of_training_are_counted(tmp_path, estimator):
    readings = room_readings(3, days=4)
    assert evaluate(tmp_path, readings).days_trained_on == 4
    assert evaluate(tmp_path, readings.iloc[96:]).days_trained_on == 3


def test_rates_that_are_undefined_are_nan(tmp_path, estimator):
    found = evaluate(tmp_path, room_readings(4, 4).assign(occupancy=0.0))
    assert found.status == "evaluated"
    assert math.isnan(found.nrmse)
    assert math.isnan(found.fnr)
    assert 0 <= found.fpr <= 1


def test_failed_rooms_are_rows_with_a_reason(tmp_path, estimator, monkeypatch):
    without_model = evaluate(tmp_path, room_readings(4, 4), "hall")
    assert without_model.status == "failed"
    assert without_model.reason == "has no model: see the reason in rooms.parquet of the models"
    uncounted = evaluate(tmp_path, room_readings(4, 4).drop(columns="occupancy"))
    assert uncounted.reason.startswith("lab.parquet: has no column 'occupancy', only")
    problem = evaluate(tmp_path, room_readings(4, 4), options=RoomOptions(problem="rooms.csv: is wrong"))
    assert (problem.reason, problem.readings) == ("rooms.csv: is wrong", 0)

    def fail(*args):
        raise KeyError("x")

    monkeypatch.setattr(evaluate_tasks, "model_of", fail)
    unexpected = evaluate(tmp_path, room_readings(4, 4))
    assert unexpected.reason == "unexpected error, please report it: KeyError: 'x'"


def test_one_failed_room_does_not_end_the_others(tmp_path, estimator):
    write_readings(room_readings(4, 4), tmp_path / "lab.parquet")
    sources = [RoomSource("none", ()), RoomSource("lab", (Part(str(tmp_path / "lab.parquet")),))]
    report = evaluate_rooms(tuple(sources), EvaluateSettings(str(tmp_path)))
    assert [one.status for one in report.results] == ["failed", "evaluated"]
    assert report.n_unchanged == 0
    assert report.megabytes > 0
