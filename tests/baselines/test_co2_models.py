"""Baselines with a CO2 model, on data simulated with that model and against dense algebra."""

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.baselines import DeconvolutionBaseline, KalmanBaseline, MassBalanceBaseline
from occupair.baselines.background_co2 import BackgroundCO2
from occupair.baselines.baseline import Day
from occupair.baselines.co2_model import CO2Model, identify
from occupair.baselines.deconvolution import filter_weights
from occupair.baselines.kalman_filter import Noise, Series, fixed_lag, kalman_filter

GAIN, DECAY = 0.8, (0.004, 0.03, 0.02)


def steps(rng, length=1440, last=9):
    """People that change every hour and ventilation that changes every 90 min, both starting at 0."""
    people = np.repeat(rng.integers(0, last + 1, length // 60), 60)
    ventilation = np.repeat(rng.uniform(0, 1, length // 90), 90)
    people[:60], ventilation[:90] = 0, 0
    return people, ventilation


def table(date, co2, ventilation, people):
    times = pd.date_range(date, periods=len(co2), freq="min")
    return pd.DataFrame({"co2": co2, "ventilation": ventilation, "occupancy": people}, index=times)


def room_of(model_step, dates=("2024-01-08", "2024-01-09", "2024-01-10")):
    rng = np.random.default_rng(3)
    tables = []
    for date in dates:
        people, ventilation = steps(rng)
        co2 = np.full(people.size, 400.0)
        for k in range(1, co2.size):
            co2[k] = model_step(co2[k - 1], people, ventilation, k)
        tables.append(table(date, co2, ventilation, people))
    return pd.concat(tables)


@pytest.fixture(scope="module")
def own_room():
    """A room that follows the linear model: CO2[k] = CO2[k-1] + g n[k-1] - k(v[k-1]) (CO2[k-1] - 400)."""

    def step(co2, people, v, k):
        decay = DECAY[0] + DECAY[1] * v[k - 1] + DECAY[2] * v[k - 1] ** 2
        return co2 + GAIN * people[k - 1] - decay * (co2 - 400)

    return room_of(step)


def split(readings):
    days, people = [], []
    for _, one in readings.groupby(readings.index.date):
        days.append(Day(one.index, one["co2"].to_numpy(), one["ventilation"].to_numpy(), 1.0))
        people.append(one["occupancy"].to_numpy(dtype=float))
    return days, people


def test_mass_balance_recovers_its_coefficients():
    a, b, c, d = 1.5, 0.01, 0.05, 0.02

    def step(co2, people, v, k):  # the balance solved for CO2[k], with ventilation averaged over two readings
        flow = (v[k] + v[k - 1]) / 2
        loss = b + c * flow + d * flow**2
        return (people[k] + a * co2 + loss * 400) / (a + loss)

    room = room_of(step)
    model = MassBalanceBaseline(windows=(2,)).fit(room)
    np.testing.assert_allclose(model.coef_, [a, b, c, d, 0], atol=1e-8)
    np.testing.assert_allclose(model.estimate(room), room["occupancy"], atol=1e-7)


def test_mass_balance_finds_the_delay_of_co2(own_room):
    late = own_room.copy()
    late["occupancy"] = late.groupby(late.index.date)["occupancy"].shift(-14).ffill()
    # CO2 rises at reading k with the people at k - 1, whose counts are now 14 minutes early.
    model = MassBalanceBaseline(lag=20, windows=(2,)).fit(late)
    assert model.delay_ == 15
    assert MassBalanceBaseline(lag=10, windows=(2,)).fit(late).delay_ == 10
    truth = late["occupancy"]
    waiting = oc.metrics.rmse(truth, model.estimate(late))
    assert waiting < oc.metrics.rmse(truth, MassBalanceBaseline().fit(late).estimate(late)) / 2


def test_mass_balance_without_intercept(own_room):
    assert MassBalanceBaseline(intercept=False).fit(own_room).coef_[-1] == 0


def test_mass_balance_without_window_is_refused(own_room):
    with pytest.raises(oc.InputError, match=r"windows must have at least one length in minutes, got \(\)"):
        MassBalanceBaseline(windows=()).fit(own_room)


def test_linear_model_is_identified(own_room):
    days, people = split(own_room)
    model = identify(days, people, BackgroundCO2(lowest=400.0, highest=400.0), span=20)
    assert model.gain == pytest.approx(GAIN)
    np.testing.assert_allclose(model.decay, DECAY, atol=1e-9)
    assert model.drift == pytest.approx(0, abs=1e-6)


def test_exhaled_co2_is_the_sum_of_gain_times_people(own_room):
    days, people = split(own_room)
    model = CO2Model(GAIN, DECAY, 0.0, BackgroundCO2(lowest=400.0, highest=400.0))
    total = np.concatenate([[0.0], GAIN * np.cumsum(people[0])[:-1]])
    np.testing.assert_allclose(model.exhaled(days[0]), total, atol=1e-8)


@pytest.mark.parametrize("older", [0, 3])
def test_deconvolution_is_penalised_least_squares(older):
    totals = np.random.default_rng(1).normal(size=12).cumsum()
    gain, smoothness, interval = 0.7, 5.0, 2.0
    misfit = np.column_stack([np.ones(12), np.tril(np.full((12, 12), gain * interval))[:, 1:]])
    change = np.zeros((10, 12))
    for row in range(10):
        change[row, row + 1], change[row, row + 2] = -1, 1
    stacked = np.vstack([misfit, np.sqrt(smoothness) / interval * change])
    people = np.linalg.lstsq(stacked, np.concatenate([totals, np.zeros(10)]), rcond=None)[0]
    weights = filter_weights(12, older, gain=gain, smoothness=smoothness, interval=interval)
    assert weights @ totals == pytest.approx(people[11 - older])


@pytest.mark.parametrize(
    ("baseline", "near"),
    [
        (DeconvolutionBaseline(), 0.4),
        (DeconvolutionBaseline(lag=10), 0.2),
        (KalmanBaseline(), 0.4),
        (KalmanBaseline(lag=10), 0.3),
    ],
)
def test_occupancy_steps_are_recovered(own_room, baseline, near):
    people = baseline.fit(own_room.iloc[:2880]).estimate(own_room.iloc[2880:])
    truth = own_room["occupancy"].iloc[2880:]
    settled = np.arange(1440) % 60 >= 15  # between 15 and 50 min after each step
    settled &= np.arange(1440) % 60 < 50
    np.testing.assert_allclose(people[settled], truth[settled].clip(upper=baseline.most_people_), atol=near)


@pytest.mark.parametrize("older", [0, 2, 9])
def test_kalman_filter_is_gaussian_conditioning(older):
    rng, n = np.random.default_rng(0), 6
    co2 = 400 + rng.normal(size=n).cumsum() * 20
    keep, push, rest = rng.uniform(0.8, 1, n), rng.uniform(0.5, 1, n), rng.uniform(0, 40, n)
    noise = Noise(people=0.3, air=2.0, sensor=5.0, start=1.5)
    columns = [x[:, None] for x in (co2, keep, push, rest)]
    series = Series(*columns, known=np.ones((n, 1), dtype=bool))
    people = fixed_lag(kalman_filter(series, [noise], 2.0), series, older)[:, 0]

    # Reference implementation: the joint Gaussian of (CO2, people) at all readings.
    mean, cov = np.zeros(2 * n), np.zeros((2 * n, 2 * n))
    mean[:2], cov[:2, :2] = [co2[0], 0], np.diag([noise.sensor, noise.start])
    for k in range(n - 1):
        step = np.array([[keep[k], push[k]], [0, 1]])
        now, then = slice(2 * k, 2 * k + 2), slice(2 * k + 2, 2 * k + 4)
        mean[then] = step @ mean[now] + [rest[k], 0]
        cov[then, : 2 * k + 2] = step @ cov[now, : 2 * k + 2]
        cov[: 2 * k + 2, then] = cov[then, : 2 * k + 2].T
        cov[then, then] = step @ cov[now, now] @ step.T + 2.0 * np.diag([noise.air, noise.people])
    for k in range(n):
        seen = np.arange(0, 2 * (min(k + older, n - 1) + 1), 2)
        spread = cov[np.ix_(seen, seen)] + noise.sensor * np.eye(seen.size)
        right = mean[2 * k + 1] + cov[2 * k + 1, seen] @ np.linalg.solve(spread, co2[seen // 2] - mean[seen])
        assert people[k] == pytest.approx(right)


def test_padding_of_shorter_days_has_no_effect(own_room):
    days, _ = split(own_room)
    short = Day(days[0].times[:300], days[0].co2[:300], days[0].ventilation[:300], 1.0)
    model, noise = CO2Model(GAIN, DECAY, 0.0, BackgroundCO2(400.0, 400.0)), Noise(0.3, 2.0, 5.0, 1.5)
    together, alone = Series.of([short, days[1]], model), Series.of([short], model)
    padded = fixed_lag(kalman_filter(together, [noise, noise], 1.0), together, 20)
    np.testing.assert_array_equal(
        padded[:300, 0], fixed_lag(kalman_filter(alone, [noise], 1.0), alone, 20)[:, 0]
    )
