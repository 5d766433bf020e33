"""Clear evidence of people in closed hours."""

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from dense import RoomReference
from occupair.live_rooms import LiveRooms, NextReading
from occupair.room.evidence import ClearEvidence, fit_thresholds, has_fallen, pair_minimum
from occupair.room.inputs import Clock, Inputs
from occupair.room.mass_balance import Balance, BalanceVariant, BaseLevel
from occupair.room.open_hours import OpenHours


def inputs(windows, *, lowest=400.0, ventilation=0.0, minute=1200.0):
    """Inputs with given windows of CO2, oldest first, one reading per minute."""
    co2 = np.atleast_2d(np.asarray(windows, dtype=float))[:, ::-1]
    n = len(co2)
    clock = Clock(np.full(n, minute), np.zeros(n))
    return Inputs(co2, np.full(co2.shape, ventilation), np.full(n, lowest), clock, 1.0)


FLAT = np.full(81, 600.0)
RISING = np.linspace(500.0, 600.0, 81)


def test_pairs_of_successive_lags():
    balance = np.array([[1.0, 9.0], [5.0, 4.0], [7.0, 6.0]])
    assert pair_minimum(balance).tolist() == [[1.0, 4.0], [5.0, 4.0]]
    assert pair_minimum(balance[:1]).tolist() == [[1.0, 9.0]]


def test_both_lags_of_a_pair_must_exceed_the_threshold():
    evidence = ClearEvidence([(4.0, 5.0)], 3)
    balance = np.array([[9.0, 9.0, 3.0], [9.0, 3.0, 9.0], [1.0, 9.0, 9.0]])
    found = evidence.at_lags(balance, inputs([FLAT] * 3))
    assert found.tolist() == [[True, False, False], [True, False, True], [False, False, True]]


def test_only_lag_of_a_room_must_exceed_the_threshold():
    found = ClearEvidence([(4.0,)], 1).at_lags(np.array([[3.0, 5.0]]), inputs([FLAT] * 2))
    assert found.tolist() == [[False, True]]


def test_rooms_without_thresholds_have_no_evidence():
    evidence = ClearEvidence([None, (2.0, 2.0)], 3)
    found = evidence.at_lags(np.full((3, 2), 50.0), inputs([FLAT, FLAT]), np.array([0, 1]))
    assert found.tolist() == [[False, True]] * 3


@pytest.mark.parametrize(
    ("window", "ventilation", "fallen"),
    [
        (FLAT, 0.0, False),
        (RISING, 0.0, False),
        (600 - np.arange(81) * 0.2, 0.0, False),  # 8 of 192 ppm in 40 min: 4 %, and below 10 ppm
        (600 - np.arange(81) * 0.5, 0.0, True),  # 20 of 180 ppm in 40 min: 11 %
        (600 - np.arange(81) * 0.5, 1.0, False),  # with ventilation up to 35 %
        (np.append(600 - np.arange(71) * 0.5, 565 + np.arange(1, 11)), 0.0, False),  # rises again
        (np.append(np.full(10, 600.0), np.full(71, 500.0)), 1.0, True),  # half of its height at once
        (np.append(np.full(10, 430.0), np.full(71, 400.0)), 1.0, False),  # 30 ppm: somebody passed
    ],
)
def test_falling_co2(window, ventilation, fallen):
    assert has_fallen(inputs(window, ventilation=ventilation)).tolist() == [fallen]
    found = ClearEvidence([(2.0, 2.0)], 3).at_lags(
        np.full((3, 1), 9.0), inputs(window, ventilation=ventilation)
    )
    assert found.tolist() == [[not fallen]] * 3


def constant_balance(people):
    base = BaseLevel(400.0, 400.0, 400.0)
    coef = np.array([0.0, 0.0, people, 0.0, 0.0, 0.0])  # people per 100 ppm
    return Balance(base, (BalanceVariant(0.0, 0.0, 0, coef, 1.0),))


def test_thresholds_by_hand():
    """One person per 100 ppm: 0, 1 and 3 people in the closed hours of three days."""
    days = [inputs([np.full(81, 400.0 + 100 * n)], minute=1200.0) for n in (0, 1, 3)]
    busy = inputs([np.full(81, 5000.0)], minute=720.0)
    early = inputs([np.full(81, 5000.0)], minute=10.0)
    is_open = np.zeros((2, 1440), dtype=bool)
    is_open[:, 480:1080] = True
    balances = [constant_balance(1.0)] * 3
    folds = [(balances, [days[0], busy]), (balances, [days[1], early, days[2]])]
    # highest 3, median 1: 3 + (0.5 + 3 / 3) (3 - 1)
    assert fit_thresholds(folds, OpenHours(is_open), 20.0) == (6.0, 6.0)
    assert fit_thresholds(folds, OpenHours(is_open), 200.0) == (10.0, 10.0)  # 5 % of 200
    quiet = [(balances, days[:1])]
    assert fit_thresholds(quiet, OpenHours(is_open), 20.0) == (2.0, 2.0)
    assert fit_thresholds(folds, OpenHours.always(), 20.0) is None
    assert fit_thresholds([], OpenHours(is_open), 20.0) is None


@pytest.fixture(scope="module")
def office():
    """Eight days of an office that everybody leaves by 19:00, a reading every five minutes."""
    readings = oc.simulate_office(days=8, seed=2).iloc[::5]
    late = readings.index.hour >= 19
    decay = np.exp(-(readings.index.hour[late] + readings.index.minute[late] / 60 - 19))
    co2 = readings["co2"].to_numpy(copy=True)
    rng = np.random.default_rng(0)
    co2[late] = 420 + 80 * decay + rng.normal(0, 2, late.sum())
    return readings.assign(co2=co2, occupancy=readings["occupancy"].where(~late, 0))


@pytest.fixture(scope="module")
def trained(office):
    return oc.OccupancyEstimator(n_hidden=10, random_state=0).fit(office.iloc[: 6 * 288])


def with_event(office, size):
    """The last day with a rise of ``size`` ppm from 21:00 to 22:00, and a decay from 23:00 on."""
    day = office.iloc[-288:].copy()
    hour = (day.index.hour + day.index.minute / 60).to_numpy()
    day["co2"] += size * np.clip(hour - 21, 0, 1) * np.where(hour < 23, 1.0, np.exp(-3 * (hour - 23)))
    return day


def test_evening_event_is_reported_and_quiet_evening_is_not(trained, office):
    assert not trained.room_.hours.is_open[0, 1260:].any()
    quiet = trained.estimate(with_event(office, 0.0))
    assert (quiet.between_time("20:15", "23:59") == 0).all()
    busy = trained.estimate(with_event(office, 500.0), interval=0.9)
    found = busy.between_time("21:20", "21:55")
    assert (found["people"] > 2).all()
    assert (found["low"] == 0).all()
    assert (found["high"] >= found["people"]).all()
    assert (busy["people"].between_time("23:30", "23:59") == 0).all()


def test_future_readings_do_not_change_earlier_estimates(trained, office):
    day = with_event(office, 500.0)
    whole, part = trained.estimate(day), trained.estimate(day.iloc[:270])
    pd.testing.assert_series_equal(whole.iloc[:270], part)


def test_live_batched_and_saved_equal_replay(trained, office, tmp_path):
    day = with_event(office, 500.0)
    table = trained.estimate(day, interval=0.9)
    trained.save(tmp_path / "room.occupair")
    loaded = oc.OccupancyEstimator.load(tmp_path / "room.occupair")
    assert loaded.room_.evidence_thresholds == trained.room_.evidence_thresholds
    pd.testing.assert_frame_equal(loaded.estimate(day, interval=0.9), table)
    room = loaded.live()
    live = [room.update(time.to_pydatetime(), row.co2, row.ventilation) for time, row in day.iterrows()]
    found = pd.DataFrame([(one.people, one.low, one.high) for one in live], day.index, table.columns)
    pd.testing.assert_frame_equal(found, table, rtol=0, atol=1e-9, check_names=False)
    assert not room.is_usual_time(day.index[-20].to_pydatetime())
    assert room.is_usual_time(day.index[144].to_pydatetime())


def test_batched_rooms_equal_single_rooms(trained, office):
    earlier = oc.OccupancyEstimator(n_hidden=10, random_state=0).fit(office.iloc[288 : 7 * 288])
    models = [trained, earlier, trained, earlier, trained]
    days = [with_event(office, size) for size in (500.0, 500.0, 0.0, 300.0, 900.0)]
    rooms = [model.live() for model in models]
    batch = LiveRooms(rooms)
    for k, time in enumerate(days[0].index):
        due = [
            NextReading(room, time.to_pydatetime(), day["co2"].iloc[k], day["ventilation"].iloc[k])
            for room, day in zip(rooms, days, strict=True)
        ]
        batch.update(due)
    for model, room, day in zip(models, rooms, days, strict=True):
        refined = model.estimate(day, lag=20).to_numpy()
        np.testing.assert_allclose(room.people[:280], refined[:280], rtol=0, atol=1e-9)
    assert rooms[0].people[255] > 2


def test_estimates_match_reference_implementation(trained, office):
    day = with_event(office, 500.0)
    co2, flow = day["co2"].to_numpy(), day["ventilation"].to_numpy()
    for one, lag in zip(trained.room_.refinements, (0, 10, 20), strict=True):
        people = trained.estimate(day, lag=lag).to_numpy()
        expected = []
        for k in range(256, 288, 8):  # 21:20, 22:00, 22:40 and 23:20
            reference = RoomReference(trained, co2[: k + 1], flow[: k + 1], day.index[: k + 1])
            expected.append(reference.people(one))
        found = [people[k - one.lag] for k in range(256, 288, 8)]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
        assert np.count_nonzero(expected) >= 1
        assert expected[-1] == 0
