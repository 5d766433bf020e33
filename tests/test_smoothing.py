"""Eqs. (17)-(19), (23) and (25) against their matrices written out densely."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import occupair as oc
from occupair.smoothing import local_windows


def gradient(n):
    return np.eye(n - 1, n, k=1) - np.eye(n - 1, n)


def dense_smooth(co2, smoothing):
    """Solve Eq. (18) with a full matrix."""
    n = len(co2)
    return np.linalg.solve(np.eye(n) + smoothing * gradient(n).T @ gradient(n), np.asarray(co2, float))


def office_day(n, seed=0):
    rng = np.random.default_rng(seed)
    return 400 + np.cumsum(rng.normal(0, 3, n)) + 150 * (rng.random(n) < 0.02)


series = st.lists(st.floats(0, 5000), min_size=1, max_size=60)
weights = st.sampled_from([0.0, 0.3, 2.0, 50.0, 1e4])


@pytest.mark.parametrize("smoothing", [0.0, 0.02, 2.0, 50.0, 1e6])
@pytest.mark.parametrize("n", [2, 3, 31, 400])
def test_is_the_dense_solution(n, smoothing):
    co2 = office_day(n)
    # The dense solve loses as many digits as its condition number 1 + 4 lambda has.
    tolerance = 1e-13 + 1e-15 * (1 + 4 * smoothing)
    np.testing.assert_allclose(
        oc.smooth(co2, smoothing=smoothing), dense_smooth(co2, smoothing), rtol=tolerance
    )


def test_three_readings_by_hand():
    # (I + Delta) = [[2,-1,0],[-1,3,-1],[0,-1,2]]; [0, 0, 8] gives [1, 2, 5].
    np.testing.assert_allclose(oc.smooth([0.0, 0.0, 8.0], smoothing=1.0), [1.0, 2.0, 5.0], rtol=1e-15)


def test_minimises_the_energy_of_equation_17():
    co2, rng = office_day(200), np.random.default_rng(1)

    def energy(c):
        return np.sum((co2 - c) ** 2) + 50 * np.sum(np.diff(c) ** 2)

    best = oc.smooth(co2, smoothing=50.0)
    assert all(energy(best) < energy(best + rng.normal(0, 0.1, 200)) for _ in range(50))


@given(series, weights)
def test_keeps_the_mean_and_the_range(co2, smoothing):
    smoothed = oc.smooth(co2, smoothing=smoothing)
    assert np.mean(smoothed) == pytest.approx(np.mean(co2), rel=1e-9, abs=1e-9)
    assert smoothed.min() >= min(co2) - 1e-9
    assert smoothed.max() <= max(co2) + 1e-9


def test_very_strong_smoothing_is_the_mean_and_does_not_overflow():
    co2 = office_day(50)
    np.testing.assert_allclose(oc.smooth(co2, smoothing=1e300), np.mean(co2), rtol=1e-12)


def test_takes_linear_time():
    # 40 million matrix entries would not fit a dense solve of this size: it is banded or it fails.
    assert oc.smooth(np.full(1_000_000, 420.0)).shape == (1_000_000,)


@pytest.mark.parametrize("co2", [[], [412.0]])
def test_nothing_and_one_reading_come_back_as_they_are(co2):
    assert oc.smooth(co2).tolist() == co2


def test_the_input_is_not_changed():
    co2 = office_day(20)
    before = co2.copy()
    oc.smooth(co2)
    assert (co2 == before).all()


@pytest.mark.parametrize(
    ("co2", "message"),
    [
        ([400.0, np.nan], "co2 must be finite, got nan at index 1"),
        ([np.inf, 400.0], "co2 must be finite, got inf at index 0"),
        ([[400.0], [401.0]], r"co2 must be one-dimensional, got an array of shape \(2, 1\)"),
        (400.0, r"co2 must be one-dimensional, got an array of shape \(\)"),
        (["fresh"], r"co2 must be numbers, got \['fresh'\]"),
    ],
)
def test_bad_series(co2, message):
    with pytest.raises(oc.InputError, match=message):
        oc.smooth(co2)


@pytest.mark.parametrize("smoothing", [-1.0, np.nan, np.inf, "50"])
def test_bad_smoothing(smoothing):
    with pytest.raises(oc.InputError, match="smoothing must be a finite number, 0 or more, got"):
        oc.smooth([400.0, 401.0], smoothing=smoothing)
    with pytest.raises(oc.InputError, match="smoothing must be a finite number, 0 or more, got"):
        oc.LocalSmoother(smoothing=smoothing)


@pytest.mark.parametrize("smoothing", [0.0, 2.0, 50.0])
def test_one_at_a_time_is_the_full_solve_after_every_reading(smoothing):
    co2, smoother = office_day(300), oc.LocalSmoother(smoothing=smoothing)
    for k in range(1, len(co2) + 1):
        smoother.append(co2[k - 1])
        np.testing.assert_allclose(smoother.values, dense_smooth(co2[:k], smoothing), rtol=1e-11)


@given(series, weights)
def test_one_at_a_time_is_the_full_solve(co2, smoothing):
    smoother = oc.LocalSmoother(smoothing=smoothing)
    for value in co2:
        smoother.append(value)
    np.testing.assert_allclose(smoother.values, oc.smooth(co2, smoothing=smoothing), rtol=1e-9, atol=1e-9)


def test_append_tells_exactly_which_values_changed():
    co2, smoother = office_day(600), oc.LocalSmoother()
    before = smoother.values
    for k, value in enumerate(co2):
        changed = smoother.append(value)
        after = smoother.values
        assert (after[:changed] == before[:changed]).all()
        assert changed == k or after[changed] != before[changed]
        np.testing.assert_array_equal(smoother.since(k - k // 2), after[k - k // 2 :])
        before = after


def test_a_reading_costs_the_same_all_day():
    co2, smoother = office_day(4 * 1440), oc.LocalSmoother()
    touched = np.array([k - smoother.append(value) for k, value in enumerate(co2)])
    assert touched[1440:].max() < 300
    assert touched[-1440:].mean() == pytest.approx(touched[1440:2880].mean(), rel=0.1)


def test_without_smoothing_only_the_new_value_changes():
    smoother = oc.LocalSmoother(smoothing=0)
    assert [smoother.append(value) for value in (400.0, 500.0, 450.0)] == [0, 1, 2]
    assert smoother.values.tolist() == [400.0, 500.0, 450.0]


def test_no_reading_yet():
    assert oc.LocalSmoother().values.tolist() == []
    assert len(oc.LocalSmoother()) == 0


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_bad_reading_leaves_the_smoother_as_it_was(value):
    smoother = oc.LocalSmoother()
    smoother.append(400.0)
    with pytest.raises(oc.InputError, match="co2 must be a finite number of ppm, got"):
        smoother.append(value)
    assert smoother.values.tolist() == [400.0]


@given(series, weights, st.integers(1, 12))
def test_windows_are_the_series_as_it_was_smoothed_when_each_reading_came(co2, smoothing, width):
    windows = local_windows(co2, width, smoothing=smoothing)
    assert windows.shape == (len(co2), width)
    for k in range(len(co2)):
        then = dense_smooth(co2[: k + 1], smoothing)
        expected = [then[max(k - ago, 0)] for ago in range(width)]
        np.testing.assert_allclose(windows[k], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("smoothing", [0.0, 0.4, 10.0, 40.0])
def test_windows_of_a_day_are_what_one_at_a_time_gives(smoothing):
    co2, smoother = office_day(300), oc.LocalSmoother(smoothing=smoothing)
    windows = local_windows(co2, 81, smoothing=smoothing)
    for k, value in enumerate(co2):
        smoother.append(value)
        known = smoother.values[::-1][:81]
        np.testing.assert_allclose(windows[k, : known.size], known, rtol=1e-13)
        assert (windows[k, known.size :] == windows[k, known.size - 1]).all()


@pytest.mark.parametrize("smoothing", [0.0, 50.0])
def test_a_window_of_one_reading_repeats_it(smoothing):
    assert local_windows([412.0], 3, smoothing=smoothing).tolist() == [[412.0, 412.0, 412.0]]


def test_windows_of_bad_series():
    with pytest.raises(oc.InputError, match="co2 must be finite, got nan at index 1"):
        local_windows([400.0, np.nan], 2, smoothing=1.0)
    with pytest.raises(oc.InputError, match="smoothing must be a finite number, 0 or more, got -1"):
        local_windows([400.0, 401.0], 2, smoothing=-1)
