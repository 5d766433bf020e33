"""Smoothing by Eqs. (17)-(19), (23) and (25) against dense matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg.lapack import dpttrs

import occupair as oc
from occupair import smoothing
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
def test_smooth_matches_dense_solution(n, smoothing):
    co2 = office_day(n)
    # The dense solve loses as many digits as its condition number 1 + 4 lambda has.
    tolerance = 1e-13 + 1e-15 * (1 + 4 * smoothing)
    np.testing.assert_allclose(
        oc.smooth(co2, smoothing=smoothing), dense_smooth(co2, smoothing), rtol=tolerance
    )


def test_three_readings_by_hand():
    # (I + Delta) = [[2,-1,0],[-1,3,-1],[0,-1,2]]; [0, 0, 8] gives [1, 2, 5].
    np.testing.assert_allclose(oc.smooth([0.0, 0.0, 8.0], smoothing=1.0), [1.0, 2.0, 5.0], rtol=1e-15)


def test_smooth_minimises_the_energy_of_equation_17():
    co2, rng = office_day(200), np.random.default_rng(1)

    def energy(c):
        return np.sum((co2 - c) ** 2) + 50 * np.sum(np.diff(c) ** 2)

    best = oc.smooth(co2, smoothing=50.0)
    assert all(energy(best) < energy(best + rng.normal(0, 0.1, 200)) for _ in range(50))


@given(series, weights)
def test_smooth_preserves_mean_and_range(co2, smoothing):
    smoothed = oc.smooth(co2, smoothing=smoothing)
    assert np.mean(smoothed) == pytest.approx(np.mean(co2), rel=1e-9, abs=1e-9)
    assert smoothed.min() >= min(co2) - 1e-9
    assert smoothed.max() <= max(co2) + 1e-9


def test_very_strong_smoothing_gives_the_mean():
    co2 = office_day(50)
    np.testing.assert_allclose(oc.smooth(co2, smoothing=1e300), np.mean(co2), rtol=1e-12)


@pytest.mark.parametrize("n", [1_000, 100_000])
def test_smooth_solves_a_tridiagonal_system(monkeypatch, n):
    """The solver gets the diagonal, one off-diagonal and the readings: O(n) numbers."""
    sizes = []

    def recorded(*arrays):
        sizes.extend(array.size for array in arrays)
        return dpttrs(*arrays)

    monkeypatch.setattr(smoothing, "dpttrs", recorded)
    co2 = office_day(n)
    smoothed = oc.smooth(co2)
    assert sizes == [n, n - 1, n]
    # Readings further away than 300 have no influence: 0.87 ** 300 is below 1e-18.
    middle, around = n // 2, slice(n // 2 - 300, n // 2 + 301)
    assert smoothed[middle] == pytest.approx(dense_smooth(co2[around], 50.0)[300], rel=1e-12)


@pytest.mark.parametrize("co2", [[], [412.0]])
def test_empty_and_single_reading_are_returned_unchanged(co2):
    assert oc.smooth(co2).tolist() == co2


def test_input_is_not_modified():
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
def test_invalid_series_is_rejected(co2, message):
    with pytest.raises(oc.InputError, match=message):
        oc.smooth(co2)


@pytest.mark.parametrize("smoothing", [-1.0, np.nan, np.inf, "50"])
def test_invalid_smoothing_is_rejected(smoothing):
    with pytest.raises(oc.InputError, match="smoothing must be a finite number, 0 or more, got"):
        oc.smooth([400.0, 401.0], smoothing=smoothing)
    with pytest.raises(oc.InputError, match="smoothing must be a finite number, 0 or more, got"):
        oc.LocalSmoother(smoothing=smoothing)


@pytest.mark.parametrize("smoothing", [0.0, 2.0, 50.0])
def test_local_smoother_matches_dense_solution_after_every_reading(smoothing):
    co2, smoother = office_day(300), oc.LocalSmoother(smoothing=smoothing)
    for k in range(1, len(co2) + 1):
        smoother.append(co2[k - 1])
        np.testing.assert_allclose(smoother.values, dense_smooth(co2[:k], smoothing), rtol=1e-11)


@given(series, weights)
def test_local_smoother_matches_smooth(co2, smoothing):
    smoother = oc.LocalSmoother(smoothing=smoothing)
    for value in co2:
        smoother.append(value)
    np.testing.assert_allclose(smoother.values, oc.smooth(co2, smoothing=smoothing), rtol=1e-9, atol=1e-9)


@given(series, st.lists(st.floats(0, 5000), max_size=30), weights)
def test_extend_equals_appending_each_reading(before, added, smoothing):
    """In any mixture: values, and the index that the next append returns."""
    smoother, reference = oc.LocalSmoother(smoothing=smoothing), oc.LocalSmoother(smoothing=smoothing)
    for value in before:
        smoother.append(value)
    smoother.extend(added)
    for value in before + added:
        reference.append(value)
    np.testing.assert_allclose(smoother.values, dense_smooth(before + added, smoothing), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(smoother.values, reference.values)
    assert smoother.newest == smoother.values[-1]


def test_smoothing_weight_is_50_by_default():
    co2, smoother = office_day(40), oc.LocalSmoother()
    smoother.extend(co2)
    np.testing.assert_allclose(oc.smooth(co2), dense_smooth(co2, 50.0), rtol=1e-12)
    np.testing.assert_allclose(smoother.values, dense_smooth(co2, 50.0), rtol=1e-12)


def test_append_returns_the_first_changed_index():
    co2, smoother = office_day(600), oc.LocalSmoother()
    before = smoother.values
    for k, value in enumerate(co2):
        changed = smoother.append(value)
        after = smoother.values
        assert (after[:changed] == before[:changed]).all()
        assert changed == k or after[changed] != before[changed]
        np.testing.assert_array_equal(smoother.since(k - k // 2), after[k - k // 2 :])
        before = after


def test_append_cost_does_not_depend_on_time_of_day():
    co2, smoother = office_day(4 * 1440), oc.LocalSmoother()
    touched = np.array([k - smoother.append(value) for k, value in enumerate(co2)])
    assert touched[1440:].max() < 300
    assert touched[-1440:].mean() == pytest.approx(touched[1440:2880].mean(), rel=0.1)


def test_zero_smoothing_changes_only_the_newest_value():
    smoother = oc.LocalSmoother(smoothing=0)
    assert [smoother.append(value) for value in (400.0, 500.0, 450.0)] == [0, 1, 2]
    assert smoother.values.tolist() == [400.0, 500.0, 450.0]


def test_new_smoother_is_empty():
    assert oc.LocalSmoother().values.tolist() == []
    assert len(oc.LocalSmoother()) == 0


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_invalid_reading_does_not_change_the_smoother(value):
    smoother = oc.LocalSmoother()
    smoother.append(400.0)
    with pytest.raises(oc.InputError, match="co2 must be a finite number of ppm, got"):
        smoother.append(value)
    assert smoother.values.tolist() == [400.0]


@given(series, weights, st.integers(1, 12))
def test_local_windows_match_dense_solution(co2, smoothing, width):
    windows = local_windows(co2, width, smoothing=smoothing)
    assert windows.shape == (len(co2), width)
    for k in range(len(co2)):
        then = dense_smooth(co2[: k + 1], smoothing)
        expected = [then[max(k - ago, 0)] for ago in range(width)]
        np.testing.assert_allclose(windows[k], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("smoothing", [0.0, 0.4, 10.0, 40.0])
def test_local_windows_match_local_smoother(smoothing):
    co2, smoother = office_day(300), oc.LocalSmoother(smoothing=smoothing)
    windows = local_windows(co2, 81, smoothing=smoothing)
    for k, value in enumerate(co2):
        smoother.append(value)
        known = smoother.values[::-1][:81]
        np.testing.assert_allclose(windows[k, : known.size], known, rtol=1e-13)
        assert (windows[k, known.size :] == windows[k, known.size - 1]).all()


@pytest.mark.parametrize("smoothing", [0.0, 50.0])
def test_local_window_of_one_reading_repeats_it(smoothing):
    assert local_windows([412.0], 3, smoothing=smoothing).tolist() == [[412.0, 412.0, 412.0]]


def test_local_windows_reject_invalid_input():
    with pytest.raises(oc.InputError, match="co2 must be finite, got nan at index 1"):
        local_windows([400.0, np.nan], 2, smoothing=1.0)
    with pytest.raises(oc.InputError, match="smoothing must be a finite number, 0 or more, got -1"):
        local_windows([400.0, 401.0], 2, smoothing=-1)
