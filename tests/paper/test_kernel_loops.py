"""The loops over neurons and lags: compiled by numba, run by Python, and in numpy."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from occupair.paper import live_kernel, numpy_kernel

LOOPS = ("combine", "move_input", "shift_hidden", "expand_series", "project", "follow_past")
PYTHON_LOOPS = SimpleNamespace(**{name: getattr(live_kernel, f"_{name}_loops") for name in LOOPS})
"""The loops that numba compiles, run by Python."""
KERNELS = (live_kernel, PYTHON_LOOPS, numpy_kernel)


def test_compiled_python_and_numpy_loops_agree():
    draw = np.random.default_rng(0)
    rows, factors = draw.normal(size=(17, 43)), draw.normal(size=17)
    hidden, coef, move = draw.uniform(0, 1, 43), draw.normal(size=43), draw.uniform(-0.1, 0.1, 43)
    results = []
    for kernel in KERNELS:
        combined, moved, shifted, terms, projected = (
            coef.copy(),
            coef.copy(),
            hidden.copy(),
            np.zeros(5),
            factors.copy(),
        )
        slopes, bends = np.zeros((2, 43), dtype=np.float32)
        kernel.combine(rows, factors, combined)
        largest = kernel.move_input(coef, 0.3, rows, factors, moved)
        kernel.shift_hidden(shifted, move)
        square = kernel.expand_series(hidden, coef, move, slopes, bends, terms)
        kernel.project(rows.astype(np.float32), slopes, projected)
        followed = kernel.follow_past(rows[:, 0], factors, 0.7, *rows[:, 1:5].T.copy())
        assert largest >= np.abs(moved).max()
        results.append([combined, moved, largest, shifted, slopes, bends, terms, square, followed, projected])
    *loops, in_numpy = results
    for found, expected in (
        (one, other) for result in loops for one, other in zip(result, in_numpy, strict=True)
    ):
        np.testing.assert_allclose(
            found, expected, rtol=2e-6, atol=2e-6 if expected is in_numpy[-1] else 1e-12
        )


def test_shifted_neurons_match_the_sigmoid():
    z, move = np.linspace(-30, 30, 61), np.resize([-0.1, 0.003, 0.1], 61)
    for kernel in KERNELS:
        hidden = 1 / (1 + np.exp(-z))
        kernel.shift_hidden(hidden, move)
        np.testing.assert_allclose(hidden, 1 / (1 + np.exp(-z - move)), rtol=1e-14)


def test_loops_use_ten_terms_of_the_exponential():
    """With a move of -20 each term matters: h = 1/2 becomes 1 / (1 + exp(20)), with exp cut off."""
    hidden = np.array([0.5])
    PYTHON_LOOPS.shift_hidden(hidden, np.array([-20.0]))
    exponential = sum(20.0**n / math.factorial(n) for n in range(10))
    assert hidden[0] == pytest.approx(1 / (1 + exponential), rel=1e-13, abs=0)


def test_series_matches_numerical_derivatives():
    """Finite differences of beta'h along a line give the coefficients."""
    draw = np.random.default_rng(0)
    z, coef, move = draw.normal(size=(3, 50))
    step, places = 1e-2, np.arange(-3, 4)
    values = [coef @ (1 / (1 + np.exp(-z - place * step * move))) for place in places]
    expected = np.polynomial.Polynomial.fit(places * step, values, 6).convert().coef[:5]
    hidden, terms, room = 1 / (1 + np.exp(-z)), np.zeros(5), np.zeros((2, 50), np.float32)
    for kernel in KERNELS:
        kernel.expand_series(hidden, coef, move, *room, terms)
        np.testing.assert_allclose(terms, expected, rtol=1e-4)


@pytest.mark.parametrize("kernel", KERNELS)
def test_moves_and_products_by_hand(kernel):
    """Two neurons, three past estimates."""
    rows = np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]])
    out = np.array([10.0, 20.0])
    kernel.combine(rows, np.array([2.0, 1.0, -1.0]), out)
    assert out.tolist() == [10 + 2 - 3, 20 + 4 - 1 - 0.5]
    largest = kernel.move_input(np.array([1.0, -1.0]), 0.5, rows, np.array([1.0, 0.0, 1.0]), out)
    assert out.tolist() == [4.5, 2.0]  # 0.5 * [1, -1] + [4, 2.5]
    assert largest == pytest.approx((4.5**4 + 2.0**4) ** 0.25, rel=1e-15)
    projected = np.zeros(3, dtype=np.float32)
    kernel.project(rows.astype(np.float32), np.array([2, 4], dtype=np.float32), projected)
    assert projected.tolist() == [10, -4, 8]


@pytest.mark.parametrize("kernel", KERNELS)
def test_step_of_past_estimates_by_hand(kernel):
    """u = people - past - rise * tangent = [1, -2]; g + rise m = [2, 0.5]."""
    people, past, tangent = np.array([5.0, 1.0]), np.array([3.0, 4.0]), np.array([2.0, -2.0])
    gradient, mixed = np.array([1, 1], np.float32), np.array([2, -1], np.float32)
    found = kernel.follow_past(people, past, 0.5, tangent, gradient, mixed, np.array([3.0, -7.0]))
    assert found == (2 * 1 - 0.5 * 2, 1 + 4, 3 - 7)


@pytest.mark.parametrize("kernel", KERNELS)
def test_series_of_one_neuron_by_hand(kernel):
    """The derivatives of the sigmoid as polynomials of h, at h = 1/4, with beta = 8 and a move of 2."""
    slopes, bends, terms = np.zeros(1, np.float32), np.zeros(1, np.float32), np.zeros(5)
    size = kernel.expand_series(np.array([0.25]), np.array([8.0]), np.array([2.0]), slopes, bends, terms)
    h = 0.25
    first = h * (1 - h)
    second = h - 3 * h**2 + 2 * h**3
    third = h - 7 * h**2 + 12 * h**3 - 6 * h**4
    fourth = h - 15 * h**2 + 50 * h**3 - 60 * h**4 + 24 * h**5
    expected = [8 * h, 8 * first * 2, 8 * second * 4 / 2, 8 * third * 8 / 6, 8 * fourth * 16 / 24]
    np.testing.assert_allclose(terms, expected, rtol=1e-14)
    assert (slopes[0], bends[0]) == (8 * first, 8 * second * 2)
    assert size == pytest.approx(2.0, rel=1e-14)
