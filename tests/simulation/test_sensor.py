import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from occupair.simulation.sensor import LiveSensor, Passing, Sensor, follow, passing_rises, read_out

EVERY_TIME = Passing(per_person=60.0, per_crossing=0.0, strength=100.0, strength_spread=0.0, clearing=2.0)


@pytest.mark.parametrize("lag", [0.5, 1.8, 10.0])
def test_step_response_is_exponential(lag):
    air = np.r_[400.0, np.full(40, 500.0)]
    minutes = np.arange(41)
    np.testing.assert_allclose(follow(air, lag=lag), 400 + 100 * (1 - np.exp(-minutes / lag)), rtol=1e-12)


def test_63_percent_of_a_step_after_one_lag():
    shown = follow(np.r_[0.0, np.ones(5)], lag=5.0)
    assert shown[5] == pytest.approx(0.6321, abs=1e-4)


@given(level=st.floats(300, 5000), lag=st.floats(0.1, 60))
def test_constant_air_is_unchanged(level, lag):
    np.testing.assert_allclose(follow(np.full(20, level), lag=lag), level, rtol=1e-12)


def test_noise_and_rounding():
    noise = np.random.default_rng(0).standard_normal(20_000)
    shown = read_out(Sensor(lag=1.8, noise=3.0, resolution=1.0), np.full(20_000, 600.4), noise)
    assert (shown == np.round(shown)).all()
    # rounding adds a variance of 1 / 12: sqrt(9 + 1 / 12) = 3.014, known here to 0.015
    assert shown.std() == pytest.approx(3.014, abs=0.06)
    assert shown.mean() == pytest.approx(600.4, abs=0.1)


def test_readings_are_multiples_of_the_resolution():
    shown = read_out(Sensor(lag=1.0, noise=0.0, resolution=5.0), np.full(2, 402.6), np.zeros(2))
    assert shown.tolist() == [405.0, 405.0]


def test_empty_room_has_no_spikes():
    rises = passing_rises(
        EVERY_TIME, occupancy=np.zeros(1000), crossings=np.zeros(1000), rng=np.random.default_rng(0)
    )
    assert (rises == 0).all()


def test_spike_rises_and_decays():
    once = np.zeros(10)
    once[0] = 1.0
    for seed in range(20):
        rises = passing_rises(
            EVERY_TIME, occupancy=once, crossings=np.zeros(10), rng=np.random.default_rng(seed)
        )
        visits = round(rises[0] / 100)
        assert rises[0] == 100 * visits
        np.testing.assert_allclose(rises, 100 * visits * np.exp(-np.arange(10) / 2), rtol=1e-12)


def test_number_of_spikes_follows_people_and_crossings():
    passing = Passing(per_person=0.3, per_crossing=0.1, strength=1.0, strength_spread=0.0, clearing=1e-3)
    n = 100_000
    rises = passing_rises(
        passing, occupancy=np.full(n, 20.0), crossings=np.full(n, 0.5), rng=np.random.default_rng(0)
    )
    # 20 people * 0.3 1/h / 60 + 0.5 * 0.1 = 0.15 visits a minute; sd of the mean sqrt(0.15 / 1e5) = 0.0012
    assert rises.mean() == pytest.approx(0.15, abs=0.005)


def test_spike_strengths_vary_around_the_median():
    passing = Passing(per_person=6.0, per_crossing=0.0, strength=100.0, strength_spread=0.6, clearing=1e-3)
    rises = passing_rises(
        passing, occupancy=np.full(50_000, 1.0), crossings=np.zeros(50_000), rng=np.random.default_rng(0)
    )
    alone = rises[rises > 0]  # one minute in twenty of these holds two visits
    assert np.median(alone) == pytest.approx(100, rel=0.1)
    assert np.log(alone).std() == pytest.approx(0.6, rel=0.1)


def test_live_sensor_equals_the_whole_series():
    rng = np.random.default_rng(0)
    sensor = Sensor(lag=1.8, noise=3.0, resolution=1.0)
    air, noise = rng.uniform(400, 1000, (200, 2)), rng.standard_normal((200, 2))
    live = LiveSensor(sensor)
    one_by_one = np.array([live.read(a, n) for a, n in zip(air, noise, strict=True)])
    for run in range(2):
        np.testing.assert_array_equal(one_by_one[:, run], read_out(sensor, air[:, run], noise[:, run]))
