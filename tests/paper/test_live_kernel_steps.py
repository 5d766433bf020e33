"""Each step of the kernel: by hand, and against the equations in the docstring of ``live_kernel``."""

import math

import numpy as np
import pytest
from paper.small_rooms import hidden_input, small_readings, small_room

from dense import smooth
from occupair.paper import live_kernel
from occupair.paper.live_kernel import DayState
from occupair.paper.revised_day import _empty_series
from occupair.smoothing import LocalSmoother

UNUSED = 7.0
"""Value of the state of readings that have not arrived."""


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def day_after(co2, ventilation, smoothing, people=0.0):
    """Return the state after some readings, with three unused readings behind them."""
    n = co2.size
    day = DayState(*np.full((len(DayState._fields), n + 3), UNUSED))
    for k, reading in enumerate(co2):
        live_kernel.smooth_append(day, smoothing, k, reading)
    day.ventilation[:n], day.people[:n] = ventilation, people
    return day


# ---- smoothing ----


@pytest.mark.parametrize("smoothing", [0.0, 0.5, 2.0])
def test_smoothing_matches_the_dense_matrix(smoothing):
    co2, _ = small_readings(12)
    day = DayState(*np.full((len(DayState._fields), 14), UNUSED))
    for k in range(12):
        live_kernel.smooth_append(day, smoothing, k, co2[k])
        np.testing.assert_allclose(day.co2[: k + 1], smooth(co2[: k + 1], smoothing), rtol=0, atol=1e-13)
        assert (day.co2[k + 1 :] == UNUSED).all()


@pytest.mark.parametrize("smoothing", [0.0, 2.0])
def test_first_changed_value_is_that_of_the_local_smoother(smoothing):
    co2 = np.append(small_readings(70)[0], [3.0] * 70)  # a change decays beyond double precision
    day, smoother = DayState(*np.full((len(DayState._fields), 141), UNUSED)), LocalSmoother(smoothing)
    changed = [
        (live_kernel.smooth_append(day, smoothing, k, reading), smoother.append(reading))
        for k, reading in enumerate(co2)
    ]
    assert all(found == expected for found, expected in changed)
    np.testing.assert_array_equal(day.co2[:140], smoother.values)


# ---- evaluation of the network ----


@pytest.mark.parametrize("lean", [False, True])
@pytest.mark.parametrize("k", [3, 4, 6])
def test_direction_of_an_early_reading_matches_the_dense_smoother(lean, k):
    """A later reading moves z_k by G_k per ppm that it moves c_k."""
    network, reference = small_room(lean=lean)
    co2, ventilation = small_readings(8)
    before, after = smooth(co2, 2.0), smooth(np.append(co2[:-1], 900.0), 2.0)
    moved = hidden_input(reference, after, np.zeros(8), ventilation, k)
    moved -= hidden_input(reference, before, np.zeros(8), ventilation, k)
    found = live_kernel.co2_direction(network.live_weights, day_after(co2, ventilation, 2.0), k)
    np.testing.assert_allclose(found, moved / (after[k] - before[k]), rtol=0, atol=1e-12)


def test_direction_of_later_readings_is_stored():
    weights = small_room()[0].live_weights
    day = day_after(*small_readings(weights.settled + 2), 2.0)
    early, settled = (live_kernel.co2_direction(weights, day, weights.settled - back) for back in (1, 0))
    assert np.shares_memory(settled, weights.along)
    assert not np.shares_memory(early, weights.along)
    np.testing.assert_allclose(early, settled, rtol=0, atol=1e-13)


@pytest.mark.parametrize("lean", [False, True])
def test_hidden_layer_matches_equation_16(lean):
    network, reference = small_room(lean=lean)
    co2, ventilation = small_readings(9)
    day, hidden = day_after(co2, ventilation, 2.0, people=np.arange(9.0)), np.zeros(7)
    live_kernel.evaluate_hidden(network.live_weights, day, 6, hidden)
    z = hidden_input(reference, smooth(co2, 2.0), np.arange(9.0), ventilation, 6)
    np.testing.assert_allclose(hidden, sigmoid(z), rtol=1e-13)


def test_hidden_layer_does_not_overflow():
    """exp(710) is beyond a double."""
    weights = small_room(n_hidden=2)[0].live_weights._replace(bias=np.array([-5000.0, 5000.0]))
    day, hidden = day_after(np.zeros(5), np.zeros(5), 2.0), np.zeros(2)
    live_kernel.evaluate_hidden(weights, day, 4, hidden)
    assert hidden[0] < 1e-300
    assert hidden[1] == 1


def test_run_of_all_readings_matches_equation_22():
    network, reference = small_room(seed=5)
    co2, ventilation = small_readings(30)
    day = day_after(co2, ventilation, 2.0)
    live_kernel.run_all(network.live_weights, day, 30, np.zeros(7))
    expected = reference.hindsight(co2, ventilation)
    np.testing.assert_allclose(day.people[:30], expected, rtol=0, atol=1e-12)
    assert {0.0, 6.0} < set(expected[3:].tolist())
    np.testing.assert_array_equal(day.used[3:30], day.co2[3:30])
    assert (day.people[30:] == UNUSED).all()


# ---- full evaluation and its series ----


class FullEvaluation:
    """Reading 6 of a small day, evaluated once; its series by the formulas of the docstring."""

    k = 6

    def __init__(self):
        self.network, self.reference = small_room()
        self.weights = self.network.live_weights
        self.co2, self.ventilation = small_readings(12)
        self.people = np.linspace(0.0, 5.0, 12)
        self.day = day_after(self.co2, self.ventilation, 2.0, people=self.people)
        self.series = _empty_series(self.weights)
        self.row, self.place = (6 % rows.size for rows in (self.series.reading, self.series.hidden_reading))
        self.evaluate()

    def evaluate(self, **replaced):
        live_kernel.evaluate_in_full(self.weights._replace(**replaced), self.day, self.series, self.k)

    def move(self, reading, steps=(0.0, 0.0, 0.0)):
        """Append a reading and move the past estimates; return how much c_k rose."""
        before = self.day.co2[self.k]
        n = self.co2.size
        self.co2, self.ventilation = np.append(self.co2, reading), np.append(self.ventilation, 0.0)
        live_kernel.smooth_append(self.day, 2.0, n, reading)
        self.day.people[self.k - 3 : self.k] += steps
        return self.day.co2[self.k] - before

    def z(self):
        return hidden_input(self.reference, smooth(self.co2, 2.0), self.day.people, self.ventilation, self.k)

    def direction(self, tangent):
        """v = G + W't."""
        later = np.append(self.co2[:-1], self.co2[-1] + 900.0)
        before, after = smooth(self.co2, 2.0), smooth(later, 2.0)
        moved = [
            hidden_input(self.reference, co2, np.zeros(co2.size), self.ventilation, 6)
            for co2 in (before, after)
        ]
        along = (moved[1] - moved[0]) / (after[6] - before[6])
        return along + tangent @ self.feedback

    @property
    def feedback(self):
        """W, one row per lag."""
        columns = slice(4 + 2 + 3, 4 + 2 + 3 + 3)  # after P, I and D
        return (self.reference.R @ self.reference.S)[:, columns].T

    def check(self, tangent):
        """Compare everything that is stored with the derivatives of beta'h at the current z."""
        series, row, coef = self.series, self.row, self.reference.beta
        h, v = sigmoid(self.z()), self.direction(np.asarray(tangent))
        first, second = h - h**2, h - 3 * h**2 + 2 * h**3
        third = h - 7 * h**2 + 12 * h**3 - 6 * h**4
        fourth = h - 15 * h**2 + 50 * h**3 - 60 * h**4 + 24 * h**5
        derivatives = [h, first * v, second * v**2 / 2, third * v**3 / 6, fourth * v**4 / 24]
        np.testing.assert_allclose(series.hidden[self.place], h, rtol=1e-12)
        np.testing.assert_allclose(series.terms[row], derivatives @ coef, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(series.tangent[row], tangent, rtol=1e-12, atol=1e-12)
        gradient, mixed = self.feedback @ (coef * first), self.feedback @ (coef * second * v)
        np.testing.assert_allclose(series.gradient[row], gradient, rtol=0, atol=1e-6)
        np.testing.assert_allclose(series.mixed[row], mixed, rtol=0, atol=1e-6)
        assert series.size[row] == pytest.approx(np.mean(v**10) ** 0.1, rel=1e-9)
        assert series.co2[row] == self.day.co2[6]
        np.testing.assert_array_equal(series.past[row], self.day.people[3:6])
        assert (series.reading[row], series.hidden_reading[self.place]) == (6, 6)


def test_first_series_is_along_the_co2():
    FullEvaluation().check(tangent=[0.0, 0.0, 0.0])


@pytest.mark.parametrize(("reading", "steps"), [(12.0, [0.02, -0.01, 0.03]), (-300.0, [-0.7, 0.2, 0.4])])
def test_later_series_is_along_the_last_move(reading, steps):
    """A small move of z shifts the stored neurons, a large one evaluates them anew."""
    full = FullEvaluation()
    rise = full.move(reading, steps)
    full.evaluate()
    full.check(tangent=np.array(steps) / rise)


def test_series_without_a_move_is_along_the_co2():
    full = FullEvaluation()
    full.evaluate()
    full.check(tangent=[0.0, 0.0, 0.0])
    full.day.people[3:6] += [0.1, 0.2, 0.3]  # the CO2 has not moved
    full.evaluate()
    full.check(tangent=[0.0, 0.0, 0.0])


@pytest.mark.parametrize(("times", "follows"), [(2.5, True), (3.5, False)])
def test_series_is_along_the_co2_if_past_estimates_moved_much_more(times, follows):
    """More than three times the move of the CO2 alone."""
    full, steps = FullEvaluation(), np.array([0.2, -0.1, 0.3])
    rise = full.move(-60.0, steps)
    size = np.mean((rise * full.direction(steps / rise)) ** 10) ** 0.1
    full.evaluate(co2_size=float(size / (times * abs(rise))))
    full.check(tangent=steps / rise if follows else [0.0, 0.0, 0.0])
    assert 1e-3 < abs(rise) < 0.5


@pytest.mark.parametrize(
    ("reading", "stored", "shifted"), [(8.0, 6, True), (8.0, 5, False), (40.0, 6, False), (40.0, 5, False)]
)
def test_stored_neurons_are_shifted_only_by_moderate_moves(reading, stored, shifted):
    """The neurons are replaced by 1/2, so that a shift can be told from an evaluation."""
    full = FullEvaluation()
    before = full.z()
    full.move(reading)
    move = full.z() - before
    full.series.hidden[full.place], full.series.hidden_reading[full.place] = 0.5, stored
    full.evaluate()
    expected = sigmoid(move) if shifted else sigmoid(full.z())
    np.testing.assert_allclose(full.series.hidden[full.place], expected, rtol=1e-12)
    size = np.sum(move**4) ** 0.25
    assert size < 0.1 if reading == 8.0 else 0.1 < size < 1.1


# ---- update of a day ----

TERMS = (20.0, 1.5, -0.25, 0.125, 0.0625)
GRADIENT, CROSS, TANGENT = np.array([0.5, -0.25]), np.array([0.125, 0.5]), np.array([0.25, -0.5])


def prepared(*, rise, stray, size=0.1, terms=TERMS, growth=(3.0, -2.0)):
    """Return weights and states for reading 5, which has a series made by hand."""
    network, reference = small_room(horizon=2, stride=1, smoothing=0.0)
    weights = network.live_weights._replace(
        coef_size=2.0, feedback_scale=0.5, feedback_size=3.0, most_people=100.0
    )
    day, series = day_after(*small_readings(5), 0.0, people=1.0), _empty_series(weights)
    row = 5 % series.reading.size
    series.reading[row], series.co2[row], series.size[row], series.terms[row] = 5, 400.0, size, terms
    series.past[row], series.tangent[row] = [10.0, 12.0], TANGENT
    series.gradient[row], series.mixed[row] = GRADIENT, CROSS
    day.people[3:5] = np.array([10.0, 12.0]) + rise * TANGENT + stray
    day.growth[3:5] = growth
    day.ventilation[5] = 0.5
    return weights, day, series, reference


def bound_by_hand(size, rise, stray):
    """Bound of the remainder for |beta| sqrt(L) = 2 and |W'u| = 0.5 * 3 |u|, with rounding."""
    along, across = size * abs(rise), 1.5 * np.hypot(*stray)
    exact = along**5 / 480 + 3**0.25 / 16 * along**2 * across + across**2 / 12
    return 2.0 * (exact + 2.0**-24 * across)


@pytest.mark.parametrize(
    ("size", "rise", "stray"),
    [
        (1.0, 2.0, (0.0, 0.0)),
        (0.7, -2.0, (0.0, 0.0)),
        (0.5, 2.0, (0.3, -0.4)),
        (0.9, -3.0, (0.003, 0.004)),
        (0.0, 0.5, (3.0, -4.0)),
        (0.0, 0.0, (1e-7, 0.0)),
    ],
)
def test_series_is_used_while_its_bound_is_below_the_limit(size, rise, stray):
    bound = bound_by_hand(size, rise, stray)
    for factor, expected in ((1 + 1e-6, 0), (1 - 1e-6, 1)):
        weights, day, series, _ = prepared(rise=rise, stray=stray, size=size)
        revised, in_full, _ = live_kernel.revise(weights, day, series, 5, 400.0 + rise, factor * bound)
        assert (revised, in_full) == (1, expected)


def test_unchanged_estimate_is_not_evaluated_at_tolerance_0():
    weights, day, series, _ = prepared(rise=0.0, stray=(0.0, 0.0))
    assert live_kernel.revise(weights, day, series, 5, 400.0, 0.0)[:2] == (1, 0)
    assert day.people[5] == 20


@pytest.mark.parametrize("rise", [2.0, -1.5])
def test_estimate_by_its_series(rise):
    """The polynomial of the rise, and (g + r m)'u for the deviation u of the past estimates."""
    stray = np.array([0.3, -0.4])
    weights, day, series, _ = prepared(rise=rise, stray=stray)
    _, in_full, growth = live_kernel.revise(weights, day, series, 5, 400.0 + rise, 1.0)
    expected = sum(term * rise**order for order, term in enumerate(TERMS)) + (GRADIENT + rise * CROSS) @ stray
    assert in_full == 0
    assert day.people[5] == pytest.approx(expected, rel=1e-12)
    assert day.used[5] == 400.0 + rise
    assert day.growth[5] == growth == 0.5 * 3 + 0.25 * 2 + 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((3.0, -2.0), 3.0),
        ((-3.0, 2.0), -3.0),
        ((0.0, 0.0), 1.0),
        ((4e12, 0.0), 1e12),
        ((-4e12, 0.0), -1e12),
    ],
)
def test_error_growth_adds_one_step(before, after):
    """A step adds an error of 1 to those of the past estimates, weighted by the gradient, up to 1e12."""
    weights, day, series, _ = prepared(rise=0.0, stray=(0.0, 0.0), growth=before)
    growth = live_kernel.revise(weights, day, series, 5, 400.0, 1.0)[2]
    assert (day.growth[5], growth) == (after, abs(after))


@pytest.mark.parametrize(("unclamped", "people"), [(500.0, 100.0), (-3.0, 0.0), (0.5, 0.5)])
def test_clamp_removes_the_error(unclamped, people):
    weights, day, series, _ = prepared(rise=0.0, stray=(0.0, 0.0), terms=(unclamped, 0.0, 0.0, 0.0, 0.0))
    growth = live_kernel.revise(weights, day, series, 5, 400.0, 1.0)[2]
    assert day.people[5] == people
    assert (day.growth[5], growth) == ((3.0, 3.0) if unclamped == people else (0.0, 1.0))


def test_full_evaluation_in_an_update():
    network, reference = small_room(horizon=2, stride=1, smoothing=0.0)
    weights = network.live_weights._replace(most_people=100.0)
    co2, ventilation = small_readings(6)
    day, series = day_after(co2[:5], ventilation[:5], 0.0), _empty_series(weights)
    day.ventilation[5], day.people[3:5], day.growth[3:5] = ventilation[5], (1.0, 2.0), (300.0, -200.0)
    revised, in_full, growth = live_kernel.revise(weights, day, series, 5, co2[5], 0.0)
    h = sigmoid(hidden_input(reference, co2, day.people, ventilation, 5))
    people = reference.beta @ h
    gradient = (reference.R @ reference.S)[:, 7:9].T @ (reference.beta * h * (1 - h))
    grown = gradient @ [300.0, -200.0]
    assert (revised, in_full) == (1, 1)
    assert 0 < people < 100
    assert day.people[5] == pytest.approx(people, rel=1e-12)
    assert day.growth[5] == pytest.approx(grown + math.copysign(1, grown), rel=1e-5)
    assert growth == abs(day.growth[5])


def test_no_estimate_within_the_first_horizon():
    weights = small_room(horizon=2, stride=1)[0].live_weights
    day, series = DayState(*np.full((len(DayState._fields), 9), UNUSED)), _empty_series(weights)
    for n in range(2):
        assert live_kernel.revise(weights, day, series, n, 400.0, 0.0) == (0, 0, 1.0)
    assert (day.people == UNUSED).all()
    assert live_kernel.revise(weights, day, series, 2, 400.0, 0.0)[:2] == (1, 1)


def test_network_without_output_estimates_no_people():
    weights = small_room(horizon=2, stride=1)[0].live_weights._replace(coef=np.zeros(7), coef_size=0.0)
    day, series = DayState(*np.full((len(DayState._fields), 9), UNUSED)), _empty_series(weights)
    day.growth[:] = 0.0
    for n in range(6):
        _, in_full, growth = live_kernel.revise(weights, day, series, n, 400.0 + n, 1e-6)
        assert (in_full, growth) == (0, 1.0)
    assert (day.people[2:6] == 0).all()


def day_with_estimates(n=40):
    """Return a day with all estimates up to date."""
    network, reference = small_room(seed=5)
    co2, ventilation = small_readings(n + 1)
    weights = network.live_weights
    day, series = DayState(*np.full((len(DayState._fields), n + 3), UNUSED)), _empty_series(weights)
    day.people[:3] = day.growth[:3] = 0.0  # the room is empty at first
    day.ventilation[: n + 1] = ventilation
    for k in range(n):
        live_kernel.revise(weights, day, series, k, co2[k], 0.0)
    return weights, day, series, reference, co2, ventilation


@pytest.mark.parametrize("sizes", [(1e-3, 1e-3), (5.0, 0.2), (3.0, 40.0)])
def test_estimates_are_updated_from_the_first_co2_that_moved(sizes):
    """A move counts if it changes the estimate by more than a tenth of the limit; h' is at most 1/4."""
    _, _, _, _, co2, _ = day_with_estimates()
    moves = np.abs(smooth(co2, 2.0)[:-1] - smooth(co2[:-1], 2.0))
    for first in (3, 10, 11, 25, 39):
        weights, day, series, _, co2, _ = day_with_estimates()
        weights = weights._replace(coef_size=sizes[0], co2_size=sizes[1])
        still = math.sqrt(moves[first - 1] * moves[first])  # between the two: moves grow towards the newest
        revised, _, _ = live_kernel.revise(
            weights, day, series, 40, co2[40], still * 10 * 0.25 * sizes[0] * sizes[1]
        )
        assert revised == 41 - first
        np.testing.assert_array_equal(day.used[first:41], day.co2[first:41])


def test_estimates_for_the_same_co2_are_not_updated():
    """The newest reading always gets an estimate."""
    weights, day, series, reference, co2, ventilation = day_with_estimates()
    smoother = LocalSmoother(2.0)
    smoother.extend(co2)
    day.used[:41] = smoother.values
    revised, in_full, _ = live_kernel.revise(weights, day, series, 40, co2[40], 0.0)
    assert (revised, in_full) == (1, 1)
    people = np.append(day.people[:40], 0.0)
    assert day.people[40] == pytest.approx(reference.f(smooth(co2, 2.0), people, ventilation, 40), rel=1e-9)


def test_every_changed_estimate_is_evaluated_at_tolerance_0():
    weights, day, series, reference, co2, ventilation = day_with_estimates()
    revised, in_full, _ = live_kernel.revise(weights, day, series, 40, co2[40], 0.0)
    np.testing.assert_allclose(day.people[:41], reference.hindsight(co2, ventilation), rtol=0, atol=1e-11)
    assert revised >= 37
    assert 10 < in_full <= revised


# ---- constants and compilation ----


def test_constants_are_the_largest_derivatives_of_the_sigmoid():
    """Half the second and third times moments of a normal distribution, and 1/120 of the fifth."""
    h = np.linspace(0, 1, 100_001)
    second, third = h - 3 * h**2 + 2 * h**3, h - 7 * h**2 + 12 * h**3 - 6 * h**4
    fifth = h - 31 * h**2 + 180 * h**3 - 390 * h**4 + 360 * h**5 - 120 * h**6
    assert pytest.approx(math.sqrt(3) * np.abs(second).max() / 2, rel=1e-6) == live_kernel.ACROSS
    assert pytest.approx(3**0.25 * np.abs(third).max() / 2, rel=1e-6) == live_kernel.MIXED
    assert pytest.approx(np.abs(fifth).max() / 120, rel=1e-6) == live_kernel.ALONG
    assert np.finfo(np.float32).eps / 2 == live_kernel.ROUNDING


def test_loops_shift_neurons_exactly_up_to_a_moderate_move():
    z, move = np.linspace(-5, 5, 21), np.resize([-live_kernel.MODERATE, live_kernel.MODERATE], 21)
    hidden = sigmoid(z)
    live_kernel._shift_hidden_loops(hidden, move)
    np.testing.assert_allclose(hidden, sigmoid(z + move), rtol=1e-14)


def fake_njit(with_cache):
    def njit(cache=False, **options):
        if cache and not with_cache:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: (function, cache, options)

    return njit


@pytest.mark.parametrize("with_cache", [True, False])
def test_compilation_is_cached_where_possible(monkeypatch, with_cache):
    monkeypatch.setattr(live_kernel, "njit", fake_njit(with_cache))
    options = {"error_model": "numpy", "fastmath": {"reassoc", "contract"}, "nogil": True}
    assert live_kernel._compiled(len) == (len, with_cache, options)
    assert live_kernel._loops(max, len) == (len, with_cache, options)
    assert live_kernel._compiled_in_order(len) == (len, with_cache, options | {"fastmath": set()})


def test_loops_without_numba_are_those_of_numpy(monkeypatch):
    monkeypatch.setattr(live_kernel, "njit", None)
    assert live_kernel._loops(max, len) is max
    assert live_kernel._compiled(len) is len
    assert live_kernel._compiled_in_order(len) is len
