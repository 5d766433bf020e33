"""Optional sensors from fit to live: kept only with a gain, live = replay, and a fallback without them."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.live_rooms import LiveRooms, NextReading
from occupair.model_file import dump_model, parse_model
from occupair.room.stuck_sensors import last_run

BASE = ["co2", "ventilation", "occupancy"]


@pytest.fixture(scope="module")
def office():
    """A simulated office whose Wi-Fi clients follow the people, and whose light is noise."""
    readings = oc.simulate_office(days=10, seed=3).iloc[::5].copy()
    rng = np.random.default_rng(0)
    readings["wifi"] = np.maximum(np.rint(0.8 * readings["occupancy"] + rng.normal(0, 0.5, len(readings))), 0)
    readings["light"] = rng.uniform(0, 500, len(readings))
    return readings


@pytest.fixture(scope="module")
def days(office):
    return office.iloc[: -2 * 288], office.iloc[-2 * 288 :]


@pytest.fixture(scope="module")
def model(days):
    return oc.OccupancyEstimator(random_state=0).fit(days[0])


@pytest.fixture(scope="module")
def co2_model(days):
    return oc.OccupancyEstimator(random_state=0).fit(days[0][BASE])


def test_informative_sensor_is_kept_and_noise_is_not(model):
    assert model.sensor_names == ("wifi",)
    by_name = {trial.name: trial for trial in model.sensor_trials_}
    assert by_name["wifi"].kept
    assert by_name["wifi"].change < -0.1
    assert not by_name["light"].kept
    assert str(by_name["wifi"]).startswith("wifi: -")
    assert str(by_name["wifi"]).endswith(" %, kept")
    assert str(by_name["light"]).endswith("not used")


def test_sensor_reduces_the_error_on_new_days(model, co2_model, days):
    _, test = days
    for lag in (0, 20):
        errors = [
            oc.metrics.rmse(test["occupancy"], one.estimate(test, lag=lag)) for one in (model, co2_model)
        ]
        assert errors[0] < 0.8 * errors[1]


def test_co2_model_is_the_same_with_and_without_sensors(model, co2_model, days):
    _, test = days
    without = test.drop(columns=["wifi", "light"])
    for lag in (0, 10, 20):
        with_sensor, alone = (one.estimate(without, lag=lag, interval=0.9) for one in (model, co2_model))
        pd.testing.assert_frame_equal(with_sensor, alone)
    assert co2_model.sensor_names == ()
    assert co2_model.sensor_trials_ == ()


def test_hindsight_smooths_estimates_that_no_sensor_corrects(model, co2_model, days):
    _, test = days
    table, refined = (
        model.estimate(test, **when, interval=0.9) for when in ({"mode": "hindsight"}, {"lag": 20})
    )
    in_use = (test.index.hour >= 10) & (test.index.hour < 16)
    pd.testing.assert_frame_equal(table[in_use], refined[in_use])
    without = test.drop(columns=["wifi", "light"])
    pd.testing.assert_frame_equal(
        *(one.estimate(without, mode="hindsight", interval=0.9) for one in (model, co2_model))
    )


def test_prediction_interval_with_sensor_covers(model, days):
    _, test = days
    table = model.estimate(test, interval=0.9)
    assert ((table["low"] <= table["people"]) & (table["people"] <= table["high"])).all()
    inside = (test["occupancy"] >= table["low"]) & (test["occupancy"] <= table["high"])
    assert inside.mean() > 0.8


def _with_holes(test):
    """Two hours without Wi-Fi on the first day, and none at all on the second from noon on."""
    test = test.copy()
    test.iloc[120:144, test.columns.get_loc("wifi")] = np.nan
    test.iloc[288 + 144 :, test.columns.get_loc("wifi")] = np.nan
    return test


def test_live_equals_replay(model, days):
    test = _with_holes(days[1])
    room, refined = model.live(), []
    live = []
    for time, row in test.iterrows():
        live.append(room.update(time, row["co2"], row["ventilation"], sensors={"wifi": row["wifi"]}))
        refined.append(room.people[-5] if len(room) > 4 else np.nan)
    table = model.estimate(test, interval=0.9)
    for name in ("people", "low", "high"):
        np.testing.assert_allclose([getattr(one, name) for one in live], table[name], atol=1e-9)
    lagged = model.estimate(test, lag=20).to_numpy()
    known = ~np.isnan(refined)
    np.testing.assert_allclose(np.array(refined)[known], np.roll(lagged, 4)[known], atol=1e-9)


def test_restored_room_continues_like_the_live_one(model, days):
    test = _with_holes(days[1]).iloc[:200]
    one, other = model.live(), model.live()
    for time, row in test.iterrows():
        newest = one.update(time, row["co2"], row["ventilation"], sensors={"wifi": row["wifi"]})
    first = test.iloc[:-1]
    arrays = [first[name].to_numpy() for name in ("co2", "ventilation", "wifi")]
    other.restore(list(first.index), arrays[0], arrays[1], {"wifi": arrays[2]})
    last = test.iloc[-1]
    again = other.copy().update(
        test.index[-1], last["co2"], last["ventilation"], sensors={"wifi": last["wifi"]}
    )
    assert again.people == pytest.approx(newest.people, abs=1e-9)
    assert again.missing_sensors == newest.missing_sensors


def test_batch_equals_single_rooms(model, co2_model, days):
    test = _with_holes(days[1]).iloc[90:160]
    estimators = [model, model, model, co2_model, model]
    singles, batched = ([one.live() for one in estimators] for _ in range(2))
    rooms = LiveRooms(batched)
    for time, row in test.iterrows():
        values = [{"wifi": row["wifi"] + k} if k else None for k in range(5)]
        due = [
            NextReading(room, time, row["co2"], row["ventilation"], sensors)
            for room, sensors in zip(batched, values, strict=True)
        ]
        expected = [
            room.update(time, row["co2"], row["ventilation"], sensors=sensors)
            for room, sensors in zip(singles, values, strict=True)
        ]
        for one, other in zip(expected, rooms.update(due), strict=True):
            assert other.people == pytest.approx(one.people, abs=1e-9)
            assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=1e-9)
            assert other.missing_sensors == one.missing_sensors


def test_missing_sensor_falls_back_to_co2_and_is_named(model, co2_model, days):
    test = days[1].iloc[:200]
    room, alone = model.live(), co2_model.live()
    for time, row in test.iterrows():
        estimate = room.update(time, row["co2"], row["ventilation"])
        expected = alone.update(time, row["co2"], row["ventilation"])
        assert estimate[:5] == expected[:5]
        assert estimate.reason == "estimated without wifi: no recent reading"
        assert expected.reason == ""


def test_absurd_sensor_value_counts_as_missing(model, co2_model, days):
    test = days[1].iloc[:150]
    room, alone = model.live(), co2_model.live()
    for time, row in test.iterrows():
        estimate = room.update(time, row["co2"], row["ventilation"], sensors={"wifi": -5.0})
        assert estimate.people == alone.update(time, row["co2"], row["ventilation"]).people


def test_saved_model_gives_the_same_estimates(model, days):
    again = parse_model(dump_model(model))
    test = _with_holes(days[1])
    pd.testing.assert_frame_equal(again.estimate(test, interval=0.9), model.estimate(test, interval=0.9))
    assert again.sensor_trials_ == model.sensor_trials_
    assert dump_model(again) == dump_model(model)


def test_file_of_a_model_without_sensors_has_no_new_keys(co2_model):
    assert b'"sensor' not in dump_model(co2_model)


def test_future_does_not_change_the_past(model, days):
    test = days[1]
    changed = test.copy()
    changed.iloc[150:, changed.columns.get_loc("wifi")] = 40.0
    before, after = model.estimate(test), model.estimate(changed)
    pd.testing.assert_series_equal(before.iloc[:150], after.iloc[:150])


FROZEN = 150
"""Reading from which on the Wi-Fi counter is stuck: 12:30 on the first test day."""
BUSY = 17.0


def _without_rules(model):
    other = parse_model(dump_model(model))
    other.sensors_ = replace(other.sensors_, stuck=())
    return other


def _frozen(test):
    """Wi-Fi clients that stay at 17 until the end of the second day, but for its last three hours."""
    values = test["wifi"].to_numpy().copy()
    values[FROZEN:-36] = BUSY
    return test.assign(wifi=values)


def _detected(model):
    """The first reading at which the counter is stuck: more than the limit after the first at 17."""
    (rule,) = model.sensors_.stuck
    assert BUSY not in rule.rest
    return FROZEN + int(rule.limit // 5) + 1


def test_stuck_sensor_is_missing_from_its_detection_on(model, co2_model, days):
    test, first = _frozen(days[1]), _detected(model)
    assert first < 288  # detected on the first day, and not used on the second one either
    ignorant = _without_rules(model)
    for lag in (0, 10, 20):
        found, alone, fooled = (
            one.estimate(test, lag=lag, interval=0.9) for one in (model, co2_model, ignorant)
        )
        seen = first - lag // 5  # estimated at the first stuck reading
        pd.testing.assert_frame_equal(found.iloc[:seen], fooled.iloc[:seen])
        pd.testing.assert_frame_equal(found.iloc[seen:-36], alone.iloc[seen:-36])
    assert not np.allclose(fooled["people"].iloc[first:-36], alone["people"].iloc[first:-36], atol=1.0)


def test_live_equals_replay_with_a_stuck_sensor(model, days):
    test, first = _frozen(days[1]), _detected(model)
    room, live = model.live(), []
    for time, row in test.iterrows():
        live.append(room.update(time, row["co2"], row["ventilation"], sensors={"wifi": row["wifi"]}))
    table = model.estimate(test, interval=0.9)
    for name in ("people", "low", "high"):
        np.testing.assert_allclose([getattr(one, name) for one in live], table[name], atol=1e-9)
    stuck = [k for k, one in enumerate(live) if one.stuck_sensors]
    assert stuck == list(range(first, len(test) - 36))
    assert {live[k].reason for k in stuck} == {"estimated without wifi: wifi unchanged for too long"}
    assert live[-36].reason == "estimated without wifi: no recent reading"  # its features cover stuck values
    assert live[-36 + 7].reason == ""  # 35 min later


@pytest.mark.parametrize("stop", [FROZEN + 10, 280, 300, 500])
def test_restored_room_knows_a_stuck_sensor(model, days, stop):
    """Restored at any time of the first or second day, with the run at midnight."""
    test = _frozen(days[1])
    one, other = model.live(), model.live()
    live = [
        one.update(t, r["co2"], r["ventilation"], sensors={"wifi": r["wifi"]}) for t, r in test.iterrows()
    ]
    start = 288 * (stop > 288)
    other.restore_runs({"wifi": last_run(test["wifi"].to_numpy()[:start])})
    part = test.iloc[start:stop]
    arrays = [part[name].to_numpy() for name in ("co2", "ventilation", "wifi")]
    other.restore(list(part.index), arrays[0], arrays[1], {"wifi": arrays[2]})
    for expected, (time, row) in zip(live[stop:], test.iloc[stop:].iterrows(), strict=True):
        again = other.update(time, row["co2"], row["ventilation"], sensors={"wifi": row["wifi"]})
        assert again.people == pytest.approx(expected.people, abs=1e-9)
        assert again.reason == expected.reason


def test_stuck_sensor_does_not_change_the_past(model, days):
    test = _frozen(days[1])
    whole = model.estimate(test)
    for stop in (FROZEN, _detected(model), _detected(model) + 1, 400):
        pd.testing.assert_series_equal(model.estimate(test.iloc[:stop]), whole.iloc[:stop])


def test_resting_sensor_is_not_stuck(model, days):
    test = days[1].assign(wifi=0.0)
    room = model.live()
    for time, row in test.iterrows():
        assert room.update(time, row["co2"], row["ventilation"], sensors={"wifi": 0.0}).reason == ""


def test_stuck_stretch_is_not_trained_on(office):
    stuck, missing = office.iloc[::3].copy(), office.iloc[::3].copy()  # every 15 min
    column = office.columns.get_loc("wifi")
    stuck.iloc[233:365, column] = BUSY  # 33 h
    missing.iloc[233:365, column] = np.nan
    models = [oc.OccupancyEstimator(random_state=0).fit(one) for one in (stuck, missing)]
    assert models[0].sensor_names == ("wifi",)
    files = [json.loads(dump_model(one))["model"] for one in models]
    assert files[0]["sensors"] == files[1]["sensors"]
    assert files[0]["sensor_trials"] == files[1]["sensor_trials"]


def test_model_without_rules_takes_every_value(model, days):
    """Models of earlier versions: no sensor is ever stuck."""
    earlier = _without_rules(model)
    assert "stuck" not in json.loads(dump_model(earlier))["model"]["sensors"]
    again, test = parse_model(dump_model(earlier)), _frozen(days[1])
    room = again.live()
    live = [
        room.update(t, r["co2"], r["ventilation"], sensors={"wifi": r["wifi"]}) for t, r in test.iterrows()
    ]
    assert {one.reason for one in live} == {""}
    np.testing.assert_allclose([one.people for one in live], again.estimate(test), atol=1e-9)


def test_few_days_do_not_try_sensors(office):
    estimator = oc.OccupancyEstimator(random_state=0).fit(office.iloc[: 3 * 288])
    assert estimator.sensor_names == ()
    assert [str(trial) for trial in estimator.sensor_trials_] == [
        "light: too few readings or labelled days, not used",
        "wifi: too few readings or labelled days, not used",
    ]


def test_sensor_of_a_room_without_people_is_not_tried(office):
    """Nobody was ever counted, between 08:00 and 22:00 on ten days; what helps are the other hours."""
    empty = office.iloc[::6, office.columns != "light"]  # every 30 min
    empty = empty.assign(occupancy=np.where(empty.index.hour // 2 % 11 >= 4, 0.0, np.nan))
    with pytest.warns(UserWarning, match="the room is empty at every head count"):
        estimator = oc.OccupancyEstimator(n_hidden=10, random_state=0).fit(empty)
    assert [str(trial) for trial in estimator.sensor_trials_] == [
        "wifi: too few readings or labelled days, not used"
    ]
    assert estimator.expectation_.advice == "head counts between 00:00 and 08:00, where there are none"


def test_upper_end_with_sensors_equals_replay(model, days):
    test = days[1].iloc[96:200]
    room, highs = model.live(), []
    for time, co2, ventilation, wifi in test[["co2", "ventilation", "wifi"]].itertuples():
        room.update(time, co2, ventilation, sensors={"wifi": wifi})
        highs.append(room.upper_end(0.6))
    np.testing.assert_allclose(highs, model.estimate(test, interval=0.6)["high"], rtol=0, atol=1e-9)


def test_sensor_of_some_days_only_is_tried_on_those(office):
    """A sensor that was installed late: usable on six of ten days, and the others fall back to CO2."""
    late = office.iloc[::3].copy()  # every 15 min
    late.iloc[: 4 * 96, late.columns.get_loc("wifi")] = np.nan
    late.iloc[: 8 * 96, late.columns.get_loc("light")] = np.nan
    estimator = oc.OccupancyEstimator(random_state=0).fit(late)
    assert estimator.sensor_names == ("wifi",)
    (light,) = [trial for trial in estimator.sensor_trials_ if trial.name == "light"]
    assert light.change is None
    alone = oc.OccupancyEstimator(random_state=0).fit(late[BASE])
    first = late.iloc[: 4 * 96]
    pd.testing.assert_series_equal(estimator.estimate(first), alone.estimate(first))


def test_sparse_weighted_head_counts(office):
    office = office.iloc[::3]  # every 15 min
    known = (office.index.hour % 2 == 0) & (office.index.minute < 30)
    weight = np.where(office.index.hour >= 14, 0.5, 1.0)
    sparse = office.assign(occupancy=office["occupancy"].where(known), occupancy_weight=weight)
    estimator = oc.OccupancyEstimator(random_state=0).fit(sparse)
    assert estimator.sensor_names == ("wifi",)
    table = estimator.estimate(office, interval=0.9)
    assert ((table["low"] <= table["people"]) & (table["people"] <= table["high"])).all()
