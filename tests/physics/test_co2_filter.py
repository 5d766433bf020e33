"""Kalman filter and smoother of CO2 and people, against the joint Gaussian of all states."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from physics.simulated_rooms import exact_co2
from scipy.linalg import expm
from scipy.stats import multivariate_normal
from scipy.stats import t as student_t

from occupair.physics import co2_filter
from occupair.physics.air_change import AirChange
from occupair.physics.co2_filter import filter_days, smooth_people
from occupair.physics.day_grid import DayGrid
from occupair.physics.room_properties import room_properties

ROOM = room_properties(volume=187, capacity=10)  # a rise of 100 ppm/h per person
AIR = AirChange(np.log([[0.2, 2.0, 0.6, 1.0]]))


def small_grid(rng, *, n_days=1, n_steps=12, missing=0.0, closed=0.3, counted=0.2, step=5.0):
    """Days of random readings, base levels, closed hours and head counts."""
    shape = (n_days, n_steps)
    co2 = 450 + np.abs(rng.normal(0, 60, shape).cumsum(axis=1))
    co2[rng.uniform(size=shape) < missing] = np.nan
    counts = np.where(rng.uniform(size=shape) < counted, rng.integers(0, 11, shape), np.nan)
    return DayGrid(
        co2=co2,
        ventilation=rng.uniform(0, 1, shape),
        full_ventilation=1.0,
        counts=counts,
        base=430 - rng.uniform(0, 5, shape).cumsum(axis=1),
        closed=rng.uniform(size=n_steps) < closed,
        step=step,
        place=np.empty(0, dtype=np.int64),
    )


def constant_grid(co2, ventilation, *, base=420.0, step=5.0, closed=False):
    """Days with a constant base level."""
    co2, ventilation = np.atleast_2d(co2), np.atleast_2d(ventilation)
    return DayGrid(
        co2=co2,
        ventilation=np.broadcast_to(ventilation, co2.shape),
        full_ventilation=1.0,
        counts=np.full(co2.shape, np.nan),
        base=np.full(co2.shape, base),
        closed=np.full(co2.shape[1], closed),
        step=step,
        place=np.empty(0, dtype=np.int64),
    )


@pytest.fixture
def gaussian(monkeypatch):
    """Gaussian errors, and negative people that are as likely as others."""
    monkeypatch.setattr(co2_filter, "FREEDOM", 1e12)
    monkeypatch.setattr(co2_filter, "NEGATIVE", (1e12, 0.0))


def transition(day, leakage, full, exponent, scale, t, hours):
    """Matrix of the mass balance over the step to t, for CO2 above base and people."""
    flow = (day.ventilation[0, t - 1] + day.ventilation[0, t]) / 2
    rate = leakage + full * flow**exponent
    return expm(np.array([[-rate, ROOM.rise * scale], [0.0, 0.0]]) * hours)


class JointGaussian:
    """Mean and covariance of the states of one day, and their observations."""

    def __init__(self, day, parameters, counts=None):
        hours, n = day.step / 60, day.co2.shape[1]
        level = day.co2[0] - day.base[0]
        noise = np.diag([20.0**2 * hours, (0.1 * ROOM.capacity) ** 2 * hours])
        mean = [np.array([np.nan_to_num(level[0]), 0.0])]
        unknown = (0.3 if day.closed[0] else 0.3 * ROOM.capacity) ** 2
        covariance = np.zeros((2 * n, 2 * n))
        covariance[:2, :2] = np.diag([8.0**2, unknown])
        for t in range(1, n):
            a = transition(day, *parameters, t, hours)
            lower_base = np.array([day.base[0, t - 1] - day.base[0, t], 0.0])
            mean.append(a @ (mean[-1] + lower_base))
            now, past = slice(2 * t, 2 * t + 2), slice(0, 2 * t)
            covariance[now, past] = a @ covariance[2 * t - 2 : 2 * t, past]
            covariance[past, now] = covariance[now, past].T
            last = covariance[2 * t - 2 : 2 * t, 2 * t - 2 : 2 * t]
            covariance[now, now] = a @ last @ a.T + noise
        self.mean, self.covariance = np.concatenate(mean), covariance
        seen = [(2 * t, level[t], 8.0**2) for t in range(n) if not np.isnan(level[t])]
        self.n_readings, self.n_closed = len(seen), int(day.closed.sum())
        seen += [(2 * t + 1, 0.0, 0.3**2) for t in np.flatnonzero(day.closed)]
        if counts is not None:
            known = np.flatnonzero(~np.isnan(counts[0]))
            seen += [(2 * t + 1, counts[0, t], (0.5 + 0.05 * counts[0, t]) ** 2) for t in known]
        which, self.values, variances = map(np.array, zip(*seen, strict=True))
        self.which = which.astype(int)
        self.seen_covariance = covariance[np.ix_(self.which, self.which)] + np.diag(variances)

    def people(self):
        """People given all observations."""
        error = self.values - self.mean[self.which]
        gain = np.linalg.solve(self.seen_covariance, self.covariance[self.which]).T
        return (self.mean + gain @ error)[1::2]

    def log_density(self):
        return multivariate_normal(self.mean[self.which], self.seen_covariance).logpdf(self.values)


PARAMETERS = st.tuples(st.floats(0.05, 0.5), st.floats(0.5, 6), st.floats(0.3, 1.5), st.floats(0.7, 1.4))


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), parameters=PARAMETERS, step=st.sampled_from([5.0, 15.0]))
def test_smoothed_people_are_the_conditional_mean(seed, parameters, step):
    day = small_grid(np.random.default_rng(seed), missing=0.2, step=step)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(co2_filter, "FREEDOM", 1e12)
        filtered = filter_days(day, AirChange(np.log([parameters])), ROOM, counts=day.counts, keep=True)
    expected = JointGaussian(day, parameters, day.counts).people()
    np.testing.assert_allclose(smooth_people(filtered)[0, 0], expected, rtol=0, atol=1e-6)


@pytest.mark.usefixtures("gaussian")
@pytest.mark.parametrize("seed", range(10))
def test_log_likelihood_is_the_joint_density(seed):
    day, parameters = small_grid(np.random.default_rng(seed), missing=0.2), (0.2, 2.0, 0.6, 1.1)
    reference = JointGaussian(day, parameters)
    left_out = np.log(2 * np.pi) / 2 * (reference.n_readings + reference.n_closed)
    left_out += np.log(0.3) * reference.n_closed  # closed hours are relative to their certainty
    found = filter_days(day, AirChange(np.log([parameters])), ROOM).log_likelihood
    np.testing.assert_allclose(found, [reference.log_density() + left_out], rtol=0, atol=1e-6)


@pytest.mark.usefixtures("gaussian")
def test_missing_reading_has_no_influence():
    rng = np.random.default_rng(3)
    day = small_grid(rng)
    day.co2[0, [4, 5, 9]] = np.nan
    reference = JointGaussian(day, (0.2, 2.0, 0.6, 1.0), day.counts)
    assert reference.n_readings == 9
    filtered = filter_days(day, AIR, ROOM, counts=day.counts, keep=True)
    np.testing.assert_allclose(smooth_people(filtered)[0, 0], reference.people(), rtol=0, atol=1e-6)


def reference_filter(day, parameters):
    """Log-likelihood and people after each reading with Student-t errors, by matrices."""
    hours, n = day.step / 60, day.co2.shape[1]
    level, total, people = day.co2[0] - day.base[0], 0.0, []
    mean, covariance = np.array([level[0], 0.0]), np.diag([64.0, (0.3 * ROOM.capacity) ** 2])
    for t in range(n):
        if t:
            a = transition(day, *parameters, t, hours)
            mean = a @ (mean + np.array([day.base[0, t - 1] - day.base[0, t], 0.0]))
            covariance = a @ covariance @ a.T + np.diag([400 * hours, ROOM.capacity**2 / 100 * hours])
        error, spread = level[t] - mean[0], np.sqrt(covariance[0, 0] + 64.0)
        total += student_t(df=4, scale=spread).logpdf(error) - student_t(df=4).logpdf(0.0)
        weight = 5 / (4 + (error / spread) ** 2)  # of a Student-t error as a Gaussian with random variance
        gain = covariance[:, 0] / (covariance[0, 0] + 64.0 / weight)
        mean, covariance = mean + gain * error, covariance - np.outer(gain, covariance[0])
        people.append(mean[1])
    return total, np.array(people)


@pytest.mark.parametrize("seed", range(5))
def test_student_t_errors_match_reference_implementation(seed, monkeypatch):
    monkeypatch.setattr(co2_filter, "NEGATIVE", (1e12, 0.0))
    day = small_grid(np.random.default_rng(seed), closed=0.0)
    filtered = filter_days(day, AIR, ROOM, keep=True)
    total, people = reference_filter(day, (0.2, 2.0, 0.6, 1.0))
    np.testing.assert_allclose(filtered.log_likelihood, [total], rtol=0, atol=1e-6)
    np.testing.assert_allclose([step.after.people[0, 0] for step in filtered.steps], people, atol=1e-8)


def test_negative_people_are_unlikely():
    day = constant_grid(700 - 8 * np.arange(40.0), 0.0)  # falls faster than 0.2 air changes an hour
    found, counted = filter_days(day, AIR, ROOM, keep=True), 0.0
    for step in found.steps:
        counted += min(step.after.people[0, 0] / (0.2 + 0.012 * ROOM.capacity), 0) ** 2 / 2
    assert counted > 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(co2_filter, "NEGATIVE", (1e12, 0.0))
        free = filter_days(day, AIR, ROOM)
    assert free.log_likelihood - found.log_likelihood == pytest.approx(counted)


def test_outlier_moves_people_less_than_with_gaussian_errors(monkeypatch):
    co2 = np.full(60, 620.0)
    co2[30] = 820.0
    plain, outlier = constant_grid(np.full(60, 620.0), 1.0), constant_grid(co2, 1.0)

    def moved():
        people = [smooth_people(filter_days(one, AIR, ROOM, keep=True)) for one in (plain, outlier)]
        return np.abs(people[1] - people[0]).max()

    robust = moved()
    monkeypatch.setattr(co2_filter, "FREEDOM", 1e12)
    assert 5 * robust < moved()


def test_sets_and_days_at_once_equal_each_alone():
    rng = np.random.default_rng(5)
    grid = small_grid(rng, n_days=3, n_steps=40, missing=0.1)
    sets = np.log([[0.1, 1.0, 0.5, 1.0], [0.3, 4.0, 0.9, 1.2], [0.2, 2.0, 0.6, 0.8]])
    together = filter_days(grid, AirChange(sets), ROOM, counts=grid.counts, keep=True)
    people = smooth_people(together)
    assert people.shape == (3, 3, 40)
    for p in range(3):
        total = 0.0
        for d in range(3):
            day = grid.days(np.array([d]))
            alone = filter_days(day, AirChange(sets[p : p + 1]), ROOM, counts=day.counts, keep=True)
            np.testing.assert_allclose(smooth_people(alone)[0, 0], people[p, d], rtol=0, atol=1e-9)
            total += alone.log_likelihood[0]
        assert together.log_likelihood[p] == pytest.approx(total, abs=1e-8)


def test_days_are_independent():
    grid = small_grid(np.random.default_rng(6), n_days=2, n_steps=40)
    changed = replace(grid, co2=grid.co2.copy())
    changed.co2[1, 10:] += 300.0
    before, after = (smooth_people(filter_days(one, AIR, ROOM, keep=True))[0] for one in (grid, changed))
    np.testing.assert_array_equal(before[0], after[0])
    assert np.abs(before[1] - after[1]).max() > 1


def test_filter_is_causal_and_smoother_is_not():
    grid = small_grid(np.random.default_rng(7), n_steps=40)
    changed = replace(grid, co2=grid.co2.copy())
    changed.co2[0, 20:] += 300.0
    filtered = [filter_days(one, AIR, ROOM, keep=True) for one in (grid, changed)]
    people = [[step.after.people[0, 0] for step in one.steps] for one in filtered]
    assert people[0][:20] == people[1][:20]
    assert people[0][20] != people[1][20]
    assert smooth_people(filtered[0])[0, 0, 19] != smooth_people(filtered[1])[0, 0, 19]


@pytest.mark.parametrize(("ventilation", "rate"), [(0.0, 0.2), (1.0, 2.2)])
@pytest.mark.parametrize("people", [1.0, 6.0])
def test_steady_co2_is_generation_over_outdoor_air(ventilation, rate, people):
    steady = 420 + ROOM.rise * people / rate  # generation and removal are equal
    found = filter_days(constant_grid(np.full(600, steady), ventilation), AIR, ROOM, keep=True)
    assert found.steps[-1].after.people == pytest.approx(people, rel=1e-4)
    assert found.steps[-1].after.co2 == pytest.approx(steady - 420)


@pytest.mark.parametrize("ventilation", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("step", [5.0, 15.0])
def test_one_step_is_the_exact_solution(ventilation, step):
    grid = constant_grid([[500.0, 500.0]], ventilation, step=step)
    first, second = filter_days(grid, AIR, ROOM, counts=np.array([[8.0, np.nan]]), keep=True).steps
    rate, people = AIR.at(np.array([ventilation]))[0, 0], first.after.people[0, 0]
    exact = exact_co2([people] * 2, [rate] * 2, rise=ROOM.rise, hours=step / 60, start=first.after.co2[0, 0])
    assert second.before.co2[0, 0] == pytest.approx(exact[1], rel=1e-12)


@pytest.mark.parametrize("ventilation", [0.0, 1.0])
def test_constant_people_are_found_from_exact_co2(ventilation):
    rate = AIR.at(np.array([ventilation]))[0, 0]
    level = exact_co2(np.full(144, 6.0), np.full(144, rate), rise=ROOM.rise, hours=1 / 12)
    people = smooth_people(filter_days(constant_grid(420 + level, ventilation), AIR, ROOM, keep=True))[0, 0]
    np.testing.assert_allclose(people[12:], 6.0, atol=0.1)


def test_doubled_scale_halves_the_people():
    level = exact_co2(np.full(144, 6.0), np.full(144, 2.2), rise=ROOM.rise, hours=1 / 12)
    air = AirChange(np.log([[0.2, 2.0, 0.6, 2.0]]))
    people = smooth_people(filter_days(constant_grid(420 + level, 1.0), air, ROOM, keep=True))[0, 0]
    np.testing.assert_allclose(people[24:], 3.0, atol=0.1)


def test_head_counts_pull_people_towards_them():
    grid = constant_grid(np.full(40, 620.0), 1.0)
    counts = np.full((1, 40), np.nan)
    counts[0, 20] = 9.0
    without, counted = (
        smooth_people(filter_days(grid, AIR, ROOM, counts=one, keep=True))[0, 0] for one in (None, counts)
    )
    assert without[20] + 0.5 < counted[20] < 9
    np.testing.assert_array_equal(
        smooth_people(filter_days(grid, AIR, ROOM, counts=np.full((1, 40), np.nan), keep=True))[0, 0], without
    )


def test_nobody_is_in_during_closed_hours():
    rising = 430 + 5 * np.arange(40.0)
    by_day, by_night = (
        smooth_people(filter_days(constant_grid(rising, 0.0, closed=closed), AIR, ROOM, keep=True))[0, 0]
        for closed in (False, True)
    )
    assert by_day[20:].min() > 0.5
    assert np.abs(by_night).max() < 0.3


def test_states_are_kept_only_on_request():
    grid = small_grid(np.random.default_rng(8))
    kept, dropped = (filter_days(grid, AIR, ROOM, keep=keep) for keep in (True, False))
    assert (len(kept.steps), dropped.steps) == (12, [])
    np.testing.assert_array_equal(kept.log_likelihood, dropped.log_likelihood)
