"""Training of one room: what readings allow, and what the result says."""

import math

import numpy as np
import pandas as pd
import pytest
from fleet.portfolio import room_readings

import occupair as oc
from occupair.checks import Fault, find_faults
from occupair.errors import InputError
from occupair.fleet.read_room import RawReadings
from occupair.fleet.room_options import RoomOptions
from occupair.fleet.room_result import RoomResult
from occupair.fleet.train_room import TrainSettings, missing_share, plan_training, train_room
from occupair.model_file import dump_model
from occupair.readings.files import read_labelled
from occupair.readings.head_counts import WEIGHT, has_label
from occupair.room.pooled_start import POOLED

SIZE = RoomOptions(properties={"volume": 180.0, "capacity": 24.0})


def labelled(seed=0, days=4, **columns):
    return read_labelled(room_readings(seed, days).assign(**columns), needs_counts=False)


def n_counts(plan):
    return int(np.sum(has_label(plan.readings)))


def train(readings, options=None, settings=None):
    return train_room(
        RawReadings(readings, "x"), "lab", options or RoomOptions(), settings or TrainSettings()
    )


def test_plan_with_enough_head_counts():
    readings = labelled()
    plan = plan_training(readings, [], has_size=False)
    assert (plan.labelled_days, plan.basis, plan.status, plan.reason) == (4, "head counts", "trained", "")
    assert plan.readings is readings


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ({}, ""),
        ({"occupancy": 0.0}, "nobody was in the room at any head count: trained on volume and seats"),
    ],
)
def test_plan_of_a_room_without_people_counted(counts, reason):
    readings = room_readings(0, 4).drop(columns="occupancy").assign(**counts)
    plan = plan_training(read_labelled(readings, needs_counts=False), [], has_size=True)
    assert (plan.labelled_days, plan.basis, plan.reason) == (0, "no head counts", reason)
    assert plan.status == ("fallback" if reason else "trained")
    assert n_counts(plan) == 0


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({}, "^no head counts: add head counts of days with people, or give volume and capacity$"),
        (
            {"occupancy": 0.0},
            "^nobody was in the room at any head count: add head counts of days with people, or give volume",
        ),
    ],
)
def test_room_without_people_counted_and_without_size_cannot_be_trained(counts, message):
    readings = room_readings(0, 4).drop(columns="occupancy").assign(**counts)
    with pytest.raises(InputError, match=message):
        plan_training(read_labelled(readings, needs_counts=False), [], has_size=False)


@pytest.mark.parametrize(
    ("has_size", "help_"), [(False, "a start from other rooms"), (True, "volume and seats as well")]
)
def test_plan_with_few_head_counts(has_size, help_):
    readings = labelled()
    days = pd.DatetimeIndex(readings.index).normalize()
    readings["occupancy"] = readings["occupancy"].where(days < days[0] + pd.Timedelta(days=2))
    plan = plan_training(readings, [], has_size=has_size)
    assert (plan.labelled_days, plan.basis, plan.status) == (2, "few head counts", "fallback")
    few = "head counts on 2 whole days with people, 3 or more are needed"
    assert plan.reason == f"{few}: trained with {help_}"
    assert n_counts(plan) == 2 * 96


def test_plan_without_unusable_head_counts():
    faults = [Fault("unrelated", "wrong", "CO2 explains nothing."), Fault("counter_drift", "doubtful", "x")]
    readings = labelled(**{WEIGHT: 0.5})
    plan = plan_training(readings, faults, has_size=True)
    assert (plan.labelled_days, plan.basis, plan.status) == (0, "no head counts", "fallback")
    reason = "head counts are unusable (CO2 explains nothing)"
    assert plan.reason == f"{reason}: trained on volume and seats"
    assert n_counts(plan) == 0
    assert readings["occupancy"].notna().all()
    with pytest.raises(
        InputError, match=r"^head counts are unusable \(CO2 explains nothing\): correct them, or"
    ):
        plan_training(readings, faults, has_size=False)


def test_doubtful_head_counts_are_used():
    plan = plan_training(labelled(), [Fault("unrelated", "doubtful", "x")], has_size=False)
    assert plan.status == "trained"


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_plan_without_the_days_of_another_clock(zone):
    """The head counts of the second week are 8 h late."""
    readings = room_readings(94, days=12)
    late = readings["occupancy"].shift(32, fill_value=0)
    second_week = pd.DatetimeIndex(readings.index) >= readings.index[0] + pd.Timedelta(days=7)
    readings = readings.assign(occupancy=readings["occupancy"].mask(second_week, late))
    readings = read_labelled(readings.set_axis(readings.index.tz_localize(zone)))
    plan = plan_training(readings, find_faults(readings), has_size=False)
    assert (plan.basis, plan.status) == ("head counts", "fallback")
    assert plan.reason == "clocks of CO2 and head counts differ (-8.0 h) on 7 days: not used for training"
    known = np.asarray(has_label(plan.readings))
    assert known[~second_week].all()
    assert not known[second_week].any()
    assert plan.labelled_days == 5


def test_room_has_the_model_of_a_single_fit():
    readings = room_readings(3, 4)
    estimator, result = train(readings, settings=TrainSettings(seed=7))
    alone = oc.OccupancyEstimator(random_state=7).fit(read_labelled(readings))
    assert dump_model(estimator) == dump_model(alone)
    assert (result.status, result.basis, result.reason) == ("trained", "head counts", "")
    assert (result.days, result.labelled_days, result.readings) == (4, 4, 384)
    assert (result.interval, result.missing, result.ventilation) == (15.0, 0.0, True)
    assert (result.first, result.last) == ("2015-08-03", "2015-08-06")
    assert result.most_people == readings["occupancy"].max()
    assert result.error == alone.expectation_.errors[0.0]
    assert result.nrmse == pytest.approx(result.error / readings["occupancy"].std(ddof=0), rel=1e-12)
    assert result.coverage == alone.expectation_.coverage
    assert result.clock_error == alone.comparison_.profile_error
    assert result.co2_gain == pytest.approx(1 - alone.comparison_.error / result.clock_error, rel=1e-12)
    assert math.isnan(result.capacity)
    assert result.advice


def test_size_and_closed_hours_reach_the_estimator():
    options = RoomOptions(closed=("20:00-06:00",), properties=SIZE.properties)
    estimator, result = train(room_readings(3, 4), options)
    assert (estimator.volume, estimator.capacity, estimator.closed) == (180.0, 24.0, ("20:00-06:00",))
    assert (result.volume, result.capacity) == (180.0, 24.0)


def test_room_without_head_counts_is_trained_on_volume_and_seats():
    readings = room_readings(3, 4).drop(columns="occupancy")
    estimator, result = train(readings, SIZE)
    alone = oc.OccupancyEstimator(random_state=0, volume=180.0, capacity=24.0)
    assert dump_model(estimator) == dump_model(alone.fit(read_labelled(readings, needs_counts=False)))
    assert (result.status, result.basis, result.labelled_days) == ("trained", "no head counts", 0)
    assert result.trust != "good"
    assert math.isnan(result.error)
    assert math.isnan(result.nrmse)


def test_room_that_cannot_be_trained_reports_what_is_known():
    estimator, result = train(room_readings(3, 4).assign(occupancy=0))
    assert estimator is None
    assert (result.status, result.basis, result.trust, result.sensor) == ("failed", "", "none", "good")
    assert result.reason.startswith("nobody was in the room at any head count: add head counts")
    assert (result.days, result.readings, result.interval, result.first) == (4, 384, 15.0, "2015-08-03")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            RoomOptions(properties={"capacity": -3.0, "volume": 9.0}),
            "^capacity must be a number above 0, got -3",
        ),
        (RoomOptions(properties={"capacity": 3.0}), "^capacity is given without the size of the room"),
        (
            RoomOptions(properties=SIZE.properties | {"activity": "flying"}),
            "^activity must be one of sleeping",
        ),
        (
            RoomOptions(timezone="Mars/Olympus"),
            "^timezone must be a time zone name such as .* got 'Mars/Olympus'",
        ),
        (RoomOptions(timezone=3), "^timezone must be a time zone name such as .* got 3"),
        (RoomOptions(columns=(("co2", "Raum 7"),)), "^readings: has no column 'Raum 7'"),
    ],
)
def test_invalid_options_are_an_error(options, message):
    with pytest.raises(InputError, match=message):
        train(room_readings(3, 4), options)


def test_invalid_closed_hours_are_the_reason():
    _, result = train(room_readings(3, 4), RoomOptions(closed=("late",)))
    assert result.status == "failed"
    assert result.reason.startswith("closed must be")


def test_start_of_the_portfolio_is_for_rooms_with_few_head_counts():
    asked = []

    def start(interval):
        asked.append(interval)

    settings = TrainSettings(start=start)
    assert settings.start_of(plan_training(labelled(days=4), [], has_size=False)) == POOLED
    assert asked == [15.0]
    days = 7  # from Monday to Sunday, five of them with people
    assert settings.start_of(plan_training(labelled(days=days), [], has_size=False)) == POOLED
    nobody = plan_training(labelled(occupancy=0.0), [], has_size=True)
    assert settings.start_of(nobody) == POOLED
    assert asked == [15.0]


def test_missing_share_counts_days_with_readings_only():
    readings = room_readings(0, 4)
    assert missing_share(readings) == 0.0
    assert missing_share(readings.iloc[24:]) == pytest.approx(24 / 384)
    without_a_day = readings.iloc[np.r_[0:96, 192:384]]
    assert missing_share(without_a_day) == 0.0


def test_result_has_no_model_yet():
    _, result = train(room_readings(3, 4).assign(occupancy=0))
    assert result.model == RoomResult("lab", "failed").model == ""


def test_invalid_head_counts_are_left_out_if_the_size_is_known():
    negative = room_readings(3).copy()
    negative.iloc[40, negative.columns.get_loc("occupancy")] = -2
    estimator, result = train(negative, SIZE)
    without, _ = train(negative.drop(columns="occupancy"), SIZE)
    assert dump_model(estimator) == dump_model(without)
    assert (result.status, result.basis) == ("fallback", "no head counts")
    assert result.reason.startswith("head counts are unusable (readings, row 41, column occupancy: ")
    assert result.reason.endswith("): trained on volume and seats")
    with pytest.raises(InputError, match="column occupancy"):
        train(negative)


def test_invalid_co2_is_not_blamed_on_the_head_counts():
    wrong = room_readings(3).copy()
    wrong.iloc[40, wrong.columns.get_loc("co2")] = -2.0
    with pytest.raises(InputError, match="column co2"):
        train(wrong, SIZE)
