"""The drift of a sensor is followed from daily lows, live and in replays alike."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.live_rooms import LiveRooms, NextReading
from occupair.model_file import dump_model, parse_model
from occupair.readings.daily_lows import DailyLow
from occupair.room.baseline_drift import MAX_SHIFT, Baseline, DriftFollower, LowDistribution

BASELINE = Baseline(LowDistribution(420.0, 12.0), LowDistribution(420.0, 12.0))
MONDAY = 738887
MINUTES = np.arange(0.0, 1440.0, 15.0)


def follow(levels, baseline=BASELINE, hours=24):
    """The shift at the end of each day, for days with a constant CO2 [ppm]."""
    follower = DriftFollower(baseline, 15.0)
    minutes = MINUTES[-4 * hours :]
    return [
        follower.shifts(MONDAY + day, minutes, np.full(minutes.size, 420.0 + level))[-1]
        for day, level in enumerate(levels)
    ]


def test_normal_spread_of_lows_is_no_drift():
    levels = np.random.default_rng(0).normal(0, 12, 60)
    assert np.abs(follow(levels)).max() < 12


def test_single_high_low_is_ignored():
    assert np.abs(follow([0] * 10 + [60] + [0] * 5)).max() == 0


@pytest.mark.parametrize("step", [60, -60])
def test_step_is_followed_after_two_nights(step):
    shifts = follow([0] * 10 + [step] * 4)
    assert shifts[11:] == pytest.approx([step] * 3, abs=8)


def test_low_that_is_too_low_is_followed_sooner():
    rise, fall = (follow([0] * 10 + [step])[-1] for step in (60, -60))
    assert abs(fall) > 30 > abs(rise)


@pytest.mark.parametrize("sign", [1, -1])
def test_creep_of_20_ppm_a_month_is_followed(sign):
    lows = np.random.default_rng(1).normal(0, 12, 180)
    drift = sign * 20 / 30.44 * np.arange(180)
    off = np.abs(follow(lows + drift) - drift)
    assert off[:60].mean() < 12
    assert off[60:].mean() < 6


def test_drift_since_training_is_followed_on_the_first_morning():
    follower = DriftFollower(BASELINE, 15.0)
    shifts = follower.shifts(MONDAY, MINUTES, np.full(96, 540.0))
    assert (shifts[MINUTES < 360] == 0).all()
    assert shifts[MINUTES >= 360] == pytest.approx(120, abs=8)


def test_night_that_was_not_aired_is_corrected_by_a_later_low():
    co2 = np.where(MINUTES < 480, 540.0, 420.0)
    shifts = DriftFollower(BASELINE, 15.0).shifts(MONDAY, MINUTES, co2)
    assert shifts[MINUTES == 420] > 100
    assert (shifts[MINUTES >= 540] == 0).all()


def test_short_days_give_no_low():
    assert np.abs(follow([60] * 10, hours=12)).max() == 0


def test_shift_is_limited():
    assert max(follow([1000] * 5)) <= MAX_SHIFT


def test_lows_older_than_three_weeks_do_not_matter():
    follower = DriftFollower(BASELINE, 15.0)
    follower.restore([DailyLow(MONDAY, 480.0, 480.0, 96, 24), DailyLow(MONDAY + 1, 480.0, 480.0, 96, 24)])
    assert follower.copy().next_shift(MONDAY + 2, 0.0, 700.0) > 50
    assert follower.next_shift(MONDAY + 23, 0.0, 700.0) == 0


def test_without_a_baseline_nothing_is_followed():
    assert follow([120] * 5, baseline=None) == [0.0] * 5


def test_spread_is_that_of_a_normal_distribution():
    lows = np.random.default_rng(0).normal(420, 20, 2000)
    fitted = LowDistribution.fit(lows)
    assert (fitted.median, fitted.spread) == (pytest.approx(420, abs=2), pytest.approx(20, abs=1.5))


def test_too_few_complete_days_give_no_baseline():
    complete = [DailyLow(MONDAY + k, 420.0, 425.0, 96, 24) for k in range(3)]
    assert Baseline.fit(complete[:2], 5.0) is None
    assert Baseline.fit(complete, 5.0).night.median == 425
    assert Baseline.fit([one._replace(night_periods=0) for one in complete], 5.0).night is None


# ---- estimates ----


@pytest.fixture(scope="module")
def record():
    """Three weeks of a simulated office, every five minutes."""
    return oc.simulate_office(days=16, seed=5).iloc[::5]


@pytest.fixture(scope="module")
def trained(record):
    return oc.OccupancyEstimator(n_hidden=20, random_state=0).fit(record.iloc[: 8 * 288])


@pytest.fixture(scope="module")
def drifting(record):
    """Days after training, with a creep and a step, two gaps and an incomplete day."""
    days = record.iloc[8 * 288 :].copy()
    days["co2"] += np.linspace(40, 60, len(days))
    days.iloc[4 * 288 + 150 :, days.columns.get_loc("co2")] -= 90
    gaps = [*range(300, 320), *range(288 + 30, 288 + 45), *range(3 * 288 + 100, 4 * 288)]
    return days.drop(index=days.index[gaps])


def error(model, readings, true):
    return float(np.sqrt(np.mean((model.estimate(readings) - true) ** 2)))


def without_following(model):
    other = parse_model(dump_model(model))
    other.room_ = dataclasses.replace(other.room_, baseline=None)
    return other


@pytest.mark.parametrize("shift", [120.0, -120.0])
def test_error_with_drift_is_that_without(trained, record, shift):
    days = record.iloc[8 * 288 :]
    drifted = days.assign(co2=days["co2"] + shift)
    clean = error(trained, days, days["occupancy"])
    assert error(trained, drifted, days["occupancy"]) < 1.1 * clean
    assert error(without_following(trained), drifted, days["occupancy"]) > 1.5 * clean


def feed(room, readings):
    return [
        room.update(time.to_pydatetime(), co2, flow)
        for time, co2, flow in zip(readings.index, readings["co2"], readings["ventilation"], strict=True)
    ]


def test_live_equals_replay_with_drift(trained, drifting):
    table = trained.estimate(drifting, interval=0.9)
    room = trained.live()
    live = feed(room, drifting)
    for name in ("people", "low", "high"):
        np.testing.assert_allclose([getattr(one, name) for one in live], table[name], rtol=0, atol=1e-9)
    assert room.baseline_shift < -20
    assert room.fresh_copy().baseline_shift == 0
    assert room.co2_now == pytest.approx(drifting["co2"].iloc[-1], abs=30)  # as measured


def test_copied_and_restored_rooms_follow_alike(trained, drifting):
    days = [day for _, day in drifting.groupby(drifting.index.date)]
    room = trained.live()
    for day in days[:-1]:
        feed(room, day)
    last = days[-1]
    restored = room.copy()
    restored.restore(
        [time.to_pydatetime() for time in last.index[:200]],
        last["co2"].to_numpy()[:200],
        last["ventilation"].to_numpy()[:200],
    )
    expected = [one.people for one in feed(room, last)]
    assert [one.people for one in feed(restored, last.iloc[200:])] == pytest.approx(expected[200:], abs=1e-9)
    np.testing.assert_allclose(restored.people, room.people, rtol=0, atol=1e-9)


def test_batched_rooms_follow_alike(trained, drifting):
    rooms = [trained.live() for _ in range(5)]
    single, batched = trained.live(), LiveRooms(rooms)
    for k, (time, co2, flow) in enumerate(drifting[["co2", "ventilation"]].iloc[-900:].itertuples()):
        due = [NextReading(room, time.to_pydatetime(), co2 + 20 * r, flow) for r, room in enumerate(rooms)]
        apart = k % 288 > 250
        estimates = [one.room.update(*one[1:4]) for one in due] if apart else batched.update(due)
        assert estimates[0].people == pytest.approx(
            single.update(time.to_pydatetime(), co2, flow).people, abs=1e-9
        )


def test_the_future_does_not_change_the_past(trained, drifting):
    expected = trained.estimate(drifting)
    changed = drifting.copy()
    changed.iloc[1000:, changed.columns.get_loc("co2")] += 200
    np.testing.assert_array_equal(trained.estimate(changed).iloc[:1000], expected.iloc[:1000])


def test_saved_model_follows_alike(trained, drifting):
    loaded = parse_model(dump_model(trained))
    assert loaded.room_.baseline == trained.room_.baseline
    pd.testing.assert_series_equal(loaded.estimate(drifting), trained.estimate(drifting), check_exact=True)


def test_model_without_a_baseline_is_saved_without_it(trained):
    room = without_following(trained)
    assert b'"baseline"' not in dump_model(room)
    assert parse_model(dump_model(room)).room_.baseline is None
